#!/bin/sh
# regenerate.sh [NAME...]: makes each kernel's PTX from its CUDA source again. Needs nvcc 13 and ptxas,
# which nothing else here does: the results are in the tree.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
ptxas=${PTXAS:-ptxas}
if [ $# -eq 0 ]; then
    for source in *.cu; do set -- "$@" "${source%.cu}"; done
fi
for name in "$@"; do
    flags=
    case $name in link_*) flags=-rdc=true ;; esac
    "$nvcc" -ptx -arch=sm_75 -O3 $flags -o "$name.ptx" "$name.cu"
    "$ptxas" -arch=sm_75 -c -o /dev/null "$name.ptx"
    echo "$name.ptx"
done
