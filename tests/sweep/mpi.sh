#!/bin/sh
# mpi.sh SONDE: a sweep over two MPI ranks gives the table of one process, byte for byte, also when a rank was killed
# three times meanwhile and the sweep resumed; a study's programs run on two ranks as well.
set -u
sonde=$(readlink -f "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-mpi.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
fail() {
    echo "FAIL: $*"
    grep -v '"status":"ok"' killed/points.jsonl
    exit 1
}
cat >plan.yaml <<'YAML'
sweep: plan
run: {workload: matmul, size: "${n}"}
models: [gtx780, gtx560ti, gtx480, gtx280]
variables: {n: {from: 16, to: 128, step: 16}}
cost: n * n * n
YAML
# Whether a process is rank $1 of this test's job, by its environment.
is_rank() {
    tr '\0' '\n' 2>/dev/null <"$2/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1"
}
# The process of a rank: not a point's, which looks like it until it has begun.
rank() {
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/cwd" 2>/dev/null)" = "$work" ] && is_rank "$1" "$process" || continue
        parent=$(sed -n 's/^PPid:[[:space:]]*//p' "$process/status" 2>/dev/null)
        is_rank "$1" "/proc/${parent:-0}" 2>/dev/null || { basename "$process" && return; }
    done
}
lines() {
    cat killed/points.jsonl 2>/dev/null | wc -l
}
"$sonde" sweep plan.yaml -o alone -q || fail "one process"
mpirun -n 2 "$sonde" sweep plan.yaml -o two -q || fail "two ranks"
cmp alone/table.csv two/table.csv && cmp alone/table.json two/table.json || fail "two ranks give another table"
# A study's programs are spread, too; one rank tells the rows, without a word about processes.
mpirun -n 2 "$sonde" study bakhoda2009 --only table1.nqu,table1.sto >study.txt || fail "a study on two ranks"
grep -c concurrent study.txt | grep -qx 2 || { cat study.txt && fail "rows of a study on two ranks"; }
for victim in 1 0 1; do
    before=$(lines)
    mpirun -n 2 "$sonde" sweep plan.yaml -o killed --resume -q >/dev/null 2>&1 &
    launcher=$!
    # As soon as another point has ended; a sweep that has ended meanwhile is no failure.
    while [ "$(lines)" -le "$before" ] && kill -0 "$launcher" 2>/dev/null; do
        sleep 0.01
    done
    process=$(rank "$victim")
    [ -z "$process" ] || kill -9 "$process"
    wait "$launcher"
    echo "killed rank $victim after $(lines) of 32 points"
done
mpirun -n 2 "$sonde" sweep plan.yaml -o killed --resume -q || fail "resuming"
cmp alone/table.csv killed/table.csv && cmp alone/table.json killed/table.json || fail "the resumed table is another"
[ "$(lines)" -eq 32 ] || fail "a point ran twice, or not at all: $(lines) lines"
