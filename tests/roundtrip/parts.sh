#!/bin/sh
# The parts of L2 are those that were told, not the base's: two that are found over a base of one, with what copies take where the
# hits have two classes of equal shares; one over a base of two.
cat >two.yaml <<'EOF'
---
inherits: v100
name: two
sms: 4
clusters: 2
l2:
  slices: 4
  parts: 2
  copy_latency: 9 cycles
dram: {channels: 4}
...
EOF
sed 's/^  parts.*/  parts: 1/; s/^name.*/name: one/' two.yaml >one.yaml
closes() { # MODEL BASE PARTS
    dissect "sim:./$1.yaml" "$1.json" --only l2,count
    expect "$1.json" l2.count "$3"
    expect "$1.json" l2.sets "$4"
    "$SONDE" export "$1.json" --format sonde --base "$2" -o again.yaml || fail "$1 over $2: no model"
    grep -q "^  parts: $3 *# measured" again.yaml || fail "$1 over $2: not of $3 parts: $(sed -n '/^l2:/,/^noc:/p' again.yaml)"
    dissect sim:./again.yaml again.json --only l2,count
    "$SONDE" compare "$1.json" again.json --cycles 1 >fine
    grep -E '^differs .* l2\.(count|hit_latency|load_to_use|hit_latencies)' fine && fail "$1 over $2: L2 did not come back"
    grep -q '^[1-9][0-9]* the same' fine || fail "$1 over $2: nothing was compared"
}
closes two v100 2 384
grep -q '^  copy_latency: 9 cycles' again.yaml || fail "what copies take is lost: $(grep copy_latency again.yaml)"
closes one gh100 1 768

# More classes than two: none of them is known to be copies, and slices that lie apart bring them about.
python3 - <<'EOF' || fail "no doctored dissection"
import json
told = json.load(open("two.json"))
l2 = next(one for one in told["caches"] if one["id"] == "l2")
l2["hit_latencies"] = [{"cycles": at, "low": at, "high": at, "share": share} for at, share in ((193, 0.5), (198, 0.25), (202, 0.25))]
json.dump(told, open("three.json", "w"))
EOF
"$SONDE" export three.json --format sonde --base v100 -o three.yaml || fail "three classes: no model"
grep -q '^  copy_latency: 0 cycles' three.yaml || fail "three classes: copies, which nobody told: $(grep copy_latency three.yaml)"
grep -Eq '^  slice_latency: \[(0, ){8}(5, ){4}(9, ){3}9\]' three.yaml || fail "three classes: $(grep slice_latency three.yaml)"

# Over a base of as many parts that has more clusters: which of them a part is near to is not the base's word on these.
"$SONDE" export two.json --format sonde --base gh100 -o fewer.yaml || fail "over a base of two parts and more clusters: no model"
grep -q '^  part_of_cluster: \[\]' fewer.yaml || fail "the base's clusters: $(grep part_of_cluster fewer.yaml)"
