#!/bin/sh
# scripts/folders.sh passes folders of up to 24 files and reports the one that holds more.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
mkdir -p "$scratch/src/room/sub"
for i in $(seq 24); do
    : >"$scratch/src/room/$i.c"
    : >"$scratch/src/room/sub/$i.def"
done
"$root/scripts/folders.sh" "$scratch" || failures=1
: >"$scratch/src/room/sub/25.h"
if found=$("$root/scripts/folders.sh" "$scratch"); then
    echo 'a folder of 25 files passes'
    failures=1
fi
[ "$found" = 'src/room/sub: 25 files in one folder, 24 at most' ] || { echo "found: $found"; failures=1; }
exit $failures
