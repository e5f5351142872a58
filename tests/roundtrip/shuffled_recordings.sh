#!/bin/sh
# A recording whose latencies were permuted within each trace shows no structure.
# whole: gtx560ti liar
"$SONDE" dissect -d "sim:$SOURCE/tests/models/sectored.yaml" -q --record sectored.sonde || fail "recording sectored"
for recording in "$WHOLE/gtx560ti.sonde" sectored.sonde "$WHOLE/liar.sonde"; do
    for seed in 1 2 3; do
        shuffle "$recording" shuffled.sonde $seed
        "$SONDE" infer shuffled.sonde --json shuffled.json -q || fail "inferring, seed $seed"
        valid shuffled.json || fail "the JSON is not valid"
        for cache in l1_data l2; do
            for attribute in size line sets ways fetch_granularity; do
                expect shuffled.json $cache.$attribute "no value"
            done
        done
    done
done
