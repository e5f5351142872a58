#!/bin/sh
# Classes of hits are told by their quantiles, and what an L2 of two parts is made of comes back from them: slices from 0 to 11 and from
# 30 to 48 cycles away, 20 and 28 of them, copies that take 7 more, lines of the other part 153, memory 260 beyond a hit. What waited
# for something else, the fifth kind of access, is not memory's latency.
# whole: gtx560ti
whole gtx560ti told.json
python3 - told.json <<'EOF' || fail "no dissection of slices that lie apart"
import json, sys
from changes import missing
told = json.load(open(sys.argv[1]))
near, copy, across, beyond = 253, 7, 153, 260
ends = [(near + 2, 11, 20), (near + 32, 18, 28)]  # with what timing adds
def class_of(begin, width, slices):
    hits = sorted(begin + width * (i + 0.5) / 1000 + extra for i in range(1000) for extra in (0, copy))
    return {"cycles": hits[1000], "low": hits[100], "high": hits[1900], "share": slices / 48}
def put(owner, key, value):
    owner[key] = dict(owner[key], value=value)
caches = {one["id"]: one for one in told["caches"]}
l1, l2 = caches["l1_data"], caches["l2"]
l2["hit_latencies"] = [class_of(*end) for end in ends]
put(l2, "hit_latency", 288)
put(l2, "load_to_use_latency", sum(n * (begin + width / 2 + copy / 2) for begin, width, n in ends) / 48 - 2)
missing(l2, "size", "sets", "ways", "count")
l2["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
l2.pop("ways_per_set", None)
l1.pop("hit_latencies", None)
put(l1, "hit_latency", 34)
put(l1, "load_to_use_latency", 32)
put(told["memory"], "latency", 560)
def kind(cycles, loads):
    return {"pattern": "P4", "op": "ca", "cache": "memory", "l1_tlb": "hit", "l2_tlb": None, "page_table": None,
            "far_jump": False, "loads": loads,
            "latency": {"value": cycles, "unit": "cycles", "confidence": 0.2, "evidence": "the test's"}}
told["latency_patterns"] = [kind(begin + width / 2 + beyond + far, 50 * n) for far in (0, across) for begin, width, n in ends]
told["latency_patterns"].append(kind(1048, 400))
json.dump(told, open("apart.json", "w"))
# The same from lines at home, which is what memory's latency is of where no kinds of access were told.
put(told["memory"], "latency", 288 + beyond)
told["latency_patterns"] = []
json.dump(told, open("median.json", "w"))
EOF
for told in apart median; do
    "$SONDE" export $told.json --format sonde --base gh100 -o $told.yaml || fail "$told: no model"
    "$SONDE" model check $told.yaml >check || fail "$told: $(cat check)"
done
python3 - apart.yaml median.yaml <<'EOF' || fail "slices that lie apart do not come back"
import re, sys
apart, median = (open(path).read() for path in sys.argv[1:])
def numbers(text, key):
    return [float(n) for n in re.search(key + r": \[?([0-9., ]+)", text).group(1).split(",")]
found = numbers(apart, "slice_latency")
wanted = [11 * (k + 0.5) / 20 for k in range(20)] + [30 + 18 * (k + 0.5) / 28 for k in range(28)]
assert len(found) == 48 and all(abs(a - b) <= 1 for a, b in zip(found, wanted)), found
way = [numbers(apart, key)[0] for key in ("lsu: {latency", "request_latency", "reply_latency")]
assert abs(sum(way) + 60 - 253) <= 1, way  # 60: the base's L2
fixed = [numbers(text, "fixed_latency")[0] for text in (apart, median)]
assert abs(fixed[0] - fixed[1]) <= 1, fixed
EOF
