#!/bin/sh
# check.sh LEDGER MACHINE: the ledger of this machine's dissection is its golden file's, byte for byte.
# check.sh LEDGER --all-there: every machine has a golden file, and every golden file its machine.
set -eu
ledger=$1 machine=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-ledger.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if [ "$machine" = --all-there ]; then
    "$ledger" --list | sort >"$scratch/machines"
    (cd "$here/golden" && ls) | sed 's/\.txt$//' | sort >"$scratch/goldens"
    [ -s "$scratch/machines" ] && diff "$scratch/machines" "$scratch/goldens" ||
        { echo "machines (<) and golden files (>) differ: tests/ledger/regenerate.sh makes them"; exit 1; }
    exit 0
fi
"$ledger" "$machine" >"$scratch/ledger.txt"
diff -u "$here/golden/$machine.txt" "$scratch/ledger.txt" || {
    echo "The dissection of the toy '$machine' took another course or says something else than tests/ledger/golden/$machine.txt."
    echo "If that was meant: scripts/build.sh dev ledger && tests/ledger/regenerate.sh, read the diff, and commit it with its reason."
    exit 1
}
