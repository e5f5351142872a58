#!/bin/sh
# Whom a second TLB serves where a cluster's SMs have numbers in a row, more than memory has rings of pages for: those that seem not to
# share it are asked again, however high their numbers; and walks that are short, since another SM has read the page tables, share nothing.
cat >blocks.yaml <<'EOF'
---
inherits: gtx780
name: blocks
sms: 24
clusters: 2
cluster_of: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
vm: {page: 2 MiB, memory: 8 GiB}
tlb_l1: {enabled: true, scope: sm, page: 2 MiB, sets: 1, ways: 8, ways_per_set: [], index: {kind: modulo}}
tlb_l2: {enabled: true, scope: cluster, page: 8 MiB, sets: 1, ways: 64, ways_per_set: [], index: {kind: modulo}}
...
EOF
sed 's/scope: cluster/scope: gpu/; s/scope: sm/scope: cluster/' blocks.yaml >behind.yaml
serves() { # MODEL FIRST SECOND
    dissect "sim:./$1.yaml" "$1.json" --only tlbs
    python3 - "$1.json" "$2" "$3" <<'EOF' || fail "$1: whom the TLBs serve"
import json, sys
scopes = [one["scope"] for one in json.load(open(sys.argv[1]))["tlbs"]]
if scopes != sys.argv[2:]:
    sys.exit(f"{scopes}, expected {sys.argv[2:]}")
EOF
}
serves blocks sm cluster
serves behind cluster gpu
