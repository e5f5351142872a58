#!/bin/sh
# checking_counts.sh ROOT: docs/checking.md counts the wrong kernels of tests/check/kernels, kind by kind, as they are.
set -eu
cd "$1"
kinds() {
    cat tests/check/kernels/*.ptx | awk '
        match($0, /\/\/ FAULT [a-z-]+/) { print substr($0, RSTART + 9, RLENGTH - 9) }
        /\/\/ LEAK/ { print "leak" }' | sort | uniq -c | awk '{ print $2, $1; all += $1 } END { print "all", all }'
}
told() {
    awk '/^## What it is tried on/ { on = 1; next } /^## / { on = 0 } on && /^\| [`a]/ { gsub(/[`|]/, ""); print $1, $2 }' \
        docs/checking.md
}
kinds | sort >"${TMPDIR:-/tmp}/kinds.$$"
trap 'rm -f "${TMPDIR:-/tmp}/kinds.$$"' EXIT
test -s "${TMPDIR:-/tmp}/kinds.$$"
told | sort | diff "${TMPDIR:-/tmp}/kinds.$$" -
