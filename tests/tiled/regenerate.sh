#!/bin/sh
# regenerate.sh: makes kernels.ptx from kernels.cu again. Needs nvcc 13 and ptxas, which nothing else here does: the result is in
# the tree.
set -eu
cd "$(dirname "$0")"
"${NVCC:-nvcc}" -ptx -arch=sm_90a -O3 -o kernels.ptx kernels.cu
"${PTXAS:-ptxas}" -arch=sm_90a -o /dev/null kernels.ptx
