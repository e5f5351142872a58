#!/bin/sh
# What an SM may have outstanding comes back over a base whose operations and loads are slower: a table shows itself only where loads leave
# sooner than answers come back, and what stands around them is part of that. A lone load takes as long from barrier to barrier.
cat >table.yaml <<'END'
---
inherits: gtx780
name: table
sms: 2
clusters: 1
sm:
  outstanding: {structure: prt, entries: 61}
...
END
dissect sim:./table.yaml told.json --only outstanding,around
expect told.json outstanding.entries 61
for base in gtx480 v100; do
    "$SONDE" export told.json --format sonde --base $base -o again.yaml || fail "over $base: no model"
    dissect sim:./again.yaml again.json --only outstanding,around
    [ "$("$GET" again.json outstanding.structure)" = prt ] || fail "over $base: another structure"
    expect again.json outstanding.entries 61
    expect again.json outstanding.loads_per_warp "no value"
    python3 - told.json again.json <<'END' || fail "over $base: what stands around a load"
import json, sys
told, again = (json.load(open(name))["outstanding"] for name in sys.argv[1:])
one = told["one_load_cycles"] - again["one_load_cycles"]
units = {name: told["around_loads"][name].get("cycles") - again["around_loads"][name].get("cycles") for name in ("logic", "branch", "barrier")}
print(one, units)
sys.exit(abs(one) > 1 or any(units.values()))
END
done
