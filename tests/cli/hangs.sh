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
.visible .entry asked_before(.param .u64 flag)
{
    .reg .pred %p;
    .reg .b32 %r;
    .reg .b64 %d;
    ld.param.u64 %d, [flag];
asks:
    atom.global.add.u32 %r, [%d], 1;
    setp.lt.u32 %p, %r, 200;
    @%p bra asks;
again:
    mov.u32 %r, 0;
    bra again;
}
.file 1 "hang.cu"
PTX
run sonde exec hang.ptx --kernel half --block 128 --functional
run sonde exec hang.ptx --kernel half --block 128
echo "# a warp that spins, others that wait for it"
run sonde exec hang.ptx --kernel spins --block 128 --arg zero:4 --max-cycles 20000
run sonde exec hang.ptx --kernel spins --block 128 --arg zero:4 --max-cycles 0
echo "# independent lanes that have waited before"
run sonde exec hang.ptx -d sim:h200 --kernel asked_before --block 64 --arg zero:4 --max-cycles 2000000
echo "# on a terminal a launch tells how far it is, and since when"
shown() {
    TERM=xterm script -qec "sonde exec hang.ptx --block 64 $*" /dev/null </dev/null >terminal
    grep -o '\[[#.]*\] *[0-9]* % *[0-9]*:[0-9][0-9]  [0-9]* of [0-9]* blocks, [0-9]* [a-z ]*' terminal |
        sed 's/ % .*  / % TIME  /; s/, [0-9]* /, N /' | sort -u
}
shown --kernel counts --functional
shown --kernel spins --grid 8 --arg zero:4 --max-cycles 20000
sonde exec hang.ptx --kernel spins --block 64 --arg zero:4 --max-cycles 200000 2>&1 | grep -c blocks,

cat >endless.ptx <<'PTX'
.version 7.0
.target sm_35
.address_size 64
.visible .entry itself()
{
again:
    bra again;
}
// word 0 becomes 1 by nobody
.visible .entry flag(.param .u64 place)
{
    .reg .pred %p;
    .reg .b32 %v;
    .reg .b64 %d;
    ld.param.u64 %d, [place];
look:
    ld.volatile.global.u32 %v, [%d];
    setp.eq.u32 %p, %v, 0;
    @%p bra look;
    ret;
}
// one warp of two comes to the barrier, the other waits for a word of shared memory; it stores what is there
.visible .entry inside(.param .u64 place)
{
    .reg .pred %p;
    .reg .b32 %v;
    .shared .align 4 .b32 word[2];
    mov.u32 %v, %tid.x;
    setp.ge.u32 %p, %v, 32;
    @%p bra over;
look:
    st.volatile.shared.u32 [word+4], 0;
    ld.volatile.shared.u32 %v, [word];
    setp.eq.u32 %p, %v, 0;
    @%p bra look;
over:
    bar.sync 0;
    ret;
}
// each thread takes the lock, and lets it go where `gives` is 1
.visible .entry lock(.param .u64 place, .param .u32 gives)
{
    .reg .pred %p;
    .reg .b32 %v, %g, %n;
    .reg .b64 %d;
    ld.param.u64 %d, [place];
    ld.param.u32 %g, [gives];
    mov.u32 %n, 0;
try:
    atom.global.cas.b32 %v, [%d], 0, 1;
    setp.ne.u32 %p, %v, 0;
    @%p bra try;
work:
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 20000;
    @%p bra work;
    setp.eq.u32 %p, %g, 0;
    @%p bra out;
    membar.gl;
    st.volatile.global.u32 [%d], 0;
out:
    ret;
}
// block 0 waits for block 1, which counts for long: in a register, by the clock, or not at all and never comes
.visible .entry late(.param .u64 place, .param .u32 how)
{
    .reg .pred %p;
    .reg .b32 %v, %n, %h;
    .reg .b64 %d, %t, %s;
    ld.param.u64 %d, [place];
    ld.param.u32 %h, [how];
    mov.u32 %v, %ctaid.x;
    mov.u32 %n, 0;
    setp.ne.u32 %p, %v, 0;
    @%p bra other;
look:
    ld.volatile.global.u32 %v, [%d];
    setp.eq.u32 %p, %v, 0;
    @%p bra look;
    ret;
other:
    setp.eq.u32 %p, %h, 0;
    @!%p bra clock;
count:
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 100000;
    @%p bra count;
    bra give;
clock:
    mov.u64 %s, %clock64;
more:
    mov.u64 %t, %clock64;
    sub.u64 %t, %t, %s;
    setp.lt.u64 %p, %t, 3000000;
    @%p bra more;
give:
    st.volatile.global.u32 [%d], 1;
    ret;
}
// all blocks wait until the last one comes
.visible .entry last(.param .u64 place)
{
    .reg .pred %p;
    .reg .b32 %v, %n;
    .reg .b64 %d;
    ld.param.u64 %d, [place];
    mov.u32 %n, %nctaid.x;
    mov.u32 %v, %ntid.x;
    mul.lo.u32 %n, %n, %v;
    atom.global.add.u32 %v, [%d], 1;
look:
    ld.volatile.global.u32 %v, [%d];
    setp.lt.u32 %p, %v, %n;
    @%p bra look;
    ret;
}
// four whose registers are the same each time they branch, and which end: what they count is elsewhere
.visible .entry by_atomics(.param .u64 place)
{
    .reg .pred %p;
    .reg .b32 %v;
    .reg .b64 %d;
    ld.param.u64 %d, [place];
next:
    atom.global.add.u32 %v, [%d], 1;
    setp.lt.u32 %p, %v, 8000;
    mov.u32 %v, 0;
    @%p bra next;
    ret;
}
.visible .entry in_shared()
{
    .reg .pred %p;
    .reg .b32 %v;
    .shared .align 4 .b32 word;
next:
    ld.shared.u32 %v, [word];
    add.u32 %v, %v, 1;
    st.shared.u32 [word], %v;
    setp.lt.u32 %p, %v, 40000;
    mov.u32 %v, 0;
    @%p bra next;
    ret;
}
.visible .entry by_clock()
{
    .reg .pred %p;
    .reg .b64 %t;
next:
    mov.u64 %t, %clock64;
    setp.lt.u64 %p, %t, 3000000;
    mov.u64 %t, 0;
    @%p bra next;
    ret;
}
PTX
# in_local() is in_shared() with a word of local memory
sed -n '/entry in_shared/,/^}/ { s/shared/local/; p; }' endless.ptx >local.ptx
cat local.ptx >>endless.ptx
cat >hopper.ptx <<'PTX'
.version 8.0
.target sm_90
.address_size 64
// the barrier wants two arrivals: thread 0 of warp 1 gives one, and the other after counting to `late`, 0: never
.visible .entry arrival(.param .u32 late, .param .u32 tests)
{
    .reg .pred %p;
    .reg .b32 %v, %n, %l, %t;
    .reg .b64 %s;
    .shared .align 8 .b64 barrier;
    ld.param.u32 %l, [late];
    ld.param.u32 %t, [tests];
    mov.u32 %v, %tid.x;
    setp.ne.u32 %p, %v, 0;
    @%p bra made;
    mbarrier.init.shared.b64 [barrier], 2;
made:
    bar.sync 0;
    setp.lt.u32 %p, %v, 32;
    @%p bra wait;
    setp.ne.u32 %p, %v, 32;
    @%p bra over;
    mbarrier.arrive.shared.b64 %s, [barrier];
    setp.eq.u32 %p, %l, 0;
    @%p bra over;
    mov.u32 %n, 0;
count:
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, %l;
    @%p bra count;
    mbarrier.arrive.shared.b64 %s, [barrier];
    bra over;
wait:
    setp.ne.u32 %p, %t, 0;
    @%p bra test;
try:
    mbarrier.try_wait.parity.shared.b64 %p, [barrier], 0;
    @!%p bra try;
    bra over;
test:
    mbarrier.test_wait.parity.shared.b64 %p, [barrier], 0;
    @!%p bra test;
over:
    ret;
}
// block 0 of a pair waits for a word of its shared memory, which block 1 writes after counting to `late`, 0: never
.visible .entry pair(.param .u32 late) .reqnctapercluster 2
{
    .reg .pred %p;
    .reg .b32 %v, %n, %l, %r, %a;
    .shared .align 4 .b32 word;
    ld.param.u32 %l, [late];
    mov.u32 %r, %cluster_ctarank;
    st.volatile.shared.u32 [word], 0;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    setp.ne.u32 %p, %r, 0;
    @%p bra other;
look:
    ld.volatile.shared.u32 %v, [word];
    setp.eq.u32 %p, %v, 0;
    @%p bra look;
    bra over;
other:
    setp.eq.u32 %p, %l, 0;
    @%p bra over;
    mov.u32 %n, 0;
count:
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, %l;
    @%p bra count;
    mov.u32 %a, word;
    mapa.shared::cluster.u32 %a, %a, 0;
    st.shared::cluster.u32 [%a], 1;
over:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}
// all lanes store what is there, and, with `counts`, one more each time
.visible .entry stores(.param .u32 counts)
{
    .reg .pred %p;
    .reg .b32 %v, %c, %a, %x;
    .shared .align 4 .b32 words[32];
    ld.param.u32 %c, [counts];
    mov.u32 %x, %tid.x;
    shl.b32 %x, %x, 2;
    mov.u32 %a, words;
    add.u32 %a, %a, %x;
    st.shared.u32 [%a], 0;
again:
    ld.shared.u32 %v, [%a];
    add.u32 %v, %v, %c;
    st.shared.u32 [%a], %v;
    setp.lt.u32 %p, %v, 40000;
    mov.u32 %v, 0;
    @%p bra again;
    ret;
}
PTX
hopper() {
    echo "# hopper $*"
    run sonde exec hopper.ptx -q -d sim:h200 "$@" --max-cycles 20000000
}
endless() {
    echo "# $*"
    run sonde exec endless.ptx -q "$@" --max-cycles 20000000
}
echo "# endless kernels are told as such"
endless --kernel itself --block 64
endless --kernel flag --block 64 --arg zero:4
endless --kernel inside --block 64 --arg zero:4
endless --kernel lock --grid 2 --arg zero:4 --arg u32:0
endless --kernel last --shared 32768 --block 32 --grid 14 --arg zero:4
endless --kernel last --shared 32768 --block 32 --grid 14 --threads 2 --arg zero:4
endless --kernel lock --block 64 -d sim:v100 --arg zero:4 --arg u32:0
hopper --kernel arrival --block 64 --arg u32:0 --arg u32:0
hopper --kernel arrival --block 64 --arg u32:0 --arg u32:1
hopper --kernel pair --grid 4 --block 32 --arg u32:0
hopper --kernel stores --block 32 --arg u32:0
echo "# those that end are not, nor those of which it cannot be told"
endless --kernel late --grid 2 --arg zero:4 --arg u32:0
endless --kernel late --grid 2 --arg zero:4 --arg u32:1
endless --kernel lock --grid 6 --arg zero:4 --arg u32:1
endless --kernel last --shared 32768 --block 32 --grid 12 --arg zero:4
endless --kernel by_atomics --arg zero:4
for block in 1 32; do
    endless --kernel in_shared --block $block
    endless --kernel in_local --block $block
done
endless --kernel by_clock
hopper --kernel arrival --block 64 --arg u32:100000 --arg u32:0
hopper --kernel arrival --block 64 --arg u32:100000 --arg u32:1
hopper --kernel pair --grid 4 --block 32 --arg u32:100000
hopper --kernel stores --block 32 --arg u32:1
# functional PTX ARGUMENT...: the same without timing
functional() {
    echo "# functional $*"
    ptx=$1
    shift
    run sonde exec "$ptx" -q --functional "$@"
}
echo "# without timing too"
functional endless.ptx --kernel itself --block 64
functional endless.ptx --kernel flag --block 64 --arg zero:4
functional endless.ptx --kernel inside --block 64 --arg zero:4
functional endless.ptx --kernel lock --grid 2 --arg zero:4 --arg u32:0
functional endless.ptx --kernel last --shared 32768 --block 32 --grid 14 --arg zero:4
functional hopper.ptx -d sim:h200 --kernel pair --grid 4 --block 32 --arg u32:0
functional hopper.ptx -d sim:h200 --kernel stores --block 32 --arg u32:0
echo "# and those that end are not"
functional endless.ptx --kernel late --grid 2 --arg zero:4 --arg u32:1
functional endless.ptx --kernel lock --grid 6 --arg zero:4 --arg u32:1
functional endless.ptx --kernel last --shared 32768 --block 32 --grid 12 --arg zero:4
functional hopper.ptx -d sim:h200 --kernel arrival --block 64 --arg u32:100000 --arg u32:0
