#!/bin/sh
# benched.sh SOURCE: each workload has a figure of its own in the benchmark, in the geometric mean's list (bench/timing.def)
# or beside it (`others` and `todays` in bench/run.sh, on the model that it is for), and only one; the mean is of the same eight programs as ever, to stay comparable.
set -u
export LC_ALL=C
cd "$1" || exit 1
status=0
mean=$(sed -n 's/^TIMED(\([a-z0-9]*\),.*/\1/p' bench/timing.def)
list() { # NAME: the workloads of such a variable
    sed -n "/^$1=\"/,/\"\$/p" bench/run.sh | tr -d '"' | sed "s/^$1=//" | tr ' ' '\n' | sed -n 's/=.*//p'
}
others=$(list others)
todays=$(list todays)
[ "$(echo "$mean" | sort | tr '\n' ' ')" = "bfs blackscholes matmul nbody reduction stencil vectoradd walsh " ] ||
    { echo "the mean is of other programs: $mean" && status=1; }
rows=$(sed -n 's/^WORKLOAD(\([a-z0-9_]*\),.*, \(sm_[0-9a-z]*\))$/\1=\2/p' workloads/workloads.def)
[ "$(echo "$rows" | wc -l)" -eq "$(grep -c '^WORKLOAD(' workloads/workloads.def)" ] || { echo "rows were not read" && status=1; }
for row in $rows; do
    name=${row%=*}
    case $row in
    *=sm_75) where=$(printf '%s\n%s\n' "$mean" "$others") ;;
    *) where=$todays ;;
    esac
    figures=$(printf '%s\n' "$mean" "$others" "$todays" | grep -cx "$name")
    here=$(echo "$where" | grep -cx "$name")
    if [ "$here" -ne 1 ] || [ "$figures" -ne 1 ]; then echo "$name: not one figure on its model" && status=1; fi
done
exit "$status"
