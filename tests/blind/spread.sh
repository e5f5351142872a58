#!/bin/sh
# spread.sh BLIND [MPIRUN...]: trials as points of a sweep, with MPIRUN on its ranks, tell what the same trials tell in one
# process; a sweep that has ended is told again without a trial.
set -u
blind=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-spread.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
status=0
told() {
    grep -v "^WRONG\|^seed [0-9]" "$work/$1"
}
"$blind" --seed known --count 2 --mix >"$work/here" || status=1
"$@" "$blind" --seed known --count 2 --mix --sweep "$work/sweep" >"$work/spread" || status=1
"$blind" --seed known --count 2 --mix --sweep "$work/sweep" --resume >"$work/again" || status=1
told here >"$work/expected"
for run in spread again; do
    told $run | diff "$work/expected" - || { echo "FAIL: $run" && status=1; }
done
grep -q "^noisy: 1 hierarchies (0 without" "$work/expected" || { cat "$work/expected" && status=1; }
[ "$(wc -l <"$work/sweep/points.jsonl")" -eq 2 ] || { echo "FAIL: a trial was made twice" && status=1; }
exit $status
