#!/bin/sh
# The memory checker: reports on standard error or in a file, and the exit status that they make.
K=$SOURCE/tests/check/kernels
cp "$K/global.ptx" "$K/heap.ptx" "$K/async.ptx" "$K/barriers.ptx" .
head -c 1024 /dev/zero >data
wrong() {
    run sonde exec global.ptx -q --kernel "$1" --block 32 --arg file:data --arg zero:1024 "$2"
}
wrong wrong_behind_the_end --check
wrong right_behind_the_end --check
wrong wrong_misaligned_word --check=json
wrong wrong_misaligned_word --check=junit:report.xml
cat report.xml
echo "# what is not wanted, and what there is not"
run sonde exec global.ptx -q --kernel wrong_misaligned_word --block 32 --arg file:data --arg zero:1024 --check --suppress misaligned
run sonde exec global.ptx -q --kernel wrong_misaligned_word --block 32 --arg file:data --arg zero:1024 --check --suppress '*:another'
run sonde exec async.ptx -q -d sim:h200 --kernel wrong_copy_behind_the_block --block 32 --arg file:data --arg zero:1024 --check --suppress out-of-bounds
run sonde exec barriers.ptx -q -d sim:v100 --kernel wrong_barrier_with_odd_count --block 64 --arg file:data --arg zero:1024 --check --suppress barrier-count
wrong wrong_misaligned_word --check=yaml
wrong wrong_misaligned_word --check=json:
run sonde exec global.ptx -q --kernel wrong_misaligned_word --block 32 --arg file:data --arg zero:1024 --check --suppress nothing
echo "# a kernel's own allocations are told with their lines"
run sonde exec heap.ptx -q --kernel wrong_heap_used_after_free --block 1 --arg file:data --arg zero:1024 --check
echo "# where the source's lines are known"
sed 's/ld.global.u32 %r2, \[%d0+1024\]/.loc 1 42 7\n    &/; $a .file 1 "kernel.cu"' global.ptx >lines.ptx
sonde exec lines.ptx -q --kernel wrong_behind_the_end --block 32 --arg file:data --arg zero:1024 --check 2>&1 | grep 'at lines'
