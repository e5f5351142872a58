#!/bin/sh
# Walks over pages read a line of each. Where the lines fall into few sets of L2, it is these that are too full, and no level of
# translation; where L2 misses them nevertheless, that is told from a miss of a level by what it takes.
copy() { # NAME BASE, changes on standard input
    { printf 'inherits: %s\nname: %s\n' "$2" "$1"; cat; } >"$1.yaml"
    dissect "sim:./$1.yaml" "$1.json" --only tlbs
}

# Of the lines of 64 KiB more than four come to a set.
copy four gtx560ti <<'YAML'
vm: {page: 2 MiB, memory: 32 GiB}
walker: {levels: 0, latency: 274 cycles}
l2: {size: 512 KiB, line: 128 B, sets: 1024, ways: 4, slices: 4, slice_index: {kind: hash, unit: 128 B, seed: 3},
     index: {kind: modulo, unit: 512 B}, replacement: {policy: nru}}
tlb_l1: {page: 2 MiB, scope: gpu, sets: 1, ways: 114}
tlb_l2: {page: 2 MiB, scope: gpu, sets: 103, ways: 10, ways_per_set: [], index: {kind: modulo}}
YAML
expect four.json l1_tlb.entries 114
expect four.json l2_tlb.page 2097152
expect four.json l2_tlb.entries 1030
expect four.json l2_tlb.sets 103

# Two ways, two parts: of an element and the one half a page beside it only one has a place.
copy two gtx560ti <<'YAML'
vm: {page: 2 MiB, memory: 32 GiB}
walker: {levels: 0, latency: 274 cycles}
l2: {size: 1 MiB, line: 128 B, sector: 128 B, sets: 4096, ways: 2, slices: 2, slice_index: {kind: hash, unit: 128 B, seed: 46643},
     index: {kind: modulo, unit: 256 B}, parts: 2, crossing: {latency: 93 cycles},
     part_index: {kind: hash, unit: 4 KiB, seed: 54906}}
dram: {channels: 1}
tlb_l1: {page: 2 MiB, scope: gpu, sets: 7, ways: 15}
tlb_l2: {enabled: false}
YAML
expect two.json l1_tlb.page 2097152
expect two.json l1_tlb.entries 105
expect two.json l1_tlb.sets 7
expect two.json l2_tlb.entries absent

# Lines that L2 misses take 234 cycles more where it has a copy in its other part, and 443 where it has none; a miss of the second
# level lies between these.
cat >between.yaml <<'YAML'
name: between
sms: 4
clusters: 2
vm: {page: 2 MiB, memory: 32 GiB}
walker: {levels: 0, latency: 245 cycles}
l1_data: {size: 16 KiB, line: 128 B, sector: 32 B, sets: 16, ways: 8}
noc: {request_latency: 103 cycles, reply_latency: 103 cycles}
l2: {size: 126 KiB, line: 256 B, sector: 32 B, sets: 21, ways: 24, slices: 4, slice_index: {kind: modulo, unit: 256 B},
     index: {kind: modulo, unit: 1 KiB}, replacement: {policy: fifo}, parts: 2, crossing: {latency: 114 cycles},
     part_index: {kind: hash, unit: 4 KiB, seed: 21258}, hit_latency: 25 cycles}
dram: {channels: 4, closed_page: true, fixed_latency: 437 cycles}
tlb_l1: {enabled: true, page: 8 MiB, scope: gpu, sets: 1, ways: 56, replacement: {policy: fifo}, hit_latency: 0 cycles, miss_latency: 3 cycles,
         fill_latency: 1 cycles}
tlb_l2: {enabled: true, page: 32 MiB, scope: gpu, sets: 1, ways: 92, replacement: {policy: random},
         hit_latency: 37 cycles, miss_latency: 8 cycles, fill_latency: 1 cycles}
...
YAML
dissect sim:./between.yaml between.json --only tlbs
expect between.json l2_tlb.page 33554432
expect between.json l2_tlb.entries 92
expect between.json l2_tlb.sets 1

# Six times 864 lines come round to the same sets, whose factor is three: what is too much then is no second level.
copy three gtx560ti <<'YAML'
vm: {page: 64 KiB, memory: 8 GiB}
l2: {size: 128 KiB, line: 128 B, sector: 32 B, sets: 256, ways: 4, slices: 24, slice_index: {kind: modulo, unit: 128 B},
     index: {kind: modulo, unit: 3 KiB}}
dram: {channels: 6}
tlb_l1: {page: 128 KiB, scope: gpu, sets: 1, ways: 24, replacement: {policy: random}}
tlb_l2: {enabled: false}
walker: {levels: 0, latency: 372 cycles}
YAML
expect three.json l1_tlb.entries 24
expect three.json l2_tlb.entries absent

# Without an L2 what rows of memory and a network of flits make of a line is no level, though it takes a few times only.
dissect sim:8600gts without.json --only penalty,l2,tlbs
expect without.json l1_tlb.entries "no value"
expect without.json l1_tlb.miss_penalty "no value"
