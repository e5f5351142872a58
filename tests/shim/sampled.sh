#!/bin/sh
# sampled.sh SONDE HOST SCHEMA: what is told of a program of 40 launches of which samples are taken: the summary has
# all launches, the profile and the page those that were simulated, and the statistics the members that the schema describes.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-sampled.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$1" run --sample --stats "$work/stats.json" --profile=json:"$work/profile.json" -- "$2" 2>"$work/summary" ||
    { cat "$work/summary"; exit 1; }
"$1" report "$work/stats.json" -o "$work/page.html"
grep -q '<h2>Launches that were simulated' "$work/page.html" || { echo "the page has simulated launches as all"; exit 1; }
python3 - "$work" "$3" <<'PYTHON'
import json, sys
folder, schema = sys.argv[1], json.load(open(sys.argv[2]))
stats, profile = (json.load(open(f"{folder}/{name}.json")) for name in ("stats", "profile"))
sampling, text = stats["sampling"], open(f"{folder}/summary").read()
described = schema["properties"]["sampling"]
assert sorted(sampling) == sorted(described["properties"]) == sorted(described["required"]), sorted(sampling)
described = described["properties"]["kernels"]["items"]
assert sorted(sampling["kernels"][0]) == sorted(described["properties"]) == sorted(described["required"]), sampling
assert sampling["launches"] == 40 and 3 <= sampling["simulated_launches"] < 40, sampling
assert stats["launches"] == sampling["simulated_launches"], stats["launches"]
assert [kernel["launches"] for kernel in profile["kernels"]] == [sampling["simulated_launches"]], profile["kernels"]
assert profile["kernels"][0]["cycles"] == sampling["simulated_cycles"], profile["kernels"]
assert text.splitlines()[-1].endswith(", launches: 40"), text
PYTHON
# --max-cycles bounds launches that were put in before any had run.
"$1" run -q --max-cycles 3000 --stats "$work/stats.json" -- "$2"
python3 - "$work/stats.json" <<'PYTHON'
import json, sys
stats = json.load(open(sys.argv[1]))
cycles = stats["kernels"][0]["cycles"] / stats["launches"]
assert 1 < stats["launches"] < 40 and (stats["launches"] - 1) * cycles < 3000 <= stats["launches"] * cycles, stats["launches"]
PYTHON
