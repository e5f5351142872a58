#!/bin/sh
# regenerate.sh: makes the PTX from its CUDA sources again. Needs nvcc 13, which nothing else here does: the results
# are in the tree, with the files' names alone and without the names of functions that were put into others.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
for name in hopper orders shapes; do
    arch=sm_80
    if [ "$name" = hopper ]; then arch=sm_90; fi
    "$nvcc" -ptx -lineinfo -arch="$arch" -o "$name.all" "$name.cu"
    sed -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]*\) ".*/|\1 "|' -e '/^[[:space:]]*\.section/,$d' \
        -e 's/[[:space:]]*$//' "$name.all" >"$name.ptx"
    rm "$name.all"
    echo "$name.ptx"
done
