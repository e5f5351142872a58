#!/bin/sh
# benched.sh SOURCE: each workload has a figure of its own in the benchmark, in the geometric mean's list (bench/timing.def)
# or beside it (`others` in bench/run.sh), and only one; the mean is of the same eight programs as ever, to stay comparable.
set -u
export LC_ALL=C
cd "$1" || exit 1
status=0
mean=$(sed -n 's/^TIMED(\([a-z0-9]*\),.*/\1/p' bench/timing.def)
others=$(sed -n '/^others="/,/"$/p' bench/run.sh | tr -d '"' | sed 's/^others=//' | tr ' ' '\n' | sed -n 's/=.*//p')
[ "$(echo "$mean" | sort | tr '\n' ' ')" = "bfs blackscholes matmul nbody reduction stencil vectoradd walsh " ] ||
    { echo "the mean is of other programs: $mean" && status=1; }
names=$(sed -n 's/^WORKLOAD(\([a-z0-9]*\),.*/\1/p' workloads/workloads.def)
for name in $names; do
    [ "$(printf '%s\n%s\n' "$mean" "$others" | grep -cx "$name")" -eq 1 ] || { echo "$name: not one figure" && status=1; }
done
exit "$status"
