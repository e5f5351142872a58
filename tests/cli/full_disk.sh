#!/bin/sh
# Output that cannot be written: status 1, the reason, whatever stood there before still there, and no
# part of a file beside it.
cp "$SOURCE/tests/models/tiny.yaml" .
sonde dissect -d sim:tiny.yaml --only l1_data -q --record tiny.sonde
tiny="-d replay:tiny.sonde" # enough for more than 1 KiB of each output, and no simulation each time
echo "# a full disk"
for option in --json --record; do
    run sonde dissect $tiny -q $option /dev/full
done
tell sonde dissect $tiny -q --json - >/dev/full
tell sonde dissect $tiny >/dev/full
tell sonde model params >/dev/full
tell sonde --help >/dev/full
run sonde exec "$DATA/double.ptx" --arg out:/dev/full:4 --arg u32:1
run sonde exec "$DATA/double.ptx" --arg zero:4 --arg u32:1 --stats /dev/full

echo "# a disk that fills up in the middle: files may have 1 KiB"
echo "from before" >old
limited() {
    # The pipe keeps this script's own output, a file, out of the limit.
    (
        ulimit -f 2
        "$@"
        echo "status $?"
    ) 2>&1 | sed "s|$PWD/||"
}
limited sonde dissect $tiny -q --json old
limited sonde dissect $tiny -q --record old
limited sonde probe chase -d sim:tiny.yaml --set bytes=64KiB --csv old
limited sonde dissect $tiny -q --json new
limited sonde dissect $tiny -q -o folder
limited sonde exec "$DATA/double.ptx" --arg out:old:4096 --arg u32:1
limited sonde dissect -d sim:tiny.yaml --only capacity --json old | grep '^sonde\|^sim\|^status'
limited sonde dissect -d sim:tiny.yaml --only capacity -o folder | grep '^sonde\|^sim\|^status'
cat old
ls
ls -A folder

echo "# a study: its rows are shown all the same, and of a drawing there is all or nothing"
limited sonde study mei2014 --only t3.kepler.p1 --json /dev/full
limited sonde study mei2014 --only f9.16k -o figures
ls -A figures

echo "# places where nothing can be written: told before anything is measured"
mkdir sub
run sonde dissect -q --json absent/x
run sonde dissect -q --record absent/x
run sonde dissect -q --json sub
run sonde dissect -q --json old/x
run sonde dissect -q --json ''
run sonde dissect -q -o ''
run sonde dissect -q -o old
run sonde dissect -q -o old/x
run sonde infer rec.sonde --json absent/x
run sonde probe chase --csv absent/x
run sonde exec "$DATA/double.ptx" --arg out:absent/x:4 --arg u32:1
run sonde exec "$DATA/double.ptx" --arg inout:sub --arg u32:1

echo "# the result of a dissection whose recording cannot be written"
sonde dissect -d sim:tiny.yaml -v --record /dev/full >table
echo "status $?"
sed -n 1p table
grep -c '^  hit latency' table
