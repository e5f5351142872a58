#!/bin/sh
# What is refused, left out or not recorded is told as that: no latency of L2 as the memory's, no cache as absent.
cat >few_registers.yaml <<'YAML'
inherits: gtx780
name: few_registers
sm: {registers: 16384}
YAML
dissect sim:./few_registers.yaml few.json --only l2
expect few.json l2.size 1572864
expect few.json l2.sets 768
expect few.json memory.latency 372 2

dissect sim:gtx560ti skipped.json --skip capacity
expect skipped.json memory.latency 639 1
expect skipped.json l2.size 524288 # of its sets, which were asked
expect skipped.json l2.hit_latency 371 1

# An L2 of 96 MiB is told; one eight times as large is larger than any walk that goes on from what fits: nothing stands in for its size, and neither
# is its latency the memory's nor is it absent. (That simulating takes too long is refused in unit.probe.sim.)
cat >large.yaml <<'YAML'
inherits: gtx780
name: large
l2: {slices: 6, size: 16 MiB, sets: 8192}
YAML
dissect sim:./large.yaml large.json --only l2,memory,penalty
expect large.json l2.size 100663296
cat >dear_walk.yaml <<'YAML'
inherits: gtx780
name: dear_walk
l2: {slices: 6, size: 128 MiB, sets: 65536}
YAML
dissect sim:./dear_walk.yaml dear_walk.json --only l2,memory,penalty --effort quick
expect dear_walk.json l2.size "not measured"
expect dear_walk.json l2.hit_latency 230 1
expect dear_walk.json memory.latency 371 1
grep -q 'fits: too large for ordered walks' dear_walk.json ||
    fail "why L2 is not measured is not told"

# GPUs before Fermi have no L2, and few registers.
dissect sim:gtx280 tesla.json --only l1_data,l2
expect tesla.json l2.size absent
expect tesla.json l1_data.size absent
expect tesla.json memory.latency 450

"$SONDE" dissect -d sim:gtx560ti -q --only l1_data --record part.sonde >/dev/null || fail "recording"
"$SONDE" infer part.sonde -q --json part.json >/dev/null || fail "inferring"
valid part.json || fail "the JSON is not valid"
expect part.json l1_data.size 16384
expect part.json l2.size "not recorded"
expect part.json memory.latency "not recorded"

# Each experiment brings what it needs.
for asked in count sharing patterns memory; do
    dissect sim:gtx560ti $asked.json --only $asked
done
expect count.json l1_data.count 8
expect count.json l2.count 1
expect memory.json l2.size 524288
expect memory.json l1_data.size "not asked"
[ "$("$GET" sharing.json l1_data.shared_with)" = local_l1 ] || fail "l1_data is also local memory's"
grep -q '"pattern": "P1"' patterns.json || fail "no patterns"

# The curve of local memory is of the cache's own bytes: 16 KiB fit. That of a texture cache whose sets take four lines
# in a row goes by lines: 12 KiB fit.
curve() { # JSON CACHE FITS MISSES
    python3 - "$@" <<'PY' || fail "the curve of $2 does not rise behind $3 bytes"
import json, sys
steps = next(c for c in json.load(open(sys.argv[1]))["caches"] if c["id"] == sys.argv[2])["steps"]
misses = {s["bytes"]: s["miss_share"] for s in steps}
sys.exit(not (misses[1024] == misses[int(sys.argv[3])] == 0 and misses[int(sys.argv[4])] > 0.3))
PY
}
dissect sim:gtx560ti local.json --only local_l1,sweep
curve local.json local_l1 16384 23168
dissect sim:gtx780 texture.json --only texture_l1,readonly_l1
curve texture.json texture_l1 11520 16384
curve texture.json readonly_l1 11520 16384
