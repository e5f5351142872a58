#!/bin/sh
# Dissections that were kept: comparing them, and exporting them.
cp "$DATA/dissection.json" a.json
sed 's/"value": 1572864/"value": 1048576/; s/"value": 230,/"value": 232,/' a.json >b.json
echo "# compared"
run sonde compare a.json a.json
run sonde compare a.json b.json
run sonde compare a.json b.json --cycles 2
run sonde compare a.json b.json --json - --cycles 2
sonde compare a.json a.json -v | head -n 3
echo "# medians whose bounds meet; classes of a kind, with the nearest; what no kind explains"
/usr/bin/python3 - <<'PYTHON'
import copy, json
d = json.load(open("a.json"))
first = next(p for p in d["latency_patterns"] if p["pattern"])
def row(pattern, value, low=0, high=0):
    p = copy.deepcopy(first)
    p.update(pattern=pattern)
    p["latency"].update({"value": value, **({"low": low, "high": high} if high else {})})
    return p
def keep(name, rows):
    json.dump(dict(d, latency_patterns=rows), open(name, "w"))
keep("of_a.json", [row("P4", 536, 530, 541), row("P4", 715, 700, 722), row("P5", 573, 560, 575), row(None, 319), row(None, 1195)])
keep("of_b.json", [row("P4", 540, 533, 545), row("P4", 563), row("P4", 724, 720, 731), row("P5", 582, 576, 590), row(None, 637), row(None, 319)])
# Bounds that do not hold their value, as of a value that somebody has changed, are not its own; units are told apart.
keep("of_c.json", [row("P4", 936, 530, 541)])
keep("of_d.json", [row("P4", 536, 530, 541)])
d["memory"]["latency"]["unit"] = "ns"
keep("of_e.json", [row("P4", 541)])
PYTHON
run sonde compare of_c.json of_d.json
run sonde compare of_d.json of_e.json
# Between bounds there may lie what is allowed. Sets are turned where they are no power of two: a buffer begins anywhere.
/usr/bin/python3 - <<'PYTHON'
import json
for name, value, sets in (("in_a", {"value": 536, "low": 530, "high": 541}, ([8, 9, 11], [5, 6, 5, 5])), ("in_b", {"value": 544}, ([11, 8, 9], [5, 5, 6, 5])),
                          ("in_c", {"value": 536}, ([9, 8, 11], [5, 6, 5, 5]))):
    d = json.load(open("a.json"))
    d["memory"]["latency"].pop("low", None)
    d["memory"]["latency"].pop("high", None)
    d["memory"]["latency"].update(value)
    for one, ways in zip(("l1_data", "l2"), sets):
        next(c for c in d["caches"] if c["id"] == one)["ways_per_set"] = ways
    json.dump(d, open(name + ".json", "w"))
PYTHON
run sonde compare in_a.json in_b.json --cycles 2
run sonde compare in_a.json in_b.json --cycles 3
run sonde compare in_a.json in_c.json
run sonde compare of_a.json of_b.json
run sonde compare of_a.json of_b.json --cycles 9
echo "# exported"
run sonde export --list
for format in sonde gpgpusim mt4g hwloc; do
    run sonde export a.json --format "$format" -o "out.$format"
done
run sonde model check ./out.sonde
cp out.sonde out.yaml
run sonde model check out.yaml
cat out.sonde
cat out.gpgpusim
echo "# what hwloc makes of it"
lstopo-no-graphics --input out.hwloc --if xml --no-io --of console | sed 's/ *$//' | head -n 8
lstopo-no-graphics --input out.hwloc --if xml --of console | grep -c 'PU L#'
echo "# keys as mt4g's"
/usr/bin/python3 -c 'import json; m = json.load(open("out.mt4g"))["memory"]
print(sorted(m), m["texture"]["size"]["size"], m["texture"]["lineSize"], m["l2"]["latency"]["p50"])'
# Sizes are integers; L2 has the driver's word, of all parts, and the size of one.
/usr/bin/python3 - <<'PYTHON'
import copy, json, subprocess
d = json.load(open("a.json"))
caches = {c["id"]: c for c in d["caches"]}
d["device"]["l2_bytes_reported"] = 4194304
caches["l2"]["count"] = dict(caches["l2"]["size"], value=2, unit="1")
caches["l1_data"].clear()
caches["l1_data"].update(copy.deepcopy(caches["local_l1"]), id="l1_data",
                         count=dict(caches["l2"]["size"], value=2 * d["device"]["sms"], unit="1"))
caches["local_l1"].update(present=False, status="absent")
for told in True, False:
    if not told:
        del d["device"]["l2_bytes_reported"]
    json.dump(d, open("parts.json", "w"))
    subprocess.run(["sonde", "export", "parts.json", "--format", "mt4g", "-o", "parts.mt4g"], check=True)
    m = json.load(open("parts.mt4g"))["memory"]
    print(m["l2"]["size"], m["l2"]["segmentSize"]["size"], m["l2"]["amountPerGPU"], m["l1"]["amountPerMultiprocessor"],
          [m["l1"].get(k) for k in ("globalL1CacheSupported", "localL1CacheSupported")])
PYTHON
/usr/bin/python3 -c 'import json; d = json.load(open("a.json")); del d["device"]["compute_major"]; json.dump(d, open("untold.json", "w"))'
sonde export untold.json --format mt4g -o untold.mt4g
/usr/bin/python3 -c 'import json
for name in "out", "untold": print(name, json.load(open(name + ".mt4g"))["general"].get("computeCapability"))'
sonde export a.json --format sonde --base gtx560ti | sed -n '3,13p;/^l2:/,/^noc/p'
run sonde export a.json --format sonde --base ./nothing.yaml
echo "# over a base of one's own: found from wherever the model lies"
mkdir elsewhere
printf 'inherits: gtx560ti\nname: own\nl2: {hit_latency: 99 cycles}\n' >own.yaml
run sonde export a.json --format sonde --base ./own.yaml -o elsewhere/over.yaml
grep '^inherits' elsewhere/over.yaml | sed "s|$PWD|PWD|; s/ *#.*//"
run sonde model check elsewhere/over.yaml
echo "# local loads hit L1 as others do, later, and in a cache of their own"
for how in 'same 114 l1_data' 'later 124 l1_data' 'own 124 nothing'; do
    set -- $how
    /usr/bin/python3 - "$2" "$3" <<'PYTHON'
import copy, json, sys
d = json.load(open("a.json"))
caches = {c["id"]: c for c in d["caches"]}
caches["l1_data"].clear()
caches["l1_data"].update(copy.deepcopy(caches["local_l1"]), id="l1_data")
caches["local_l1"].update(shared_with=[sys.argv[2]])
caches["local_l1"]["hit_latency"]["value"] = int(sys.argv[1])
json.dump(d, open("local.json", "w"))
PYTHON
    echo "$1: $(sonde export local.json --format sonde | grep '^  lsu:')"
done
echo "# lanes: of the numbers that a loop's rate leaves open, the one with most factors of two"
for rate in '9.3 9' '15.1 15' '6.2 6.1' '0.4 0.3'; do
    set -- $rate
    /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import json, sys
d = json.load(open("a.json"))
rate = {"value": float(sys.argv[1]), "low": float(sys.argv[2]), "unit": "1", "confidence": 0.9, "evidence": "none"}
d["sm"] = {"instructions": {"ffma": {"latency": dict(rate, value=4), "lanes_per_cycle": rate}}}
json.dump(d, open("lanes.json", "w"))
PYTHON
    echo "$1: $(sonde export lanes.json --format sonde | grep '^ *lanes_per_cycle:')"
done
echo "# wrong"
run sonde compare
run sonde compare a.json
run sonde compare a.json b.json c.json
run sonde compare a.json nothing.json
cp "$DATA/wrong_model.yaml" .
run sonde compare a.json wrong_model.yaml
echo '{"schema": "sonde.dissection/9"}' >future.json
run sonde compare a.json future.json
echo '{"schema": "sonde.dissection/1"}' >empty.json
run sonde export empty.json --format hwloc
run sonde export a.json
run sonde export --format hwloc
run sonde export a.json --format gem5
run sonde export a.json --format hwloc -o ./no/such/folder
run sonde export a.json --format hwloc -o /dev/full
