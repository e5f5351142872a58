#!/bin/sh
# What a dissection tells and its export used to lose: classes of hits that are no copies, a rare class that is no median, sets of two
# parts that are filled evenly, sets of a TLB that take pages in turn, an L2 that the misses of local memory alone tell.
# whole: gtx560ti
whole gtx560ti told.json
python3 - told.json <<'EOF' || fail "no doctored dissections"
import json, sys
from changes import missing, tlb
told = json.load(open(sys.argv[1]))
caches = {one["id"]: one for one in told["caches"]}
l2 = caches["l2"]
def write(name):
    json.dump(told, open(name + ".json", "w"))
def value(number, confidence=0.9):
    return {"value": number, "unit": "1", "confidence": confidence, "evidence": "l2.1"}
def hits(*classes):
    l2["hit_latencies"] = [{"cycles": at, "low": at, "high": at, "share": share} for at, share in classes]

# A texture's misses go to what most hits take, and not to what few took that missed translation.
plain, hit = l2["hit_latencies"], l2["hit_latency"]["value"]
write("usual")
hits((hit, 0.94), (hit + 46, 0.06))
write("rare")
l2["hit_latencies"] = plain

# Even sets of two parts.
l2["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
l2.pop("ways_per_set", None)
l2.update(count=value(2), sets=value(1280), ways=value(8), line=value(128), size=value(1310720))
hits((232, 0.2), (239, 0.2), (245, 0.2), (251, 0.2), (265, 0.2))
write("even")
# Sets that are an estimate are those of slices that the base's hash fills unevenly.
l2["sets"].update(low=1200, high=1360)
write("estimate")
# One broad class: half of the hits lie before its median, wherever that is.
for name, median in ("skewed", 280), ("level", 289):
    l2["hit_latencies"] = [{"cycles": median, "low": 260, "high": 318, "share": 1.0}]
    write(name)
# Of the same classes some are copies of others, or may be.
hits((232, 0.25), (239, 0.25), (251, 0.25), (258, 0.25))
write("copies")
# The parts were not counted: hits of one class have no copies all the same. (No kinds of access, or they show that there is one.)
missing(l2, "count", "size", "sets", "ways", "line")
hits((325, 1.0))
kinds, told["latency_patterns"] = told["latency_patterns"], []
write("single")
told["latency_patterns"] = kinds

def rates(name, read, write):
    for key, rate in ("read_bandwidth", read), ("write_bandwidth", write):
        told["memory"][key] = {"value": rate, "unit": "B/s", "confidence": 0.9, "evidence": "l2.1"}
    json.dump(dict(told, device=dict(told['device'], sms=100)), open(name + '.json', 'w'))
rates("slow", 3.3e11, 3e11)
rates("behind", 3.3e11, 4.3e11)

first = tlb(told, "l1_tlb")
first.update(entries=value(25), sets=value(4), entries_per_set=[4, 6, 7, 8], steps=[{"pages": 19, "missed": 5}])
write("turn")
first["steps"] = [{"pages": 31, "missed": 5}]
write("other")

# An L2 that was not measured is as far as the misses of local memory, where L1 serves no other.
l2.clear()
l2.update({"id": "l2", "present": False, "status": "not measured", "reason": "the test's"})
caches["l1_data"].update({"present": False, "status": "absent", "reason": "the test's"})
caches["local_l1"]["hit_latency"]["value"], caches["local_l1"]["miss_penalty"]["value"] = 83, 60
told["latency_patterns"] = []
write("local")
EOF
for told in usual rare; do
    over $told gtx780
    sed -n 's/^  texture: {\([^}]*\)}.*/\1/p' $told.yaml >>ends
done
[ "$(sort -u ends | wc -l)" = 1 ] || fail "hits that few took make textures later: $(cat ends)"

over even a100
holds even l2 'slices: 64 '
holds even l2 'slice_index: {kind: hash, unit: 128 B, seed: 1}'
holds even l2 'sets: 40 '
holds even l2 'index: {kind: modulo, unit: 4096 B}'
holds even l2 'copy_latency: 0 cycles'
[ "$(grep -o 'slice_latency: .*]' even.yaml | tr -cd , | wc -c)" = 31 ] || fail "not as many distances as slices: $(grep slice_latency even.yaml)"
over estimate a100
holds estimate l2 'slices: 80 '
holds estimate l2 'index: {kind: hash}'
over skewed a100
over level a100
middle() { # FILE: how much farther than the nearest slice the middle one and the last one lie
    sed -n 's/.*slice_latency: \[\(.*\)\].*/\1/p' "$1.yaml" | tr -d ' ' | awk -F, '{ print $(NF / 2 + 1) - $1, $NF - $1 }'
}
echo "$(middle skewed) $(middle level)" >middles
awk '{ exit !($1 >= 18 && $1 <= 24 && $3 >= 28 && $3 <= 34 && $2 >= 54 && $2 <= 68 && $4 >= 54 && $4 <= 68) }' middles ||
    fail "of medians 20 and 29 cycles from the near quantile: $(cat middles)"
over copies a100
! grep copy_latency copies.yaml || fail "copies that show are gone"
over single gh100
holds single l2 'copy_latency: 0 cycles'

over turn gtx780
holds turn tlb_l1 'index: {kind: map, map: \[1, 2, 0, 3\]}'
over other gtx780
holds other tlb_l1 'index: {kind: map, map: \[0, 1, 1, 2, 2, 3, 3\]}'

over local gtx480
way=$("$SONDE" model show local.yaml | awk '/^noc:/ { noc = 1 } noc && /^  (request|reply)_latency:/ { sum += $2 } END { print sum }')
[ "$way" -lt 140 ] || fail "a load that misses takes 143 cycles, the network alone $way"

# A slow memory has a power of two of the base's parts; reads are as far apart as they have to be, whatever writes had, and writes as well.
commands() { # FILE TIME: so far apart, in all channels, a second
    sed -n '/^dram:/,/^vm:/p' "$1.yaml" | awk -v time="$2:" '{ value[$1] = $2 } END { print 1000 * value["channels:"] * value["clock:"] / value[time] }'
}
for told in slow behind; do
    over $told a100
    holds $told dram 'channels: 16 '
done
echo "$(commands slow t_ccd_s) $(commands behind t_ccd_s) $(commands slow t_ccd_wr) $(commands behind t_ccd_wr)" >rates
awk 'function is(a, b) { return a > 0.98 * b && a < 1.02 * b } { exit !(is($2, $1) && is($3 / $1, 3 / 3.3) && is($4 / $2, 4.3 / 3.3)) }' rates ||
    fail "reads of 3.3e11 B/s, writes of 3 and 4.3: $(cat rates)"

# Kinds of access of which one dissection tells none and the other some are told by that one alone; none is no kind.
"$SONDE" compare usual.json local.json >compared
! grep '^only in B *latency_patterns ' compared || fail "no kinds of access are told for one"
grep -q '^only in A *latency_patterns\.' compared || fail "kinds of access are not compared"
