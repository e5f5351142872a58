#!/bin/sh
# What lies between an SM and memory, in an exported model: an L2 that answers sooner than the base's alone, ports by the pace of a warp's
# requests and by what was written (with headers and without), memory that all SMs together fill, slices by classes of hits, jumps in the page table.
# whole: gtx560ti-48k
whole gtx560ti-48k told.json
python3 - told.json <<'PY' || fail "no dissections"
import copy, json, sys
from changes import cache, put, tlb
told = json.load(open(sys.argv[1]))
SMS, HZ = told["device"]["sms"], told["device"]["clock_hz"]
def keep(name, change):
    root = copy.deepcopy(told)
    root["device"]["memory_bandwidth_reported"] = int(HZ)
    for each in ("l1_data", "l2"): # misses fetch sectors of lines
        cache(root, each).update({"line": put(128, "B"), "fetch_granularity": put(32, "B")})
    change(root)
    json.dump(root, open(name + ".json", "w"))
def rates(root, read, write):
    for key, value in (("read", read), ("write", write)):
        root["memory"][key + "_bandwidth"] = put(SMS * HZ * value, "B/s")
def near(root): # a hit of L2 that takes 36 cycles
    l2 = cache(root, "l2")
    l2["hit_latency"] = put(38, "cycles")
    l2["load_to_use_latency"] = put(36, "cycles")
    for key in ("hit_latencies", "miss_latencies"):
        l2.pop(key, None)
    cache(root, "l1_data")["hit_latency"] = put(32, "cycles")
    cache(root, "l1_data")["load_to_use_latency"] = put(30, "cycles")
    root["memory"]["latency"] = put(138, "cycles")
    root.pop("latency_patterns", None)
def filled(root): # four cycles for a line, or memory; one SM alone gets more
    rates(root, 128 / 4, 128 / 4)
    root["loaded_latency"] = [{"requests": n, "cycles": 1, "bytes_per_cycle": b} for n, b in ((256, 31), (256 * SMS, 27 * SMS))]
def alone(root):
    filled(root)
    root["loaded_latency"][1]["bytes_per_cycle"] = 31 * SMS
def pace(root): # requests come back every second cycle, and lines every fifth
    rates(root, 20, 20)
    root["outstanding"]["request_cycles"] = 1.875
def lines(root):
    pace(root)
    rates(root, 40, 20)
def written(root): # of reads nothing says whether memory bounds them
    root.pop("loaded_latency", None)
    rates(root, 10, 128 / 5)
def slower(root):
    root.pop("loaded_latency", None)
    rates(root, 10, 128 / 6.8)
def classes(root):
    shares = [1, 1, 2, 3, 3, 2]
    cache(root, "l2")["hit_latencies"] = [{"cycles": 100 + 8 * i, "low": 100 + 8 * i, "high": 100 + 8 * i, "share": n / 12} for i, n in enumerate(shares)]
    cache(root, "l2").update({"sets": put(96), "size": put(96 * 16 * 128, "B"), "line": put(128, "B"), "ways": put(16),
                              "set_index": {"kind": "modulo", "confidence": 0.97, "evidence": "l2.1"}})
    cache(root, "l2").pop("ways_per_set", None)
def single(root):
    second = cache(root, "constant_l15")
    second.clear()
    second.update({"id": "constant_l15", "present": True, "scope": "gpu", "count": put(1), "size": put(32768, "B"), "line": put(256, "B"),
                   "sets": put(16), "ways": put(8), "fetch_granularity": put(64, "B"), "hit_latency": put(110, "cycles")})
def jump(more):
    def change(root):
        penalty = tlb(root, "l1_tlb")["miss_penalty"]["value"]
        root["tlbs"][1] = {"id": "l2_tlb", "present": False, "status": "absent", "reason": "the test's"}
        rows = [dict(root["latency_patterns"][0], op="cg", pattern=name, latency=put(cycles, "cycles"))
                for name, cycles in (("P1", 200), ("P3-jump", 200 + penalty + more))]
        root["latency_patterns"] = rows
    return change
for name, change in (("near", near), ("filled", filled), ("alone", alone), ("pace", pace), ("lines", lines), ("written", written),
                     ("slower", slower), ("classes", classes), ("single", single), ("jump", jump(0)), ("switch", jump(100))):
    keep(name, change)
PY
over near v100
hit=$(number near l2 hit_latency) sum=$(($(number near noc request_latency) + $(number near noc reply_latency) + hit + 12)) # v100's load/store unit
[ "$hit" -gt 0 ] && [ $sum -eq 36 ] || fail "a load that hits L2 takes $sum cycles, of them L2 $hit"

over filled v100
holds filled dram 'clock: ' # neither port, nor the base's memory
over alone v100
! sed -n '/^dram:/,/^vm:/p' alone.yaml | grep -q '  clock: ' || fail "what an SM gets alone is memory's rate"

over pace gh100
holds pace noc 'reply_width: 32 B'
over lines gh100 # such a port would not pass them
! sed -n '/^noc:/,/^dram:/p' lines.yaml | grep -q 'reply_width: 32 B' || fail "a port that does not pass what was read"

over written gh100 # whole sectors without a header: five cycles for 128 bytes
holds written noc 'request_width: 26 B'
over written gtx560ti # with one of 8 bytes
! sed -n '/^noc:/,/^dram:/p' written.yaml | grep 'request_width' || fail "another port than the base's, which passes just that"
over slower gh100
holds slower noc 'request_width: 19 B'

over classes gtx780
holds classes l2 'slices: 12 '
holds classes l2 'slice_latency: \[24, 40, 24, 32, 16, 32, 0, 24, 40, 16, 32, 8\]'

over single gtx780 # a cache of constants of all SMs is that of one cluster
grep -q '^clusters: 1 ' single.yaml && holds single constant_l15 'scope: cluster ' || fail "clusters: $(grep '^clusters' single.yaml)"

over jump gtx780
grep -q '^  switch_latency: 0 cycles' jump.yaml || fail "a jump that cost nothing takes the base's time"
over switch gtx780
grep -q '^  switch_latency: 100 cycles' switch.yaml || fail "a jump does not cost what it did: $(grep switch_lat switch.yaml)"
