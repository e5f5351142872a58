#!/bin/sh
# Recordings: made, read in both ways, and every way in which one can be wrong.
cp "$SOURCE/tests/models/tiny.yaml" .
body() {
    sed 1,2d
}
sonde dissect -d sim:tiny.yaml -v --record rec.sonde | body >live
sonde infer rec.sonde -v | body | cmp live && echo "infer: as live"
sonde infer - -v <rec.sonde | body | cmp live && echo "infer from standard input: as live"
sonde dissect -d replay:rec.sonde -v | body | cmp live && echo "replay: as live"
sonde dissect -d replay:rec.sonde -q --record copy.sonde
cmp rec.sonde copy.sonde && echo "recorded again: the same"
sonde infer rec.sonde --json - | grep '"kind": "sim"'
sonde dissect -d replay:rec.sonde --json - | grep '"kind": "replay"'

echo "# what was not asked for is not recorded"
sonde dissect -d sim:tiny.yaml -q --only capacity --record part.sonde
sonde infer part.sonde -v >table
echo "status $?"
grep '^  size' table | tr -s ' ' | cut -d " " -f 2-4 | head -1
grep -c 'not recorded' table | sed 's/^[1-9][0-9]*$/some are not recorded/'
run sonde probe chase -d replay:part.sonde --set bytes=12345

echo "# cut short, at every length up to the header and at some beyond"
size=$(wc -c <rec.sonde)
for length in $(seq 0 70) 100 500 1000 $((size / 2)) $((size - 100)) $((size - 1)); do
    head -c "$length" rec.sonde >cut.sonde
    replay="dissect -d replay:cut.sonde" # the same reader: at some lengths
    [ $((length % 16)) -eq 0 ] || replay=
    for command in "infer cut.sonde" ${replay:+"$replay"}; do
        sonde $command >out 2>&1
        status=$?
        [ $status -eq 4 ] || echo "$length bytes, sonde $command: status $status"
        grep -q '^sonde: cut.sonde: byte [0-9]*: ' out || cat out
        [ "$(wc -l <out)" -eq 1 ] || cat out
    done
done
echo "# changed: one byte at a time"
for at in 0 7 8 9 20 30 40 63 64 65 100 500 $((size - 1)); do
    byte='\377' # or, where that is what stands there, another one
    case $(tail -c +$((at + 1)) rec.sonde | head -c 1 | od -An -tu1) in *255) byte='\0' ;; esac
    { head -c "$at" rec.sonde; printf "$byte"; tail -c +$((at + 2)) rec.sonde; } >changed.sonde
    sonde infer changed.sonde >out 2>&1
    status=$?
    [ $status -eq 4 ] || echo "changed at $at: status $status, $(cat out)"
done
echo "# more than there should be; nothing; no recording; not there; a folder; endless"
{ cat rec.sonde; echo more; } >longer.sonde
sonde infer longer.sonde >out 2>&1
echo "status $?"
: >empty.sonde
run sonde infer empty.sonde
run sonde infer tiny.yaml
run sonde infer absent.sonde
run sonde infer .
run sonde infer /dev/null
run sonde infer /dev/zero
run sonde dissect -d replay:absent.sonde
echo "# another version"
{ head -c 8 rec.sonde; printf '\002'; tail -c +10 rec.sonde; } >version.sonde
run sonde infer version.sonde

echo "# a path that steers terminals, in the head of the table"
escape=$(printf 'a\033[2Jb')
cp rec.sonde "$escape"
sonde infer "$escape" | sed -n 1p
sonde dissect -d "replay:$escape" -q -o shown
sed -n 1p shown/dissection.txt
