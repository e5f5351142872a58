#!/bin/sh
# whole.sh SONDE DEVICE STEM: the dissection that several tests read: STEM.json, valid by the shipped schema, and the
# recording STEM.sonde. Nothing of an earlier run stays.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$3")"
rm -f "$3.json" "$3.sonde"
"$1" dissect -q -d "$2" --json "$3.json" --record "$3.sonde"
/usr/bin/python3 "$here/validate.py" "$here/../../docs/dissection.schema.json" "$3.json"
