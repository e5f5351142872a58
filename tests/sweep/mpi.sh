#!/bin/sh
# mpi.sh SONDE: a sweep over two MPI ranks gives the table of one process, byte for byte; a study's programs run on two
# ranks as well.
set -u
sonde=$(readlink -f "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-mpi.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
fail() {
    echo "FAIL: $*"
    grep -v '"status":"ok"' two/points.jsonl
    exit 1
}
cat >plan.yaml <<'YAML'
sweep: plan
run: {workload: matmul, size: "${n}"}
models: [gtx780, gtx560ti, gtx480, gtx280]
variables: {n: {from: 16, to: 128, step: 16}}
cost: n * n * n
YAML
"$sonde" sweep plan.yaml -o alone -q || fail "one process"
mpirun -n 2 "$sonde" sweep plan.yaml -o two >told.txt || fail "two ranks"
# A point that rank 1 runs takes two messages for the line and one for the next point, or for the end.
grep -q "^2 ranks: [0-9.]* % of their time idle, [0-9]* messages" told.txt || { cat told.txt && fail "what two ranks took"; }
cmp alone/table.csv two/table.csv && cmp alone/table.json two/table.json || fail "two ranks give another table"
# A study's programs are spread, too; one rank tells the rows, without a word about processes.
mpirun -n 2 "$sonde" study bakhoda2009 --only table1.nqu,table1.sto >study.txt || fail "a study on two ranks"
grep -c concurrent study.txt | grep -qx 2 || { cat study.txt && fail "rows of a study on two ranks"; }
