#!/bin/sh
# Files of --stats are what docs/statistics.schema.json says, which describes each member; a document with a member
# too many, without one, or with a hit rate above one is not. Reads of a line that is on its way are hits in summaries and pages,
# and stand beside the hits in the file.
cp "$DATA/double.ptx" .
sonde exec double.ptx -q --block 32 --arg zero:256 --arg u32:3 --stats launch.json
sonde exec double.ptx -q --grid 20 --block 128 --arg zero:10240 --arg u32:2560 -d sim:h200 --stats h200.json
sonde workload bfs -q --size 300 --stats program.json
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/tests/support /usr/bin/python3 - "$SOURCE/docs/statistics.schema.json" launch.json h200.json program.json <<'PY'
import copy, functools, json, sys

import schema as schemas

schema = schemas.load(sys.argv[1])
told = functools.partial(schemas.tell, schema)


def described(path, node):
    for name, member in node.get("properties", {}).items():
        if "description" not in member and "$ref" not in member and "const" not in member:
            print("%s.%s has no description" % (path, name))
        described(path + "." + name, member)
        described(path + "." + name, member.get("items", {}))


for name in sys.argv[2:]:
    document = json.load(open(name))
    told(name, document)
described("", schema)
more = copy.deepcopy(document)
more["dram"]["colour"] = 1
told("a member too many", more)
less = copy.deepcopy(document)
del less["kernels"][0]["sm_cycles"]
told("a member too few", less)
above = copy.deepcopy(document)
above["caches"]["l2"]["hit_rate"] = 1.5
told("a rate above one", above)
PY
cp "$DATA/same_line.ptx" .
sonde exec same_line.ptx -d sim:h200 --any-target --cold --block 256 --arg zero:128 --arg zero:1024 --summary --stats line.json | grep '^L[12] hits  '
sonde report line.json -o line.html >report
/usr/bin/python3 - <<'PY'
import json, re
statistics = json.load(open("line.json"))
print(statistics["caches"]["l1_data"], statistics["network"]["requests"]["sectors"])
print({name: statistics["dram"][name] for name in ("reads", "read_bytes", "writes", "written_bytes")})
rows = re.findall(r'<tr><th scope="row">(l1_data|DRAM read|DRAM reads)</th>(.*?)</td><td>(?:[a-z]*</td>)?', open("line.html").read())
for name, cells in rows[:3]:
    print(name, re.findall(r'<td class="number">([^<]*)', cells))
PY
