#!/bin/sh
# The exit status of `sonde run` is its program's, as a shell tells it.
run sonde run -q -- sh -c 'exit 0'
run sonde run -q -- sh -c 'exit 3'
run sonde run -q -- sh -c 'kill -TERM $$'
run sonde run -q -- sh -c 'echo what it prints; echo and complains >&2'
echo "# what cannot be run"
run sonde run -q -- ./absent
: >plain
run sonde run -q -- ./plain
run sonde run -q -- .
run sonde run -q
echo "# what is asked of timed kernels where none is timed"
run sonde run --functional --summary -- true
run sonde run --functional --cold -- true
run sonde run --check --profile -- true
run sonde run --timeline line.json --functional -- true
run sonde run --functional --sample -- true
run sonde run --functional --max-cycles 5 -- true
run sonde run --count 0 -- true
run sonde run --suppress leak -- true
run sonde exec --suppress leak "$DATA/double.ptx" --arg zero:4 --arg u32:1
run sonde exec --functional --max-cycles 5 "$DATA/double.ptx" --arg zero:4 --arg u32:1
echo "# a program that uses no device"
run sonde run --summary -- true
run sonde run -q --stats none.json -- sh -c 'exit 3'
run sonde run -q --check=json:none.json -- true
run sonde run -q -- true
ls
echo "# errors that cannot be asked for"
run sonde run --sample=0.5% -- true
run sonde run --sample=much -- true
run sonde run --sample=120% -- true
