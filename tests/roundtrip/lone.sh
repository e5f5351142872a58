#!/bin/sh
# What lone loads of memory show of its DRAM comes into a model: rows and how far one reaches, refreshes that are not met, bursts of a line;
# that no kind of access jumps; and L2 and memory by kinds of access, where nothing else told them.
# whole: k20 m2070
whole k20 told.json
whole m2070 lines.json
section() { # NAME FILE
    sed -n "/^$1:/,/^[a-z]*[0-9]*:/p" "$2"
}
change() { # FILE FROM PYTHON: changes `told`, with its L2, and latencies of kinds of access by set(op, pattern, [(cycles, loads)...])
    {
        cat <<'EOF'
import copy, json, sys
told = json.load(open(sys.argv[1]))
caches = {one["id"]: one for one in told["caches"]}
l2 = caches["l2"]
memory = told["memory"]["latency"]["value"]
rows = told["latency_patterns"]
def first(op, pattern):
    return next(one for one in rows if (one["op"], one["pattern"]) == (op, pattern))
def set(op, pattern, kinds):
    model = copy.deepcopy(first(op, pattern))
    rows[:] = [one for one in rows if (one["op"], one["pattern"]) != (op, pattern)]
    for cycles, loads in kinds:
        one = copy.deepcopy(model)
        one["latency"]["value"] = cycles
        one["loads"] = loads
        rows.append(one)
EOF
        echo "$3"
        echo 'json.dump(told, open(sys.argv[2], "w"))'
    } >change.py
    python3 change.py "$2" "$1.json" || fail "no dissection: $1"
}
model() { # NAME BASE
    "$SONDE" export "$1.json" --base "$2" --format sonde -o "$1.$2.yaml" || fail "$1 over $2: no model"
    "$SONDE" model check "$1.$2.yaml" >check || fail "$1 over $2: $(cat check)"
    section dram "$1.$2.yaml" >"$1.dram"
}

# Of lines 1 KiB apart every other one finds another row, which takes 40 cycles more: rows of 2 KiB, whatever the base's reach.
change rows told.json 'set("cg", "P4", [(memory, 16), (memory + 40, 15)])'
for base in gtx780 v100; do
    model rows $base
    grep -q '^  closed_page: false' rows.dram || fail "two kinds of rows over $base, and they are closed: $(cat rows.dram)"
    for line in 'row: 2048 B' 'interleave: 0 B' 'bank_interleave: 0 B' 'banks_abreast: 0'; do
        grep -q "^  $line" rows.dram || fail "no $line over $base: $(cat rows.dram)"
    done
done
# Three of four find it open: they reach four times as far.
change longer told.json 'set("cg", "P4", [(memory, 28), (memory + 40, 4)])'
model longer gtx780
grep -q '^  row: 8192 B' longer.dram || fail "longer rows: $(cat longer.dram)"
# Where hits of L2 lie near and far as well, it is no row; nor is it where they are as far apart as parts of an L2.
change near told.json 'set("cg", "P4", [(memory, 16), (memory + 40, 15)]); set("cg", "P1", [(200, 16), (240, 16)])'
change parts told.json 'set("cg", "P4", [(memory, 16), (memory + 150, 15)])'
for one in near parts; do
    model $one gtx780
    ! grep -q 'row:\|closed_page' $one.dram || fail "$one: rows of DRAM: $(cat $one.dram)"
done

# Refreshes of v100, 350 ns in 3.9 us: no class of misses is so broad, and few are late.
change none told.json 'l2["miss_latencies"] = [{"cycles": 400, "low": 400, "high": 424, "share": 0.985}, {"cycles": 600, "low": 600, "high": 610, "share": 0.015}]'
change late told.json 'l2["miss_latencies"] = [{"cycles": 400, "low": 400, "high": 424, "share": 0.96}, {"cycles": 600, "low": 600, "high": 610, "share": 0.04}]'
change broad told.json 'l2["miss_latencies"] = [{"cycles": 400, "low": 400, "high": 520, "share": 1}]'
change untold told.json 'l2.pop("miss_latencies", None)
rows[:] = [one for one in rows if one["pattern"] in ("P1", "P4")]'
for one in none late broad untold; do
    model $one v100
done
grep -q '^  t_refi: 0 cycles' none.dram || fail "refreshes that no load meets: $(cat none.dram)"
for one in late broad untold; do
    ! grep -q 't_refi: 0' $one.dram || fail "$one: no refreshes"
done

# A line of four sectors takes three bursts more than a sector does: of a cycle each, which two of the base's are.
change bursts lines.json 'l1 = caches["l1_data"]
more = l1["hit_latency"]["value"] + l1["miss_penalty"]["value"] - l2["hit_latency"]["value"]
assert (l1["fetch_granularity"]["value"], l2["fetch_granularity"]["value"]) == (128, 32)
set("cg", "P4", [(memory, 32)])
set("ca", "P4", [(memory + more + 3, 600)])'
model bursts gtx480
for line in 't_ccd_l: 1 cycles' 'width: 32 B/cycle'; do
    grep -q "^  $line" bursts.dram || fail "bursts, no $line: $(cat bursts.dram)"
done

# No walk of page tables took longer for coming from far away: the base's jump is none.
change still told.json 'set("cg", "P6", []) if any(one["pattern"] == "P6" and one["op"] == "cg" for one in rows) else None
rows[:] = [one for one in rows if one["pattern"] != "P6" and "-jump" not in (one["pattern"] or "")]
assert any((one["pattern"] or "").startswith("P3") for one in rows)'
model still gtx780
grep -q '^  switch_latency: 0 cycles' still.gtx780.yaml || fail "jumps: $(section walker still.gtx780.yaml)"

# What was not measured by itself, kinds of access have: loads that hit L2, and loads of memory.
change kinds told.json 'hit = l2["hit_latency"]["value"]
set("cg", "P1", [(hit, 32)])
set("cg", "P4", [(memory, 32)])
for owner, key in (l2, "hit_latency"), (told["memory"], "latency"):
    owner[key] = {"status": "not measured", "reason": "the test'"'"'s"}'
change both told.json 'set("cg", "P1", [(l2["hit_latency"]["value"], 32)]); set("cg", "P4", [(memory, 32)])'
for one in kinds both; do
    model $one gtx780
    { section noc $one.gtx780.yaml; section dram $one.gtx780.yaml; } | grep '_latency' | sed 's/ *#.*//' >$one.terms
done
cmp -s kinds.terms both.terms || fail "kinds of access tell otherwise: $(diff kinds.terms both.terms)"
