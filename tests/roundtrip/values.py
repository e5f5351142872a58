"""values.py FILE.json: what a dissection says, a line a value, for a comparison of texts. Left out are
evidence, confidence, curves and what hangs on the state of the whole machine (bandwidths, loaded latencies)."""
import json
import sys


def text(value):
    if isinstance(value, dict):
        if "value" in value:
            return text(value["value"]) + ("" if value["unit"] == "1" else " " + value["unit"])
        if "status" in value and len(value) == 2:
            return value["status"]
        skip = ("confidence", "evidence", "reason", "victims", "victim_probability", "victim_probability_error")
        return "; ".join(k + " " + text(v) for k, v in value.items() if k not in skip)
    if isinstance(value, list):
        return " ".join(text(v) for v in value)
    return format(value, ".6g") if isinstance(value, float) else str(value)


def lines(owner, thing):
    for key, value in thing.items():
        if key not in ("id", "reason", "steps", "hit_latencies", "miss_latencies", "scope_evidence", "spikes"):
            print(owner, key, text(value))


found = json.load(open(sys.argv[1]))
for part in ("caches", "tlbs"):
    for thing in found[part]:
        lines(thing["id"], thing)
for thing in found["methods"]:
    lines(thing["method"] + "." + thing["cache"], thing)
lines("shared_memory", found["shared_memory"])
lines("outstanding", found["outstanding"])
print("memory latency", text(found["memory"]["latency"]))
for pattern in found["latency_patterns"]:
    print("pattern", pattern["op"], pattern["pattern"], pattern["cache"], text(pattern["latency"]))
