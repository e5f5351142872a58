#!/bin/sh
# The committed recording of an H200 exports to the shipped model, byte for byte, and what is dissected of that model is
# what the recording tells. A whole dissection of it takes too long here: the first caches, to the value.
recording=$SOURCE/tests/infer/h200/dissection.sonde
"$SONDE" infer "$recording" --json card.json >/dev/null || fail "inferring from the recording"
"$SONDE" export card.json --format sonde -o h200.yaml || fail "exporting the recording"
diff -u "$SOURCE/models/h200.yaml" h200.yaml || fail "the recording exports to another model than the shipped one"

same() { # FILE ATTRIBUTE [TOLERANCE]
    card=$("$GET" card.json "$2")
    sim=$("$GET" "$1" "$2")
    echo "$sim $card ${3:-0}" | awk '{ d = $1 - $2; exit !($1 + 0 == $1 && d <= $3 && -d <= $3) }' ||
        fail "$2: the card $card, sim:h200 $sim (within ${3:-0})"
}
words() { # FILE ATTRIBUTE
    [ "$("$GET" "$1" "$2")" = "$("$GET" card.json "$2")" ] ||
        fail "$2: the card $("$GET" card.json "$2"), sim:h200 $("$GET" "$1" "$2")"
}
dissect sim:h200 l1.json \
    --only l1_data,reference,capacity,ways,line,index,sets,policy,latency,load_to_use,penalty
for attribute in size line fetch_granularity sets ways carveout_shared; do
    same l1.json l1_data.$attribute
done
same l1.json l1_data.hit_latency 1
same l1.json l1_data.load_to_use_latency 1
words l1.json l1_data.set_index.masks
words l1.json l1_data.policy.name

dissect sim:h200 constants.json --only constant_l1,constant_l15
for attribute in size line fetch_granularity sets ways hit_latency miss_penalty; do
    same constants.json constant_l1.$attribute
done
same constants.json constant_l1.address_penalty 0.1
words constants.json constant_l1.set_index.masks
words constants.json constant_l1.policy.name
same constants.json constant_l15.fetch_granularity
same constants.json constant_l15.hit_latency
expect constants.json constant_l15.size "not measured"

# Texture, read-only and local loads go through the same cache; what an H200's replacement policy makes of other sectors
# decides that. The shared memory's latency has no part of a branch.
dissect sim:h200 paths.json --only shared
for attribute in banks bank_width; do same paths.json shared_memory.$attribute; done
same paths.json shared_memory.latency 0.5

# Translation: pages keep their frames while the buffer grows, and lines their latencies.
dissect sim:h200 tlbs.json --only tlbs
for tlb in l1_tlb l2_tlb; do
    for attribute in page coverage entries sets; do same tlbs.json $tlb.$attribute; done
    same tlbs.json $tlb.miss_penalty 1
    words tlbs.json $tlb.scope
done
words tlbs.json l1_tlb.policy.name
