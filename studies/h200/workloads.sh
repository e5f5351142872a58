#!/bin/sh
# workloads.sh SONDE OUT: the workloads of the study h200 (src/study/kernels/programs.def) on a machine with an NVIDIA GPU, its driver and
# ncu; SONDE is a build of this repository. OUT/workload.NAME.SIZE.csv receives the counters of record.sh of all launches, under the
# same conditions: a process each, caches emptied before each pass, clocks left alone. recorded.py makes the lines of recorded.tsv
# of them. A workload whose results are not its host's leaves no file.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sonde=$1
out=$2
list=${PROGRAMS:-$here/../../src/study/kernels/programs.def}
metrics=$("$here/record.sh" --metrics)
sed -n 's/^PROGRAM(\([a-z_]*\), (\([0-9, ]*\)))$/\1 \2/p' "$list" | tr -d , | while read -r name sizes; do
    for size in $sizes; do
        file=$out/workload.$name.$size.csv
        if ! timeout 60 ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
            --log-file "$file" "$sonde" workload "$name" -d cuda:0 --size "$size" </dev/null; then
            echo "workloads.sh: $name $size: no recording" >&2
            mv "$file" "$file.failed"
        fi
    done
done
