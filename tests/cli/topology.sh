#!/bin/sh
# The drawing of a hierarchy, and pages: whole HTML that needs nothing from elsewhere.
run sonde topology "$DATA/dissection.json"
LC_ALL=C.UTF-8 sonde topology "$DATA/dissection.json" | head -n 3
LC_ALL=C.UTF-8 sonde topology --ascii "$DATA/dissection.json" | head -n 1
cp "$DATA/two_kernels.ptx" no.json; run sonde topology no.json
run sonde topology
page() {
    echo "# $1"
    run sonde report "$2" -o page.html
    python3 - "$3" <<'PYTHON'
import re, sys
from html.parser import HTMLParser
from xml.dom import minidom

text = open("page.html", encoding="utf-8").read()
open_tags, void = [], {"meta", "wbr"}
class Reader(HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag not in void and tag not in ("rect", "line", "circle", "polyline"):
            open_tags.append(tag)
    def handle_endtag(self, tag):
        if tag in ("rect", "line", "circle", "polyline"):
            return
        assert open_tags and open_tags.pop() == tag, f"</{tag}> closes nothing"
Reader().feed(text)
assert not open_tags, open_tags
drawings = re.findall(r"<svg.*?</svg>", text, re.S)
for drawing in drawings:
    minidom.parseString(drawing)
assert not re.search(r"https?:|<script|src=|nan|\binf\b", text), "something from elsewhere, or no number"
assert sys.argv[1] in text, sys.argv[1] + " is not on the page"
print(len(drawings), "drawings, well-formed")
PYTHON
}
page dissection "$DATA/dissection.json" "confidence"
echo "# what is loaded, indexed, refused, of one array: each there, none twice"
grep -c 'aria-label="memory: latency under load"' page.html
grep -c 'aria-label="[a-z0-9_]*: which set an address belongs to"' page.html
grep -c 'the same array as\|The same array as' page.html
python3 - "$DATA/dissection.json" absent.json <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
policy = next(c["policy"] for c in document["caches"] if c["id"] == "texture_l1")
document["evidence"][policy["evidence"]] = "what lru rests on"
absent = document["caches"][0]
assert not absent["present"]
absent["reason"] = absent["size"]["reason"] = absent["policy"]["reason"] = "nobody saw it"
json.dump(document, open(sys.argv[2], "w"))
PYTHON
sonde report absent.json -o page.html
grep -o 'nobody saw it' page.html
grep -o 'what lru rests on' page.html
cat >plan.yaml <<'YAML'
sweep: <plan> & co
run: {workload: matmul, size: "${n}"}
models: gtx780
variables: {n: [16, 17]}
YAML
sonde sweep plan.yaml -o sweep -q
page sweep sweep/table.json "&lt;plan&gt; &amp; co"
sonde workload vectoradd --stats stats.json -q
page statistics stats.json "warp_instructions"
page statistics stats.json "What SMs did"
page statistics stats.json "<th scope=\"row\">l2</th>"
sonde study lashgar2015 --only m2070.f1.rise --json study.json -q
page study study.json "verdict"
echo '[{"id": "a.b", "verdict": "FAIL"}]' >fails.json
page study fails.json 'class="bad"'
echo '{"schema": "other/1"}' >other.json
run sonde report other.json -o page.html
echo '{"schema": "sonde.statistics/2"}' >newer.json
run sonde report newer.json -o page.html
run sonde topology newer.json
run sonde report missing.json -o page.html
run sonde report other.json
