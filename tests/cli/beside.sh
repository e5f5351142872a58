#!/bin/sh
# The size of a second cache of constants, of sets of 2 to 8 lines: what one kernel can name fills the smallest
# alone, the others take several kernels at once. One after the other, they tell nothing.
model() { # NAME, ways, kernels at a time
    cat >"$1.yaml" <<YAML
inherits: gtx780
sms: 4
concurrent_grids: $3
constant_l15: {scope: cluster, size: $(($2 * 16)) KiB, line: 256 B, sets: 64, ways: $2, index: {kind: bits, bits: [8, 9, 10, 11, 12, 13]}}
YAML
}
size_of() { # RESULT
    python3 - "$1" <<'PYTHON'
import json, sys
for cache in json.load(open(sys.argv[1]))["caches"]:
    if cache["id"] == "constant_l15":
        size = cache["size"]
        print(size.get("value"), size.get("confidence"), size.get("reason", ""))
PYTHON
}
size() { # MODEL
    sonde dissect -d "sim:$1.yaml" --only beside --json "$1.json" --record "$1.rec" -q >/dev/null
    size_of "$1.json"
}
for ways in 2 6 8; do
    model "of$ways" $ways 32
    echo "$((ways * 16)) KiB: $(size "of$ways")"
done
model alone 6 1
echo "one kernel at a time: $(size alone)"
echo "replayed: $(sonde infer of6.rec --only beside --json again.json -q >/dev/null && size_of again.json)"
echo "by default: $(sonde infer of6.rec --only constant_l15 --json default.json -q >/dev/null && size_of default.json)"
echo "an H200: $(sonde infer "$DATA/beside_h200.sonde" --only beside --json h200.json -q >/dev/null && size_of h200.json)"
