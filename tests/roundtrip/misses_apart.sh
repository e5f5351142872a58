#!/bin/sh
# Lines that are gone and lines that miss for another reason than the one that is asked for. A hashed index spreads what fits unevenly, and
# otherwise wherever it lies: constants that another path's buffer has moved are not driven out by that path, and an untimed chain some of
# whose loads miss does not say what a hit takes.
sm='  issue_per_scheduler: 2
  l1_caches_global: true
  lsu: {latency: 15 cycles, parallel: 8, request_interval: 1 cycles}
  coalesce: {segment: 128 B, sector: 32 B}
  shared: {size: 48 KiB, banks: 16, bank_width: 8 B, word: 4 B, latency: 35 cycles, conflict_latency: 21 cycles}
  readonly: l1
  texture: {address_latency: 43 cycles, filter_latency: 8 cycles, l1: true}
  constant: {address_latency: 9 cycles}'
cat >moved.yaml <<EOF
name: moved
doc: a small cache of constants, and a hash that chooses its sets
sms: 1
clusters: 1
sm:
$sm
l1_data: {enabled: true, size: 128 KiB, line: 128 B, sector: 32 B, sets: 128, ways: 8, index: {kind: bits, bits: [7, 8, 9, 10, 11, 12, 13]},
          replacement: {policy: fifo}, hit_latency: 38 cycles, miss: {entries: 4096, mergers: 4096, merger: lane}}
constant_l1: {enabled: true, size: 1 KiB, line: 64 B, sector: 32 B, sets: 2, ways: 8, index: {kind: hash, seed: 5304},
              replacement: {policy: srrip}, hit_latency: 35 cycles}
constant_l15: {enabled: true, size: 24 KiB, line: 64 B, sector: 32 B, sets: 64, ways: 6, index: {kind: bits, bits: [6, 7, 8, 9, 10, 11]},
               replacement: {policy: lru}, hit_latency: 219 cycles, scope: sm}
l2: {size: 64 KiB, line: 128 B, sector: 32 B, sets: 64, ways: 8, index: {kind: bits, bits: [8, 9, 10, 11, 12, 13]}, hit_latency: 25 cycles,
     slices: 2, slice_index: {kind: modulo, unit: 128 B}}
noc: {request_latency: 117 cycles, reply_latency: 117 cycles}
dram: {channels: 2, closed_page: true, fixed_latency: 368 cycles}
driver: {compute_major: 7, compute_minor: 0}
EOF
dissect sim:./moved.yaml moved.json --only sharing
[ -z "$("$GET" moved.json constant_l1.shared_with)" ] || fail "constants share with $("$GET" moved.json constant_l1.shared_with)"
grep -q "op=const through [0-9]* elements" moved.json || fail "constants were not asked about"

cat >missing.yaml <<EOF
name: missing
doc: an L2 of 32 MiB whose slices are hashed
sms: 1
clusters: 1
sm:
$(echo "$sm" | sed 's/issue_per_scheduler: 2/issue_per_scheduler: 1/; s/l1_caches_global: true/l1_caches_global: false/; s/readonly: l1/readonly: none/; s/, l1: true//')
l1_data: {enabled: false}
l2: {size: 1 MiB, line: 128 B, sector: 32 B, sets: 2048, ways: 4, index: {kind: modulo, unit: 4096 B}, replacement: {policy: nru}, hit_latency: 81 cycles,
     slices: 32, slice_index: {kind: hash, unit: 128 B, seed: 31561}}
noc: {request_latency: 82 cycles, reply_latency: 82 cycles}
dram: {channels: 2, closed_page: true, fixed_latency: 2000 cycles}
driver: {compute_major: 8, compute_minor: 0}
EOF
dissect sim:./missing.yaml missing.json --only l2,load_to_use,latency
load=$("$GET" missing.json l2.load_to_use_latency | awk '{ print $1 }')
hit=$("$GET" missing.json l2.hit_latency | awk '{ print $1 }')
case $load in
'not measured' | 'no value') ;;
*) echo "$load $hit" | awk '{ exit !($1 <= $2 + 0.25) }' || fail "an untimed load takes $load cycles, a timed hit $hit" ;;
esac

# Pages of which each has its line in a set of L2 that is too full: a load that misses a TLB misses L2 as well, and the TLB's penalty is its own.
tlb() { # NAME SECTIONS
    cat >"$1.yaml" <<EOF
---
inherits: gtx480
name: $1
sms: 2
clusters: 1
l2: {size: 8 KiB, line: 128 B, sector: 128 B, sets: 16, ways: 4, index: {kind: modulo, unit: 2560 B}, slices: 20, slice_index: {kind: modulo, unit: 128 B}}
dram: {channels: 2}
$2
...
EOF
    dissect "sim:./$1.yaml" "$1.json" --only tlbs
}
tlb full 'tlb_l1: {enabled: true, page: 128 KiB, scope: sm, sets: 10, ways: 3, hit_latency: 0 cycles, miss_latency: 7 cycles, fill_latency: 1 cycles}
tlb_l2: {enabled: true, page: 128 KiB, scope: cluster, sets: 1, ways: 368, ways_per_set: [], index: {kind: modulo}, hit_latency: 16 cycles, miss_latency: 10 cycles, fill_latency: 5 cycles}
walker: {levels: 0, latency: 232 cycles}
vm: {page: 128 KiB, memory: 1 GiB}'
expect full.json l1_tlb.miss_penalty 24 1
expect full.json l2_tlb.miss_penalty 231 1
