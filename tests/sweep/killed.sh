#!/bin/bash
# killed.sh SONDE [POINTS [SEED]]: a sweep of 32 points (another number: a multiple of 8) over two MPI ranks is killed
# three times (rank 1, rank 0, the launcher and all ranks), each time a random while after another random number of
# points has ended, and resumed; table and journal are those of an undisturbed run. Drawn from SEED, which is told.
set -u
sonde=$(readlink -f "$1")
points=${2:-32}
RANDOM=${3:-$$}
echo "$points points, seed ${3:-$$}"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-killed.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp # what killed ranks leave of their points goes with the rest
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
fail() {
    echo "FAIL: $*"
    grep -v '"status":"ok"' killed/points.jsonl
    exit 1
}
cat >plan.yaml <<YAML
sweep: plan
run: {workload: matmul, size: "\${n}"}
models: [gtx780, gtx280]
parameters: {sm.lsu.latency: {from: 10 cycles, to: $((points / 8 + 9)) cycles, step: 1 cycles}}
variables: {n: [32, 64, 96, 128]}
cost: n * n * n
YAML
# Whether a process is rank $1 of this test's job, by its environment.
is_rank() {
    tr '\0' '\n' 2>/dev/null <"$2/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1"
}
# The process of a rank: not a point's, which looks like it until it has begun.
rank() {
    local process parent
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
for victim in 1 0 all; do
    more=$((RANDOM % (points / 8) + 1))
    before=$(lines)
    mpirun -n 2 "$sonde" sweep plan.yaml -o killed --resume -q >/dev/null 2>&1 &
    launcher=$!
    # A sweep that has ended meanwhile is no failure.
    while [ "$(lines)" -lt "$((before + more))" ] && kill -0 "$launcher" 2>/dev/null; do
        sleep 0.01
    done
    sleep "0.0$((RANDOM % 10))"
    case $victim in
    all) processes="$launcher $(rank 0) $(rank 1)" ;;
    *) processes=$(rank "$victim") ;;
    esac
    # shellcheck disable=SC2086
    [ -z "${processes// /}" ] || kill -9 $processes 2>/dev/null
    wait "$launcher" 2>/dev/null
    echo "killed $victim: $(lines) of $points points have ended"
done
# What a killed rank leaves behind may hold the journal until it is gone.
for _ in $(seq 1000); do
    [ -n "$(rank 0)$(rank 1)" ] || break
    sleep 0.01
done
mpirun -n 2 "$sonde" sweep plan.yaml -o killed --resume >told.txt 2>/dev/null || fail "resuming"
cat told.txt
cmp alone/table.csv killed/table.csv && cmp alone/table.json killed/table.json || fail "the resumed table is another"
[ "$(lines)" -eq "$points" ] || fail "a point ran twice, or not at all: $(lines) lines"
