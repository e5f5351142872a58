#!/bin/sh
# A dissection becomes a model, and the model's dissection tells the same: every attribute, latencies
# within a cycle, bandwidths within five percent. Kinds of access (latency_patterns) and accesses that
# conflict are sums of more than one parameter that was rounded: they may differ by four cycles, and a
# rare kind may show in one walk alone. gtx560ti's loads in flight are not told again: its model deals out
# slices of L2 otherwise, and one of four counts of loads then jumps at another number.
# whole: gtx560ti m2070 gtx560ti-48k 8600gts
closes() { # MODEL [OPTION]...
    model=$1
    shift
    whole "$model" told.json
    "$SONDE" export told.json --format sonde "$@" -o again.yaml || fail "$model: no model"
    dissect sim:./again.yaml again.json
    "$SONDE" compare told.json again.json --cycles 1 --percent 5 >fine
    "$SONDE" compare told.json again.json --cycles 4 --percent 5 >coarse
    grep -q '^[1-9][0-9][0-9] the same' coarse || fail "$model: too little was compared: $(tail -n 1 coarse)"
    lost='^$'
    [ "$model" != gtx560ti ] || lost='^only in A  outstanding'
    ! grep -v 'latency_patterns\|conflict_latency\| the same' fine | grep -v "$lost" || fail "$model $*: that did not come back"
    ! grep '^differs' coarse || fail "$model $*: that is further away"
}
closes gtx560ti
closes m2070
# Over a base of another generation: nothing that was measured may come from it.
closes gtx560ti-48k --base gtx780

# Of whatever base a model comes: of one whose L1's data are fewer than its tags reach, of one with routers for its own SMs alone.
for base in a100 gh100 bakhoda2009 8600gts; do
    "$SONDE" export told.json --format sonde --base "$base" -o "over.$base.yaml" || fail "over $base: no model"
    "$SONDE" model check "over.$base.yaml" >check || fail "over $base: $(cat check)"
done

# Sets that were told, when which lines share one was not: over a base of hashed sets they are filled evenly all the same, in slices that are
# hashed where a modulus would have been found (up to 4096 sets), and else in turn, as their number alone shows a modulus. Where an index
# of so many was asked for and not found, it is the base's hashes, and as many of its slices as share the sets.
for sets in 256 8192 8208; do
    python3 - told.json $sets <<'EOF' || fail "no dissection of $sets sets"
import json, sys
told = json.load(open(sys.argv[1]))
l2 = next(one for one in told["caches"] if one["id"] == "l2")
status = "not asked" if sys.argv[2] == "8192" else "not measured"
l2["set_index"] = {"kind": "unknown", "status": status, "reason": "the test's"}
l2.pop("ways_per_set", None)
for key, value in {"line": 128, "ways": 16, "sets": int(sys.argv[2]), "size": 2048 * int(sys.argv[2])}.items():
    l2[key] = {"value": value, "unit": "1", "confidence": 0.9, "evidence": "l2.1"}
json.dump(told, open("even.json", "w"))
EOF
    "$SONDE" export even.json --format sonde --base v100 -o even.yaml && "$SONDE" model check even.yaml >check || fail "$sets sets: no model"
    sed -n '/^l2:/,/^noc:/p' even.yaml >even
    if [ $sets -eq 8208 ]; then
        grep -q '^  slices: 27 ' even && grep -q '^  sets: 304 ' even && grep -q '^  index: {kind: hash}' even ||
            fail "$sets sets by chance: $(cat even)"
        ! grep -q 'slice_index' even || fail "$sets sets by chance: $(grep slice_index even)"
        continue
    fi
    grep -q '^  index: {kind: modulo, unit: 4096 B}' even || fail "$sets sets, index: $(grep index even)"
    kind='modulo, unit: 128 B'
    [ $sets -gt 4096 ] || kind='hash, unit: 128 B, seed: 1'
    grep -q "^  slice_index: {kind: $kind}" even || fail "$sets sets, slices: $(grep slice_index even)"
done

# What cannot be is not made of what was told: sets are not counted by a size that is not sure, and a walk that is shorter than one
# read of L2 has no reads, whatever the kinds of access seem to say (sim:v100's L2, sim:a100's walk).
python3 - told.json <<'EOF' || fail "no doubtful dissection"
import json, sys
told = json.load(open(sys.argv[1]))
def put(owner, key, value, confidence):
    owner[key] = dict(owner[key], value=value, confidence=confidence)
l2 = next(one for one in told["caches"] if one["id"] == "l2")
l2["sets"] = {"status": "not measured", "reason": "the test's"}
l2["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
l2.pop("ways_per_set", None)
json.dump(told, open("sure.json", "w"))
put(l2, "size", l2["size"]["value"] * 5 // 8, 0.4)
l2["hit_latencies"] = [{"cycles": 264, "low": 256, "high": 272, "share": 0.5}, {"cycles": 297, "low": 286, "high": 308, "share": 0.5}]
json.dump(told, open("unsure.json", "w"))
put(l2, "ways", l2["ways"]["value"] // 2, 0.8)
json.dump(told, open("ways.json", "w"))
put(l2, "ways", l2["ways"]["value"] * 2, 0.8)
for one in told["tlbs"]:
    if one["id"] == "l1_tlb":
        put(one, "miss_penalty", 8, 0.95)
    elif one["id"] == "l2_tlb":
        one.update({"present": False, "status": "absent", "reason": "the test's"})
for row in told["latency_patterns"]:
    if row["pattern"] in ("P1", "P3", "P4", "P5"):
        put(row, "latency", {"P1": 200, "P3": 208, "P4": 290, "P5": 390}[row["pattern"]], 0.9)
json.dump(told, open("short.json", "w"))
EOF
for told in sure unsure ways short; do
    "$SONDE" export $told.json --format sonde -o $told.yaml && "$SONDE" model check $told.yaml >check || fail "$told: no model"
done
kept='^# The geometry of L2 was not measured'
grep -q "$kept" unsure.yaml || fail "sets counted by a size that is not sure"
"$SONDE" export unsure.json --format sonde --base gh100 -o parts.yaml || fail "over a base of two parts: no model"
sed -n "/$kept/,/^noc:/p" parts.yaml | grep -q '^  slice_latency: \[0, .*[^0]' || fail "classes of L2's hits are lost where its geometry is the base's"
sed -n '/^l2:/,/^noc:/p' ways.yaml | grep -q '^  ways: 8 .*measured' || fail "ways of L2 that were told are the base's"
! grep "$kept" sure.yaml || fail "no sets, though the size is sure"
sed -n '/^walker:/,/^[a-v]/p' short.yaml >walk
grep -q 'levels: 0$' walk && grep -q 'latency: [1-9]' walk || fail "reads in a walk of 8 cycles: $(cat walk)"

# Caches of constants and textures alone, where there is neither L2 nor memory's latency to count by; where there is no second cache
# of constants, and where a line of the second is read from an L2 of smaller lines.
few() { # MODEL CACHES: of few.json, which has them
    "$SONDE" export few.json --format sonde -o few.yaml || fail "$1: no model"
    dissect sim:./few.yaml fewer.json --only "$2"
    "$SONDE" compare few.json fewer.json --cycles 1 >fine
    grep -q '^[1-9][0-9] the same' fine || fail "$1: too little was compared: $(tail -n 1 fine)"
    ! grep '^differs' fine || fail "$1: constants and textures did not come back"
}
whole 8600gts few.json
few 8600gts constant_l1,texture_l1
dissect sim:v100 few.json --only constant_l1,constant_l15
few v100 constant_l1,constant_l15

# What one base has and another has not: an L2, ways of a TLB that are not replaced alike, a second cache of constants that was not
# shown. What is told of a cache by its size alone is kept, too.
python3 - told.json <<'EOF' || fail "no doctored dissection"
import json, sys
told = json.load(open(sys.argv[1]))
tlb = next(one for one in told["tlbs"] if one["id"] == "l1_tlb")
ways = int(tlb["entries"]["value"] // tlb["sets"]["value"])
shares = [0.5] + [0.5 / (ways - 1)] * (ways - 1)
tlb["policy"] = {"name": "biased", "confidence": 0.9, "evidence": "the test's", "victim_probability": shares}
caches = {one["id"]: one for one in told["caches"]}
for key in ("sets", "ways", "set_index", "policy", "ways_per_set"):
    caches["constant_l1"].pop(key, None)
caches["constant_l1"]["size"]["value"] = 1280
caches["constant_l15"].update({"present": False, "status": "not measured"})
caches["constant_l15"].pop("hit_latency")
caches["constant_l1"]["miss_penalty"]["value"] = 700
told["outstanding"].update({"structure": "mshr", "entries": tlb["entries"], "lanes_count_as_mergers": True})
json.dump(told, open("other.json", "w"))
second = {"id": "l2_tlb", "present": False, "status": "absent", "reason": "the test's"}
told["tlbs"] = [tlb, second]
tlb["policy"]["name"] = "unknown"
tlb["scope"] = "sm"
tlb["page"]["value"] = 16 << 20
for memory in (40, 80):
    told["device"]["memory_bytes"] = memory << 30
    json.dump(told, open("of%d.json" % memory, "w"))
second["status"] = "not measured"
json.dump(told, open("refused.json", "w"))
tlb["scope"] = "gpu"
tlb["page"]["value"] = 64 << 20
json.dump(told, open("beside.json", "w"))
told["tlbs"] = [{"id": "l1_tlb", "present": False, "status": "not measured", "reason": "the test's"}]
json.dump(told, open("neither.json", "w"))
told["tlbs"][0]["status"] = "absent"
json.dump(told, open("none.json", "w"))
EOF
# A TLB that was refused is no TLB that is absent: the base's is left, and the model says so.
for told in refused neither beside none; do
    "$SONDE" export $told.json --format sonde --base a100 -o $told.yaml && "$SONDE" model check $told.yaml >check || fail "$told: no model"
done
beside_hits() { # FILE: what is told of a second TLB but its hits, which a miss of the first one tells
    sed -n '/^tlb_l2:/,/^walker:/p' "$1" | grep '^  ' | grep -v '^  hit_latency:'
}
! beside_hits refused.yaml || fail "a second TLB that was refused is a value"
! grep '^tlb_l[12]:' neither.yaml || fail "a first TLB that was refused is a value"
grep -q '^# tlb_l1 was not measured: that of the base' neither.yaml || fail "it is not told whose first TLB that is"
for told in refused neither; do
    grep -q '^# tlb_l2 was not measured: that of the base' $told.yaml || fail "$told: it is not told whose second TLB that is"
done
sed -n '/^tlb_l2:/,/^walker:/p' beside.yaml | grep -q 'enabled: false *# not measured' || fail "the base's second TLB is behind a first that it cannot serve"
[ "$(grep -A 1 '^tlb_l[12]:' none.yaml | grep -c 'enabled: false *# measured')" = 2 ] || fail "TLBs that are absent are there"

"$SONDE" export other.json --format sonde --base 8600gts -o other.yaml || fail "over 8600gts: no model"
sed -n '/^l2:/,/^noc:/p' other.yaml | grep -q 'enabled: true' || fail "the L2 that was found is not there: the base has none"
sed -n '/^tlb_l1:/,/^tlb_l2:/p' other.yaml | grep -q 'policy: biased, victim_probability: \[0.5, ' || fail "the TLB's shares are lost"
"$SONDE" export other.json --format sonde -o other.yaml || fail "no model"
grep -q 'miss: {entries: [0-9]*, mergers: [0-9]*, merger: lane}' other.yaml || fail "what takes a merger is lost"
sed -n '/^constant_l1:/,/^constant_l15:/p' other.yaml >first
grep -q 'size: 1280 B' first || fail "a size is lost whose sets were not told: $(cat first)"
grep -q 'miss_latency: [1-9][0-9]' first || fail "a miss of constants that is not the base's: $(cat first)"
sed -n '/^constant_l15:/,/^l2:/p' other.yaml | grep -q 'enabled: false' || fail "a second cache of constants that nobody saw"

# A second TLB that did not show is kept where the base's translates all of memory: it cannot have shown.
for memory in 40 80; do
    "$SONDE" export of$memory.json --format sonde --base a100 -o of$memory.yaml || fail "over a100, $memory GiB: no model"
done
! beside_hits of40.yaml || fail "a second TLB that nobody could see is taken away"
sed -n '/^tlb_l2:/,/^walker:/p' of80.yaml | grep -q 'enabled: false' || fail "a second TLB that would have shown is there"

# A model made wrong on purpose does not close.
sed -i '/^constant_l1:/,/^constant_l15:/ { s/size: 2048 B/size: 1024 B/; s/ways: 4 /ways: 2 / }' again.yaml
dissect sim:./again.yaml wrong.json --only constant_l1
"$SONDE" compare told.json wrong.json --cycles 1 --percent 5 >wrong && fail "half of the ways, and nothing differs"
grep -q '^differs .*constant_l1.ways ' wrong || fail "half of the ways do not show"

# A slow memory is fewer channels as fast as the base's, so that a lone load takes no longer; a rate that the ports make with whole lines of L2,
# and not with what a miss fetches, says that an SM asks for lines; where no L2 was told, what misses of L1 take has no copies beside.
python3 - told.json <<'EOF' || fail "no dissections of rates"
import json, sys
told = json.load(open(sys.argv[1]))
def rates(**rate):
    for key, value in rate.items():
        told["memory"][key + "_bandwidth"] = {"value": value, "unit": "B/s", "confidence": 0.9, "evidence": "l2.1"}
rates(read=2e10, write=1.5e10)
json.dump(told, open("slow.json", "w"))
told["device"]["memory_bandwidth_reported"] = int(1.6e10)
rates(read=5.5e9, write=1.59e10)
json.dump(told, open("word.json", "w"))
told["device"]["memory_bandwidth_reported"] = int(9.6128e10) # a third of gtx780's: its channels stay, each of one part
rates(read=8.5e10, write=6e10)
json.dump(told, open("third.json", "w"))
told["device"]["memory_bandwidth_reported"] = int(1.6e10)
five = told["device"]["sms"] * told["device"]["clock_hz"] * 128 / 5
rates(read=five, write=five)
l1 = next(one for one in told["caches"] if one["id"] == "l1_data")
l1["fetch_granularity"] = dict(l1["fetch_granularity"], value=32)
json.dump(told, open("lines.json", "w"))
l2 = next(one for one in told["caches"] if one["id"] == "l2")
l2.clear()
l2.update({"id": "l2", "present": False, "status": "not measured", "reason": "the test's"})
json.dump(told, open("blind.json", "w"))
EOF
over slow v100
holds slow dram 'channels: 2 '
holds slow dram 'fixed_latency: [1-9][0-9][0-9] '
# So it is where the driver says that memory is slow: a lone load does not wait for clocks of 12 ns.
over word gtx780
holds word dram 'channels: 1 '
holds word dram 'clock: [1-9][0-9]\{5,6\} kHz'
"$SONDE" export third.json --format sonde --base gtx780 -o third.yaml || fail "third over gtx780: no model"
for told in word:1.6e10 third:9.6128e10; do # and the bus is as fast as he says
    "$SONDE" model show "./${told%:*}.yaml" | sed -n '/^dram:/,/^vm:/p' >part
    awk -v told="${told#*:}" '/^  channels:/ { n = $2 } /^  subchannels:/ { each = $2 } /^  width:/ { bytes = $2 } /^  clock:/ { hz = $2 * ($3 == "GHz" ? 1e9 : $3 == "MHz" ? 1e6 : $3 == "kHz" ? 1e3 : 1) }
        END { bus = n * each * bytes * hz; exit !(bus > 0.98 * told && bus < 1.1 * told) }' part || fail "the bus of $told: $(grep -E 'channels|width|clock' part)"
done
over lines gtx780
holds lines sm 'coalesce: {segment: 128 B, sector: 32 B}'
over blind gh100
holds blind l2 'copy_latency: 0 '
