#!/bin/sh
# profile.sh SONDE HOST FOLDER: a program under a profile: the JSON's sums hold, for each of its kernels. And with a time
# line: its kernels and copies are there, those of a stream one after the other,
# also where the device was reset.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-profile.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$1" run -q --profile=json:"$work/profile.json" -- "$2" "$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 - "$work/profile.json" <<'PYTHON'
import json, sys
profile = json.load(open(sys.argv[1]))
assert profile["schema"] == "sonde.profile/1" and profile["kernels"]
for kernel in profile["kernels"]:
    total = kernel["resident_warp_cycles"]
    assert total > 0, kernel["kernel"]
    assert sum(kernel["warp_cycles_by_reason"].values()) == total, kernel["kernel"]
    assert sum(line["warp_cycles"] for line in kernel["lines"]) == total, kernel["kernel"]
PYTHON
"$1" run -q --timeline "$work/line.json" -- "$2" "$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 - "$work/line.json" <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
slices = [event for event in events if event["ph"] == "X"]
assert {event["cat"] for event in slices} == {"kernel", "copy"}
assert all(event["args"]["bytes"] > 0 for event in slices if event["cat"] == "copy")
assert all(event["args"]["cycles"] > 0 for event in slices if event["cat"] == "kernel")
streams = {event["tid"] for event in slices}
assert len(streams) > 1
for stream in streams:
    own = sorted((event["ts"], event["ts"] + event["dur"]) for event in slices if event["tid"] == stream)
    for (_, end), (begin, _) in zip(own, own[1:]):
        assert begin >= end - 1e-6, (stream, end, begin)
PYTHON
# Programs that a program starts write files of their own; a time line that another process writes is left alone.
# shellcheck disable=SC2016  # the inner shell's
"$1" run -q --timeline "$work/line-%p.json" --stats "$work/stats-%p.json" -- sh -c '"$0" "$1" & "$0" "$1" && wait' "$2" "$3" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
for kind in line stats; do
    [ "$(find "$work" -name "$kind-[0-9]*.json" | wc -l)" -eq 2 ] || { echo "$kind: not a file for each"; ls "$work"; exit 1; }
    for file in "$work/$kind"-*.json; do python3 -m json.tool "$file" >"$work/log"; done
done
flock "$work/line.json" "$1" run -q --timeline "$work/line.json" -- "$2" "$3" >"$work/log" 2>&1 && { echo "two time lines in a file"; exit 1; }
grep -q 'line.json: another process writes its time line there$' "$work/log" || { cat "$work/log"; exit 1; }
python3 -m json.tool "$work/line.json" >"$work/log"
"$1" run -q --profile -- "$2" "$3" 2>&1 >"$work/log" | grep -q 'warp cycles$'
"$1" run --summary -- "$2" "$3" 2>"$work/summary" >"$work/log"
python3 - "$work/summary" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read()
rows = {row[-1]: row for row in map(str.split, text.splitlines()) if row and row[0].endswith("%")}
parts = re.split(r"^==sonde== (\w+), (\d+) launch(?:es)?\n", text, flags=re.M)[1:]
told = dict(zip(parts[0::3], zip(parts[1::3], parts[2::3])))
assert told.keys() == rows.keys() - {"(all)"} and len(told) > 1, (told, rows)
for name, (launches, lines) in told.items():
    assert int(launches) == int(rows[name][3]), name
    scale = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    times = [(float(rows[name][i]), rows[name][i + 1]) for i in (1, 4, 6, 8)]
    assert all(1 <= number <= 1000 for number, unit in times), rows[name] # in the unit that suits
    total, average, least, most = (number * scale[unit] for number, unit in times)
    assert abs(total - average * int(launches)) < 0.01 * total, rows[name]
    assert 0 < least <= 1.001 * average <= 1.002 * most, rows[name]
    cycles = int(re.search(r"^time .* (\d+) cycles", lines, re.M)[1])
    assert cycles > 0 and str(cycles) in rows[name], (name, cycles, rows[name])
    assert 0 < float(re.search(r"^occupancy +([0-9.]+) %", lines, re.M)[1]) < 100, name
PYTHON
# Without timing there is nothing to count, which the summary says.
"$1" run --functional --stats "$work/stats.json" -- "$2" "$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q '^==sonde== functional: [1-9][0-9]* launches, [1-9][0-9]* warp instructions' "$work/log"
grep -q '^==sonde== statistics are of timed launches; there was none, and each count is 0$' "$work/log"
python3 - "$work/stats.json" <<'PYTHON'
import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["kernels"], stats
for counts in (stats, *stats["kernels"]):
    assert counts["launches"] == counts["warp_instructions"] == counts["machine_instructions"] == 0, counts
PYTHON
"$1" run --stats "$work/stats.json" -- "$2" "$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if grep 'there was none' "$work/log"; then exit 1; fi
# Kernels of one name stand apart where their code differs; what is stopped is told up to there.
same=$(dirname "$2")/shim_host_names
"$1" run -q --max-cycles 20000 --profile=json:"$work/same.json" -- "$same" "$3" endless >"$work/log" 2>&1 && { cat "$work/log"; exit 1; }
grep -q 'stopped after 20000 cycles' "$work/log"
grep -q '2 warps at .*: .*; warp 0 of CTA (0,0,0)' "$work/log"
python3 - "$work/same.json" <<'PYTHON'
import json, sys
told = [(k["kernel"], k["variant"], k["launches"], len(k["sizes"]), k["stopped"]) for k in json.load(open(sys.argv[1]))["kernels"]]
assert told == [("same", 1, 2, 2, 0), ("same", 2, 1, 1, 0), *(("same", n, 1, 1, 0) for n in range(3, 8)), ("endless", 1, 1, 1, 1)], told
PYTHON
# So they do in the statistics and in the table, with the sizes of their launches.
"$1" run --summary --stats "$work/stats.json" -- "$same" "$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 - "$work/stats.json" "$work/log" <<'PYTHON'
import json, sys
stats, log = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
told = [(k["kernel"], k["variant"], k["launches"], [s["launches"] for s in k["sizes"]]) for k in stats["kernels"]]
assert told == [("same", 1, 2, [1, 1])] + [("same", n, 1, [1]) for n in range(2, 8)], told
assert stats["launches"] == 8 == sum(k["launches"] for k in stats["kernels"]), stats["launches"]
assert "  same\n" in log and "  same (code 7 of this name)\n" in log and "==sonde== same, 2 launches of 2 sizes\n" in log, log
PYTHON
# Launches beside others: each one's cycles are its own, as the profile's time line has them.
"$1" run --stats "$work/stats.json" --timeline "$work/line.json" -- "$(dirname "$2")/shim_host_endless" kernel >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 - "$work/stats.json" "$work/line.json" "$work/log" <<'PYTHON'
import collections, json, sys
stats, line, log = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), open(sys.argv[3]).read()
cycles = collections.Counter()
for event in line["traceEvents"]:
    if event.get("cat") == "kernel":
        cycles[event["name"]] += event["args"]["cycles"]
told = {k["kernel"]: k["cycles"] for k in stats["kernels"] if k["launches"]}
beside = sum(k["overlapping_launches"] for k in stats["kernels"])
assert beside > 1 and f"==sonde== overlapping: {beside} of {stats['launches']} launches" in log, (beside, log)
assert told == {name: n for name, n in cycles.items() if n}, (told, cycles)
PYTHON
# A signal to a process that the program forked is not the program's: it goes on, and its statistics are whole.
"$1" run -q --stats "$work/forked.json" -- "$(dirname "$2")/shim_host_forked" "$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q '"launches": 2' "$work/forked.json"
# On a terminal one sees how far a kernel of more than a second is; nothing of it where there is none.
TERM=xterm script -qec "'$1' run --max-cycles 500000000 -- '$same' '$3' endless" /dev/null </dev/null >"$work/terminal" || true
grep -q 'sonde: 0 of 1 blocks, [0-9]* cycles, [1-9][0-9]* s' "$work/terminal"
! grep -q 'of 1 blocks' "$work/log"
