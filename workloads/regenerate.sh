#!/bin/sh
# regenerate.sh [NAME...]: makes each workload's PTX from its CUDA source again. Needs nvcc 13 and
# ptxas, which nothing else here does: the results are in the tree. sm_75 is the oldest target of
# nvcc 13. Without line numbers and build paths the same compiler gives the same file.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
ptxas=${PTXAS:-ptxas}
if [ $# -eq 0 ]; then
    for source in */*.cu; do set -- "$@" "${source%%/*}"; done
fi
for name in "$@"; do
    "$nvcc" -ptx -arch=sm_75 -O3 -o "$name/$name.ptx" "$name/$name.cu"
    "$ptxas" -arch=sm_75 -o /dev/null "$name/$name.ptx"
    echo "$name/$name.ptx"
done
