#!/bin/sh
# What an attribute is. Each attribute that the schema has is explained.
run sonde explain l2.policy
run sonde explain entries
run sonde explain shared_memory.banks
run sonde explain sizes
run sonde explain l2.polciy
run sonde explain one two
sonde explain cache | grep -c '^cache\.'
sonde explain >names
echo "status $?"
python3 - "$SOURCE/docs/dissection.schema.json" names <<'PY'
import json, sys
schema = json.load(open(sys.argv[1]))
names = set(open(sys.argv[2]).read().split())
properties = schema["properties"]
beside = {"id", "status", "reason", "evidence", "confidence", "scope_evidence"}  # not attributes
topics = {
    "cache": schema["definitions"]["cache"],
    "tlb": properties["tlbs"]["items"],
    "outstanding": properties["outstanding"],
    "memory": {"properties": {name: 0 for name in properties["memory"]["required"]}},
    "sm": properties["sm"],
}
for topic, what in topics.items():
    for name in what["properties"]:
        if name not in beside and f"{topic}.{name}" not in names:
            print(f"{topic}.{name} is not explained")
print(len(names) > 50)
PY
# What it is, how it is found, what can fool it: each of the three, for each.
while read -r name; do
    sonde explain "$name" >text
    for part in 'is  ' 'found by' 'beware'; do
        grep -q "^  $part" text || echo "$name: nothing is said behind '$part'"
    done
done <names
