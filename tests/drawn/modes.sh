#!/bin/sh
# modes.sh SONDE DRAWN FORMS [FIRST COUNT]: drawn kernels give the same bits without timing, timed on one thread and on
# two, where lanes run in lockstep, and under the memory checker, which reports nothing.
set -eu
sonde=$1 drawn=$2 forms=$3 first=${4:-1} count=${5:-40}
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-drawn.XXXXXX")
trap 'rm -rf "$work"' EXIT
printf 'inherits: h200\nsm: {divergence: stack}\n' >"$work/lockstep.yaml"
# run NAME OPTION...
run() {
    name=$1
    shift
    "$sonde" run -q "$@" -- "$drawn" "$forms" "$first" "$count" >"$work/$name" 2>"$work/$name.err" ||
        { echo "$name:"; tail -2 "$work/$name"; cat "$work/$name.err"; exit 1; }
}
run functional -d sim:h200 --functional
[ "$(wc -l <"$work/functional")" -eq "$count" ]
[ "$(cut -d' ' -f2 "$work/functional" | sort -u | wc -l)" -eq "$count" ] || { echo "kernels are the same"; exit 1; }
run timed -d sim:h200
run threads -d sim:h200 --threads 2
run lockstep -d "sim:$work/lockstep.yaml"
run checked -d sim:h200 --check
grep -q '^==check== nothing found$' "$work/checked.err"
for name in timed threads lockstep checked; do
    diff "$work/functional" "$work/$name" || { echo "functional and $name differ in these seeds"; exit 1; }
done
