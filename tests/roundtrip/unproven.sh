#!/bin/sh
# An L1 of hashed sets holds 40 KiB. The longest array of thread-private memory that fits, a word of each line's four, is 129 KiB, and so many
# ways are more loads than are left to look at its sets: that is not told as its size. What loads of global memory have counted is, since
# both go through one cache.
cat >hashed.yaml <<'END'
---
inherits: gtx480
name: hashed
sms: 1
clusters: 1
carveout: {choices: []}
l1_data:
  size: 40960 B
  line: 128 B
  sector: 128 B
  sets: 16
  ways: 20
  index: {kind: hash, seed: 50262}
  replacement: {policy: lru}
...
END
dissect sim:./hashed.yaml hashed.json --only sharing
expect hashed.json l1_data.size 40960
expect hashed.json l1_data.ways 20
expect hashed.json local_l1.size 40960
expect hashed.json local_l1.ways 20
