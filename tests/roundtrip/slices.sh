#!/bin/sh
# An L2 of many slices, chosen by a hash or in turn: what is told of its sets is right, or nothing.
slices() { # SMS DRAM EXPERIMENTS..., the parameters of L2 on standard input, and sections behind them
    {
        printf 'name: slices\nsms: %s\n' "$1"
        echo 'l1_data: {size: 16 KiB, line: 128 B, sector: 32 B, sets: 16, ways: 8}'
        echo 'l2:'
        cat
        echo "dram: {$2}"
    } >slices.yaml
    shift 2
    dissect sim:./slices.yaml slices.json --only "$@"
}
others=l1_data,texture_l1,readonly_l1,local_l1,constant_l1,constant_l15

# Slices chosen by a hash fill sets unevenly: ways, sets and count are told all the same.
for shape in 20:4:112:2240 10:2:1228:12280 80:2:256:20480; do
    slices=${shape%%:*} rest=${shape#*:}
    ways=${rest%%:*} rest=${rest#*:}
    sets=${rest%%:*} all=${rest#*:}
    slices 5 'channels: 1' l2,count <<YAML
  slices: $slices
  slice_index: {kind: hash, unit: 128 B, seed: $slices}
  size: $((sets * ways * 128)) B
  line: 128 B
  sector: 32 B
  sets: $sets
  ways: $ways
  index: {kind: modulo, unit: $((slices * 128)) B}
YAML
    expect slices.json l2.ways "$ways"
    expect slices.json l2.sets "$all"
    expect slices.json l2.size $((all * ways * 128))
    expect slices.json l2.count 1
done

# Larger than ordered walks of all its parts go: the lines of crowded sets in one long walk tell as much.
slices 2 'channels: 1' l2,penalty,crowd <<YAML
  slices: 6
  slice_index: {kind: hash, unit: 128 B, seed: 9820}
  size: $((455 * 24 * 128)) B
  line: 128 B
  sector: 128 B
  sets: 455
  ways: 24
  index: {kind: modulo, unit: 768 B}
YAML
expect slices.json l2.ways 24
expect slices.json l2.line 128
expect slices.json l2.sets 2730
grep -q '"name": "lru"' slices.json || fail "the policy is not told"

# Slices in turn, and sets hashed in each: lines come in rows here, too, but not one in a row, and nothing predicts a set. What is still held when
# many lines are read and then back again is all that fits.
slices 2 'channels: 1' l2,sets <<YAML
  slices: 8
  slice_index: {kind: modulo, unit: 128 B}
  size: $((4 * 20 * 128)) B
  line: 128 B
  sector: 32 B
  sets: 4
  ways: 20
  index: {kind: hash, seed: 52743}
YAML
expect slices.json l2.ways 20
expect slices.json l2.sets 32
expect slices.json l2.size 81920

# The same with nru, which does not give lines up in the order they came: rows of two lines that make 16 sets are not believed, for more is held.
slices 2 'channels: 8' l2,sets <<YAML
  slices: 8
  slice_index: {kind: modulo, unit: 128 B}
  size: 8192 B
  line: 64 B
  sector: 32 B
  sets: 32
  ways: 4
  index: {kind: hash, seed: 12420}
  replacement: {policy: nru}
YAML
expect slices.json l2.ways 4
python3 - <<'PY' || fail "sets or size are told that are less than what is held"
import json
l2 = [c for c in json.load(open("slices.json"))["caches"] if c["id"] == "l2"][0]
for name, true in ("sets", 256), ("size", 65536):
    assert l2[name].get("value") in (None, true), l2[name]
PY

# Lines that leave in another order than they came: what is held so is the same of all lines, and less than fits.
slices 2 'channels: 1' l2 <<YAML
  slices: 24
  slice_index: {kind: hash, unit: 128 B, seed: 27580}
  size: 3072 B
  line: 64 B
  sector: 64 B
  sets: 4
  ways: 12
  index: {kind: modulo, unit: 3072 B}
  replacement: {policy: lru_late}
YAML
python3 - <<'PY' || fail "sets or size are told for sure of lines that leave in another order than they came"
import json
l2 = [c for c in json.load(open("slices.json"))["caches"] if c["id"] == "l2"][0]
print({name: l2[name] for name in ("sets", "size")}, l2["policy"]["name"])
for name, true in ("sets", 96), ("size", 73728):
    assert l2[name].get("value") in (None, true) or l2[name]["confidence"] < 0.5, l2[name]
PY

# Blocks of lines far apart tell the number of sets, and lines of other sets bear it out: so the bits that choose the set are told.
slices 2 'channels: 8' l2,apart <<YAML
  slices: 8
  slice_index: {kind: modulo, unit: 128 B}
  size: $((256 * 20 * 128)) B
  line: 128 B
  sector: 32 B
  sets: 256
  ways: 20
  index: {kind: modulo, unit: 1024 B}
YAML
expect slices.json l2.sets 2048
expect slices.json l2.ways 20
python3 - <<'PY' || fail "the index of an L2 of 5 MiB is not told"
import json
l2 = [c for c in json.load(open("slices.json"))["caches"] if c["id"] == "l2"][0]
assert l2["set_index"]["kind"] == "bits", l2["set_index"]
assert [int(mask, 16) for mask in l2["set_index"]["masks"]] == [128 << i for i in range(11)], l2["set_index"]
PY

# Victims drawn, and bits far above the line: ordered walks take too many loads, lines far apart tell all of it.
masks='[0x160080, 0x60100, 0x200, 0x80400, 0x100800, 0x61000, 0xa2000, 0x184000, 0x88000, 0xd0000]'
slices 2 'channels: 1' l2,apart <<YAML
  size: 512 KiB
  line: 128 B
  sector: 32 B
  sets: 1024
  ways: 4
  index: {kind: xor, masks: $masks}
  replacement: {policy: random, seed: 262231}
YAML
expect slices.json l2.sets 1024
expect slices.json l2.ways 4
expect slices.json l2.size 524288
grep -q '"name": "random"' slices.json || fail "the policy is not told"

# Of an L2 of 2 MiB whose sets a hash numbers, whose edge in order takes millions of loads and shows no set, drawn lines crowd a few; nru keeps
# other lines than the last ones, and what it makes of lines read to and fro tells how many sets there are.
slices 2 'channels: 1' l2 <<YAML
  size: $((512 * 33 * 128)) B
  line: 128 B
  sector: 32 B
  sets: 512
  ways: 33
  index: {kind: hash, seed: 13}
  replacement: {policy: nru}
YAML
expect slices.json l2.line 128
expect slices.json l2.ways 33
[ "$("$GET" slices.json l2.policy.name)" = nru ] || fail "the policy of lines that crowd a set is not told"
expect slices.json l2.sets 512

# Near and far parts, and a size at which one window of a walk shows too few misses: sim:h200's L2 is there.
dissect sim:h200 h200.json --only l2,reference
expect h200.json l2.fetch_granularity 64
python3 -c 'import json, sys; sys.exit(not [c for c in json.load(open("h200.json"))["caches"] if c["id"] == "l2"][0]["present"])' ||
    fail "sim:h200 has no L2"

# Rows of a line a slice's unit holds four of: most rows have none of a set's lines, and the first that has is the seventh.
slices 2 'channels: 10, closed_page: true, fixed_latency: 252 cycles' l2 <<YAML
  slices: 20
  slice_index: {kind: hash, unit: 128 B, seed: 4114}
  size: 32 KiB
  line: 32 B
  sector: 32 B
  sets: 256
  ways: 4
  index: {kind: modulo, unit: 640 B}
YAML
expect slices.json l2.sets 5120
expect slices.json l2.size 655360

# Two parts, and more than can be read to the end: a hit in the farther part takes 58 cycles more than one in the nearer, and is not memory's,
# whose lines take 26 cycles fewer or more than 394 by their part.
slices 2 'channels: 16, closed_page: true, fixed_latency: 196 cycles' penalty --skip "$others" <<YAML
  slices: 16
  slice_index: {kind: hash, unit: 128 B, seed: 44603}
  parts: 2
  crossing: {latency: 26 cycles}
  part_index: {kind: hash, unit: 4096 B, seed: 18355}
  size: 2 MiB
  line: 128 B
  sector: 32 B
  sets: 1024
  ways: 16
  index: {kind: hash, seed: 25519}
  hit_latency: 91 cycles
noc: {request_latency: 62 cycles, reply_latency: 62 cycles}
clusters: 2
YAML
expect slices.json memory.latency 394 32
expect slices.json l2.miss_penalty 136 32

# Two parts of two slices each, of which each part keeps the other's lines as well: a row of four lines has two of each set.
slices 2 'channels: 2, closed_page: true, fixed_latency: 200 cycles' l2 <<YAML
  slices: 4
  slice_index: {kind: hash, unit: 256 B, seed: 806}
  parts: 2
  crossing: {latency: 107 cycles}
  part_index: {kind: hash, unit: 4096 B, seed: 7418}
  size: 32 KiB
  line: 256 B
  sector: 32 B
  sets: 32
  ways: 4
  index: {kind: modulo, unit: 1024 B}
clusters: 2
YAML
expect slices.json l2.ways 4
expect slices.json l2.sets 64
expect slices.json l2.size 65536

# Pages of 8 KiB and ten entries: what misses L2 wide apart misses translation as well, and takes 16 cycles more than memory.
slices 2 'channels: 12, closed_page: true, fixed_latency: 196 cycles' penalty --skip "$others" <<YAML
  slices: 24
  slice_index: {kind: hash, unit: 128 B, seed: 59417}
  size: 96 KiB
  line: 128 B
  sector: 32 B
  sets: 8
  ways: 96
  index: {kind: modulo, unit: 3072 B}
  replacement: {policy: nru, seed: 57700}
  hit_latency: 28 cycles
noc: {request_latency: 80 cycles, reply_latency: 80 cycles}
tlb_l1: {enabled: true, page: 8 KiB, scope: cluster, sets: 1, ways: 10, hit_latency: 0 cycles, miss_latency: 7 cycles, fill_latency: 7 cycles}
tlb_l2: {enabled: true, page: 8 KiB, scope: cluster, sets: 12, ways: 4, hit_latency: 39 cycles, miss_latency: 5 cycles, fill_latency: 9 cycles}
walker: {levels: 0, latency: 188 cycles}
vm: {page: 4 KiB, memory: 8 GiB}
YAML
expect slices.json memory.latency 398 3

# The second row that has a line of the set is the fourth there is: rows at quarters of the distance are asked as well.
slices 2 'channels: 40, closed_page: true, fixed_latency: 300 cycles, bank_hash: true' l2,sets <<YAML
  slices: 160
  slice_index: {kind: hash, unit: 128 B, seed: 20258}
  size: 16 KiB
  line: 128 B
  sector: 128 B
  sets: 32
  ways: 4
  index: {kind: modulo, unit: 20480 B}
  replacement: {policy: fifo}
YAML
expect slices.json l2.sets 5120

# 20 MiB, and a TLB that reaches over 28 of memory: blocks of lines far apart tell its sets, and what misses in translation is no miss of L2.
slices 2 'channels: 5, closed_page: true, fixed_latency: 700 cycles' l2,spaced <<YAML
  slices: 10
  slice_index: {kind: hash, unit: 128 B, seed: 711}
  size: $((1024 * 16 * 128)) B
  line: 128 B
  sector: 32 B
  sets: 1024
  ways: 16
  index: {kind: modulo, unit: 1280 B}
  replacement: {policy: nru}
vm: {page: 1 MiB, memory: 8 GiB}
tlb_l1: {enabled: true, page: 4 MiB, scope: sm, sets: 1, ways: 7, miss_latency: 8 cycles, fill_latency: 2 cycles}
walker: {levels: 0, latency: 350 cycles}
YAML
expect slices.json l2.sets 10240
expect slices.json l2.size 20971520
expect slices.json l2.ways 16
expect slices.json l2.line 128
grep -q '"name": "nru"' slices.json || fail "the policy of a large L2 is not told"
