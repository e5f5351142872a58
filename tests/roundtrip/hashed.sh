#!/bin/sh
# Of a second cache of constants whose sets a hash numbers, and which draws its victims, its ways are told, and how much of an array fits
# until one set or another is full. Here hardly more lines than fit can be asked for, and no number of sets is likelier than others: a model that is exported of it has a map by which as much fits, and its dissection tells the same.
# Where lines leave in the order in which they came, sets and size are counted, and come back.
cat >hashed.yaml <<'END'
---
inherits: gtx780
name: hashed
constant_l15: {size: 48 KiB, line: 128 B, sector: 32 B, sets: 64, ways: 6, index: {kind: hash, seed: 29769},
  replacement: {policy: random}}
...
END
cat >counted.yaml <<'END'
---
inherits: gtx780
name: counted
constant_l15: {size: 12 KiB, line: 128 B, sector: 32 B, sets: 16, ways: 6, index: {kind: hash, seed: 51346}, replacement: {policy: lru}}
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
dissect sim:./counted.yaml told.json --only constant_l1,constant_l15
expect told.json constant_l15.sets 16
"$SONDE" export told.json --format sonde -o again.yaml || fail "no model"
dissect sim:./again.yaml again.json --only constant_l1,constant_l15
"$SONDE" compare told.json again.json --cycles 1 >compared
! grep '^differs\|^only in A' compared || fail "not all came back"
# Where victims are drawn, by what their policy makes of the lines.
sed 's/name: hashed/name: fewer/; s/size: 48 KiB/size: 24 KiB/; s/sets: 64/sets: 32/' hashed.yaml >fewer.yaml
dissect sim:./fewer.yaml told.json --only constant_l1,constant_l15
expect told.json constant_l15.sets 32
expect told.json constant_l15.size 24576
