#!/bin/sh
# A dissection becomes a model, and the model's dissection tells the same: every attribute, latencies
# within a cycle, bandwidths within five percent. Kinds of access (latency_patterns) and accesses that
# conflict are sums of more than one parameter that was rounded: they may differ by four cycles, and a
# rare kind may show in one walk alone.
# whole: gtx560ti m2070 gtx560ti-48k
closes() { # MODEL [OPTION]...
    model=$1
    shift
    whole "$model" told.json
    "$SONDE" export told.json --format sonde "$@" -o again.yaml || fail "$model: no model"
    dissect sim:./again.yaml again.json
    "$SONDE" compare told.json again.json --cycles 1 --percent 5 >fine
    "$SONDE" compare told.json again.json --cycles 4 --percent 5 >coarse
    grep -q '^[1-9][0-9][0-9] the same' coarse || fail "$model: too little was compared: $(tail -n 1 coarse)"
    ! grep -v 'latency_patterns\|conflict_latency\| the same' fine || fail "$model $*: that did not come back"
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
for one in told["tlbs"]:
    if one["id"] == "l1_tlb":
        put(one, "miss_penalty", 8, 0.95)
    elif one["id"] == "l2_tlb":
        one["present"] = False
for row in told["latency_patterns"]:
    if row["pattern"] in ("P1", "P3", "P4", "P5"):
        put(row, "latency", {"P1": 200, "P3": 208, "P4": 290, "P5": 390}[row["pattern"]], 0.9)
json.dump(told, open("short.json", "w"))
EOF
for told in sure unsure short; do
    "$SONDE" export $told.json --format sonde -o $told.yaml && "$SONDE" model check $told.yaml >check || fail "$told: no model"
done
kept='^# The geometry of L2 was not measured'
grep -q "$kept" unsure.yaml || fail "sets counted by a size that is not sure"
"$SONDE" export unsure.json --format sonde --base gh100 -o parts.yaml || fail "over a base of two parts: no model"
grep "$kept" -A 3 parts.yaml | grep -q '^  slice_latency: \[0, .*[^0]' || fail "classes of L2's hits are lost where its geometry is the base's"
! grep "$kept" sure.yaml || fail "no sets, though the size is sure"
sed -n '/^walker:/,/^[a-v]/p' short.yaml >walk
grep -q 'levels: 0$' walk && grep -q 'latency: [1-9]' walk || fail "reads in a walk of 8 cycles: $(cat walk)"

# A model made wrong on purpose does not close.
sed -i '/^constant_l1:/,/^constant_l15:/ { s/size: 2048 B/size: 1024 B/; s/ways: 4 /ways: 2 / }' again.yaml
dissect sim:./again.yaml wrong.json --only constant_l1
"$SONDE" compare told.json wrong.json --cycles 1 --percent 5 >wrong && fail "half of the ways, and nothing differs"
grep -q '^differs .*constant_l1.ways ' wrong || fail "half of the ways do not show"
