#!/bin/sh
# Where the exporter puts what was told: changed dissections of sim:gtx780, and the lines of the models that they become.
# whole: gtx780
whole gtx780 told.json
python3 - <<'END' || fail "no changed dissections"
import copy, json
from changes import cache, tlb
told = json.load(open("told.json"))
def put(owner, key, value):
    owner[key] = {**owner.get(key, {}), "value": value, "unit": owner.get(key, {}).get("unit", "1"), "confidence": 0.9}
def write(name, change):
    changed = copy.deepcopy(told)
    change(changed)
    json.dump(changed, open(name + ".json", "w"))
def rates(root, read, write):
    device = root["device"]
    device.update(memory_bandwidth_reported=1000, sms=6) # fewer, so that the bus has more than twice what their ports have
    for key, cycles in (("read_bandwidth", read), ("write_bandwidth", write)):
        root["memory"][key] = {"value": 32 * device["sms"] * device["clock_hz"] / cycles, "unit": "B/s", "confidence": 0.8}
    for point in root["loaded_latency"][:3]: # an SM alone has its port
        point["bytes_per_cycle"] = min(point["bytes_per_cycle"], 32 / min(read, 2))
def serial(root):
    policy = cache(root, "texture_l1")["policy"]
    policy.update(name="biased", serial=True, victim_probability=[0.5] + [0.5 / 95] * 95)
def back(root):
    second = cache(root, "constant_l15")
    second["scope"] = "cluster"
    put(second, "count", 4)
def near(root): # misses that come back as soon as no way from a cluster's cache lets them
    back(root)
    first, second, l2 = (cache(root, id) for id in ("constant_l1", "constant_l15", "l2"))
    put(second, "miss_penalty", l2["hit_latency"]["value"] - 20 - second["hit_latency"]["value"] + 8 + 20)
def lost(root): # no L1 of global loads here, and no L2 either: constants alone
    root["caches"] = [one for one in root["caches"] if one["id"] != "l2"]
    root["latency_patterns"] = []
    put(cache(root, "constant_l15"), "miss_penalty", 60)
def banks(root, one):
    shared = root["shared_memory"]
    put(shared, "banks", 16)
    put(shared, "bank_width", 4)
    shared["modes"] = [4]
    shared["conflict_latency"] = {key: value for key, value in shared["conflict_latency"].items() if one or key != "1"}
def readonly(root):
    cache(root, "readonly_l1").update(present=False, status="absent", reason="the test's")
def first(root): # a second TLB that was sought in vain
    put(tlb(root, "l1_tlb"), "miss_penalty", 50)
    tlb(root, "l2_tlb").update(present=False, status="not measured", reason="the test's")
def alone(root): # none behind the first
    first(root)
    tlb(root, "l2_tlb")["status"] = "absent"
    root["device"]["memory_bytes"] = 1 << 40
    root["latency_patterns"] = []
def unknown(root, **told): # an L2 of which little was told
    l2 = cache(root, "l2")
    for key in ("size", "line", "sets", "ways", "count"):
        l2[key] = {"status": "not measured", "reason": "the test's"}
    l2["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
    for key, value in told.items():
        put(l2, key, value)
def parts(root):
    unknown(root, count=2)
    l2 = cache(root, "l2")
    at = l2["hit_latency"]["value"]
    l2["hit_latencies"] = [{"cycles": at, "low": at, "high": at, "share": 1.0}]
    root["latency_patterns"] = []
def flight(root, **told): # what an SM may have outstanding, and what stands around loads in flight
    pace = lambda cycles, lanes: {"cycles": cycles, "lanes_per_cycle": lanes, "at_least": lanes - 0.5}
    root["outstanding"] = {"structure": "prt", "entries": {"value": 61, "confidence": 0.9}, "one_load_cycles": 300.0,
                           "at_least": {"mergers": 31, "loads_per_warp": 16}, "spikes": [], **told,
                           "around_loads": {"logic": pace(10, 32), "branch": pace(10, 32), "barrier": pace(10, 32), "lds4": pace(1, 32)}}
def table(root):
    flight(root, structure="mshr", mergers={"value": 14, "confidence": 0.9}, lanes_count_as_mergers=True)
    root["outstanding"]["entries"]["value"] = 30
    root["caches"].append({**cache(root, "texture_l1"), "id": "l1_data"})
    root["caches"].remove(next(one for one in root["caches"] if one["id"] == "l1_data" and not one["present"]))
def paced(root): # 30 loads of a lane in 150 cycles, requests of a warp two cycles apart
    flight(root, request_cycles=1.875)
    root["outstanding"]["spikes"] = [{"lanes": 1, "share": 1, "instructions": 31, "before_cycles": 450.0, "after_cycles": 700.0}]
    root["memory"] = {"latency": root["memory"]["latency"]}
    root["loaded_latency"] = []
def soon(root): # misses of the first cache of constants come back sooner than the base's ends of the way let them
    second = cache(root, "constant_l15")
    second.clear()
    second.update(id="constant_l15", present=False, status="absent", reason="the test's")
    put(cache(root, "constant_l1"), "miss_penalty", cache(root, "l2")["hit_latency"]["value"] - 16 - cache(root, "constant_l1")["hit_latency"]["value"])
def hidden(root): # a second cache of constants of which no hit was timed
    second = cache(root, "constant_l15")
    for key in ("hit_latency", "miss_penalty", "load_to_use_latency"):
        second.pop(key, None)
    put(cache(root, "constant_l1"), "miss_penalty", 141)
def victims(root): # the base's ways, and another policy; sets that were not told
    texture = cache(root, "texture_l1")
    for key in ("size", "sets"):
        texture[key] = {"status": "not measured", "reason": "the test's"}
    texture["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "the test's"}
    texture["policy"] = {"name": "fifo", "confidence": 0.97, "evidence": "the test's"}
    unknown(root, ways=cache(root, "l2")["ways"]["value"])
    cache(root, "l2")["policy"] = dict(texture["policy"])
def late(root): # most hits of L2 miss translation, by 50 cycles
    l2 = cache(root, "l2")
    at = l2["hit_latency"]["value"]
    l2["hit_latencies"] = [{"cycles": at - 50, "low": at - 50, "high": at - 50, "share": 0.07}, {"cycles": at, "low": at, "high": at, "share": 0.93}]
    put(tlb(root, "l1_tlb"), "miss_penalty", 50)
write("flight", flight)
write("table", table)
write("paced", paced)
write("soon", soon)
write("hidden", hidden)
write("victims", victims)
write("late", late)
write("same", lambda root: None)
write("ports", lambda root: rates(root, 2, 2))
write("slow", lambda root: rates(root, 30.3, 30.4))
write("own", lambda root: rates(root, 1.5, 1.5))
write("serial", serial)
write("back", back)
write("near", near)
write("lost", lost)
write("banks", lambda root: banks(root, True))
write("few", lambda root: banks(root, False))
write("readonly", readonly)
write("first", first)
write("alone", alone)
write("wide", lambda root: unknown(root, fetch_granularity=128))
write("ways", lambda root: unknown(root, ways=4))
write("parts", parts)
END
for told in same ports slow own serial back near lost banks few readonly first alone flight soon hidden victims late; do
    over $told gtx780
done
for told in wide:v100 ways:v100 parts:gh100 table:gtx480 paced:gtx480; do
    over ${told%:*} ${told#*:}
done
equals() { # FILE SECTION KEY VALUE WHAT
    [ "$(number "$1" "$2" "$3")" = "$4" ] || fail "$5: $2.$3 of $1 is $(number "$1" "$2" "$3"), not $4"
}

# A sum that is the base's own is divided as the base divides it.
equals same noc request_latency 94 "the network's latency both ways"
equals same noc reply_latency 96 "the network's latency both ways"
equals same constant_l15 miss_latency 4 "what a miss adds"

# A sector and its header in two cycles are a port half as wide; what no port gives in a whole number, or less than an SM alone gets, is DRAM.
equals ports noc request_width 20 "what all SMs write in two cycles"
equals ports noc reply_width 20 "what all SMs read in two cycles"
equals ports dram clock 1.502 "ports that are narrow"
equals slow noc reply_width 40 "a slow DRAM"
bus_gives() { # FILE BYTES_A_SECOND WHAT: columns of reads, one behind the other, of which streams reach 0.97
    "$SONDE" model show "$1.yaml" | awk -v told="$2" '/^dram:/ { here = 1; next } /^[a-z]/ { here = 0 } here { of[$1] = $2; unit[$1] = $3 }
        END {
            hertz = of["clock:"] * (unit["clock:"] == "GHz" ? 1e9 : unit["clock:"] == "MHz" ? 1e6 : unit["clock:"] == "kHz" ? 1e3 : 0)
            bus = of["channels:"] * of["subchannels:"] * of["burst:"] * hertz / of["t_ccd_s:"]
            exit !(told > 0.96 * bus && told < 0.98 * bus)
        }' || fail "$3"
}
bus_gives slow 5.4685e9 "5.5 GB/s are not what a bus gives"
equals slow dram channels 1 "5.5 GB/s are more than one channel"
grep -q 'clock: .*# not measured: a bus for what was read' slow.yaml || fail "a bus that was counted back from what was read is told as the driver's"
equals own noc reply_width 40 "a rate that no port gives"
bus_gives own 110.464e9 "a rate that no port gives is not memory's"

# Of victims of which one tells the next, the likeliest goes at evenly spaced misses.
grep -q 'policy: biased_alternating' serial.yaml || fail "victims that depend on one another are drawn one by one"

# The way back from a cluster's second cache of constants is no longer than its misses leave it.
equals near constant_l15 return_latency 0 "the base's way back"
"$SONDE" export near.json --format sonde --base gh100 -o near.gh100.yaml || fail "over gh100: no model"
equals near.gh100 constant_l15 scope cluster "what was told"
back=$(number near.gh100 constant_l15 return_latency)
[ "$back" -lt 48 ] || fail "misses have come back sooner than by gh100's way back, $back cycles"
grep -q 'return_latency: .*# less than the base' near.gh100.yaml || fail "it is not told that the way back is less"

# Where no path tells L2's hits, misses of constants do.
way=$(($(number same noc request_latency) + $(number same noc reply_latency)))
shorter=$(($(number lost noc request_latency) + $(number lost noc reply_latency)))
[ "$shorter" -lt $((way - 20)) ] || fail "constants that miss come back after 60 cycles, past a network of $shorter"

# Sixteen banks that serve a warp's 32 words at once have two each; where no access was without conflict they have one.
equals banks sm bank_width 8 "16 banks that serve 32 words at once"
equals few sm bank_width 4 "16 banks that never serve 32 words at once"

equals readonly sm readonly none "read-only loads that show no cache"

# What a miss of the first TLB costs, where the second is the base's; a walk that was not taken apart has no reads.
equals first tlb_l2 hit_latency 48 "50 cycles of a miss, of which the first TLB has two"
equals alone tlb_l2 enabled false "a second TLB that is absent"
equals alone walker levels 0 "a walk of 50 cycles, all told by one number"

# An L2 whose geometry is the base's: lines as long as what a miss fetches, ways that were told, of as many lines, hashed as the base's.
equals wide l2 line 128 "128 bytes that a miss fetches, over lines of 64"
equals wide l2 sets 96 "the size of the base"
equals ways l2 ways 4 "ways alone, over a base that hashes"
equals ways l2 slices 32 "the base's slices"
equals ways l2 sets 768 "as many lines as the base has"
"$SONDE" model show ways.yaml | sed -n '/^l2:/,/^[a-z]/p' | grep -q 'kind: hash' || fail "sets that were not told are not hashed as the base's"

# Of two parts whose hits are one class copies take no longer, and memory's latency is that of lines at home.
equals parts l2 copy_latency 0 "hits that all take the same"
dram=$("$GET" parts.json memory.latency)
hit=$("$GET" parts.json l2.hit_latency)
fixed=$(number parts dram fixed_latency)
own=$("$SONDE" model show gh100 | awk '/^[a-z]/ { here = $1 } here == "l2:" && $1 == "hit_latency:" { print $2; exit }')
echo "$dram $hit $fixed $own" | awk '{ left = $1 - $2 + $4 - $3; exit !(left > 0 && left < 60) }' || # what DRAM's own clocks and a miss take
    fail "$fixed cycles of DRAM's controller behind hits of $hit and memory of $dram: half of a crossing is taken off"

# What stands around loads in flight is not the base's; a structure that was found is the first to fill, and nothing of the base's before it.
unit() { # FILE UNIT KEY
    "$SONDE" model show "$1.yaml" | awk -v unit="$2:" -v key="$3:" '/^  units:/ { on = 1 } /^    [a-z0-9]+:/ { here = on && $1 == unit } here && $1 == key { print $2; exit }'
}
[ "$(unit flight alu latency) $(unit flight alu lanes_per_cycle) $(unit flight barrier latency)" = "10 32 10" ] || fail "operations around loads are the base's"
equals table l1_data entries 30 "a table of lines"
equals table l1_data mergers 14 "loads that join a line"
equals table l1_data merger lane "lanes count"
[ "$(unit table lsu lanes_per_cycle)" = 32 ] || fail "lanes of a load leave in two cycles, where one was measured"
equals paced sm instruction_interval 15 "three loads at a time, one in five cycles"
equals paced noc reply_width 32 "a sector and its header in two cycles, through a usual port"

# The way to constants is as short as misses of their first cache leave it; what misses the first cache hits a second whose hits were not timed.
grep -q 'constant_l15' soon.yaml && [ "$(number soon constant_l15 enabled)" = false ] || fail "a second cache that is absent is there"
address() { "$SONDE" model show "$1.yaml" | awk '/^  constant:/ { here = 1 } here && $1 == "address_latency:" { print $2; exit }'; }
c=$(address soon)
b=$(address same)
[ "$c" -lt "$b" ] || fail "constants that miss come back after less than the base's way takes, and it begins as late: $c"
first=$("$GET" hidden.json constant_l1.hit_latency)
second=$(number hidden constant_l15 hit_latency)
[ "$((first + 141 - second))" -lt 40 ] || fail "misses after 141 cycles hit a second cache after $second"

# A policy that was told is the model's, though its sets are the base's.
"$SONDE" model show victims.yaml | awk '/^[a-z]/ { here = $1 } here == "texture_l1:" && $1 == "policy:" { print $2; exit }' | grep -q fifo || fail "a texture cache's victims are the base's"
"$SONDE" model show victims.yaml | awk '/^[a-z]/ { here = $1 } here == "l2:" && $1 == "policy:" { print $2; exit }' | grep -q fifo || fail "the victims of L2 are the base's"

# Hits of L2 that miss translation are later by that, and no longer on their way.
long=$(($(number same noc request_latency) + $(number same noc reply_latency)))
short=$(($(number late noc request_latency) + $(number late noc reply_latency)))
[ "$((long - short))" = 50 ] || fail "hits that miss translation take $short cycles on their way, others $long"
