#!/bin/sh
# What is here: the shipped models on every machine; of real GPUs, with a library in their driver's
# place that is none, the reason why there are none.
: >libcuda.so.1
export LD_LIBRARY_PATH=.
without_reason() {
    sed 's/\(no CUDA driver\).*\("\{0,1\}\)$/\1\2/'
}
sonde devices 2>&1 | without_reason
sonde devices --json | without_reason | grep -v '"driver"'
sonde devices --json | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)["devices"]), "devices")'
# A GPU that is not there: status 3, and nothing is made for a result that there is not.
{ run sonde dissect -d cuda:0 -o out --record rec --json json; } 2>&1 | without_reason
{ run sonde probe chase -d cuda:1023 --csv csv; } 2>&1 | without_reason
ls
tell sonde devices >/dev/full
tell sonde devices --json >/dev/full
