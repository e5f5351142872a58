#!/bin/sh
# A machine without L2: memory lies behind what the network leaves of the way, and is counted once; and a dissection of what stands
# around loads alone, which is a model as well.
cat >bare.yaml <<'EOF'
---
inherits: gtx480
name: bare
sms: 2
clusters: 1
l2: {enabled: false}
...
EOF
dissect sim:./bare.yaml bare.json --skip tlbs,outstanding
expect bare.json l2.size absent
"$SONDE" export bare.json --format sonde --base gtx480 -o again.yaml || fail "without L2: no model"
grep -q '^  enabled: false *# measured' again.yaml || fail "an L2: $(sed -n '/^l2:/,/^noc:/p' again.yaml)"
dissect sim:./again.yaml again.json --skip tlbs,outstanding
"$SONDE" compare bare.json again.json --cycles 1 --percent 5 -v >rows
grep -q '^same .* memory\.latency' rows || fail "memory's latency: $(grep memory.latency rows)"
! grep '^\(differs\|only in A\).*\(memory\|l1_data\|texture_l1\|constant_l1\|constant_l15\)\.[a-z_]*\(latency\|penalty\)' rows ||
    fail "latencies before a memory without L2 did not come back"

# Over a base whose L2 is in parts, with classes of hits or without: no part of it is left, and nothing else is given up for it.
for base in a100 h200; do
    "$SONDE" export bare.json --format sonde --base $base -o over.yaml 2>told || fail "without L2, over $base: no model"
    sed -n '/^l2:/,/^noc:/p' over.yaml >part
    grep -q '^  enabled: false' part && grep -q '^  parts: 1' part || fail "without L2, over $base: $(cat part)"
    ! grep -i 'not taken over' told over.yaml || fail "without L2, over $base: that was struck"
    "$SONDE" model check over.yaml >check || fail "without L2, over $base: $(cat check)"
done

sed 's/^l2:.*/sm: {units: {alu: {latency: 17 cycles}, barrier: {latency: 23 cycles}}}/; s/bare/around/' bare.yaml >around.yaml
dissect sim:./around.yaml around.json --only around
"$SONDE" export around.json --format sonde --base gtx780 -o alone.yaml || fail "what stands around loads alone is no model"
"$SONDE" model check alone.yaml >check || fail "what stands around loads alone: $(cat check)"
for line in 'alu: {latency: 17 cycles' 'barrier: {latency: 23 cycles'; do
    grep -q "^    $line" alone.yaml || fail "no $line: $(sed -n '/^  units:/,/^[a-z]/p' alone.yaml)"
done
