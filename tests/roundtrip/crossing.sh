#!/bin/sh
# What loads of memory tell of parts of L2 over a base that has some, few late hits that are no slice, what entries of page tables stand
# for, refreshes where misses have no classes, rows, ports by the pace of requests, whom a first TLB serves, and a cluster's cache of constants that misses come back too soon from.
# whole: k20
whole k20 told.json
change() { # NAME PYTHON: a dissection NAME.json of `told`
    {
        cat <<'EOF'
import copy, json, sys
told = json.load(open("told.json"))
caches = {one["id"]: one for one in told["caches"]}
tlbs = {one["id"]: one for one in told["tlbs"]}
l2, rows = caches["l2"], told["latency_patterns"]
missing = {"status": "not measured", "reason": "the test's"}
def value(number, confidence=0.9):
    return {"value": number, "unit": "cycles", "confidence": confidence, "evidence": "l2.1"}
def hits(*classes):
    l2["hit_latencies"] = [{"cycles": at, "low": low, "high": high, "share": share} for at, low, high, share in classes]
model = copy.deepcopy(rows[0])
rows.clear()
def kinds(**all):
    for name, list in all.items():
        for cycles, loads, confidence in list:
            rows.append(dict(model, op="cg", pattern=name.replace("_", "-"), loads=loads, latency=value(cycles, confidence)))
for key in "count", "size", "sets", "ways", "line":
    l2[key] = missing
l2["set_index"] = dict(missing, kind="unknown")
told.pop("outstanding", None)
for key in "read_bandwidth", "write_bandwidth":
    told["memory"].pop(key, None)
l2["hit_latency"] = value(220)
l2["load_to_use_latency"] = missing
told["memory"]["latency"] = value(400)
hits((220, 220, 220, 1.0))
EOF
        echo "$2"
        echo 'json.dump(told, open(sys.argv[1] + ".json", "w"))'
    } >change.py
    python3 change.py "$1" || fail "no dissection: $1"
}
model() { # NAME BASE
    "$SONDE" export "$1.json" --base "$2" --format sonde -o "$1.yaml" || fail "$1 over $2: no model"
    "$SONDE" model check "$1.yaml" >check || fail "$1 over $2: $(cat check)"
}
has() { # NAME LINE
    grep -q "^ *$2" "$1.yaml" || fail "$1: no $2: $(sed -n '/^l2:/,/^vm:/p' "$1.yaml")"
}
hasnt() { # NAME LINE
    ! grep -q "^ *$2" "$1.yaml" || fail "$1: $(grep "$2" "$1.yaml")"
}

# a100 has 75 cycles each way, and takes 10 there (miss and fill) where hits have no copies: 60 more are 25 each way.
change apart 'kinds(P1=[(220, 32, .94)], P4=[(398, 9, .1), (402, 7, .1), (460, 16, .3)])'
model apart a100
has apart 'crossing: {latency: 25 cycles}'
# As far as the base's, few that are late, or broad groups tell nothing else.
change likewise 'kinds(P1=[(220, 32, .94)], P4=[(400, 16, .3), (560, 16, .3)])'
change late 'kinds(P1=[(220, 32, .94)], P4=[(400, 28, .9), (460, 4, .1)])'
change broad 'kinds(P1=[(220, 32, .94)], P4=[(400, 8, .1), (440, 8, .1), (500, 8, .1), (540, 8, .1)])'
for one in likewise late broad; do
    model $one a100
    hasnt $one crossing
    hasnt $one 'parts:'
done
# All take the same, and nobody counted parts: there is one. Not so where they were counted, or hits have two classes.
change single 'kinds(P1=[(220, 32, .94)], P4=[(400, 31, .94)])'
model single a100
has single 'parts: 1 '
change counted 'l2["count"] = dict(value(2), unit="1"); kinds(P1=[(220, 32, .94)], P4=[(400, 31, .94)])'
change two 'hits((210, 210, 210, .5), (230, 230, 230, .5)); kinds(P1=[(220, 32, .94)], P4=[(400, 31, .94)])'
# A class of hits as broad as copies are late holds home and copies both.
change wide 'hits((220, 200, 240, 1.0)); kinds(P1=[(220, 32, .94)], P4=[(400, 31, .94)])'
for one in counted two wide; do
    model $one a100
    hasnt $one 'parts: 1 '
done

# Few hits far behind all others have waited: no slice is as far. Many are one, and so are those that are near.
change few 'hits((220, 212, 230, .93), (350, 348, 352, .04), (610, 600, 620, .03))'
model few a100
hasnt few 'slice_latency: .*\(1[0-9][0-9]\|3[0-9][0-9]\)'
has few 'slice_latency: \[0, .* 1[0-9]'
change many 'hits((220, 212, 230, .8), (350, 348, 352, .2))'
model many a100
has many 'slice_latency: .* 1[0-9][0-9]'

# One in eight of new pages of 256 KiB reads an entry from memory, of 16 to a line of L2: each stands for 128 KiB. Of the base's levels,
# whose entries stand for more, as many new pages would not read.
spans='l2["fetch_granularity"] = dict(value(128), unit="B"); l2["line"] = dict(value(128), unit="B")
for one in tlbs.values():
    one.update(present=True, page=dict(value(262144), unit="B"), miss_penalty=value(200), scope="gpu"); one.pop("status", None)
told["memory"]["latency"] = value(450)
kinds(P1=[(220, 32, .94)], P2=[(250, 300, .94)], P3=[(600, 900, .94)], P4=[(450, 32, .94)], P5=[(830, 790, .5), (1060, %s, .07)])'
change eighth "$(printf "$spans" 110)"
model eighth v100
has eighth 'levels: 1'
has eighth 'level1: {span: 131072 B}'
# A class that lies between two numbers of reads tells neither: here there are no others.
change between "$(printf "$spans" 110 | sed 's/P5=.*/P5=[(950, 900, .9)])/')"
model between v100
has between 'levels: 0'
change never "$(printf "$spans" 20)"
model never v100
has never 'levels: 0'
hasnt never level1

# As many kinds of access that miss as that hit, of one class each: nothing waits for a refresh of v100. Of some that lack one waits.
refreshes='l2.pop("miss_latencies", None)
kinds(P1=[(220, 32, .94)], P2=[(250, 60, .94)], P4=[(400, 32, .94)], P2_miss=[(430, %s, .94)])'
change none "$(printf "$refreshes" 59)"
model none v100
has none 't_refi: 0 cycles'
change some "$(printf "$refreshes" 56)"
model some v100
hasnt some 't_refi: 0'
change short "$(printf "$refreshes" 59 | sed 's/P2=.*P4/P4/; s/, P2_miss.*/)/')"
model short v100
hasnt short 't_refi: 0'

# Over gh100, whose banks are refreshed 15 times of 100: of 64 loads of lines whose translation is at hand nine would be late. A rare class of misses
# that is a miss of a TLB behind another is no refresh.
change intime 'l2.pop("miss_latencies", None); kinds(P1=[(220, 64, .94)], P4=[(400, 63, .94)])'
model intime gh100
has intime 't_refi: 0 cycles'
change waits 'l2.pop("miss_latencies", None); kinds(P1=[(220, 64, .94)], P4=[(400, 56, .94)])'
model waits gh100
hasnt waits 't_refi: 0'
classes='kinds(P1=[(220, 32, .94)]); l2["miss_latencies"] = [{"cycles": at, "low": at, "high": at, "share": share} for at, share in ((400, .96), (453, .04))]
for one in tlbs.values():
    one.update(present=one["id"] == "l1_tlb", page=dict(value(262144), unit="B"), miss_penalty=value(%s), scope="gpu")'
change translated "$(printf "$classes" 53)"
model translated v100
has translated 't_refi: 0 cycles'
change other "$(printf "$classes" 150)"
model other v100
hasnt other 't_refi: 0'

# All loads of lines eight apart find another row, and lines near one another do not: none of the base's rows, which reach farther, is as long.
change closed 'kinds(P1=[(220, 32, .94)], P4=[(430, 31, .94)])'
model closed v100
has closed 'row: 1024 B'

# So it is of a base in parts, where it is not told how far a row reaches; and there a broad class of hits is slices near and far.
change rows 'l2["count"] = dict(value(2), unit="1"); kinds(P1=[(220, 32, .94)], P4=[(430, 31, .94)])'
model rows a100
has rows 'closed_page: false'
hasnt rows 'row:'
model wide a100
has wide 'slice_latency: \[0, .* [3-9][0-9]'

# A full warp's requests of 128 B that are answered five cycles apart pass a port of as many bytes as that takes, where no rate says more.
change paced 'kinds(P1=[(220, 32, .94)], P4=[(400, 31, .94)])
caches["l1_data"].update(present=True, fetch_granularity=dict(value(128), unit="B"))
told.pop("loaded_latency", None); told["outstanding"] = {"request_cycles": 5 * 30 / 32}'
model paced v100
has paced 'reply_width: 32 B/cycle'

# A first TLB of which nobody knows whom it serves has no more SMs than the second, which was told: gtx480's serves all.
change narrow 'for one in tlbs.values():
    one.update(present=True, page=dict(value(262144), unit="B"), miss_penalty=value(200), scope="cluster"); one.pop("status", None)
tlbs["l1_tlb"]["scope"] = dict(missing)'
model narrow gtx480
has narrow 'scope: cluster .*it serves no more'
has narrow 'scope: cluster .*measured'

# What lies before a cluster's cache of constants is less than the base's 8 cycles, where its misses come back sooner than those and L2.
change sooner 'kinds(P1=[(220, 32, .94)], P4=[(400, 32, .94)])
first, second = caches["constant_l1"], caches["constant_l15"]
second.update(scope="cluster", hit_latency=value(48), miss_penalty=value(220 - 12 - 2 + 5 - 48))
first["hit_latency"] = value(36)'
model sooner v100
has sooner 'constant: {address_latency: [3-7] cycles}'
