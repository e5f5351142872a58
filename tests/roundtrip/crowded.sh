#!/bin/sh
# L2s of some MiB whose slices a hash numbers, so that no distance of lines leads back to a set, under policies that give lines up late:
# drawn lines crowd a few sets, and these tell line, ways, policy, sets and size.
#
# fifo loses lines that are in use to the records of a walk; lru_late keeps what was read twice, and then takes nothing else in.
model() { # NAME L2
    cat >"$1.yaml" <<END
---
inherits: gtx780
name: $1
l2: {$2, line: 128 B, sector: 32 B, slice_index: {kind: hash, unit: 128 B, seed: 10044}}
...
END
    dissect "sim:./$1.yaml" "$1.json" --only l2
}
says() { # FILE POLICY
    [ "$("$GET" "$1" l2.policy.name)" = "$2" ] || fail "$1: $("$GET" "$1" l2.policy.name), not $2"
}
model kept 'size: 128 KiB, sets: 32, ways: 32, index: {kind: modulo, unit: 1536 B}, slices: 12, replacement: {policy: lru_late}'
expect kept.json l2.line 128
expect kept.json l2.ways 32
expect kept.json l2.sets 384
expect kept.json l2.size 1572864
says kept.json lru_late
model first 'size: 64 KiB, sets: 8, ways: 64, index: {kind: modulo, unit: 3072 B}, slices: 24, replacement: {policy: fifo}'
expect first.json l2.line 128
expect first.json l2.ways 64
expect first.json l2.sets 192
expect first.json l2.size 1572864
model alike 'size: 128 KiB, sets: 256, ways: 4, index: {kind: hash, seed: 29891}, slices: 12, replacement: {policy: srrip}'
expect alike.json l2.line 128
expect alike.json l2.ways 4
says alike.json srrip
# Slices and parts lie apart: up to what L2 holds slow loads do not begin fetch units, and beyond they do. Lines of 32 B are hashed four at a
# time; what that makes of the number of sets is no more than doubtful.
cat >halves.yaml <<'END'
---
inherits: gtx780
name: halves
l2:
  {size: 64 KiB, line: 32 B, sector: 32 B, sets: 512, ways: 4, index: {kind: modulo, unit: 384 B}, slices: 12,
   replacement: {policy: fifo}, slice_index: {kind: hash, unit: 128 B, seed: 9129}, parts: 2, crossing: {latency: 24 cycles},
   part_index: {kind: hash, unit: 4096 B, seed: 41447}, slice_latency: [17, 12, 21, 12, 11, 6]}
...
END
dissect sim:./halves.yaml halves.json --only l2
expect halves.json l2.line 32
expect halves.json l2.ways 4
says halves.json fifo
expect halves.json l2.sets.confidence 0.28 0.1
