#!/bin/sh
# The size of a second cache of constants: an H200's, which no single kernel fills, and a small one, which one does.
size_of() { # RESULT
    python3 - "$1" <<'PYTHON'
import json, sys
for cache in json.load(open(sys.argv[1]))["caches"]:
    if cache["id"] == "constant_l15":
        size = cache["size"]
        print(size.get("value"), size.get("confidence"), size.get("reason", ""))
PYTHON
}
echo "an H200: $(sonde infer "$DATA/beside_h200.sonde" --only beside --json h200.json -q >/dev/null && size_of h200.json)"
printf 'inherits: gtx780\nsms: 1\nclusters: 1\nconcurrent_grids: 1\n' >small.yaml
echo "one kernel fills it: $(sonde dissect -d sim:small.yaml --only beside --json small.json -q >/dev/null && size_of small.json)"
