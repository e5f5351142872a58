#!/bin/sh
# A kernel that does not end is stopped, and told with where its warps are.
cat >hang.ptx <<'PTX'
.version 7.0
.target sm_35
.address_size 64
.visible .entry half()
{
    .reg .pred %p;
    .reg .b32 %r;
    mov.u32 %r, %tid.x;
    setp.ge.u32 %p, %r, 64;
    @%p bra second;
    bar.sync 1, 128;
    bra over;
second:
    bar.sync 2, 128;
over:
    ret;
}
.visible .entry spins(.param .u64 flag)
{
    .reg .pred %p, %q;
    .reg .b32 %r, %v;
    .reg .b64 %d;
    ld.param.u64 %d, [flag];
    mov.u32 %r, %tid.x;
    setp.ge.u32 %p, %r, 32;
    @%p bra wait;
    .loc 1 7 3
again:
    add.u32 %v, %v, 1;
    bra again;
wait:
    .loc 1 9 1
    bar.sync 0;
    ret;
}
.visible .entry counts()
{
    .reg .pred %p;
    .reg .b32 %r;
    mov.u32 %r, 0;
next:
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, 200000;
    @%p bra next;
    ret;
}
.file 1 "hang.cu"
PTX
run sonde exec hang.ptx --kernel half --block 128 --functional
run sonde exec hang.ptx --kernel half --block 128
echo "# a warp that spins, others that wait for it"
run sonde exec hang.ptx --kernel spins --block 128 --arg zero:4 --max-cycles 20000
run sonde exec hang.ptx --kernel spins --block 128 --arg zero:4 --max-cycles 0
echo "# on a terminal a launch tells how far it is, and since when"
shown() {
    TERM=xterm script -qec "sonde exec hang.ptx --block 64 $*" /dev/null </dev/null >terminal
    grep -o '\[[#.]*\] *[0-9]* % *[0-9]*:[0-9][0-9]  [0-9]* of [0-9]* blocks, [0-9]* [a-z ]*' terminal |
        sed 's/ % .*  / % TIME  /; s/, [0-9]* /, N /' | sort -u
}
shown --kernel counts --functional
shown --kernel spins --grid 8 --arg zero:4 --max-cycles 20000
sonde exec hang.ptx --kernel spins --block 64 --arg zero:4 --max-cycles 200000 2>&1 | grep -c blocks,
