#!/bin/sh
# Help, and every way to say something that is no command line: status 2 and how to get on.
run sonde
run sonde --help
run sonde help
run sonde --version
run sonde --version now
run sonde disect
run sonde xyzzy
run sonde help infre
sonde help --help | head -1
for command in devices dissect probe infer exec model; do
    run sonde help $command
    sonde $command --help >by-option
    sonde help $command | cmp - by-option
done
# options
run sonde dissect --jsno x
run sonde dissect -x
run sonde dissect -d
run sonde dissect --json
run sonde dissect --only
run sonde dissect --seed
run sonde dissect --seed -1
run sonde dissect --seed 1x
run sonde dissect --seed 99999999999999999999
run sonde dissect -q -v
run sonde dissect --experiments=1
run sonde dissect --record -
run sonde dissect --json x --record x
run sonde dissect gtx780
run sonde dissect -- -d
run sonde infer
run sonde infer a b
run sonde infer a --record b
run sonde devices now
run sonde devices -d sim:gtx780
run sonde model
run sonde model lst
run sonde model show
run sonde model show a b
run sonde model list --json
run sonde probe
run sonde probe chase average
run sonde probe chase --set
# names
run sonde dissect -d ''
run sonde dissect -d gtx780
run sonde dissect -d sim:
run sonde dissect -d sim:gtx78
run sonde dissect -d cuda:
run sonde dissect -d cuda:first
run sonde dissect -d cuda:0x0
run sonde dissect -d replay:
run sonde dissect --only size
run sonde dissect --only capacity,,line
run sonde dissect --skip everything
run sonde infer --only size "$DATA/../../fuzz/corpus/trace/small.sonderec"
run sonde model show gtx56

run sonde dissect -d tiny.yaml
run sonde dissect -d cuda
run sonde probe chase -d gtx560

echo "# lists: repeated ones add, an empty one asks for nothing"
run sonde dissect --only ''
run sonde dissect --skip=
run sonde infer x --only ''
run sonde study mei2014 --only ''
run sonde dissect --only line --skip capacity,line
run sonde dissect --only capacity --only line --skip sets --skip line
run sonde infer x --only line --skip line
run sonde dissect --only capacity --only size

echo "# a name of two lines: one line of error"
lines="two
lines"
run sonde "$lines"
run sonde dissect "$lines"
run sonde dissect -d "$lines"
run sonde dissect -d "sim:$lines"
run sonde dissect -d "sim:$lines.yaml"
run sonde dissect --only "$lines"
run sonde dissect --json "absent/$lines"
run sonde infer "$lines"
run sonde study "$lines"
run sonde model check "$lines"
echo 'sms: -1' >"$lines.yaml"
run sonde model check "$lines.yaml"
cp "$SOURCE/tests/models/tiny.yaml" "$lines.yaml"
run sonde model check "$lines.yaml"
sonde dissect -d "sim:$lines.yaml" --only capacity | sed -n 1p

echo "# a terminal that knows no escape sequences gets none; another gets them"
terminal() {
    script -qec "env $1 sonde dissect -d sim:$SOURCE/tests/models/tiny.yaml --only capacity" /dev/null |
        grep -c "$(printf '\033')" | sed 's/^[1-9][0-9]*$/some/'
}
terminal TERM=dumb
terminal -uTERM
terminal TERM=xterm

echo "# what steers terminals is shown, not sent"
escape=$(printf '\033]0;title\a')
run sonde "$escape"
run sonde dissect "$escape"
run sonde dissect -d "sim:$escape"
run sonde dissect -d "cuda:$escape"
run sonde dissect --json "absent/$escape"
run sonde model check "$escape"
run sonde "$(printf %09999d 0)" 2>&1 | cut -c 1-40
echo "# what is read is not written over"
cp "$DATA/dissection.json" kept.json
cp "$SOURCE/examples/saxpy.ptx" .
echo ".version 8.0 .target sm_35 .address_size 64" >linked.ptx
sonde model show gtx780 >model.yaml
cp model.yaml model.before
for command in "report kept.json -o ./kept.json" "export --format hwloc kept.json -o kept.json" \
    "compare kept.json $DATA/dissection.json --json kept.json" "infer kept.json --json kept.json" \
    "dissect -d replay:kept.json --record kept.json" "exec saxpy.ptx --stats saxpy.ptx" "exec saxpy.ptx --timeline saxpy.ptx" \
    "exec saxpy.ptx linked.ptx --stats linked.ptx" "exec saxpy.ptx -d sim:model.yaml --stats model.yaml" "dissect -d sim:model.yaml --json model.yaml"; do
    run sonde $command 2>&1 | sed "s#$DATA#DATA#"
done
head -c 64 /dev/zero >data.bin
for arg in file:data.bin name=file:data.bin inout:data.bin texture:f32:16:data.bin texture:f32:16:data.bin,linear surface:u8:8x8:data.bin; do
    run sonde exec saxpy.ptx --arg "$arg" --stats ./data.bin
done
head -c 64 /dev/zero | cmp - data.bin
cmp kept.json "$DATA/dissection.json"
cmp saxpy.ptx "$SOURCE/examples/saxpy.ptx"
cmp model.yaml model.before
echo "# what there is, is told"
run sonde model check "$DATA/dissection.json" 2>&1 | sed "s#$DATA#DATA#"
printf 'SONDEREC and more' >r.sonde
for command in "report r.sonde -o page.html" "topology r.sonde" "export r.sonde --format sonde" "compare $DATA/dissection.json r.sonde" "compare r.sonde r.sonde"; do
    run sonde $command
done
run sonde infer "$DATA/dissection.json" 2>&1 | sed "s#$DATA#DATA#"
run sonde export "$DATA/dissection.json" --format hwloc --base gtx480
run sonde exec saxpy.ptx -d sim:linked.ptx
run sonde exec saxpy.ptx --max-cycles 99999999999999999999
run sonde exec saxpy.ptx --arg x=iota:f32:8 --arg zero:32 --arg f32:1 --arg u32:8 --block 8 -q --print 0:f32:2 --print 1 --print x:f32:1
run sonde exec saxpy.ptx --arg x=iota:f32:8 --arg zero:32 --arg f32:1 --arg u32:8 --print 2
run sonde study mei2017
run sonde model params qwertyuiop
run sonde model params l2.hit_latncy
run sonde exec saxpy.ptx --arg zero:4 --arg zero:4 --arg bytes:1024 --arg u32:1
run sonde exec saxpy.ptx --arg zero:4 --arg zero:4 --arg bytes:1,-1 --arg u32:1
run sonde dissect --only nosuch
run sonde probe zzzzz
run sonde study mei2014 --only nosuch
run sonde exec saxpy.ptx --suppress nosuch --check
run sonde run --threads 0 -- true
run sonde run --threads 257 -- true
