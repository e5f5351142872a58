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

echo "# what steers terminals is shown, not sent"
escape=$(printf '\033]0;title\a')
run sonde "$escape"
run sonde dissect "$escape"
run sonde dissect -d "sim:$escape"
run sonde dissect -d "cuda:$escape"
run sonde dissect --json "absent/$escape"
run sonde model check "$escape"
run sonde "$(printf %09999d 0)" 2>&1 | cut -c 1-40
