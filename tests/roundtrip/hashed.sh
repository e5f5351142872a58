#!/bin/sh
# Of a second cache of constants whose sets a hash numbers its ways are told, and how much of an array fits until one set or another is
# full: a model that is exported of it has a map by which as much fits, and its dissection tells the same.
cat >hashed.yaml <<'END'
---
inherits: gtx780
name: hashed
constant_l15: {size: 24 KiB, line: 128 B, sector: 32 B, sets: 32, ways: 6, index: {kind: hash, seed: 29769}}
...
END
dissect sim:./hashed.yaml told.json --only constant_l1,constant_l15
expect told.json constant_l15.ways 6
"$GET" told.json constant_l15.sets | grep -q '^[0-9]' && fail "sets that a hash numbers are told"
"$SONDE" export told.json --format sonde -o again.yaml || fail "no model"
sed -n '/^constant_l15:/,/^[a-z]*[^l1-5]:/p' again.yaml >part
grep -q '^  index: {kind: map, .*# not measured: drawn, so that as much fits' part || fail "no map: $(cat part)"
dissect sim:./again.yaml again.json --only constant_l1,constant_l15
"$SONDE" compare told.json again.json --cycles 1 >compared
grep -q '^[1-9][0-9] the same' compared || fail "too little was compared: $(tail -n 1 compared)"
! grep '^differs\|^only in A' compared || fail "not all came back"
