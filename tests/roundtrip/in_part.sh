#!/bin/sh
# What was told in part, in an exported model: lines or ways of an L2 of which nothing else is known, whichever of a TLB's sets overflow,
# loads of memory near and far of which few that waited hide the groups, medians that lie in one of several classes.
# whole: gtx560ti-48k
whole gtx560ti-48k told.json
python3 - told.json <<'PY' || fail "no dissections"
import copy, json, sys
from changes import cache, missing, put, tlb
told = json.load(open(sys.argv[1]))
def keep(name, change):
    root = copy.deepcopy(told)
    l2 = cache(root, "l2")
    missing(l2, "size", "sets", "ways", "count")
    l2.update({"line": put(64, "B"), "fetch_granularity": put(32, "B"), "set_index": {"kind": "unknown", "status": "not measured", "reason": "the test's"}})
    for key in ("ways_per_set", "hit_latencies", "miss_latencies"):
        l2.pop(key, None)
    root["latency_patterns"] = []
    change(root)
    json.dump(root, open(name + ".json", "w"))
def line(root):
    cache(root, "l2")["line"] = put(32, "B")
def ways(root):
    cache(root, "l2").update({"count": put(2), "ways": put(12), "policy": {"name": "fifo", "equivalent_to": [], "confidence": 0.9, "evidence": "l2.1"}})
def turn(root):
    missed = [7, 7, 14, 14, 15, 15, 16, 25, 26, 35]
    tlb(root, "l1_tlb").update(entries=put(28), sets=put(4), entries_per_set=[6, 6, 8, 8], steps=[{"pages": 26 + i, "missed": n} for i, n in enumerate(missed)])
def kinds(root, op, *pairs):
    for cycles, loads in pairs:
        root["latency_patterns"].append({"pattern": "P4", "op": op, "cache": "memory", "l1_tlb": "hit", "l2_tlb": None, "page_table": None,
                                         "far_jump": False, "loads": loads, "latency": put(cycles, "cycles")})
def groups(root): # some of the loads past L1 waited; those through it find rows open or another, near and far
    cache(root, "l2").update({"count": put(2), "hit_latencies": [{"cycles": 297, "low": 297, "high": 297, "share": 1.0}]})
    kinds(root, "cg", (783, 28), (977, 8), (1087, 10))
    kinds(root, "ca", (765, 279), (789, 254), (959, 247), (983, 203))
def none(root):
    groups(root)
    root["latency_patterns"] = [one for one in root["latency_patterns"] if one["op"] == "cg"]
def times(root, hit, beyond):
    for owner, key, cycles in ((cache(root, "l2"), "hit_latency", hit), (cache(root, "l2"), "miss_penalty", beyond), (root["memory"], "latency", hit + beyond)):
        owner[key] = put(cycles, "cycles")
    missing(cache(root, "l2"), "load_to_use_latency")
def spread(root, first):
    return [{"cycles": first + 16 * i, "low": first + 16 * i, "high": first + 16 * i, "share": 0.25} for i in range(4)]
def median(root): # hits from 303 on, memory 142 behind them; the medians lie in different classes
    times(root, 327, 134)
    cache(root, "l2").update({"hit_latencies": spread(root, 303), "miss_latencies": spread(root, 445)})
def exact(root):
    median(root)
    times(root, 327, 142)
def sooner(root): # constants come back from L2 after 20 cycles less than loads without the load/store unit
    first = cache(root, "constant_l1")
    hit = cache(root, "l2")["hit_latency"]["value"]
    second = cache(root, "constant_l15")
    second.clear()
    second.update({"id": "constant_l15", "present": False, "status": "absent", "reason": "the test's"})
    first["hit_latency"], first["miss_penalty"] = put(30, "cycles"), put(hit - 30 - 32, "cycles")
    cache(root, "l1_data")["hit_latency"] = put(80, "cycles")
    missing(cache(root, "l1_data"), "load_to_use_latency")
def bursts(root): # of lines of which all past L1 find another row, and those through it theirs or another
    l1, l2 = cache(root, "l1_data"), cache(root, "l2")
    times(root, 225, 121)
    l1.update({"line": put(128, "B"), "fetch_granularity": put(128, "B"), "hit_latency": put(107, "cycles"), "miss_penalty": put(127, "cycles")})
    missing(l1, "load_to_use_latency")
    kinds(root, "cg", (370, 31))
    kinds(root, "ca", (358, 134), (382, 452))
def open_rows(root): # of lines near one another a third finds another row, and all that are far apart
    times(root, 204, 244)
    kinds(root, "cg", (472, 32))
    cache(root, "l2")["miss_latencies"] = [{"cycles": at, "low": at, "high": at, "share": share} for at, share in ((448, 0.63), (472, 0.37))]
    root["memory"].update(read_bandwidth=put(4e10, "B/s"), write_bandwidth=put(4e10, "B/s")) # which cut DRAM to no fewer parts
    root["device"].update(sms=1)
    root.pop("loaded_latency", None)
def fast(root):
    open_rows(root)
    root["device"].update(sms=100)
    root["memory"].update(read_bandwidth=put(8e11, "B/s"), write_bandwidth=put(8e11, "B/s"))
def few(root): # near and far slices, of which few loads tell the mean
    cache(root, "l2").update({"count": put(2), "hit_latencies": [{"cycles": at, "low": at - 10, "high": at + 10, "share": 0.5} for at in (265, 297)]})
    kinds(root, "cg", (529, 4), (575, 15), (725, 10))
def many(root):
    few(root)
    for one in root["latency_patterns"]:
        one["loads"] *= 100
for change in line, ways, turn, groups, none, median, exact, sooner, bursts, open_rows, fast, few, many:
    keep(change.__name__, change)
PY
for one in line ways turn groups none median exact sooner bursts open_rows fast; do
    over $one v100
done
holds line l2 'line: 32 B'
holds line l2 'sets: 384 '
holds ways l2 'ways: 12 '
holds ways l2 'sets: 256 '
holds ways l2 'replacement: {policy: fifo}'
holds turn tlb_l1 'index: {kind: map, map: \[2, 0, 3, 1\]}'

# Of 193.4 cycles between the groups' means L2 takes the base's 10.
holds groups l2 'crossing: {latency: 9[12] cycles}'
holds groups dram 'row: 2048 B'
over few gh100 # 142.7 cycles, where the base has 136
over many gh100
holds many l2 'crossing: {latency: 71 cycles}'
! grep crossing few.yaml || fail "the mean of 29 loads to slices near and far tells the way between parts"
! grep crossing none.yaml || fail "three kinds that are no groups tell the way between parts"

[ "$(number median dram fixed_latency)" = "$(number exact dram fixed_latency)" ] ||
    fail "a median among classes of hits, and of misses: $(number median dram fixed_latency), not $(number exact dram fixed_latency)"

# The constants' way is as long as that of loads, without what stands before either.
lsu=$(sed -n 's/^  lsu: .*[{ ]latency: \([0-9]*\) cycles.*/\1/p' sooner.yaml)
[ "$lsu" -ge 30 ] || fail "the load/store unit takes $lsu cycles of a load, and all of L2 32 less than it"
holds bursts dram 't_ccd_l: 1 cycles'

# Lines of a row go to no more channels than let most of them find it open, where those move what was read.
holds open_rows dram 'channels: 2 '
! sed -n '/^dram:/,/^vm:/p' fast.yaml | grep -q 'channels: 2 ' || fail "two channels move 8e11 B/s"
