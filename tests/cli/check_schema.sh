#!/bin/sh
# --check=json is what docs/check.schema.json says, for reports of kernels in PTX, of compiled ones (a function of a
# header that was put into the kernel, too) and of allocations; a report with a member too many, or without one, is
# not. --check=junit is XML with as many failures as it tells of, whatever the kernel's file is called.
cp "$SOURCE/tests/check/kernels/global.ptx" "$SOURCE/tests/check/kernels/heap.ptx" .
cp "$SOURCE/tests/check/compiled/shapes.ptx" 'a <b> & "c".ptx'
check() {
    format=$1 kernel=$2 file=$3
    shift 3
    sonde exec "$file" -q -d sim:h200 --kernel "$kernel" --arg iota:b32:256 --arg zero:1024 "--check=$format" "$@" 2>/dev/null
    echo "$kernel $format: status $?"
}
for format in json:1.json junit:1.xml; do check "$format" wrong_behind_the_end global.ptx --block 32; done
for format in json:2.json junit:2.xml; do check "$format" wrong_half_warp_shuffle 'a <b> & "c".ptx' --block 48; done
for format in json:3.json junit:3.xml; do check "$format" wrong_heap_not_freed heap.ptx --block 1; done
for format in json:4.json junit:4.xml; do check "$format" right_behind_the_end global.ptx --block 32; done
for format in json:5.json junit:5.xml; do check "$format" wrong_tile_without_barrier 'a <b> & "c".ptx' --block 16,16; done
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/tests/support /usr/bin/python3 - "$SOURCE/docs/check.schema.json" <<'PY'
import copy, functools, json, sys
import xml.etree.ElementTree as xml

import schema as schemas

schema = schemas.load(sys.argv[1])
told = functools.partial(schemas.tell, schema)


for number in range(1, 6):
    document = json.load(open("%d.json" % number))
    told("%d.json" % number, document)
    for report in document["reports"]:
        print("  " + " ".join(sorted(report)))
    suite = xml.parse("%d.xml" % number).getroot()
    cases = suite.findall("testcase")
    failures = [case for case in cases if case.find("failure") is not None]
    assert suite.tag == "testsuite" and int(suite.get("tests")) == len(cases)
    assert int(suite.get("failures")) == len(failures) == len(document["reports"])
    for case, report in zip(failures, document["reports"]):
        assert case.get("classname") == "sonde.check." + report["kind"]
        assert report.get("file", "") in case.get("name") and report["what"] in case.find("failure").get("message")
wrong = json.load(open("2.json"))
wrong["reports"][0]["colour"] = "red"
told("a member too many", wrong)
for member in ("kind", "line", "inlined_at_line", "block"):
    wrong = json.load(open("2.json"))
    del wrong["reports"][0][member]
    told("without " + member, wrong)
PY
