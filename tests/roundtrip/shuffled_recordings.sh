#!/bin/sh
# A recording whose latencies were permuted within each trace shows no structure.
for device in sim:gtx560ti "sim:$SOURCE/tests/models/sectored.yaml" "sim:$SOURCE/tests/models/liar.yaml"; do
    "$SONDE" dissect -d "$device" -q --record true.sonde || fail "recording $device"
    for seed in 1 2 3; do
        shuffle true.sonde shuffled.sonde $seed
        "$SONDE" infer shuffled.sonde --json shuffled.json -q || fail "inferring, seed $seed"
        valid shuffled.json || fail "the JSON is not valid"
        for cache in l1_data l2; do
            for attribute in size line sets ways fetch_granularity; do
                expect shuffled.json $cache.$attribute "no value"
            done
        done
    done
done
