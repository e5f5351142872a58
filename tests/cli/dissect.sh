#!/bin/sh
# Where a dissection's output goes, and what else is printed (nothing). What is measured is the matter
# of tests/roundtrip.
cp "$SOURCE/tests/models/tiny.yaml" .
live="-d sim:tiny.yaml"
tiny="-d replay:whole.sonde"  # what was simulated once, where
brief="-d replay:brief.sonde" # it does not matter what is measured
is_json() {
    /usr/bin/python3 "$SOURCE/tests/roundtrip/validate.py" "$SOURCE/docs/dissection.schema.json" "$1" &&
        echo "$1 is valid"
}

run sonde dissect --experiments

echo "# a table, without colours or progress when piped"
sonde dissect $live -v --record whole.sonde >table 2>stderr
echo "status $?"
wc -c <stderr
grep -c "$(printf '\033')" table
grep '^  size' table | tr -s ' ' | sed 's/ *$//'
sed -n 1p table

echo "# --json -: the document and nothing else"
sonde dissect $tiny --json - >doc.json 2>stderr
echo "status $?"
wc -c <stderr
is_json doc.json

echo "# --json FILE and the table; -q: no table"
sonde dissect $tiny -v --json file.json | grep -c '^  ways'
is_json file.json
run sonde dissect $live --only l1_data --json=quiet.json -q --record brief.sonde
is_json quiet.json

echo "# -v: with the evidence"
sonde dissect $brief -v | grep -c '^evidence$'
sonde dissect $brief | grep -c '^evidence$'

echo "# -o: a folder, made with its parents, with all of it; again into the same one"
run sonde dissect $live --only l1_data -o a/b -q
ls a/b
python3 - a/b/figures/*.svg <<'PYTHON'
import os, sys
from xml.dom import minidom
for path in sys.argv[1:]:
    root = minidom.parse(path).documentElement
    assert root.namespaceURI == "http://www.w3.org/2000/svg" and "var(" not in open(path).read(), path
    print(os.path.basename(path))
PYTHON
run sonde dissect $brief -o a/b -q
is_json a/b/dissection.json
sed -n 1p a/b/dissection.txt
run sonde dissect $brief -o a/b -q --record elsewhere.sonde
cmp elsewhere.sonde a/b/recording.sonde && echo "the same recording"

echo "# --only: with what it needs; --skip: what rests on it is not measured"
measured() { # of the first caches in the table
    awk '($1 == "size" || $1 == "ways" || $1 == "sets") && !seen[$1]++ {
        print $1, ($2 == "-" ? "not measured" : "measured") }'
}
sonde dissect $tiny -v --only capacity | measured
sonde dissect -d sim:gtx560ti -v --only texture_l1,capacity | grep '^  size' | tr -s ' ' | head -1
echo "# a size rests on the sets: of elements apart alone it was twice as much"
for experiment in latency load_to_use sweep ways line penalty capacity sets; do
    sonde dissect -d sim:gtx280 -v --only texture_l1,$experiment | sed -n "s/^  size  */$experiment: /p"
done
sonde dissect -d sim:gtx280 -v --only texture_l1 --skip sets | grep '^  size'
sonde dissect $tiny -v --only=ways,latency | grep 'l1_data.*not asked for'
sonde dissect $tiny -v --skip ways | measured
sonde dissect $tiny -v --only memory --skip capacity | grep '^  memory .*bandwidth'

echo "# caches go by their names, too: all of them, or these and what is in front of them"
columns() {
    grep '(per' | sed 's/.*confidence *//; s/ *$//' | tr -s ' '
}
sonde dissect $tiny -v | columns
sonde dissect $tiny -v --only l2 | columns
sonde dissect $tiny -v --only readonly_l1,capacity --skip l2 | columns
sonde dissect $tiny --only l2 --json - | grep -c 'not asked for' | sed 's/[1-9][0-9]*/many/'
run sonde dissect $tiny --only l3

echo "# the first screen begins with a drawing, and has 40 lines of 80 columns at most"
sonde dissect -d "replay:$SOURCE/tests/infer/h200/dissection.sonde" 2>/dev/null >screen
sed -n '/^  +/,/^$/p' screen
awk 'length($0) > 80 { print "too wide: " $0 } END { print (NR <= 40 ? "fits" : "too long: " NR) }' screen
sonde dissect $tiny --only memory | grep -c '^  +'
echo "# a terminal has colours and progress, unless NO_COLOR or -q say otherwise"
on_terminal() {
    TERM=xterm script -qec "$1" /dev/null </dev/null >terminal
    bold=$(grep -c "$(printf '\033\\[1m')" terminal)
    progress=$(grep -c '\[[#.]*\] *[0-9]* %' terminal)
    echo "bold: $([ "$bold" -gt 0 ] && echo yes || echo no), progress: $([ "$progress" -gt 0 ] && echo yes || echo no)"
}
on_terminal "sonde dissect $live --only l1_data"
on_terminal "NO_COLOR=1 sonde dissect $brief"
on_terminal "NO_COLOR= sonde dissect $brief"
on_terminal "sonde dissect $brief 2>/dev/null"
on_terminal "sonde dissect $brief -q"
on_terminal "sonde dissect $brief --json - | cat"
