#!/bin/sh
# An L2 of two small parts, which keep blocks of 4 KiB each: lines beside each other are at home in one part. So lines that SMs look for
# lie apart, and far lines, which come sooner the second time, tell that there are two.
cat >few.yaml <<'END'
---
inherits: gtx780
name: few
l2:
  {size: 4 KiB, line: 128 B, sector: 32 B, sets: 8, ways: 4, index: {kind: modulo, unit: 1536 B}, slices: 12,
   slice_index: {kind: modulo, unit: 128 B}, parts: 2, crossing: {latency: 12 cycles}, part_index: {kind: modulo, unit: 4096 B}}
...
END
dissect sim:./few.yaml few.json --only l2,count
expect few.json l2.count 2
expect few.json l2.size 24576
