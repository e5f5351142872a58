#!/bin/sh
# linked.sh NVCC SONDE: a program of nvcc's with CUDA's runtime linked into it and into its library runs unchanged, also where
# another program starts it; without its symbols it is refused, and so is a program without a dynamic loader.
set -eu
nvcc=$1 sonde=$2 here=$(cd "$(dirname "$0")" && pwd)/linked
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-linked.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$nvcc" -w -arch=compute_75 -shared -Xcompiler -fPIC -o "$work/libpart.so" "$here/part.cu"
# Its library is found without LD_LIBRARY_PATH, which is its user's.
"$nvcc" -w -arch=compute_75 -o "$work/main" "$here/main.cu" -L "$work" -lpart -Xlinker -rpath="$work"
for mode in --functional --threads=1; do
    "$sonde" run -q "$mode" -- "$work/main" | grep -qx four || { echo "$mode: not four"; exit 1; }
    "$sonde" run -q "$mode" -- sh -c "$work/main && $work/main" | grep -cx four | grep -qx 2 || { echo "$mode, by a shell: not four twice"; exit 1; }
done
"$sonde" run --check -- "$work/main" 2>"$work/err" && { echo "no leak told"; exit 1; }
grep -q "leak: 4000 bytes were not freed" "$work/err" || { cat "$work/err"; exit 1; }
strip "$work/main"
status=0
"$sonde" run -q -- "$work/main" 2>"$work/err" || status=$?
[ "$status" = 4 ] || { echo "without symbols: exit status $status"; exit 1; }
grep -q "no symbols that tell where" "$work/err" || { cat "$work/err"; exit 1; }
echo '__global__ void none() {} int main() { none<<<1, 1>>>(); return cudaDeviceSynchronize(); }' >"$work/alone.cu"
"$nvcc" -w -arch=compute_75 -Xcompiler -static -o "$work/alone" "$work/alone.cu" 2>/dev/null
status=0
"$sonde" run -q -- "$work/alone" 2>"$work/err" || status=$?
[ "$status" = 4 ] || { echo "without a loader: exit status $status"; exit 1; }
grep -q "without a dynamic loader" "$work/err" || { cat "$work/err"; exit 1; }
