#!/bin/sh
# Small changes of shipped models, each of which was once told wrongly: each is told right, or not measured.
copy() { # NAME BASE, changes on standard input; then what is dissected
    { printf 'inherits: %s\nname: %s\n' "$2" "$1"; cat; } >"$1.yaml"
    dissect "sim:./$1.yaml" "$1.json" --only "$3"
}
word() { # NAME ATTRIBUTE WORD
    [ "$("$GET" "$1.json" "$2")" = "$3" ] || fail "$1: $2 is $("$GET" "$1.json" "$2"), expected $3"
}

# Two cycles more on every 64th load are no miss.
echo 'sm: {issue_interval: 2 cycles, divergence: independent}' | copy jitter gtx560ti l1_data,l2
expect jitter.json l1_data.fetch_granularity 128
expect jitter.json l1_data.miss_penalty 261 4
expect jitter.json memory.latency 639 4

# An L2 that keeps lines from launch to launch.
echo 'l2: {replacement: {policy: lru_late}}' | copy lru_late gtx560ti-48k l2
expect lru_late.json l2.sets 256
expect lru_late.json l2.line 128
word lru_late l2.policy.name lru_late

# A table of misses without mergers is no limit of requests.
echo 'l1_data: {miss: {mergers: 0}}' | copy no_mergers m2070 outstanding
word no_mergers outstanding.structure mshr
expect no_mergers.json outstanding.entries 128
expect no_mergers.json outstanding.mergers 0

# Short round trips: what a warp has in flight (4) does not show.
copy short m2070 outstanding <<'YAML'
l1_data: {miss: {entries: 32}}
noc: {request_latency: 20 cycles, reply_latency: 20 cycles}
YAML
expect short.json outstanding.loads_per_warp "no value"

# The first step of a table of 16, and not the second.
copy first_step gtx780 outstanding <<'YAML'
sm: {outstanding: {structure: prt, entries: 16}, lsu: {parallel: 32}}
noc: {request_latency: 20 cycles, reply_latency: 20 cycles}
YAML
word first_step outstanding.structure prt
expect first_step.json outstanding.entries 16

copy pages_of_4_kib gtx560ti tlbs <<'YAML'
vm: {page: 4 KiB}
tlb_l1: {page: 4 KiB}
tlb_l2: {page: 4 KiB}
YAML
expect pages_of_4_kib.json l1_tlb.page 4096
expect pages_of_4_kib.json l1_tlb.entries 16
expect pages_of_4_kib.json l2_tlb.entries 65

# Reads of page tables that miss L2 are no second level.
copy tables gtx560ti tlbs,penalty,l2 <<'YAML'
vm: {page: 64 KiB}
tlb_l1: {page: 64 KiB}
tlb_l2: {enabled: false}
walker: {latency: 250 cycles}
YAML
expect tables.json l1_tlb.entries 16
expect tables.json l2_tlb.entries "no value"
echo 'tlb_l1: {enabled: false}' | copy phantom m2070 tlbs,penalty,l2
expect phantom.json l1_tlb.entries 65
expect phantom.json l2_tlb.entries "no value"

# Blocks of fewer threads, where registers are few.
echo 'sm: {registers: 16384}' | copy registers gtx780 l2
expect registers.json memory.latency 372 4
expect registers.json l2.sets 768

# The second level serves the whole GPU, though the first has 34 entries.
copy scope gtx560ti tlbs <<'YAML'
tlb_l1: {scope: sm, ways: 34}
tlb_l2: {sets: 1, ways: 176, ways_per_set: [], index: {kind: modulo}}
YAML
word scope l1_tlb.scope sm
word scope l2_tlb.scope gpu
expect scope.json l1_tlb.entries 34
expect scope.json l2_tlb.entries 176
