#!/bin/sh
# same.sh OLD NEW [MODEL...]: whether two builds simulate the same, byte by byte: the statistics of every launch of the workloads
# (bench_counts) on one host thread and on two, and the recorded traces of a short dissection. OLD and NEW are build folders
# with sonde and bench_counts. SIZES="NAME=SIZE ..." instead of the quick sizes of all workloads.
set -eu
old=$1
new=$2
shift 2
[ $# -gt 0 ] || set -- bakhoda2009 8600gts gtx280 gtx480 gtx560ti gtx780 k20-prt44 k20-prt45 m2070 v100 a100 gh100
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
failed=0

compare() {
    if cmp -s "$folder/old" "$folder/new"; then
        echo "same: $1 ($(wc -l <"$folder/new") lines)"
    else
        echo "DIFFERENT: $1"
        diff "$folder/old" "$folder/new" | head -n 6
        failed=1
    fi
}

for model in "$@"; do
    # shellcheck disable=SC2086 # several words
    "$old/bench/bench_counts" -m "$model" ${SIZES:-} >"$folder/old"
    for threads in 1 2; do
        # shellcheck disable=SC2086
        "$new/bench/bench_counts" -m "$model" -t $threads ${SIZES:-} >"$folder/new"
        compare "$model, threads $threads"
    done
    "$old/sonde" dissect -q -d "sim:$model" --effort quick --only capacity,latency,shared --record "$folder/old" >"$folder/old.txt" 2>&1 || true
    "$new/sonde" dissect -q -d "sim:$model" --effort quick --only capacity,latency,shared --record "$folder/new" >"$folder/new.txt" 2>&1 || true
    compare "$model, traces"
done
exit $failed
