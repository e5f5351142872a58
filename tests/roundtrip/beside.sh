#!/bin/sh
# The size of a second cache of constants, of sets of 2 to 8 lines: what one kernel can name fills the smallest
# alone, the others take several kernels at once. One after the other, they tell nothing.
on_model() { # NAME, ways, kernels at a time, OPTION...
    cat >"$1.yaml" <<YAML
inherits: gtx780
name: $1
sms: 4
concurrent_grids: $3
constant_l15: {scope: cluster, size: $(($2 * 16)) KiB, line: 256 B, sets: 64, ways: $2, index: {kind: bits, bits: [8, 9, 10, 11, 12, 13]}}
YAML
    dissect "sim:./$1.yaml" "$1.json" --only beside --record "$1.sonde"
}
for ways in 2 6 8; do
    on_model "of$ways" $ways 32
    expect "of$ways.json" constant_l15.size $((ways * 16384))
done
on_model alone 6 1
expect alone.json constant_l15.size "not measured"

"$SONDE" infer of6.sonde --only beside --json - >again.json || fail "replaying: status $?"
expect again.json constant_l15.size 98304
"$SONDE" infer of6.sonde --only constant_l15 --json - >default.json || fail "without it: status $?"
expect default.json constant_l15.size "not measured"
