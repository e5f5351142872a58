#!/usr/bin/env python3
"""drawn_dissections.py OUT SEED COUNT DISSECTION...: dissections that no machine gave.

Each is one of DISSECTION, in which caches and TLBs come from others of them or are drawn, attributes are not measured, and bandwidths
are far from what the base has: OUT/N.json. What they tell is possible by itself; of what stands beside it nothing is asked. A test of
what is made of a dissection must bear all of them.
"""
import copy
import json
import random
import sys

POLICIES = ["lru", "fifo", "random", "plru", "nru", "srrip", "lru_late", "biased", "unknown", "none"]
NOT_MEASURED = {"status": "not measured", "reason": "the test's"}


def value(number, unit="1", rng=random):
    return {"value": number, "unit": unit, "confidence": rng.choice([0.3, 0.6, 0.9, 0.99]), "evidence": "drawn.1"}


def shares(rng, ways):
    weights = [rng.choice([1, 1, 1, 3, 0.01]) for _ in range(ways)]
    return [weight / sum(weights) * rng.choice([1, 1.0000003, 0.9999998]) for weight in weights]


def policy(rng, ways):
    told = {"name": rng.choice(POLICIES), "equivalent_to": [], "confidence": 0.9, "evidence": "drawn.1"}
    if told["name"] == "biased":
        told["victim_probability"] = shares(rng, ways if rng.random() < 0.8 else rng.randint(1, 32))
        told["serial"] = rng.random() < 0.3
    if told["name"] == "unknown":
        told["status"] = "not measured"
    return told


def set_index(rng, line, sets):
    bits = sets.bit_length() - 1
    kind = rng.choice(["bits", "xor", "map", "modulo", "hash", "unknown", "none"])
    told = {"kind": kind, "confidence": 0.9, "evidence": "drawn.1"}
    low = line.bit_length() - 1
    if kind in ("bits", "xor"):
        if sets != 1 << bits:
            bits = rng.randint(1, 8)
        masks = [1 << (low + i) for i in range(bits)]
        if kind == "xor":
            masks = [mask | rng.getrandbits(28) >> low << low for mask in masks]
        elif rng.random() < 0.3:
            masks = [1 << bit for bit in sorted(rng.sample(range(low, 30), bits))] if bits <= 30 - low else masks
        told["masks"] = [hex(mask) for mask in masks]
    elif kind == "map":
        told["map"] = [rng.randrange(sets) for _ in range(min(4096, sets * rng.choice([1, 2, 3])))]
    return told


def geometry(rng, cache, far):
    line = rng.choice([32, 64, 128, 128, 256, 512])
    sets = rng.choice([1, 2, 4, 8, 32, 64, 128, 512, 3, 5, 6, 7, 12, 24, 40, 48, 96, 320, rng.randint(1, 4096)])
    if far:
        sets *= rng.choice([1, 4, 16, 48, 96])
    ways = rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 96, rng.randint(1, 128)])
    cache["line"] = value(line, "B", rng)
    cache["fetch_granularity"] = value(rng.choice([32, 64, line, 96]), "B", rng)
    cache["sets"], cache["ways"] = value(sets, rng=rng), value(ways, rng=rng)
    size = line * sets * ways
    cache["size"] = value(rng.choice([size, size, size - line * (sets // 3), size * 3 // 2, size + 32]), "B", rng)
    cache.pop("ways_per_set", None)
    if sets <= 128 and rng.random() < 0.1:
        cache["ways_per_set"] = [rng.randint(1, ways) for _ in range(sets)]
    cache["set_index"] = set_index(rng, line, sets)
    cache["policy"] = policy(rng, ways)


def forget(rng, owner, share):
    for key, told in owner.items():
        if rng.random() >= share or not isinstance(told, dict):
            continue
        if "value" in told:
            owner[key] = NOT_MEASURED
        elif key == "set_index":
            owner[key] = dict(NOT_MEASURED, kind="unknown")
        elif key == "policy":
            owner[key] = dict(NOT_MEASURED, name="unknown")


def change_cache(rng, cache, told):
    cache_id = cache["id"]
    others = [other for one in told for other in one["caches"] if other["id"] == cache_id]
    if rng.random() < 0.3:
        cache.clear()
        cache.update(copy.deepcopy(rng.choice(others)))
    if cache.get("present") and rng.random() < 0.4:
        geometry(rng, cache, cache_id == "l2")
        cache["count"] = value(rng.choice([1, 1, 2, 3, 8]), rng=rng)
    if cache.get("present") and rng.random() < 0.2:
        cache["hit_latency"] = value(rng.randint(1, 900), "cycles", rng)
        cache["miss_penalty"] = value(rng.randint(0, 900), "cycles", rng)
        count = rng.randint(1, 4)
        cache["hit_latencies"] = [
            {"cycles": 200 + 30 * i, "low": 190 + 30 * i, "high": 210 + 30 * i, "share": 1 / count} for i in range(count)
        ]
    forget(rng, cache, rng.choice([0, 0, 0.1, 0.5]))


def change_tlb(rng, tlb, told):
    others = [other for one in told for other in one["tlbs"] if other["id"] == tlb["id"]]
    if rng.random() < 0.3:
        tlb.clear()
        tlb.update(copy.deepcopy(rng.choice(others)))
    if tlb.get("present") and rng.random() < 0.4:
        sets, ways = rng.choice([1, 2, 4, 7, 16, 128]), rng.choice([1, 4, 8, 16, 65])
        tlb["page"] = value(1 << rng.randint(12, 28), "B", rng)
        tlb["entries"], tlb["sets"] = value(sets * ways, rng=rng), value(sets, rng=rng)
        tlb["entries_per_set"] = [ways + (rng.randint(0, 9) if rng.random() < 0.1 else 0) for _ in range(sets)]
        tlb["scope"] = rng.choice(["sm", "cluster", "gpu"])
        tlb["policy"] = policy(rng, ways)
        tlb["miss_penalty"] = value(rng.randint(0, 700), "cycles", rng)
    forget(rng, tlb, rng.choice([0, 0, 0.1, 0.5]))


def change_device(rng, one):
    device, memory = one["device"], one["memory"]
    if rng.random() < 0.4:
        device["sms"] = rng.randint(1, 144)
    if rng.random() < 0.3:
        device["clock_hz"] = rng.randint(200, 3000) * 1000000
    if rng.random() < 0.5:
        bus = 10 ** rng.uniform(8, 13)
        device["memory_bandwidth_reported"] = int(bus)
        for key in ("read_bandwidth", "write_bandwidth"):
            memory[key] = value(bus * rng.uniform(0.2, 1.1), "B/s", rng)
    if rng.random() < 0.3:
        for key in ("read_bandwidth", "write_bandwidth"):
            memory[key] = value(10 ** rng.uniform(8, 13), "B/s", rng)
    if rng.random() < 0.3:
        one["outstanding"]["structure"] = rng.choice(["mshr", "prt", "request_limit", "unknown"])
        for key in ("entries", "mergers", "loads_per_warp"):
            one["outstanding"][key] = value(rng.randint(1, 600), rng=rng)
    if rng.random() < 0.2:
        one["shared_memory"]["banks"] = value(rng.choice([8, 16, 32, 64]), rng=rng)
        one["shared_memory"]["bank_width"] = value(rng.choice([4, 8]), "B", rng)


def main():
    out, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    told = [json.load(open(path, encoding="utf-8")) for path in sys.argv[4:]]
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        one = copy.deepcopy(rng.choice(told))
        for key in ("evidence", "latency_classes"):
            one.pop(key, None)
        change_device(rng, one)
        for cache in one["caches"]:
            if rng.random() < 0.5:
                change_cache(rng, cache, told)
        for tlb in one["tlbs"]:
            if rng.random() < 0.5:
                change_tlb(rng, tlb, told)
        with open(f"{out}/{number}.json", "w", encoding="utf-8") as file:
            json.dump(one, file)


main()
