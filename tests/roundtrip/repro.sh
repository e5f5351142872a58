#!/bin/sh
# Small changes of shipped models, each of which was once told wrongly: each is told right, or not measured. Others are in
# competing.sh and refused.sh.
copy() { # NAME BASE, changes on standard input; then what is dissected
    { printf 'inherits: %s\nname: %s\n' "$2" "$1"; cat; } >"$1.yaml"
    dissect "sim:./$1.yaml" "$1.json" --only "$3"
}
word() { # NAME ATTRIBUTE WORD
    [ "$("$GET" "$1.json" "$2")" = "$3" ] || fail "$1: $2 is $("$GET" "$1.json" "$2"), expected $3"
}

# An L2 that keeps lines from launch to launch.
echo 'l2: {replacement: {policy: lru_late}}' | copy lru_late gtx560ti-48k l2
expect lru_late.json l2.sets 256
expect lru_late.json l2.line 128
word lru_late l2.policy.name lru_late

copy pages_of_4_kib gtx560ti tlbs <<'YAML'
vm: {page: 4 KiB}
tlb_l1: {page: 4 KiB}
tlb_l2: {page: 4 KiB}
YAML
expect pages_of_4_kib.json l1_tlb.page 4096
expect pages_of_4_kib.json l1_tlb.entries 16
expect pages_of_4_kib.json l2_tlb.entries 65

# Reads of page tables that miss L2 are no second level.
copy tables gtx560ti tlbs,penalty,l2 <<'YAML'
vm: {page: 64 KiB}
tlb_l1: {page: 64 KiB}
tlb_l2: {enabled: false}
walker: {latency: 250 cycles}
YAML
expect tables.json l1_tlb.entries 16
expect tables.json l2_tlb.entries "no value"

# Nor are they where drawn places of the pages miss as well, which L2 should hold by its size.
echo 'tlb_l1: {enabled: false}' | copy drawn_tables m2070 count,penalty,l2,tlbs
expect drawn_tables.json l1_tlb.entries 65
expect drawn_tables.json l2_tlb.entries "no value"
expect drawn_tables.json l2_tlb.miss_penalty "no value"

# The second level serves the whole GPU, though the first has 34 entries.
copy scope gtx560ti tlbs <<'YAML'
tlb_l1: {scope: sm, ways: 34}
tlb_l2: {sets: 1, ways: 176, ways_per_set: [], index: {kind: modulo}}
YAML
word scope l1_tlb.scope sm
word scope l2_tlb.scope gpu
expect scope.json l1_tlb.entries 34
expect scope.json l2_tlb.entries 176
