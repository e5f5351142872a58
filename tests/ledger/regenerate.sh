#!/bin/sh
# regenerate.sh [LEDGER]: writes the golden files anew. Read `git diff tests/ledger/golden` before it is committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ledger=${1:-$here/../../build/dev/tests/ledger/ledger}
rm -f "$here"/golden/*.txt
for machine in $("$ledger" --list); do
    "$ledger" "$machine" >"$here/golden/$machine.txt"
done
git -C "$here" diff --stat -- golden
