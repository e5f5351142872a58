#!/bin/sh
# The second cache of constants, which hears only what the first one misses: copies of a model in which both
# draw victims, resist thrashing, fold address bits, or hardly differ from what is in front and beneath. Sets,
# policy, index and victims are what each copy says, and nothing of it is said where there is no second cache.
copy() { # NAME, the caches on standard input
    { printf 'inherits: gtx560ti\nname: %s\ndoc: a copy of gtx560ti\n' "$1"; cat; } >"$1.yaml"
    "$SONDE" model check "$1.yaml" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
    dissect "sim:$1.yaml" "$1.json" --only constant_l1,constant_l15
}
second() { # NAME SIZE LINE SETS WAYS POLICY INDEX MODULUS
    expect "$1.json" constant_l15.size "$2"
    expect "$1.json" constant_l15.line "$3"
    expect "$1.json" constant_l15.sets "$4"
    expect "$1.json" constant_l15.ways "$5"
    /usr/bin/python3 - "$1.json" "$6" "$7" "$8" <<'PY' || fail "$1: policy or index of the second cache"
import json, sys
cache = [c for c in json.load(open(sys.argv[1]))["caches"] if c["id"] == "constant_l15"][0]
policy, index = cache["policy"], cache["set_index"]
said = [policy["name"], index["kind"], str(index.get("modulus", 0))]
if said != sys.argv[2:]:
    sys.exit("said %s, expected %s" % (said, sys.argv[2:]))
if policy["name"] == "biased":
    ways = policy["victim_probability"]
    off = max(abs(p - (0.3 if way == 2 else 0.1)) for way, p in enumerate(ways))
    if len(ways) != 8 or off > 0.03:
        sys.exit("victims %s" % ways)
PY
}

# Both draw their victims; the sets of neither are a power of two. Tolerance of probabilities: the study's 0.03.
copy drawn <<'YAML'
constant_l1: {size: 768 B, line: 32 B, sector: 32 B, sets: 6, ways: 4, index: {kind: modulo}, replacement: {policy: random, seed: 7}}
constant_l15: {size: 6 KiB, line: 64 B, sector: 32 B, sets: 12, ways: 8, index: {kind: modulo},
  replacement: {policy: biased, seed: 5, victim_probability: [1/10, 1/10, 3/10, 1/10, 1/10, 1/10, 1/10, 1/10]}}
YAML
second drawn 6144 64 12 8 biased modulo 12

# A few members of a set miss under SRRIP, whatever is walked; used bits outlive a launch.
copy resists <<'YAML'
constant_l1: {size: 1 KiB, line: 64 B, sector: 32 B, sets: 4, ways: 4, index: {kind: bits, bits: [6, 7]}, replacement: {policy: nru}}
constant_l15: {size: 5 KiB, line: 128 B, sector: 128 B, sets: 5, ways: 8, index: {kind: modulo}, replacement: {policy: srrip}}
YAML
second resists 5120 128 5 8 srrip modulo 5

# Folded bits, of which some lie beyond the first cache's; a bank of constants begins on 64 KiB.
copy folded <<'YAML'
constant_l1: {size: 1 KiB, line: 64 B, sector: 64 B, sets: 8, ways: 2, index: {kind: xor, masks: [0x2040, 0x80, 0x100]}}
constant_l15: {size: 8 KiB, line: 64 B, sector: 64 B, sets: 16, ways: 8,
  index: {kind: xor, masks: [0x840, 0x1080, 0x100, 0x200]}, replacement: {policy: nru}}
YAML
second folded 8192 64 16 8 nru xor 0

# A hash numbers the sets: one is full before the others, in arrays of any size, and by chance in one that looks like
# whole sets. Ways, line and policy of that one are known; how many there are shows in what is held, or not at all.
copy hashed <<'YAML'
constant_l1: {size: 768 B, line: 64 B, sector: 32 B, sets: 1, ways: 12, index: {kind: modulo}, replacement: {policy: lru}}
constant_l15: {size: 12 KiB, line: 128 B, sector: 32 B, sets: 16, ways: 6, index: {kind: hash, seed: 51346}, replacement: {policy: lru}}
YAML
copy by_chance <<'YAML'
constant_l1: {size: 768 B, line: 64 B, sector: 32 B, sets: 1, ways: 12, index: {kind: modulo}, replacement: {policy: lru}}
constant_l15: {size: 30 KiB, line: 512 B, sector: 128 B, sets: 15, ways: 4, index: {kind: hash, seed: 25278}, replacement: {policy: lru}}
YAML
for name in hashed by_chance; do
    [ "$("$GET" $name.json constant_l15.policy.name)" = lru ] || fail "$name: policy of the second cache"
done
# Lines read to and fro tell how many there are: whole sets where all that the path reaches fills every set, else what
# their policy makes of these lines.
expect hashed.json constant_l15.sets 16
expect hashed.json constant_l15.size 12288
expect by_chance.json constant_l15.sets 15
expect by_chance.json constant_l15.size 30720
expect hashed.json constant_l15.ways 6
expect hashed.json constant_l15.line 128
expect by_chance.json constant_l15.ways 4
expect by_chance.json constant_l15.line 512

# A first cache of less than 1 KiB that misses ever other words of 1 KiB; a line behind it that is read in parts.
copy small <<'YAML'
constant_l1: {size: 640 B, line: 64 B, sector: 32 B, sets: 2, ways: 5, index: {kind: bits, bits: [6]}, replacement: {policy: nru}}
constant_l15: {size: 8 KiB, line: 128 B, sector: 32 B, sets: 8, ways: 8, index: {kind: modulo}, replacement: {policy: lru}}
YAML
expect small.json constant_l1.size 640
expect small.json constant_l1.ways 5
second small 8192 128 8 8 lru bits 0

# Two residues to a set, of which one may keep the other out of the first cache while their sets are sought.
copy mapped <<'YAML'
constant_l1: {size: 1280 B, line: 128 B, sector: 32 B, sets: 2, ways: 5, index: {kind: xor, masks: [0x8080]},
  replacement: {policy: random, seed: 451245}}
constant_l15: {size: 8448 B, line: 128 B, sector: 32 B, sets: 33, ways: 2, replacement: {policy: random, seed: 422748},
  index: {kind: map, map: [30, 6, 13, 28, 25, 9, 28, 19, 12, 10, 9, 0, 1, 31, 16, 27, 15, 23, 20, 17, 19, 6, 12, 17, 3, 26,
    22, 21, 20, 15, 25, 32, 13, 2, 7, 8, 22, 16, 7, 26, 1, 14, 11, 5, 0, 4, 32, 8, 18, 14, 18, 10, 5, 21, 4, 29, 11, 24,
    27, 2, 23, 3, 30, 29, 24, 31]}}
YAML
second mapped 8448 128 33 2 random map 66

# Hardly nearer than L2: what misses there takes 12 cycles more than 358, and every time.
copy near <<'YAML'
constant_l1: {size: 1 KiB, line: 128 B, sector: 32 B, sets: 2, ways: 4, index: {kind: bits, bits: [7]}, replacement: {policy: nru}}
constant_l15: {size: 8 KiB, line: 128 B, sector: 32 B, sets: 8, ways: 8, index: {kind: bits, bits: [7, 8, 9]},
  replacement: {policy: nru}, hit_latency: 345 cycles}
YAML
second near 8192 128 8 8 nru bits 0

# Farther than L2: its hits take 374 cycles, its misses 370, and every time.
copy later <<'YAML'
constant_l1: {size: 1 KiB, line: 128 B, sector: 32 B, sets: 2, ways: 4, index: {kind: bits, bits: [7]}, replacement: {policy: nru}}
constant_l15: {size: 8 KiB, line: 128 B, sector: 32 B, sets: 8, ways: 8, index: {kind: bits, bits: [7, 8, 9]},
  replacement: {policy: nru}, hit_latency: 361 cycles}
YAML
second later 8192 128 8 8 nru bits 0
expect later.json constant_l15.miss_penalty -4

# By so much that what L2 answers is nearer to hits in front: hits take 711 cycles, misses 370.
copy far_later <<'YAML'
constant_l1: {size: 1 KiB, line: 128 B, sector: 32 B, sets: 2, ways: 4, index: {kind: bits, bits: [7]}, replacement: {policy: nru}}
constant_l15: {size: 8 KiB, line: 128 B, sector: 32 B, sets: 8, ways: 8, index: {kind: bits, bits: [7, 8, 9]},
  replacement: {policy: lru}, hit_latency: 698 cycles}
YAML
second far_later 8192 128 8 8 lru bits 0
expect far_later.json constant_l15.miss_penalty -341 2

# By two cycles: many loads in turn show them first, and then each, since all hits are alike. (Its misses are not: the
# policy stays open.)
copy hardly_later <<'YAML'
constant_l1: {size: 1 KiB, line: 128 B, sector: 32 B, sets: 2, ways: 4, index: {kind: bits, bits: [7]}, replacement: {policy: nru}}
constant_l15: {size: 8 KiB, line: 128 B, sector: 32 B, sets: 8, ways: 8, index: {kind: bits, bits: [7, 8, 9]},
  replacement: {policy: lru}, hit_latency: 359 cycles}
YAML
for pair in size=8192 line=128 sets=8 ways=8; do
    expect hardly_later.json constant_l15.${pair%=*} "${pair#*=}"
done
expect hardly_later.json constant_l15.miss_penalty -2

# Twice what fits in front is too much for a third of its sets, which a hash fills unevenly.
copy crowded <<'YAML'
constant_l1: {size: 2 KiB, line: 64 B, sector: 32 B, sets: 1, ways: 32, index: {kind: modulo}, replacement: {policy: plru}}
constant_l15: {size: 6 KiB, line: 64 B, sector: 32 B, sets: 16, ways: 6, index: {kind: hash, seed: 64460}, replacement: {policy: srrip},
  hit_latency: 333 cycles}
YAML
expect crowded.json constant_l15.ways 6
expect crowded.json constant_l15.line 64
expect crowded.json constant_l15.sets 16
expect crowded.json constant_l15.size 6144

# Two ways of which one is a victim three times as often, in twice whose size half of the units hit.
copy halves <<'YAML'
constant_l1: {size: 2 KiB, line: 32 B, sector: 32 B, sets: 32, ways: 2, index: {kind: bits, bits: [5, 6, 7, 8, 9]}, replacement: {policy: nru}}
constant_l15: {size: 32 KiB, line: 64 B, sector: 32 B, sets: 256, ways: 2, index: {kind: bits, bits: [6, 7, 8, 9, 10, 11, 12, 13]},
  replacement: {policy: biased, seed: 57313, victim_probability: [1/4, 3/4]}}
YAML
expect halves.json constant_l15.fetch_granularity 32
expect halves.json constant_l15.size 32768
expect halves.json constant_l15.sets 256
expect halves.json constant_l15.ways 2

# None, and an L2 so small that launches drive out what is read first.
copy none <<'YAML'
constant_l15: {enabled: false}
dram: {channels: 1}
l2: {slices: 1, slice_index: {kind: modulo, unit: 128 B}, size: 16 KiB, sets: 128, ways: 1, index: {kind: modulo, unit: 128 B}}
YAML
expect none.json constant_l1.size 2048
[ "$("$GET" none.json constant_l15.present)" = false ] || fail "a second cache shows, and is not there"
# Loads that take 365 cycles and 637 may hit a second cache and L2, or L2 and memory, where the way of constants is
# longer or shorter than that of plain loads: nothing is concluded.
expect none.json constant_l15.size "not measured"
