#!/bin/sh
# The time line: its format, and that it is whole however the command ends. Caches that are cold, and the summary.
cp "$DATA"/hot.ptx "$DATA"/double.ptx .
cat >endless.ptx <<'PTX'
.version 7.8
.target sm_35
.address_size 64
.visible .entry endless(.param .u64 words)
{
    .reg .u64 %at;
    .reg .u32 %w;
    ld.param.u64 %at, [words];
$again:
    ld.global.u32 %w, [%at];
    bra $again;
}
PTX
cat >check.py <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
events = document["traceEvents"]
for event in events:
    assert event["ph"] in ("M", "X", "C"), event
    assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["name"], event
    if event["ph"] != "M":
        assert event["ts"] >= 0, event
    if event["ph"] == "X":
        assert event["dur"] >= 0 and event["cat"] in ("kernel", "copy"), event
    if event["ph"] == "C":
        assert len(event["args"]) == 1 and all(value >= 0 for value in event["args"].values()), event
        assert all(value <= 100 for name, value in event["args"].items() if name == "percent"), event
times = {}
for event in events: # of a counter they rise
    if event["ph"] == "C":
        assert event["ts"] > times.get(event["name"], -1), event
        times[event["name"]] = event["ts"]
ends = {}
for event in events: # slices of a track lie behind each other
    if event["ph"] == "X":
        assert event["ts"] >= ends.get(event["tid"], 0) - 1e-6, event
        ends[event["tid"]] = event["ts"] + event["dur"]
for event in events:
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name", "thread_sort_index", "process_sort_index"), event
        assert event["args"], event
named = {event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
assert all(event["tid"] in named for event in events if event["ph"] == "X")
print(document["displayTimeUnit"], "counters:", ", ".join(sorted(times)))
for event in events:
    if event["ph"] == "X":
        print(event["cat"], event["name"], sorted(event["args"]), event["args"].get("status", ""))
PYTHON
for threads in 1 2; do
    echo "# two launches, $threads"
    sonde exec hot.ptx --grid 40 --block 256 --arg x=zero:40960 --arg u32:3 --then --grid 2 --block 256 --arg same:x --arg u32:1 \
        --threads $threads --timeline $threads.json >timed
    sonde exec hot.ptx --grid 40 --block 256 --arg x=zero:40960 --arg u32:3 --then --grid 2 --block 256 --arg same:x --arg u32:1 >plain
    cmp plain timed
    python3 check.py $threads.json
done
cmp 1.json 2.json
echo "# what is not the format is found"
python3 - <<'PYTHON'
import copy, json, subprocess
document = json.load(open("1.json"))
def first(events, phase, n=0):
    return [event for event in events if event["ph"] == phase][n]
wrong = {
    "a phase": lambda e: first(e, "X").update(ph="Q"),
    "a time below zero": lambda e: first(e, "X").update(ts=-1),
    "a length below zero": lambda e: first(e, "X").update(dur=-1),
    "slices over each other": lambda e: first(e, "X", 1).update(ts=first(e, "X")["ts"]),
    "a track that is no number": lambda e: first(e, "X").update(tid="one"),
    "a track without a name": lambda e: first(e, "X").update(tid=4711),
    "no name": lambda e: first(e, "C").update(name=""),
    "a counter that goes back": lambda e: first(e, "C", -1).update(ts=0),
    "a counter without a value": lambda e: first(e, "C").update(args={}),
    "a share above all": lambda e: first(e, "C").update(args={"percent": 101}),
    "a name without a text": lambda e: first(e, "M").update(args={}),
}
for what, spoil in wrong.items():
    spoilt = copy.deepcopy(document)
    spoil(spoilt["traceEvents"])
    json.dump(spoilt, open("spoilt.json", "w"))
    if subprocess.run(["python3", "check.py", "spoilt.json"], capture_output=True).returncode == 0:
        print("not found:", what)
open("cut.json", "w").write(open("1.json").read()[:-40])
if subprocess.run(["python3", "check.py", "cut.json"], capture_output=True).returncode == 0:
    print("not found: an end that is missing")
print(len(wrong) + 1, "tried")
PYTHON
python3 - <<'PYTHON'
import json
events = json.load(open("1.json"))["traceEvents"]
first, second = [event for event in events if event["ph"] == "X"]
print("in turn" if first["ts"] + first["dur"] <= second["ts"] else "overlapping")
def most(name):
    return max(list(event["args"].values())[0] for event in events if event["ph"] == "C" and event["name"] == name)
print("counts" if most("resident warps") > 1 and most("L2 hit rate") > 1 and most("DRAM") > 0 else "counts nothing")
PYTHON
echo "# stopped: by its cycles, by Ctrl-C, and killed"
sonde exec endless.ptx -q --arg zero:1024 --max-cycles 100000 --timeline stopped.json 2>&1 | head -1
python3 check.py stopped.json
# stop NAME FILE: as soon as the file has something
stop() {
    sonde exec endless.ptx -q --arg zero:1024 --timeline "$2" 2>/dev/null &
    until [ -s "$2" ] && [ "$(wc -c <"$2")" -gt 100000 ]; do sleep 0.05; done
    # Between two writes: a page of one that is killed may be missing.
    if [ "$1" = KILL ]; then
        kill -s STOP $!
        until grep -q '^State:.T' "/proc/$!/status"; do sleep 0.01; done
    fi
    kill -s "$1" $!
    wait $! 2>/dev/null
    echo "status $?"
}
stop TERM ended.json
python3 check.py ended.json
stop KILL killed.json
python3 check.py killed.json
echo "# cold, each time"
twice() {
    sonde exec double.ptx --grid 20 --block 128 --arg x=zero:10240 --arg u32:2560 \
        --then --grid 20 --block 128 --arg same:x --arg u32:2560 "$@"
}
twice >warm
twice --cold >cold
for state in warm cold; do
    awk -v state=$state '$1 == "cycles" { cycles[++n] = $2 } $1 == "dram_reads" { reads[n] = $2 }
        END { print state ": the second", cycles[2] < 0.8 * cycles[1] ? "is faster" : "takes as long",
                                          reads[2] ? "and reads memory" : "and reads no memory" }' $state
done
echo "# the summary"
sonde exec hot.ptx --grid 40 --block 256 --arg zero:40960 --arg u32:3 --summary --profile=json:profile.json >summary
sed -n '/^time /,$p' summary | cut -c 1-17
python3 - <<'PYTHON'
import json
kernel, = json.load(open("profile.json"))["kernels"]
lines = dict((line[:17].strip(), line[17:].split()) for line in open("summary"))
occupancy = float(lines["occupancy"][0])
counted = 100 * kernel["resident_warp_cycles"] / (kernel["cycles"] * 12 * 64)
print("occupancy", "holds" if abs(occupancy - counted) < 0.2 else f"{occupancy} is not {counted}")
issued = kernel["warp_instructions"] / kernel["cycles"]
print("issued", "holds" if abs(float(lines["issued"][0]) - issued) < 0.01 else "differs")
PYTHON
echo "# what it refuses"
run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --timeline missing/file
run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --timeline t.json --functional
run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --summary --functional
run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --cold --functional
run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --timeline -
if [ -w /dev/full ]; then
    run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --timeline /dev/full
fi
