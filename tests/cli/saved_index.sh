#!/bin/sh
# How an exported model indexes its caches: by what was measured, and cut into slices only where slices give the
# same whole.
change() {
    /usr/bin/python3 - "$1" >changed.json <<PYTHON
import json, os, sys
root = json.load(open(os.environ["DATA"] + "/dissection.json"))
cache = {each["id"]: each for each in root["caches"]}
def l2(sets, ways, **index):
    for key, value in (("sets", sets), ("ways", ways), ("size", sets * ways * 128)):
        cache["l2"][key]["value"] = value
    cache["l2"]["set_index"] = dict(index, confidence=0.9, evidence="l2.48")
exec(sys.argv[1])
json.dump(root, sys.stdout)
PYTHON
    echo "# $1"
    sonde export changed.json --format sonde -o changed.yaml
    sonde model check ./changed.yaml
    sed -n "/^$2:/,/^[a-z0-9_]*:/p" changed.yaml | grep -E '^  (slices|slice_index|size|sets|ways|index):'
}
masks() {
    /usr/bin/python3 -c "print([hex(128 << i) for i in range($1)])"
}
change 'l2(768, 16, kind="modulo", masks=[], modulus=768)' l2
change 'l2(512, 16, kind="modulo", masks=[], modulus=512)' l2
change "l2(1024, 16, kind='bits', masks=$(masks 10))" l2
change "l2(8, 16, kind='bits', masks=$(masks 3))" l2
change "l2(4, 16, kind='bits', masks=$(masks 2))" l2
change "l2(64, 16, kind='xor', masks=['0x2080', '0x4100', '0x200', '0x400', '0x800', '0x1000'])" l2
change 'l2(1, 64, kind="none", masks=[])' l2
change 'cache["texture_l1"]["set_index"] = {"kind": "unknown", "status": "not measured", "reason": "r"}' texture_l1
change 'cache["texture_l1"]["set_index"].update(kind="map", masks=[], map=[0, 1, 2, 3, 3, 2, 1, 0])' texture_l1
