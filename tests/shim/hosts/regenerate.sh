#!/bin/sh
# regenerate.sh: makes the committed PTX of the .cu files here anew. NVCC names the compiler.
set -eu
cd "$(dirname "$0")"
for unit in kernels caller callee; do
    "${NVCC:-nvcc}" -ptx -rdc=true -arch=compute_75 -o - "$unit.cu" | sed '/^\/\//d; /^$/d' >"$unit.ptx"
done
