#!/bin/sh
# drawn.sh SONDE PROGRAM FOLDER FIRST LAST: runs a program of this folder on models that differ from h200 in when things happen - latencies and
# rates of what goes on beside a warp, schedulers, how lanes that part are scheduled, whether instructions are put into order - as drawn from each
# seed. What a kernel computes must not depend on any of it: each value is to be right each time.
set -eu
sonde=$1 program=$2 folder=$3 first=$4 last=$5
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-drawn.XXXXXX")
trap 'rm -rf "$work"' EXIT

model() {
    awk -v seed="$1" '
        function one(choices, a, n) { n = split(choices, a, " "); state = state * 16807 % 2147483647; return a[int(state / 65536) % n + 1] }
        function cycles(choices) { return one(choices) " cycles" }
        BEGIN {
            state = seed * 7919 + 1 # not rand(), which is another in each awk
            print "inherits: h200\nsm:"
            print "  scheduler: " one("loose_round_robin greedy_then_oldest two_level")
            print "  divergence: " one("independent independent stack")
            print "  reorder: " one("true false")
            print "  issue_per_scheduler: " one("1 1 2")
            print "  wgmma: {latency: " cycles("0 1 5 46 300 2000") ", columns_per_cycle: " one("1 2 64") ", overhead: " cycles("0 16 200") "}"
            print "  copies: {latency: " cycles("0 1 6 300") ", l1_latency: " cycles("1 20") "}"
            print "  bulk: {latency: " cycles("0 1 50 900") ", issue_latency: " cycles("1 57 300") ", tensor_issue_latency: " cycles("1 83 400") "}"
            print "  mbarrier: {latency: " cycles("0 1 38 200") ", arrive_latency: " cycles("0 1 28 300") ", interval: " cycles("1 3 8") "}"
            print "  cluster: {latency: " cycles("1 30 200 900") ", async_latency: " cycles("1 106 2000") ", arrive_latency: " cycles("1 83 900") ", barrier_latency: " cycles("1 70 900") "}"
            print "  shared: {latency: " cycles("1 23 90") ", matrix_latency: " cycles("0 1 23 90") "}"
            print "  units: {alu: {latency: " cycles("1 4 20") "}, fp32: {latency: " cycles("1 4 20") "}, sfu: {latency: " cycles("1 17 60") "}, shuffle: {latency: " cycles("1 26 60") "}, branch: {latency: " cycles("1 27 60") "}, barrier: {latency: " cycles("1 26 60") "}}"
            print "noc: {request_latency: " cycles("1 20 88 500") ", reply_latency: " cycles("1 20 88 500") "}"
        }'
}

for seed in $(seq "$first" "$last"); do
    model "$seed" >"$work/drawn.yaml"
    if ! timeout 300 "$sonde" run -q -d "sim:$work/drawn.yaml" -- "$program" "$folder" >"$work/out" 2>&1; then
        echo "$(basename "$program") is wrong on the model of seed $seed:"
        cat "$work/out" "$work/drawn.yaml"
        exit 1
    fi
done
