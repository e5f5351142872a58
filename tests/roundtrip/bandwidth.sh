#!/bin/sh
# Bandwidths that a base does not have come back: of sim:k20 over gtx780, whose memory is faster by a third and whose ports are narrower.
# So does a limit on requests that only shows where they all leave before the first reply. Of a driver's word that is none nothing depends:
# what was read and written makes the bus then.
# whole: k20
whole k20 told.json
"$SONDE" export told.json --format sonde -o again.yaml || fail "no model"
# Launches before, and how long windows are, move what one model's read bandwidth is told as between 187 and 199 GB/s, and its write bandwidth between 181 and 207.
back() { # FILE: its bandwidths are those that were told
    for key in memory.read_bandwidth memory.write_bandwidth; do
        [ $key = memory.read_bandwidth ] && within=0.06 || within=0.08
        echo "$("$GET" told.json $key) $("$GET" "$1" $key) $within" |
            awk '{ exit !($1 > 1e11 && $2 > (1 - $3) * $1 && $2 < (1 + $3) * $1) }' ||
            fail "$1: $key: $("$GET" told.json $key) and $("$GET" "$1" $key)"
    done
}
dissect sim:./again.yaml again.json --only memory,outstanding
expect again.json outstanding.entries 1362
expect again.json outstanding.loads_per_warp 3
back again.json
dram() { # of a model's text
    sed -n '/^dram:/,/^[a-z]*:/p' "$1" | grep -v '^dram:'
}
dram again.yaml | grep -q '^  clock: 1083[0-9]* kHz' || fail "another clock of DRAM: $(dram again.yaml)"
for word in 1000000000 100000000000 900000000000 288384000000; do # less than was moved; far more; the base's own
    sed "s/\"memory_bandwidth_reported\": [0-9]*/\"memory_bandwidth_reported\": $word/" told.json >lie.json
    grep -q "reported\": $word" lie.json || fail "no driver that says $word"
    "$SONDE" export lie.json --format sonde -o lie.yaml || fail "no model of a driver that says $word"
    case $word in
    288384000000) ! dram lie.yaml | grep -q clock || fail "a bus of the base's own is written" ;;
    *) dram lie.yaml >>lies ;;
    esac
    [ $word != 900000000000 ] || dissect sim:./lie.yaml again.json --only capacity,memory
done
back again.json
[ "$(grep -c '  clock: ' lies)" = 3 ] && [ "$(grep '  clock: ' lies | sort -u | wc -l)" = 1 ] || fail "a driver's word that is none matters: $(cat lies)"

# Lines far apart that take 40 cycles more than lines near one another find another row open in their bank: precharge and activate.
python3 - told.json <<'EOF' || fail "no dissection of open rows"
import json, sys
told = json.load(open(sys.argv[1]))
for row in told["latency_patterns"]:
    if row["pattern"] == "P4" and row["op"] == "cg":
        row["latency"]["value"] = told["memory"]["latency"]["value"] + 40
json.dump(told, open("rows.json", "w"))
EOF
"$SONDE" export rows.json --format sonde -o rows.yaml || fail "no model of open rows"
"$SONDE" model check rows.yaml >check || fail "open rows: $(cat check)"
dram rows.yaml | grep -q 'closed_page: false' || fail "rows that stay open are closed"
! dram again.yaml | grep -q 'closed_page' || fail "closed rows as the base's are written"
dram rows.yaml | awk '/t_rcd|t_rp/ { sum += $2 } END { exit !(sum > 0.98 * 40 / 706 * 1083 && sum < 1.02 * 40 / 706 * 1083) }' ||
    fail "a conflict of rows takes something else: $(dram rows.yaml)"

# Refreshes of the base would close them before a walk by lines comes around its channels: there are none then. Of an L2 that was told to have
# one part it does not matter that the base has several. Where rows are closed, misses of L2 tell it, or kinds of access (lone.sh, crossing.sh): without
# them nothing is known.
python3 - told.json <<'EOF' || fail "no dissection without classes of misses"
import json, sys
told = json.load(open(sys.argv[1]))
for cache in told["caches"]:
    cache.pop("miss_latencies", None)
told["latency_patterns"] = [row for row in told["latency_patterns"] if row["pattern"] in ("P1", "P4")]
json.dump(told, open("plain.json", "w"))
EOF
for base in v100 gh100; do
    "$SONDE" export rows.json --base $base --format sonde -o open.$base.yaml || fail "no model of open rows over $base"
    "$SONDE" model check open.$base.yaml >check || fail "open rows over $base: $(cat check)"
    dram open.$base.yaml | grep -q 't_refi: 0 cycles' || fail "rows stay open over $base, and refreshes close them"
    "$SONDE" export plain.json --base $base --format sonde -o closed.$base.yaml || fail "no model of closed rows over $base"
    ! dram closed.$base.yaml | grep -q 't_refi: 0' || fail "no refreshes over $base though rows are closed"
done
dram open.gh100.yaml | grep -q 'closed_page: false' || fail "the parts of the base's L2 hide that rows stay open"
