#!/bin/sh
# run.sh SONDE EXHAUST.so: commands whose Nth allocation fails, for N all over their course, say what
# they cannot do and end with status 1, or do without and give the usual result; never a crash.
sonde=$1
exhaust=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-exhaustion.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0

# try STEP COMMAND...: every STEPth allocation. What ends as usual has written `document`, if there is one, as usual, too.
document=
try() {
    step=$1
    shift
    EXHAUST_COUNT=count LD_PRELOAD=$exhaust "$sonde" "$@" >usual 2>&1 || exit 1
    [ -z "$document" ] || cp "$document" whole || exit 1
    count=$(cat count)
    at=2
    refused=0
    while [ "$at" -le "$count" ]; do
        [ -z "$document" ] || rm -f "$document"
        EXHAUST_AT=$at LD_PRELOAD=$exhaust "$sonde" "$@" >out 2>&1
        status=$?
        if [ $status -eq 1 ] && grep -q '^sonde: ' out; then
            refused=$((refused + 1))
        elif [ $status -ne 0 ] || ! cmp -s out usual; then
            echo "sonde $*: allocation $at of $count: status $status"
            cat out
            failed=1
        elif [ -n "$document" ] && ! cmp -s "$document" whole; then
            echo "sonde $*: allocation $at of $count: status $status, and another $document"
            failed=1
        fi
        at=$((at + step))
    done
    echo "sonde $1: $refused of $count"
    [ $refused -gt 0 ] || failed=1
}

document=stats.json
try 19 exec "$source/tests/cli/data/double.ptx" --grid 40 --block 64 --threads 2 --arg zero:256 \
    --arg u32:64 --stats stats.json
document=profile.json
try 53 exec "$source/tests/cli/data/double.ptx" --grid 40 --block 64 --arg zero:256 --arg u32:64 --profile=json:profile.json
document=profile.html
try 211 exec "$source/tests/cli/data/double.ptx" --grid 40 --block 64 --arg zero:256 --arg u32:64 --profile=html:profile.html
document=
try 101 model show gtx780
exit $failed
