#!/bin/sh
# Structures that show alike: what is told is the right one, or nothing.

# Every 64th load takes 2 cycles more: that is no miss.
cat >jitter.yaml <<'YAML'
inherits: gtx560ti
name: jitter
sm: {issue_interval: 2 cycles, divergence: independent}
YAML
dissect sim:./jitter.yaml jitter.json --only l1_data
expect jitter.json l1_data.fetch_granularity 128
expect jitter.json l1_data.size 16384
expect jitter.json l1_data.miss_penalty 261 3
for cache in texture_l1:230 l2:268; do
    dissect sim:./jitter.yaml jitter.json --only "penalty,${cache%:*}"
    expect jitter.json "${cache%:*}.fetch_granularity" 32
    expect jitter.json "${cache%:*}.miss_penalty" "${cache#*:}" 3
done
expect jitter.json memory.latency 639 4

# A thread's own memory, kept across launches: no window continues another.
cat >own.yaml <<'YAML'
inherits: gtx780
name: own
carveout: {choices: []}
l1_data: {size: 6 KiB, sets: 2, ways: 24, index: {kind: bits, bits: [7]}, replacement: {policy: random},
          write: write_back, invalidate_on_launch: false}
YAML
dissect sim:./own.yaml own.json --only local_l1,policy
expect own.json local_l1.ways 24

# A table whose lines take no second request is no limit on requests.
cat >mergers.yaml <<'YAML'
inherits: m2070
name: mergers
l1_data: {miss: {mergers: 0}}
YAML
dissect sim:./mergers.yaml mergers.json --only outstanding
expect mergers.json outstanding.entries 128
expect mergers.json outstanding.mergers 0
grep -q '"structure": "mshr"' mergers.json || fail "a table of misses is taken for something else"

# Round trips so short that the second filling shows better than the first.
cat >second.yaml <<'YAML'
inherits: gtx780
name: second
sm: {outstanding: {structure: prt, entries: 16}, lsu: {parallel: 32}}
noc: {request_latency: 20 cycles, reply_latency: 20 cycles}
YAML
dissect sim:./second.yaml second.json --only outstanding
expect second.json outstanding.entries 16
grep -q '"structure": "prt"' second.json || fail "a table of requests is taken for something else"
cat >short.yaml <<'YAML'
inherits: m2070
name: short
l1_data: {miss: {entries: 32}}
noc: {request_latency: 20 cycles, reply_latency: 20 cycles}
YAML
dissect sim:./short.yaml short.json --only outstanding
expect short.json outstanding.loads_per_warp "no value" # 4, of which two warps do not agree

expect short.json outstanding.entries 32
expect short.json outstanding.max_requests_per_sm 32
dissect sim:./short.yaml short.json --only constant_l15
expect short.json constant_l15.hit_latency 105 # L2 is nearer than the second cache, by four cycles
expect short.json constant_l15.sets 16

# Behind the only level, reads of page tables miss L2.
cat >tables.yaml <<'YAML'
inherits: m2070
name: tables
tlb_l1: {enabled: false}
YAML
dissect sim:./tables.yaml tables.json --only penalty,l2,tlbs
expect tables.json l1_tlb.entries 65
expect tables.json l2_tlb.entries "no value"
[ "$(grep -c '"present": true' tables.json)" = 2 ] || fail "page tables are taken for a level of translation"

# What another SM walked is in the level behind, and not in the first.
cat >scope.yaml <<'YAML'
inherits: gtx560ti
name: scope
tlb_l1: {scope: sm, ways: 36}
YAML
dissect sim:./scope.yaml scope.json --only tlbs
python3 - <<'PY' || fail "the first level is not an SM's own"
import json
tlbs = {t["id"]: t for t in json.load(open("scope.json"))["tlbs"]}
assert tlbs["l1_tlb"]["scope"] == "sm" and tlbs["l2_tlb"]["scope"] == "gpu", tlbs
PY

# What was walked twice stays under this policy: SM 0 finds it with nobody's help, which is no sharing. And a first level that
# serves several SMs may spare one of them what the level behind is asked by another.
cat >late.yaml <<'YAML'
inherits: gtx560ti
name: late
tlb_l1: {scope: sm, sets: 5, ways: 4, replacement: {policy: lru_late}}
YAML
cat >several.yaml <<'YAML'
inherits: gtx560ti
name: several
sms: 8
clusters: 2
cluster_of: [0, 1, 1, 0, 1, 0, 0, 0]
tlb_l1: {scope: cluster, page: 64 KiB, sets: 1, ways: 70}
tlb_l2: {scope: gpu, page: 64 KiB, sets: 218, ways: 1, ways_per_set: [], index: {kind: modulo}}
vm: {page: 64 KiB}
YAML
for scopes in late:sm:gpu several:cluster:gpu; do
    dissect "sim:./${scopes%%:*}.yaml" scope.json --only tlbs
    python3 - "${scopes#*:}" <<'PY' || fail "the scopes are not ${scopes#*:}"
import json, sys
tlbs = {t["id"]: t for t in json.load(open("scope.json"))["tlbs"]}
assert [tlbs["l1_tlb"]["scope"], tlbs["l2_tlb"]["scope"]] == sys.argv[1].split(":"), tlbs
PY
done

# Pages so short that walks in order miss translation before they miss L2: drawn lines, slower than others of the same pages, tell it.
cat >pages.yaml <<'YAML'
inherits: gtx480
name: pages
vm: {page: 4 KiB}
tlb_l1: {page: 4 KiB}
tlb_l2: {page: 4 KiB}
YAML
dissect sim:./pages.yaml pages.json --only line,sets,l2
expect pages.json l2.line 128
expect pages.json l2.size 786432

# Under lru_late lines of an earlier walk stay until others are hit: what would fit misses for good beside them.
cat >kept.yaml <<'YAML'
name: kept
sms: 1
l1_data: {size: 16 KiB, line: 128 B, sector: 32 B, sets: 16, ways: 8}
l2:
  slices: 8
  slice_index: {kind: modulo, unit: 128 B}
  size: 18 KiB
  line: 128 B
  sector: 32 B
  sets: 16
  ways: 9
  index: {kind: modulo, unit: 1 KiB}
  replacement: {policy: lru_late}
dram: {channels: 1}
YAML
dissect sim:./kept.yaml kept.json --only l2
expect kept.json l2.line 128
expect kept.json l2.ways 9
expect kept.json l2.sets 128
grep -q '"name": "lru_late"' kept.json || fail "the policy of a cache that keeps what was hit is not told"

# Sets of three sizes: six of them have as many entries as pages fit, and are not all.
cat >unequal.yaml <<'YAML'
inherits: gtx560ti
name: unequal
tlb_l1: {page: 2 MiB, scope: sm, sets: 8, ways: 7, ways_per_set: [3, 6, 6, 3, 3, 7, 7, 3], index: {kind: modulo}}
tlb_l2: {page: 4 MiB, scope: gpu, sets: 5, ways: 12, ways_per_set: [], index: {kind: modulo}}
vm: {page: 2 MiB}
YAML
dissect sim:./unequal.yaml unequal.json --only tlbs
python3 - <<'PY' || fail "entries of sets that differ are not told"
import json
tlb = {t["id"]: t for t in json.load(open("unequal.json"))["tlbs"]}["l1_tlb"]
assert tlb["entries"]["value"] == 38 and tlb["sets"]["value"] == 8, tlb
PY

# Pages 2 MiB apart fall into a set of one way; other places of them do not: no level of one entry.
cat >uneven.yaml <<'YAML'
inherits: gtx560ti
name: uneven
tlb_l1: {scope: sm, page: 128 KiB, index: {kind: modulo}, sets: 16, replacement: {policy: random},
         ways_per_set: [1, 1, 5, 1, 5, 1, 4, 1, 2, 1, 1, 3, 1, 5, 1, 1]}
tlb_l2: {scope: gpu, page: 128 KiB, index: {kind: modulo}, sets: 1, ways: 76, ways_per_set: [],
         replacement: {policy: fifo}}
vm: {page: 64 KiB}
YAML
dissect sim:./uneven.yaml uneven.json --only tlbs
python3 - <<'PY' || fail "a set of one way is taken for a level of one entry"
import json
tlb = {t["id"]: t for t in json.load(open("uneven.json"))["tlbs"]}["l1_tlb"]
assert tlb["entries"].get("value") in (None, 34) and tlb["page"].get("value") in (None, 131072), tlb
PY

# Behind the only level longer walks miss a small L2: lines whose translation is at hand do so, too.
cat >data.yaml <<'YAML'
name: data
sms: 1
l1_data: {size: 28 KiB, line: 128 B, sector: 128 B, sets: 7, ways: 32, index: {kind: modulo, unit: 128 B}}
l2:
  slices: 10
  slice_index: {kind: modulo, unit: 128 B}
  size: 16 KiB
  line: 128 B
  sector: 128 B
  sets: 16
  ways: 8
  index: {kind: modulo, unit: 1280 B}
  replacement: {policy: biased_alternating,
                victim_probability: [1/10, 1/10, 3/10, 1/10, 1/10, 1/10, 1/10, 1/10]}
  hit_latency: 32 cycles
noc: {request_latency: 62 cycles, reply_latency: 62 cycles}
dram: {channels: 10, closed_page: false, fixed_latency: 190 cycles}
tlb_l1: {enabled: true, page: 8 KiB, scope: sm, sets: 14, ways: 8, hit_latency: 0 cycles, miss_latency: 6 cycles,
         fill_latency: 7 cycles}
walker: {levels: 1, latency: 47 cycles, level1: {span: 4 KiB, entry: 8 B}}
vm: {page: 4 KiB, memory: 8 GiB}
YAML
dissect sim:./data.yaml data.json --only tlbs,penalty,l2
python3 - <<'PY' || fail "missing data are taken for a second level"
import json
tlbs = {t["id"]: t for t in json.load(open("data.json"))["tlbs"]}
assert tlbs["l1_tlb"]["entries"]["value"] == 112 and not tlbs["l2_tlb"]["present"], tlbs
PY

# A second cache of constants that holds hardly more than the first, or that is hardly nearer than L2.
cat >hardly.yaml <<'YAML'
inherits: gtx780
name: hardly
constant_l1: {size: 4 KiB, line: 32 B, sector: 32 B, sets: 16, ways: 8, index: {kind: bits, bits: [5, 6, 7, 8]},
              replacement: {policy: plru}}
constant_l15: {size: 6 KiB, line: 32 B, sector: 32 B, sets: 16, ways: 12, index: {kind: bits, bits: [5, 6, 7, 8]}}
YAML
sed 's/name: hardly/name: near/; s/size: 6 KiB, line/hit_latency: 212 cycles, size: 12 KiB, line/; s/ways: 12/ways: 24/' hardly.yaml >near.yaml
for model in hardly:6144 near:12288; do
    dissect "sim:./${model%:*}.yaml" second.json --only constant_l1,constant_l15
    expect second.json constant_l1.size 4096
    expect second.json constant_l15.size "${model#*:}"
done

# Data for fewer lines than the tags of all sets: walked together some sets seem to have fewer ways, alone they have as many.
cat >bound.yaml <<'YAML'
inherits: m2070
name: bound
carveout: {choices: []}
l1_data: {size: 6 KiB, line: 128 B, sector: 128 B, sets: 12, ways: 4, index: {kind: modulo}, replacement: {policy: srrip}, data: 5 KiB}
YAML
dissect sim:./bound.yaml bound.json --only l1_data
expect bound.json l1_data.size 5120
expect bound.json l1_data.sets 12
expect bound.json l1_data.ways 4

# The same with many sets, of which none is too full where an array of all lines is: drawn lines crowd some.
cat >crowded.yaml <<'YAML'
inherits: m2070
name: crowded
carveout: {choices: []}
l1_data:
  size: 128 KiB
  line: 128 B
  sector: 32 B
  sets: 64
  ways: 16
  index: {kind: xor, masks: [0x1e080, 0x16100, 0xe200, 0x6400, 0x1e800, 0x5000]}
  replacement: {policy: lru}
  data: 108928 B
YAML
dissect sim:./crowded.yaml crowded.json --only l1_data,sets
expect crowded.json l1_data.line 128
expect crowded.json l1_data.ways 16
expect crowded.json l1_data.sets 64
expect crowded.json l1_data.size 108928

# SMs nearer to L2 than the first one have its lines as soon as that one's own cache has them, in a network of flits.
cat >nearer.yaml <<'YAML'
inherits: m2070
carveout: {choices: []}
constant_l15: {enabled: false}
name: nearer
sms: 6
clusters: 1
sm:
  issue_per_scheduler: 1
  l1_caches_global: true
  lsu: {latency: 18 cycles, parallel: 1, request_interval: 2 cycles}
  coalesce: {segment: 128 B, sector: 32 B}
  constant: {address_latency: 21 cycles}
constant_l1:
  enabled: true
  size: 1024 B
  line: 128 B
  sector: 32 B
  sets: 1
  ways: 8
  index: {kind: modulo, unit: 128 B}
  replacement: {policy: lru, seed: 909628}
  hit_latency: 34 cycles
l2:
  size: 65536 B
  line: 128 B
  sector: 32 B
  sets: 64
  ways: 8
  index: {kind: modulo, unit: 2560 B}
  replacement: {policy: lru, seed: 341611}
  hit_latency: 7 cycles
  slices: 20
  slice_index: {kind: hash, unit: 128 B, seed: 30032}
noc: {kind: flits, topology: mesh, width: 8, height: 8, request_latency: 56 cycles, reply_latency: 56 cycles}
dram: {channels: 5, closed_page: false, fixed_latency: 120 cycles, bank_hash: true}
YAML
dissect sim:./nearer.yaml nearer.json --only constant_l1,count
expect nearer.json constant_l1.count 6

# A second level whose misses come with missing data, in an L2 of 80 KiB: lines whose translation is at hand are slow, but less.
cat >over.yaml <<'YAML'
inherits: m2070
name: over
l1_data: {enabled: false}
carveout: {choices: []}
l2:
  size: 4096 B
  line: 128 B
  sector: 32 B
  sets: 1
  ways: 32
  index: {kind: modulo, unit: 2560 B}
  replacement: {policy: lru, seed: 287890}
  hit_latency: 60 cycles
  slices: 20
  slice_index: {kind: modulo, unit: 128 B}
noc: {request_latency: 73 cycles, reply_latency: 73 cycles}
dram: {channels: 5, closed_page: true, fixed_latency: 185 cycles}
tlb_l1:
  enabled: true
  page: 131072 B
  scope: gpu
  sets: 9
  ways: 3
  index: {kind: modulo}
  replacement: {policy: lru, seed: 738589}
  hit_latency: 0 cycles
  miss_latency: 3 cycles
  fill_latency: 10 cycles
tlb_l2:
  enabled: true
  page: 131072 B
  scope: gpu
  sets: 1
  ways: 251
  ways_per_set: []
  index: {kind: modulo}
  replacement: {policy: srrip, seed: 302845}
  hit_latency: 42 cycles
  miss_latency: 8 cycles
  fill_latency: 10 cycles
walker: {levels: 1, latency: 138 cycles, level1: {span: 65536 B, entry: 8 B}}
vm: {page: 65536 B, memory: 8 GiB}
YAML
dissect sim:./over.yaml over.json --only tlbs,penalty,l2
python3 - <<'PY' || fail "a second level beside missing data is not told"
import json
tlbs = {t["id"]: t for t in json.load(open("over.json"))["tlbs"]}
assert tlbs["l1_tlb"]["entries"]["value"] == 27 and tlbs["l2_tlb"]["entries"]["value"] == 251, tlbs
PY

# Sets that a hash fills unevenly are known one by one, and with them how many there are.
cat >hashed.yaml <<'YAML'
inherits: gtx780
name: hashed
constant_l1: {size: 2560 B, line: 64 B, sets: 2, ways: 20, index: {kind: hash, seed: 873}}
l1_data: {size: 12 KiB, sets: 12, ways: 8, index: {kind: hash, seed: 7}}
carveout: {choices: []}
sm: {l1_caches_global: true}
YAML
for cache in constant_l1:2:20:2560 l1_data:12:8:12288; do
    name=${cache%%:*} rest=${cache#*:}
    dissect sim:./hashed.yaml hashed.json --only "sets,$name"
    expect hashed.json "$name.sets" "${rest%%:*}"
    rest=${rest#*:}
    expect hashed.json "$name.ways" "${rest%%:*}"
    expect hashed.json "$name.size" "${rest#*:}"
done

# What fills no sooner than a round trip to L2 takes fills within one to memory.
for full in request_limit:150 prt:100; do
    cat >late.yaml <<YAML
inherits: gtx780
name: late
sm: {outstanding: {structure: ${full%:*}, entries: ${full#*:}}, lsu: {parallel: 32}}
noc: {request_latency: 40 cycles, reply_latency: 40 cycles}
YAML
    dissect sim:./late.yaml late.json --only outstanding
    expect late.json outstanding.entries "${full#*:}"
    grep -q "\"structure\": \"${full%:*}\"" late.json || fail "${full%:*} is taken for something else"
done

# A line that comes from L2's other part, sooner than memory has it, is none of the own part.
cat >parts.yaml <<'YAML'
inherits: gtx780
name: parts
clusters: 4
dram: {channels: 4}
l2: {slices: 4, size: 384 KiB, sets: 192, ways: 16, line: 128 B, index: {kind: modulo, unit: 512 B},
     slice_index: {kind: modulo, unit: 128 B}, parts: 2, crossing: {latency: 20 cycles},
     part_index: {kind: modulo, unit: 4096 B}}
YAML
dissect sim:./parts.yaml parts.json --only count,l2 --skip policy,mei,average,sweep
expect parts.json l2.count 2

# Lines beside each other that are too many for a set of L2 are no noise that hides a level of translation.
cat >beside.yaml <<'YAML'
inherits: k20
name: beside
dram: {channels: 4}
l2: {size: 16 KiB, line: 128 B, sector: 32 B, sets: 64, ways: 2, index: {kind: modulo, unit: 4096 B}, slices: 32,
  slice_index: {kind: hash, unit: 128 B, seed: 41193}, replacement: {policy: nru, seed: 4727}}
tlb_l1: {enabled: true, page: 1 MiB, scope: cluster, sets: 3, ways: 16, ways_per_set: [], index: {kind: modulo}, replacement: {policy: lru}, hit_latency: 0 cycles,
  miss_latency: 12 cycles, fill_latency: 4 cycles}
tlb_l2: {enabled: true, page: 4 MiB, scope: cluster, sets: 23, ways: 4, ways_per_set: [], index: {kind: modulo}, replacement: {policy: lru}, hit_latency: 30 cycles,
  miss_latency: 10 cycles, fill_latency: 10 cycles}
YAML
dissect sim:./beside.yaml beside.json --only tlbs
expect beside.json l1_tlb.page 1048576
expect beside.json l1_tlb.entries 48
expect beside.json l1_tlb.miss_penalty 46

# More pages fit than a thousand, of which a few miss for a full set of L2: what misses beyond them is a level all the same.
cat >many.yaml <<'YAML'
inherits: k20
name: many
dram: {channels: 4}
vm: {page: 4 KiB}
l2: {size: 64 KiB, line: 128 B, sector: 128 B, sets: 128, ways: 4, index: {kind: hash, seed: 57505}, slices: 64,
  slice_index: {kind: modulo, unit: 128 B}, replacement: {policy: srrip}}
tlb_l1: {enabled: true, page: 8 KiB, scope: gpu, sets: 1, ways: 125, ways_per_set: [], index: {kind: modulo}, replacement: {policy: lru},
  hit_latency: 0 cycles, miss_latency: 11 cycles, fill_latency: 9 cycles}
tlb_l2: {enabled: true, page: 8 KiB, scope: gpu, sets: 226, ways: 5, ways_per_set: [], index: {kind: modulo},
  replacement: {policy: random, seed: 294673}, hit_latency: 4 cycles, miss_latency: 6 cycles, fill_latency: 9 cycles}
walker: {levels: 0, latency: 59 cycles}
YAML
dissect sim:./many.yaml many.json --only tlbs
expect many.json l2_tlb.entries 1130
expect many.json l2_tlb.page 8192

# Fewer data than tags, and sets of so many ways that drawn lines fill none: lines far apart, which meet few of the sets, do.
cat >single.yaml <<'YAML'
inherits: v100
name: single
sms: 2
clusters: 1
carveout: {choices: []}
l1_data: {size: 48 KiB, line: 128 B, sector: 32 B, sets: 4, ways: 96, index: {kind: xor, masks: [0x1480, 0x1b00]},
  replacement: {policy: srrip}, data: 40704 B}
YAML
dissect sim:./single.yaml single.json --only l1_data
expect single.json l1_data.size 40704
expect single.json l1_data.sets 4
expect single.json l1_data.ways 96
