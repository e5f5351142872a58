#!/bin/sh
# host_faults.sh NVCC SONDE: what a program does wrong through CUDA's runtime, one fault each: the memory checker names it
# and who did it, and says nothing of the same done right; with the runtime in a library and linked into the program.
set -eu
nvcc=$1 sonde=$2 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-host-faults.XXXXXX")
trap 'rm -rf "$work"' EXIT
# fault | the first line of its report | what else is told of it
cat >"$work/faults" <<'FAULTS'
free_twice|double free: free|called by cudaFree, call
free_the_middle|free of what is no allocation: free|byte 16 of the 256 bytes of allocation
free_host_memory|free of what is no allocation: free|called by cudaFree, call
free_pinned_as_device|free of what is no allocation: free|made by cudaHostAlloc, call
free_pinned_twice|double free: free|freed by cudaFreeHost, call
free_of_the_pool_twice|double free: free|called by cudaFreeAsync, call
copy_to_too_much|out of bounds: a copy of 512 bytes|called by cudaMemcpy, call
copy_from_too_much|out of bounds: a copy of 256 bytes|byte 4 of the 256 bytes of allocation
copy_across_too_much|out of bounds: a copy of 512 bytes|byte 0 of the 256 bytes of allocation
copy_rows_too_much|out of bounds: a copy of 320 bytes|called by cudaMemcpy2D, call
copy_later_too_much|out of bounds: a copy of 256 bytes|called by cudaMemcpyAsync, call
copy_the_wrong_way|out of bounds: a copy of 256 bytes|called by cudaMemcpy, call
copy_of_host_as_device|out of bounds: a copy of 256 bytes|called by cudaMemcpy, call
copy_behind_a_symbol|out of bounds: a copy of 256 bytes|called by cudaMemcpyToSymbol, call
copy_behind_an_array|out of bounds: a copy of 16 x 5 x 1 texels from (0, 0, 0) on|made by cudaMallocArray, call
set_too_much|out of bounds: a memset of 257 bytes|called by cudaMemset, call
set_rows_too_much|out of bounds: a memset of 14948 bytes|made by cudaMallocPitch, call
copy_to_freed|use after free: a copy of 256 bytes|freed by cudaFree, call
copy_from_freed|use after free: a copy of 256 bytes|freed by cudaFree, call
set_freed|use after free: a memset of 256 bytes|freed by cudaFree, call
kernel_on_freed|use after free: load of 4 bytes in global memory in kernel 'twice(int*)'|host_faults.cu:TWICE
kernel_after_a_free_in_its_stream|use after free: store of 4 bytes in global memory in kernel 'fill(int*)'|made by cudaMallocAsync, call
free_while_it_runs|use after free: load of 4 bytes in global memory in kernel 'twice(int*)'|freed by cudaFree, call
kernel_on_host_memory|out of bounds: store of 4 bytes in global memory in kernel 'fill(int*)'|host_faults.cu:FILL
kernel_on_unregistered|use after free: store of 4 bytes in global memory in kernel 'fill(int*)'|host_faults.cu:FILL
kernel_on_too_little|out of bounds: store of 4 bytes in global memory in kernel 'fill(int*)'|0 bytes behind the 252 bytes of allocation
kernel_on_what_was_not_written|uninitialised: load of 4 bytes in global memory in kernel 'twice(int*)'|host_faults.cu:TWICE
texture_of_freed|use after free: fetch of a texel of 4 bytes in kernel 'fetch(int*, unsigned long long)'|freed by cudaFree, call
surface_behind_the_row|out of bounds: surface store of 4 bytes at x 256, y 0, z 0, layer 0 in kernel 'paint(unsigned long long, int)'|the surface has 64 x 4 x 1 texels of 4 bytes
leak_of_device|leak: 256 bytes were not freed|made by cudaMalloc, call
leak_of_pinned|leak: 256 bytes were not freed|made by cudaHostAlloc, call
leak_of_managed|leak: 256 bytes were not freed|made by cudaMallocManaged, call
leak_of_array|leak: 2048 bytes were not freed|made by cudaMallocArray, call
FAULTS
for kernel in twice fill; do # the line of its body
    line=$(($(grep -n "__global__ void $kernel(" "$here/host_faults.cu" | cut -d: -f1) + 2))
    sed -i "s/$(echo "$kernel" | tr '[:lower:]' '[:upper:]')\$/$line/" "$work/faults"
done

# checked STATUS wrong|right FAULT
checked() {
    status=0
    "$sonde" run -q --check -- "$work/$runtime" "$2" "$3" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$1" ] || { echo "$runtime, $2 $3: status $status"; cat "$work/out" "$work/err"; exit 1; }
}
for runtime in shared static; do
    "$nvcc" -w -lineinfo -arch=compute_75 -cudart "$runtime" -o "$work/$runtime" "$here/host_faults.cu"
    "$work/$runtime" | sort >"$work/names"
    cut -d'|' -f1 "$work/faults" | sort | diff - "$work/names" || { echo "faults without an expectation, or the other way round"; exit 1; }
    while IFS='|' read -r fault head more; do
        checked 1 wrong "$fault"
        grep -m 1 '^==check== [a-z]' "$work/err" | grep -qxF "==check== $head" && grep -qF "$more" "$work/err" ||
            { echo "$runtime, $fault: not '$head' with '$more':"; cat "$work/err"; exit 1; }
        checked 0 right "$fault"
    done <"$work/faults"
done
# Kernels by the names that the source has.
"$sonde" run -q --check --suppress 'block-race:scale<float,4>,uninitialised:twice' -- "$work/shared" wrong kernel_on_what_was_not_written >"$work/out" 2>&1 ||
    { echo "not suppressed:"; cat "$work/out"; exit 1; }
"$sonde" run -q --timeline "$work/line.json" -- "$work/shared" right kernel_on_what_was_not_written >"$work/out" 2>&1
grep -q '"ph":"X","name":"twice(int\*)"' "$work/line.json" || { echo "no kernel by its name in the time line:"; grep '"ph":"X"' "$work/line.json"; exit 1; }
