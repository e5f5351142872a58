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
# A shell lets those in the background ignore Ctrl-C; SIGTERM is treated the same, and passed on.
kill -TERM $pid
status=0
wait $pid || status=$?
[ "$status" = 143 ] || fail "interrupted: exit status $status"
grep -q "interrupted" "$work/err" || fail "interrupted: no summary"
[ -s "$work/stats.json" ] || fail "interrupted: no statistics"
# A process ends though its kernel does not.
for mode in --functional --threads=1; do
    "$sonde" run -q "$mode" -- "$host" libcudart.so.13 leave >"$work/out" 2>"$work/err" || fail "leave $mode: fails"
    grep -q "ended while a kernel of it was running" "$work/err" || fail "leave $mode: not told"
done
# The fault is told though whoever starts the program closes what is open, and has other files there.
"$sonde" run -q -- sh -c 'exec 3>"$2/3" 4>"$2/4" 5>"$2/5" 6>"$2/6"; "$1" libcudart.so.13 fault' \
    sh "$host" "$work" >"$work/out" 2>"$work/err" && fail "a fault: exit status 0"
grep -q "^sonde: kernel fault: the program's code:" "$work/err" || fail "a fault: not told"
[ ! -s "$work/3" ] && [ ! -s "$work/4" ] && [ ! -s "$work/5" ] && [ ! -s "$work/6" ] ||
    fail "a fault: told to another file"
LD_LIBRARY_PATH=$(dirname "$sonde")/shim "$sonde" devices >"$work/out" 2>"$work/err" || fail "devices fails"
! grep -q "cuda:0" "$work/out" || fail "the simulator is taken for a real GPU"
