#!/bin/sh
# One kernel of a PTX file: results in files, costs on standard output, and all that can be wrong.
cp "$DATA"/*.ptx .
words() {
    od -A n -t u4 -v "$1" | tr -s ' \n' ' '
    echo
}
printf '\001\000\000\000\002\000\000\000\003\000\000\000' >in
run sonde exec double.ptx --block 32 --arg inout:in --arg u32:3 --functional
words in
sonde exec double.ptx --kernel double_words --block 32,1,1 --grid 1 --arg inout:in --arg u32:2 >cost
echo "status $?"
words in
grep -c '^cycles  *[1-9]' cost
sonde exec double.ptx --block=32 --arg file:in --arg u32:0x3 -d sim:gtx560ti >/dev/null
words in
run sonde exec double.ptx -q --functional --block 2 --arg out:out:16 --arg u32:4
words out
run sonde exec two_kernels.ptx --kernel first --functional

echo "# statistics"
sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --stats stats.json >/dev/null
echo "status $?"
grep -c '"schema": "sonde.statistics/1"' stats.json
# of all launches, then of each kernel
grep -o '"thread_instructions": [0-9]*' stats.json
grep -o '"kernel": .*' stats.json
grep -c '"cta": 0' stats.json
run sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --stats -
run sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --stats stats.json --functional
run sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --stats missing/stats.json

echo "# host threads: not a byte is different"
for threads in 1 2 3; do
    sonde exec double.ptx --grid 200 --block 128 --arg zero:102400 --arg u32:25600 --threads $threads \
        --stats threads$threads.json >cost$threads
    echo "status $?"
done
cmp threads1.json threads2.json && cmp threads1.json threads3.json && cmp cost1 cost2 && cmp cost1 cost3 && echo same
run sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --threads 0
run sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --threads 100000
run sonde exec double.ptx --block 32 --arg zero:256 --arg u32:3 --threads two

echo "# the command line"
run sonde exec
run sonde exec double.ptx other.ptx
run sonde exec double.ptx --grid 0
run sonde exec double.ptx --block 1,2,3,4
run sonde exec double.ptx --block 1,
run sonde exec double.ptx --block -1
run sonde exec double.ptx --grid 4294967296
run sonde exec double.ptx --grid ' -18446744073709551615'
run sonde exec double.ptx --threads ' -18446744073709551614'
run sonde exec double.ptx --shared much
run sonde exec double.ptx --shared 4294967296
run sonde exec double.ptx -d sim:nothing
run sonde exec double.ptx
run sonde exec two_kernels.ptx
run sonde exec double.ptx --kernel half_words
argument() {
    run sonde exec double.ptx --arg "$1" --arg "${2:-u32:1}"
}
run sonde exec two_kernels.ptx --kernel third
run sonde exec double.ptx --arg u64:1
run sonde exec double.ptx -d gtx780
run sonde exec double.ptx -d cpu
argument u64
argument :
argument byte:1
argument u32:1
argument f64:1
argument u64:
argument u64:1x
argument u64:-1
argument zero:0
argument zero:many
argument zero:-1
argument 'zero: 64'
argument 'u64: -1'
argument 's64: 1'
argument f64:1e999
argument f32:1e39
argument 'f32: 1'
argument zero:1TiB
argument out:x
argument out:x:
argument out::4
argument file:absent
argument file:.
: >empty
argument file:empty
argument zero:4 u32:4294967296
argument zero:4 u32:-1
argument zero:4 f32:1
argument zero:4 u64:1

echo "# the launch"
run sonde exec double.ptx --block 1025 --arg zero:4 --arg u32:1
run sonde exec double.ptx --block 32,32,32 --arg zero:4 --arg u32:1
run sonde exec double.ptx --shared 1000000 --arg zero:4 --arg u32:1
echo "# the program: faults have status 1, and write nothing"
run sonde exec double.ptx --block 32 --arg out:faulted:8 --arg u32:3
run sonde exec double.ptx --block 32 --arg u64:0 --arg u32:1
run sonde exec double.ptx --block 32 --arg u64:0xfffffffffffffffe --arg u32:1 --functional
ls faulted
echo "# PTX with mistakes: all of them, each with its place"
run sonde exec broken.ptx --kernel broken
for length in 1 40 100 200 300 400 500 $(($(wc -c <double.ptx) - 3)); do
    head -c $length double.ptx >cut.ptx
    sonde exec cut.ptx --arg zero:4 --arg u32:1 >out 2>&1
    status=$?
    [ $status -eq 4 ] || echo "$length bytes: status $status"
    grep -q '^sonde: cut.ptx:[0-9]*:[0-9]*: error: ' out || cat out
done
run sonde exec empty
run sonde exec /dev/null
run sonde exec absent.ptx
run sonde exec .
head -c 1000 /dev/zero >zeros.ptx
run sonde exec zeros.ptx
sonde exec "$(command -v sonde)" >out 2>&1
echo "status $?"

echo "# what the device does not run"
for target in sm_35 sm_50 sm_90a sm_100f; do
    sed "s/^\.target.*/.target $target/" double.ptx >"$target.ptx"
done
run sonde exec sm_35.ptx --arg zero:4 --arg u32:1 --functional
run sonde exec sm_50.ptx --arg zero:4 --arg u32:1 --functional
run sonde exec sm_50.ptx --arg zero:4 --arg u32:1 --functional --any-target
run sonde exec sm_35.ptx --arg zero:4 --arg u32:1 --functional -d sim:8600gts
run sonde exec sm_90a.ptx --arg zero:4 --arg u32:1 --functional
sed 's/double_words/other/' sm_50.ptx >other50.ptx
run sonde exec double.ptx other50.ptx --kernel double_words --arg zero:4 --arg u32:1 --functional
capable() {
    printf 'inherits: gtx780\ndriver: {compute_major: %s, compute_minor: %s}\n' "$1" "$2" >capable.yaml
    shift 2
    run sonde exec "$@" --arg zero:4 --arg u32:1 --functional -d sim:capable.yaml
}
capable 9 0 sm_90a.ptx
capable 10 0 sm_90a.ptx
capable 10 3 sm_100f.ptx
capable 12 0 sm_100f.ptx
capable 12 0 sm_50.ptx

echo "# two results for one file; more than the device has"
cat >two.ptx <<'PTX'
.version 6.0
.target sm_30
.address_size 64
.visible .entry two(.param .u64 a, .param .u64 b, .param .align 8 .b8 c[24])
{
    ret;
}
PTX
run sonde exec two.ptx
sed 's/, .param .align.*)/)/' two.ptx >pair.ptx
run sonde exec pair.ptx --arg out:same:4 --arg out:same:8
run sonde exec pair.ptx --arg out:same:4 --arg out:./same:8
run sonde exec pair.ptx --arg inout:in --arg "out:$PWD/in:8" 2>&1 | sed "s|$PWD|PWD|"
run sonde exec pair.ptx --arg out:same:4 --arg zero:4 --stats same
run sonde exec pair.ptx --arg out:/dev/null:4 --arg out:/dev/null:4 --functional -q
run sonde exec pair.ptx --arg out:one:4 --arg out:other:8 --functional -q
run ls one other
run sonde exec pair.ptx --arg zero:2GiB --arg zero:2GiB
echo '.version 6.0
.target sm_30
.address_size 64
.visible .global .b8 huge[4294967296];
.visible .entry k() { ret; }' >huge.ptx
run sonde exec huge.ptx
run sonde probe chase --set bytes=3584MiB --set stride=1MiB
echo "# reports and buffers that would overwrite each other; an end of line in a name"
cp "$DATA"/double.ptx 'two
lines.ptx'
ln -s same.json link.json; : >same.json
run sonde exec double.ptx --arg zero:4 --arg u32:1 --stats same.json --timeline link.json
run sonde exec double.ptx --arg out:x:4 --arg u32:1 --profile=json:./x
run sonde run --stats same.json --timeline same.json -- true
run sonde exec 'two
lines.ptx' --arg zero:1 --arg u32:1 --check -q
run sonde run -- 'two
lines'
