#!/bin/sh
# Whatever a dissection tells, what is exported of it as a model loads. Of values that are possible each by itself, drawn over every kind of
# base: what cannot stand beside the rest is not taken over, and is said. That is the last resort: one in thirty at most.
# whole: gtx560ti 8600gts gtx480 gtx780
for model in gtx560ti 8600gts gtx480 gtx780; do
    whole $model $model.json
done
"$SONDE" dissect -q -d "replay:$SOURCE/tests/infer/h200/dissection.sonde" --json h200.json || fail "the recorded H200: status $?"

# export_loads FILE BASE: as FILE.yaml, and the loader takes it; what was not taken over is said beside the file, too
export_loads() {
    "$SONDE" export "$1.json" --format sonde ${2:+--base "$2"} -o "$1.yaml" 2>error || fail "$1 over ${2:-the nearest}: $(cat error)"
    sed -n 's/^# Not taken over: //p' "$1.yaml" >struck
    sed -n 's/^.*not taken over, the base.s stands there: //p' error | cmp -s - struck || fail "$1: told otherwise than written: $(cat error)"
    "$SONDE" model check "$1.yaml" >check 2>&1 || fail "$1 over ${2:-the nearest}: $(cat check)"
}

# What was refused of drawn machines: shares of victims that the base has, of another number of ways; an L2 whose index is told
# by bits, in parts or of another number of sets; a DRAM so slow that few of the base's channels are left.
/usr/bin/python3 - <<'EOF' || fail "no dissections"
import json
def value(number, unit="1"):
    return {"value": number, "unit": unit, "confidence": 0.97, "evidence": "drawn.1"}
none = {"status": "not measured", "reason": "the test's"}
told = json.load(open("gtx560ti.json"))
l1 = next(one for one in told["caches"] if one["id"] == "l1_data")
l1.update({"ways": value(96), "sets": value(4), "size": value(96 * 4 * 128, "B"), "policy": dict(none, name="unknown")})
l1["set_index"] = {"kind": "bits", "masks": ["0x80", "0x100"], "confidence": 0.97, "evidence": "drawn.1"}
json.dump(told, open("shares.json", "w"))
told = json.load(open("h200.json"))
l2 = next(one for one in told["caches"] if one["id"] == "l2")
l2.update({"sets": value(1536), "ways": value(16), "size": value(1536 * 16 * 128, "B"), "policy": dict(none, name="unknown")})
l2["set_index"] = {"kind": "bits", "masks": [hex(1 << bit) for bit in range(7, 18)], "confidence": 0.97, "evidence": "drawn.1"}
l2["sets"].update({"low": 1500, "high": 1600})
json.dump(told, open("parts.json", "w"))
l2.update({"sets": value(1024), "size": value(1024 * 16 * 128, "B")})
l2["set_index"]["masks"] = [hex(1 << bit) for bit in range(7, 17)]
json.dump(told, open("masks.json", "w"))
other = json.load(open("gtx780.json"))
odd = next(one for one in other["caches"] if one["id"] == "l2")
odd["set_index"] = {"kind": "bits", "masks": [hex(1 << bit) for bit in range(11, 17)], "confidence": 0.5, "evidence": "drawn.1"}
json.dump(other, open("odd.json", "w"))
told["device"]["memory_bandwidth_reported"] = 16000000000
l2.pop("miss_latencies", None)  # they tell that there is no refresh
for key in ("read_bandwidth", "write_bandwidth"):
    told["memory"][key] = value(12e9, "B/s")
json.dump(told, open("slow.json", "w"))
told["device"]["memory_bandwidth_reported"] = 16000
json.dump(told, open("slower.json", "w"))
EOF
for told in shares parts masks odd slow slower; do
    export_loads $told
    ! grep '^# Not taken over' $told.yaml || fail "$told: not all was taken over"
done
grep -q '^  replacement: {policy: random} *# not measured' shares.yaml || fail "shares: $(grep replacement shares.yaml)"
grep -q '^  ways: 96 ' shares.yaml || fail "shares: $(grep ways shares.yaml)"
grep -q '^  t_refi: 1950 cycles' slow.yaml || fail "slow: $(grep t_refi slow.yaml)" # as many nanoseconds as the base's
grep -q '^  channels: 1 ' slow.yaml || fail "slow: $(grep channels slow.yaml)"

mkdir drawn
/usr/bin/python3 "$SOURCE/tests/roundtrip/drawn_dissections.py" drawn "${ANY_SEED:-always}" 150 ./*.json || fail "nothing drawn"
number=0
for base in $(yes gtx560ti gtx780 8600gts v100 a100 gh100 gtx480 bakhoda2009 h200 nearest 2>/dev/null | head -n 15); do
    [ "$base" != nearest ] || base=
    export_loads "drawn/$number" $base
    number=$((number + 1))
done
struck=$(grep -l '^# Not taken over' drawn/*.yaml | wc -l)
[ "$struck" -le 5 ] || fail "of $struck of 150 not all was taken over"
