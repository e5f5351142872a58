#!/bin/sh
# endless.sh SONDE HOST: a kernel in a stream that waits for a word that nobody is left to write is stopped as such, with
# the places of its warps; one whose word another kernel, a copy or a thread writes, ends.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-endless.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$1"
    cat "$work/out" "$work/err"
    exit 1
}
run() { # case, code, options
    who=$1 code=$2
    shift 2
    "$sonde" run -q --max-cycles 50000000 "$@" -- "$host" "$who" >"$work/out" 2>"$work/err" || true
    grep -q "^$who: $code 0\$" "$work/out" || fail "$who $*: not code $code"
}
sonde=$1 host=$2
for threads in 1 2; do
    run nobody 719 --threads "$threads"
    grep -q "no progress" "$work/err" || fail "nobody: not told as endless"
    grep -q '^  2 warps at module:9: ' "$work/err" || fail "nobody: no places of warps"
    run no-room 719 --threads "$threads"
    grep -q "no progress.* 1 of 13 blocks wait for room" "$work/err" || fail "no-room: not told"
    for who in kernel copy thread; do
        run "$who" 0 --threads "$threads"
    done
done
