#!/bin/sh
# What arguments can be, several launches over the same buffers, results printed.
cp "$DATA"/daily.ptx .
quiet() {
    run sonde exec daily.ptx --functional -q "$@"
}
saxpy() {
    quiet --kernel saxpy --block 32 "$@"
}
parameters() {
    quiet --kernel parameters --arg "o=zero:32" --arg "$1" --arg "$2" --arg "$3" --arg "$4" --print o:u64
}
echo "# buffers that are made"
saxpy --arg y=data:f32:1,2,-0.5,1e-3 --arg iota:f32:4:10:0.5 --arg f32:2 --arg u32:4 --print y
saxpy --arg print:f32:9 --arg fill:f32:9:0.1 --arg f32:1 --arg u32:9
saxpy --arg y=random:f32:4 --arg same:y --arg f32:1 --arg u32:0 --print y
saxpy --arg y=random:f32:4:2 --arg same:0 --arg f32:1 --arg u32:0 --print y --print y:b32:2
saxpy --arg y=random:b16:4 --arg same:y --arg f32:1 --arg u32:0 --print y
saxpy --arg y=data:bf16:1,3.14159,inf --arg same:y --arg f32:1 --arg u32:0 --print y:b16 --print y
saxpy --arg y=iota:s8:3:127 --arg same:y --arg f32:1 --arg u32:0 --print y --print y:u8
saxpy --arg y=data:f64:0.1,-1e300,nan --arg same:y --arg f32:1 --arg u32:0 --print y

echo "# narrow parameters, and structs by value"
parameters u8:255 s16:-2 f16:1.5 hex:0000000078563412
parameters u8:1 u16:65534 b16:0xffff bytes:0,0,0,0,1,2,3,0x80
parameters u8:256 s16:-2 f16:1.5 hex:0000000078563412
parameters u8:1 s16:-32769 f16:1.5 hex:0000000078563412
parameters u8:1 s16:1 f16:70000 hex:0000000078563412
parameters u8:1 s16:1 f16:1 hex:000000007856341
parameters u8:1 s16:1 f16:1 hex:00000000785634zz
parameters u8:1 s16:1 f16:1 bytes:1,2,3
parameters u8:1 s16:1 f16:1 bytes:1,2,3,4,5,6,7,256
parameters u8:1 s16:1 f16:1 u64:7
parameters u16:1 s16:1 f16:1 hex:0000000078563412

echo "# launches in turn"
quiet --kernel saxpy --block 4 --arg y=fill:f32:4:1 --arg x=iota:f32:4 --arg f32:2 --arg u32:4 \
    --then --kernel saxpy --block 2 --arg same:x --arg same:y --arg f32:10 --arg u32:2 --print x --print y
sonde exec daily.ptx --kernel saxpy --block 4 --arg y=fill:f32:4:1 --arg x=iota:f32:8 --arg f32:2 --arg u32:4 \
    --then --kernel parameters --arg same:x --arg u8:1 --arg u16:2 --arg b16:3 --arg hex:0000000000000000 \
    --stats stats.json >cost
echo "status $?"
grep -E '^(kernel|cycles +[1-9])' cost | sed 's/ [0-9]*$//'
grep -o '"kernel": .*' stats.json

echo "# images"
printf '\001\002\003\004\005\006\007\010' >texels
printf 'surface becomes!' >surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8:4x2:texels,integer --arg surface:u32:4:surface
od -A n -t u4 surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8x2:4x1:texels,integer --arg surface:u32:4:surface
quiet --kernel texels --block 2 --arg print:u32:2 --arg texture:u8x4:2x1:texels,integer --arg surface:u32:4:surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8:4x3:texels --arg surface:u32:4:surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8:4x2:texels,smooth --arg surface:u32:4:surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8x3:4x2:texels --arg surface:u32:4:surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8:4x:texels --arg surface:u32:4:surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8:4x2:absent --arg surface:u32:4:surface
quiet --kernel texels --block 4 --arg print:u32:4 --arg texture:u8:4x2:texels --arg surface:u32:4:missing

echo "# mistakes"
wrong() {
    quiet --kernel saxpy --arg "$1" --arg same:0 --arg f32:1 --arg u32:0
}
wrong data:f32:
wrong data:f32
wrong data:f32:1,,2
wrong data:f33:1
wrong iota:f32
wrong iota:f32:0
wrong iota:f32:many
wrong iota:f32:1:2:3:4
wrong iota:f64:4:x
wrong fill:u8:4:256
wrong iota:s8:3:127:18446744073709551616
wrong random:f32:1:x
wrong random:u64:18446744073709551615
wrong print:f32:0
wrong same:y
wrong same:0
wrong same:
wrong 1y=zero:4
wrong y=u64:4
wrong a_name_that_is_longer_than_it_may_be=zero:4
saxpy --arg y=zero:4 --arg y=zero:4 --arg f32:1 --arg u32:1
saxpy --arg y=zero:4 --arg same:y --arg f32:1 --arg u32:1 --print z
saxpy --arg y=zero:4 --arg same:y --arg f32:1 --arg u32:1 --print y:f32:2
saxpy --arg y=zero:4 --arg same:y --arg f32:1 --arg u32:1 --print y:float
saxpy --arg y=zero:4 --arg same:y --arg f32:1 --arg u32:1 --print y:f32:0
saxpy --arg y=zero:4 --arg same:2 --arg f32:1 --arg u32:1
quiet --kernel saxpy --arg y=zero:4 --arg same:y --arg f32:1 --arg u32:1 --then --kernel parameters
sonde exec daily.ptx -d cuda:0 --kernel saxpy --functional
echo "status $?"
