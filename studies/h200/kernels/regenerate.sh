#!/bin/sh
# regenerate.sh: makes the kernels' PTX from their CUDA sources again. Needs nvcc 13 and ptxas, which nothing else here does: the
# results are in the tree, and the recording is of exactly these. A virtual architecture: the driver compiles them for its GPU.
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
    name=${source%.cu}
    "${NVCC:-nvcc}" -ptx -arch=compute_90 -O3 -o "$name.ptx" "$source"
    "${PTXAS:-ptxas}" -arch=sm_90 -o /dev/null "$name.ptx"
    echo "$name.ptx"
done
