#!/bin/sh
# What kernels ask of their driver, as sonde exec --any-target shows it: printf, assertions, the heap, cooperative
# launches, linked files. The kernels are those of tests/driver.
cp "$SOURCE"/tests/driver/*.ptx "$SOURCE"/tests/driver/link/call.ptx .
quiet() {
    sonde exec --any-target -q "$@" >out 2>&1
    echo "status $?"
    grep -v -E '^[a-z0-9_]{5,}  +[0-9]|^[a-z0-9]+_[a-z0-9_]+ [0-9]' out
}
echo "# printf"
quiet printf.ptx --kernel everyone --grid 2 --block 7
quiet printf.ptx --kernel everyone --grid 2 --block 7 --functional
sonde exec --any-target printf.ptx --kernel many --arg s32:100 --printf-buffer 1024 --functional >out
echo "status $?"
head -n 2 out
grep -c line out
grep printf_lost out
sonde exec --any-target printf.ptx --kernel many --arg s32:3 -q >/dev/full
echo "status $?"
run sonde exec --any-target printf.ptx --kernel many --arg s32:3 --printf-buffer 10
run sonde exec --any-target printf.ptx --kernel many --arg s32:3 --printf-buffer lots
run sonde exec --any-target printf.ptx --kernel many --arg s32:3 --printf-buffer 0
run sonde exec --any-target printf.ptx --kernel many --arg s32:3 --heap 0
echo "# assert"
quiet assert.ptx --block 3 --arg u32:2
quiet assert.ptx --block 3 --arg u32:2 --functional
echo "# the heap"
quiet heap.ptx --kernel give --arg zero:8
quiet heap.ptx --kernel objects --arg zero:128 --block 32 --heap 65536
printf '\020\000\000\000\000\000\000\000' >pointer
quiet heap.ptx --kernel give --arg file:pointer
run sonde exec --any-target heap.ptx --kernel give --arg zero:8 --heap 0x100000000000
echo "# cooperative launches"
quiet grid.ptx --kernel plane --grid 4,3 --block 32 --arg out:cells:48 --cooperative
od -A n -t u4 -v cells | tr -s ' \n' ' '
echo
quiet grid.ptx --kernel plane --grid 4,3 --block 32 --arg out:cells:48
quiet grid.ptx --kernel plane --grid 400 --block 32 --arg zero:1600 --cooperative
echo "# linked files"
quiet link_main.ptx link_part.ptx --kernel whole --block 8 --arg zero:32
quiet link_part.ptx link_main.ptx --kernel whole --block 8 --arg zero:32 --functional
quiet link_main.ptx --kernel whole --block 8 --arg zero:32
quiet link_main.ptx call.ptx --kernel whole --block 8 --arg zero:32
quiet link_main.ptx link_part.ptx link_part.ptx --kernel whole
quiet link_main.ptx absent.ptx --kernel whole
quiet link_main.ptx link_part.ptx
