#!/bin/sh
# safety.sh SONDE HOST: damaged code is refused with the error that CUDA has for it and the reason;
# Ctrl-C in the middle of a kernel writes what there is; a real driver is never mistaken.
set -eu
sonde=$1 host=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$1"
    cat "$work/out" "$work/err"
    exit 1
}
refused() { # case, code, words
    "$sonde" run -q -- "$host" libcudart.so.13 "$1" >"$work/out" 2>"$work/err" || fail "$1: fails"
    grep -q "^error $2\$" "$work/out" || fail "$1: not error $2"
    grep -q "$3" "$work/err" || fail "$1: no reason like '$3'"
}
refused damaged 200 "of payload"
refused endless 200 "are there"
refused nonsense 218 "error"
refused machine 209 "code=compute_30"
"$sonde" run -q -- "$host" libcudart.so.13 closed >"$work/out" 2>"$work/err" || fail "closed: fails"
status=0
"$sonde" run -d cuda:0 -- "$host" >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 2 ] || fail "a real device: exit status $status"
"$sonde" run --stats "$work/stats.json" -- "$host" libcudart.so.13 forever >"$work/out" 2>"$work/err" &
pid=$!
sleep 1
# A shell lets those in the background ignore Ctrl-C; SIGTERM is treated the same.
kill -TERM "$(ps -o pid= --ppid $pid | tr -d ' ')"
status=0
wait $pid || status=$?
[ "$status" = 143 ] || fail "interrupted: exit status $status"
grep -q "interrupted" "$work/err" || fail "interrupted: no summary"
[ -s "$work/stats.json" ] || fail "interrupted: no statistics"
LD_LIBRARY_PATH=$(dirname "$sonde")/shim "$sonde" devices >"$work/out" 2>"$work/err" || fail "devices fails"
! grep -q "cuda:0" "$work/out" || fail "the simulator is taken for a real GPU"
