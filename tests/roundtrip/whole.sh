#!/bin/sh
# whole.sh SONDE DEVICE STEM [OPTION...]: the dissection that several tests read: STEM.json, valid by the shipped schema, and the
# recording STEM.sonde. Nothing of an earlier run stays.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$3")"
sonde=$1 device=$2 stem=$3
shift 3
rm -f "$stem.json" "$stem.sonde"
"$sonde" dissect -q -d "$device" --json "$stem.json" --record "$stem.sonde" "$@"
/usr/bin/python3 "$here/validate.py" "$here/../../docs/dissection.schema.json" "$stem.json"
