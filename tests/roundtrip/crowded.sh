#!/bin/sh
# L2s of some MiB whose slices a hash numbers, so that no distance of lines leads back to a set, under policies that give lines up late:
# drawn lines crowd a few sets, and these tell line, ways, policy, sets and size.
#
# fifo loses lines that are in use to the records of a walk; lru_late keeps what was read twice, and then takes nothing else in; shares
# of drawn victims take the longest walks.
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
    python3 - "$1" "$2" <<'END' || fail "$1: not $2"
import json, sys
assert next(c for c in json.load(open(sys.argv[1]))["caches"] if c["id"] == "l2")["policy"]["name"] == sys.argv[2]
END
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
