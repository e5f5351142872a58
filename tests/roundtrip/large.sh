#!/bin/sh
# An L2 whose sets are counted by what they hold together, too large for windows of a chase: of short lines in one part, and of
# two parts, of which one is told. Both come back.
cat >short.yaml <<'EOF'
---
inherits: v100
name: short
sms: 4
clusters: 2
l2: {sets: 232, size: 237568 B}
...
EOF
cat >apart.yaml <<'EOF'
---
inherits: a100
name: apart
sms: 4
clusters: 2
l2: {slices: 24, sets: 376, size: 770048 B, part_of_cluster: [0, 1]}
dram: {channels: 12}
...
EOF
closes() { # MODEL BASE SETS BYTES
    dissect "sim:./$1.yaml" "$1.json" --only spaced,drawn,sets,count
    expect "$1.json" l2.sets "$3"
    expect "$1.json" l2.size "$4"
    "$SONDE" export "$1.json" --format sonde --base "$2" -o again.yaml || fail "$1 over $2: no model"
    dissect sim:./again.yaml again.json --only spaced,drawn,sets,count
    expect again.json l2.sets "$3"
    expect again.json l2.size "$4"
}
closes short v100 7424 7602176
closes apart a100 4512 9240576
