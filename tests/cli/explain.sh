#!/bin/sh
# What an attribute is. Each attribute that the schema has is explained.
run sonde explain l2.policy
run sonde explain entries
run sonde explain shared_memory.banks
run sonde explain sizes
run sonde explain l2.polciy
run sonde explain l2.policy one tlb.entries
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
xargs sonde explain <names >texts
for part in 'is  ' 'found by' 'beware'; do
    test "$(grep -c "^  $part" texts)" -eq "$(grep -c '' names)" || echo "not all say what stands behind '$part'"
done
# And so is each member of a whole dissection, whatever depth it stands at.
sonde explain l1_data.policy.victim_probability | sed -n 1p
sonde explain l2.size.confidence | sed -n 1p
run sonde explain l2.polcy.name
python3 - "$DATA/dissection.json" <<'PY' >members
import json, sys
def walk(value, path):
    if isinstance(value, dict):
        for key, member in value.items():
            walk(member, path + [key])
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, (dict, list)):
                walk(member, [member["id"]] if isinstance(member, dict) and "id" in member else path)
    if path:
        print(".".join(path))
document = json.load(open(sys.argv[1]))
for key in "evidence", "schema":
    document.pop(key)
walk(document, [])
PY
grep -vE '(\.(id|evidence|status|reason|scope_evidence)|^(tlbs|caches))$' members | sort -u | xargs sonde explain >texts
echo "status $?"
