#!/bin/sh
# Raw measurements: columns to standard output or a file; parameters that are no such.
cp "$SOURCE/tests/models/tiny.yaml" .
tiny="-d sim:tiny.yaml"
sonde probe --list | grep '^[a-z]'
run sonde probe --list clock
run sonde probe --list clok
# The ring closes: 512 B by 128 B are visited in order, whatever the unit.
sonde probe chase $tiny --set bytes=512 --set stride=128 --set window=8 | cut -d , -f 1,3
sonde probe chase $tiny --set bytes='0.5 KiB' --set stride=128 --set window=8 >a
sonde probe chase $tiny --set bytes=512 --set stride=128 --set window=8 --csv b 2>stderr >stdout
cmp a b && echo "the same in a file"
cat stderr stdout
sonde probe chase $tiny --set bytes=9 --set bytes=512 --set window=8 --set stride=128 | cmp - a && echo "the last counts"
for probe in average overhead clock; do
    sonde probe $probe $tiny >columns
    echo "$probe: status $?, $(head -1 columns)"
done
run sonde probe chse $tiny
run sonde probe chase $tiny --set colour=red
run sonde probe chase $tiny --set bytes
run sonde probe chase $tiny --set =1
run sonde probe chase $tiny --set ''
run sonde probe chase $tiny --set bytes=
run sonde probe chase $tiny --set bytes=0
run sonde probe chase $tiny --set bytes=-4
run sonde probe chase $tiny --set bytes=1TiB
run sonde probe chase $tiny --set bytes='4 cycles'
run sonde probe chase $tiny --set bytes=99999999999999999999
run sonde probe chase $tiny --set op=xx
run sonde probe chase $tiny --set a_name_that_is_longer_than_any=1
run sonde probe chase $tiny --set warm=0 --set windows=2 --set persist=1 --set spread=1
run sonde probe chase $tiny --set window=1048576
run sonde probe chase $tiny --csv .
run sonde probe chase $tiny --csv absent/x
run sonde probe chase $tiny --csv /dev/full
tell sonde probe chase $tiny >/dev/full
