#!/bin/sh
# regenerate.sh: makes kernels.ptx and later.ptx from their .cu again. Needs nvcc 13 and ptxas, which nothing else here does: the result is in
# the tree.
set -eu
cd "$(dirname "$0")"
for name in kernels later; do
    "${NVCC:-nvcc}" -ptx -arch=sm_90a -O3 -o $name.ptx $name.cu
    "${PTXAS:-ptxas}" -arch=sm_90a -o /dev/null $name.ptx
done
