#!/bin/sh
# An interrupt in the middle of a long dissection: status 130, what was measured is a whole recording,
# and no result is left that could be taken for one.
cat >large.yaml <<'YAML'
inherits: gtx780
name: large
doc: an L2 of 24 MiB, which takes long
l2: {size: 4 MiB, sets: 2048}
YAML
interrupt() {
    signal=$1
    shift
    timeout --preserve-status -s "$signal" 1.5 "$@" 2>stderr
    echo "status $?"
    sed 's/^sonde: .*interrupted/sonde: interrupted/' stderr
}
interrupt INT sonde dissect -d sim:large.yaml --record rec.sonde --json result.json
sonde infer rec.sonde >table
echo "infer: status $?, $(sed -n 1p table)"
grep -c 'not recorded' table | sed 's/^[1-9][0-9]*$/some/'
interrupt TERM sonde dissect -d sim:large.yaml -o folder
ls folder
interrupt INT sonde dissect -d sim:large.yaml --json -
interrupt INT sonde exec "$DATA/two_kernels.ptx" --kernel spin
interrupt INT sonde exec "$DATA/two_kernels.ptx" --kernel spin --functional
ls -A
