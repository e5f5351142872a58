#!/bin/sh
# regenerate.sh [NAME...]: makes each workload's PTX from its CUDA source again. Needs nvcc 13 and
# ptxas, which nothing else here does: the results are in the tree. sm_75 is the oldest target of
# nvcc 13; workloads.def has each one's. Without line numbers and build paths the same compiler gives the same file.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
ptxas=${PTXAS:-ptxas}
if [ $# -eq 0 ]; then
    for source in */*.cu; do set -- "$@" "${source%%/*}"; done
fi
for name in "$@"; do
    arch=$(sed -n "s/^WORKLOAD($name, .*, \(sm_[0-9a-z]*\))$/\1/p" workloads.def)
    [ -n "$arch" ] || { echo "regenerate.sh: workloads.def has no $name" >&2; exit 1; }
    "$nvcc" -ptx -arch="$arch" -O3 -o "$name/$name.ptx" "$name/$name.cu"
    "$ptxas" -arch="$arch" -o /dev/null "$name/$name.ptx"
    echo "$name/$name.ptx"
done
