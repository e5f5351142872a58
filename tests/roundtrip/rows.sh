#!/bin/sh
# What a dissection tells of an L2 and its export used to lose: rows of lines that slices have hashed among them, slices that lie near and far
# in one part, an edge where misses begin. And an L1 that other paths alone tell, one beside more shared memory than the base's, sets of a TLB.
# whole: gtx560ti
{
    printf 'name: rows\nsms: 2\n'
    echo 'l1_data: {size: 16 KiB, line: 128 B, sector: 32 B, sets: 16, ways: 8}'
    cat <<YAML
l2:
  slices: 8
  slice_index: {kind: hash, unit: 128 B, seed: 77}
  size: $((64 * 12 * 128)) B
  line: 128 B
  sector: 32 B
  sets: 64
  ways: 12
  index: {kind: modulo, unit: 1024 B}
dram: {channels: 1}
driver: {compute_major: 7, compute_minor: 0}
YAML
} >slices.yaml
told=l2,count
dissect sim:./slices.yaml slices.json --only $told
python3 - <<'EOF' || fail "a dissection does not tell the rows of its L2"
import json
l2 = next(one for one in json.load(open("slices.json"))["caches"] if one["id"] == "l2")
rows = l2["set_index"]["rows"]
assert l2["set_index"]["kind"] == "unknown" and l2["sets"]["value"] == 512 == rows["lines"] * rows["period"]
assert rows == {"lines": 8, "period": 64}, rows
EOF
"$SONDE" export slices.json --format sonde -o again.yaml || fail "no model"
dissect sim:./again.yaml again.json --only $told
"$SONDE" compare slices.json again.json --cycles 1 >compared
! grep -E '^(differs|only in A) *l2\.(size|sets|ways|line|policy)' compared || fail "hashed slices do not come back"

whole gtx560ti told.json
python3 - <<'EOF' || fail "no doctored dissections"
import copy, json
from changes import missing, tlb
told = json.load(open("told.json"))
def value(number, confidence=0.9):
    return {"value": number, "unit": "1", "confidence": confidence, "evidence": "l2.1"}
def write(name, change):
    other = copy.deepcopy(told)
    change(other, {one["id"]: one for one in other["caches"]})
    json.dump(other, open(name + ".json", "w"))
def rows(lines, period, sets, line=128, count=1):
    def change(all, caches):
        l2 = caches["l2"]
        l2.update(count=value(count), sets=value(sets), ways=value(16), line=value(line), size=value(sets * 16 * line))
        l2["set_index"] = {"kind": "unknown", "rows": {"lines": lines, "period": period}, "status": "not measured", "reason": "the test's"}
        l2["hit_latencies"] = [{"cycles": 200, "low": 200, "high": 200, "share": 1.0}]
        all["latency_patterns"] = []
    return change
write("whole", rows(12, 40, 480))
write("parts", rows(16, 32, 256, count=2))
def turn(all, caches):
    rows(16, 32, 256, count=2)(all, caches)
    caches["l2"]["set_index"]["rows"]["apart"] = 8
write("turn", turn)
write("short", rows(16, 32, 512, line=32)) # of lines shorter than a request: a piece of the row is one slice's
write("others", rows(16, 32, 500)) # of another number of sets than rows make

def apart(all, caches):
    rows(8, 64, 512)(all, caches)
    caches["l2"]["hit_latencies"] = [{"cycles": 200 + 16 * i, "low": 200 + 16 * i, "high": 200 + 16 * i, "share": 0.25} for i in range(4)]
write("apart", apart)
def late(all, caches): # the later one missed translation
    rows(8, 64, 512)(all, caches)
    penalty = tlb(all, "l1_tlb")["miss_penalty"]["value"]
    caches["l2"]["hit_latencies"] = [{"cycles": at, "low": at, "high": at, "share": 0.5} for at in (200, 200 + penalty)]
write("late", late)

def edge(all, caches):
    l2 = caches["l2"]
    missing(l2, "sets")
    l2.update(ways=value(8), line=value(128), size=value(47104, 0.28))
    l2["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
write("edge", edge)

def untold(all, caches):
    l1, local = caches["l1_data"], caches["local_l1"]
    missing(l1, "size", "line", "fetch_granularity", "sets", "ways", "hit_latency", "load_to_use_latency", "miss_penalty", "shared_with")
    l1["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
    l1["policy"] = {"name": "unknown", "status": "not measured", "reason": "the test's"}
    l1["hit_latencies"] = []
    local.update(sets=value(48), ways=value(4), line=value(128), size=value(24576), shared_with=["texture_l1"])
    local["set_index"] = {"kind": "modulo", "masks": [], "modulus": 48, "confidence": 0.9, "evidence": "l2.1"}
    for key in ("sets", "ways", "line", "size", "set_index"):
        caches["texture_l1"][key] = local[key]
    caches["texture_l1"]["shared_with"] = ["local_l1"]
write("untold", untold)

def alone(all, caches): # local memory tells sets that differ, and neither their number nor a line
    untold(all, caches)
    local = caches["local_l1"]
    missing(local, "sets", "ways", "line")
    local.update(size=value(11 * 128), ways_per_set=[2, 3, 2, 4], set_index={"kind": "bits", "masks": ["0x80", "0x100"], "confidence": 0.9, "evidence": "l2.1"})
    local["shared_with"] = []
    caches["texture_l1"]["shared_with"] = []
write("alone", alone)

def turned(by, **more): # sets as pages come to them, and no walk that says how many pages fit
    def change(all, caches):
        sets = [6, 5, 5, 8, 5, 7, 5]
        second = tlb(all, "l2_tlb")
        listed = {"entries_per_set": sets[by:] + sets[:by]}
        second.update(present=True, page=dict(value(131072), unit="B"), entries=value(sum(sets)), sets=value(7), **dict(listed, **more))
        second.pop("steps", None)
        first = tlb(all, "l1_tlb")
        first["page"]["value"] = 131072
    return change
write("turned", turned(0))
write("later", turned(3))
write("mixed", turned(0, entries_per_set=[5, 6, 5, 8, 5, 7, 5]))

def carved(all, caches): # the base leaves 8 KiB to shared memory, the driver says 48
    l1 = caches["l1_data"]
    l1.update(sets=value(32), ways=value(4), line=value(32), size=value(3616), carveout_shared=value(8192))
    all["device"]["shared_per_sm_bytes"] = 49152
write("carved", carved)
EOF
over whole v100
holds whole l2 'slices: 12 '
holds whole l2 'slice_index: {kind: hash, unit: 128 B, seed: 1}'
holds whole l2 'sets: 40 '
holds whole l2 'index: {kind: modulo, unit: 1536 B}'
over parts a100 # a part has half of the slices
holds parts l2 'parts: 2 '
holds parts l2 'slices: 16 '
holds parts l2 'sets: 32 '
holds parts l2 'index: {kind: modulo, unit: 2048 B}'
over turn a100 # and its lines come to them in turn
holds turn l2 'slices: 16 '
holds turn l2 'slice_index: {kind: modulo, unit: 128 B}'
holds turn l2 'index: {kind: modulo, unit: 2048 B}'
over short v100
unit=$(sed -n 's/^  slice_index: {kind: hash, unit: \([0-9]*\) B.*/\1/p' short.yaml)
[ "$unit" -gt 32 ] || fail "a request is torn: $(grep slice_index short.yaml)"
holds short l2 'index: {kind: modulo, unit: 512 B}'
over others v100
! grep -q 'measured: rows' others.yaml || fail "rows of other sets than those that were told"

over apart v100
holds apart l2 'slice_latency: \[0, 0, 16, 16, 32, 32, 48, 48\]'
over late v100
! grep -q 'slice_latency: \[0' late.yaml || fail "what missed translation lies farther away"

over edge v100
[ "$(sed -n '/^l2:/,/^noc:/s/^  ways: \([0-9]*\) .*/\1/p' edge.yaml)" = 8 ] || fail "the ways beside an edge are lost"
"$SONDE" model show ./edge.yaml | sed -n '/^l2:/,/^noc:/p' | awk '/^  size:/ { size = $2 * ($3 == "KiB" ? 1024 : $3 == "MiB" ? 1048576 : 1) } /^  slices:/ { slices = $2 }
    END { exit !(size * slices > 47104 && size * slices < 8 * 47104) }' || fail "the size of an L2 whose misses begin at 46 KiB: $(sed -n '/^l2:/,/^noc:/p' edge.yaml)"

over untold gtx780
holds untold l1_data 'sets: 48 '
grep -q '^  texture: {.*l1: true}' untold.yaml || fail "textures that share with local memory have a cache of their own"
over alone gtx780
holds alone l1_data 'ways_per_set: \[2, 3, 2, 4\]'
holds alone l1_data 'line: 128 B'
holds alone l1_data 'index: {kind: bits, bits: \[7, 8\]}'
over carved v100
grep -q '^carveout: {choices: \[\]}' carved.yaml || fail "a division of less than the driver's shared memory"
sed -n '/^  shared:/,/^  [a-rt-z]/p' carved.yaml | grep -q 'size: 49152 B' || fail "the driver's shared memory is lost"

# Sets of a TLB that were listed as pages come to them are so in the model, and where a buffer began does not make them others.
over turned gtx780
holds turned tlb_l2 'index: {kind: map, map: \[0, 1, 2, 3, 4, 5, 6\]}'
"$SONDE" compare turned.json later.json >compared || fail "the same sets, from another one on: $(grep ^differs compared)"
! "$SONDE" compare turned.json mixed.json >compared || fail "other sets are the same"
