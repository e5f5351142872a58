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
    status=0
    "$sonde" run -q -- "$host" libcudart.so.13 "$1" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = 1 ] || fail "$1: exit status $status" # its program looks at the error and ends with 0
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
"$sonde" run --summary --stats "$work/stats.json" -- "$host" libcudart.so.13 forever >"$work/out" 2>"$work/err" &
pid=$!
# Its program catches SIGTERM (bit 0x4000 of SigCgt), and has spent a tenth of a second, which only a kernel takes.
tenth=$(($(getconf CLK_TCK) / 10))
busy() {
    for child in $(cat "/proc/$pid/task/$pid/children"); do
        caught=$(sed -n 's/^SigCgt:.*\(........\)$/\1/p' "/proc/$child/status")
        ticks=$(sed 's/.*) //' "/proc/$child/stat" | cut -d ' ' -f 12,13 | tr ' ' +)
        [ $((0x${caught:-0} & 0x4000)) -ne 0 ] && [ $((${ticks:-0})) -ge "$tenth" ] && return 0
    done
    return 1
}
while kill -0 $pid && ! busy; do
    sleep 0.1
done
# A shell lets those in the background ignore Ctrl-C; SIGTERM is treated the same, and passed on.
kill -TERM $pid
status=0
wait $pid || status=$?
[ "$status" = 143 ] || fail "interrupted: exit status $status"
grep -q "interrupted" "$work/err" || fail "interrupted: no summary"
grep -Eq "occupancy  *([0-9]{1,2}\.[0-9]|100\.0) %" "$work/err" || fail "interrupted: no share of the GPU's warps"
[ -s "$work/stats.json" ] || fail "interrupted: no statistics"
# Statistics that cannot be written are told, and in the exit status.
status=0
"$sonde" run -q --stats /dev/full -- "$host" libcudart.so.13 >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 1 ] || fail "statistics on a full disk: exit status $status"
grep -q "cannot write /dev/full" "$work/err" || fail "statistics on a full disk: not told"
for report in --profile=json:/dev/full --profile=html:/dev/full --timeline=/dev/full --check=json:/dev/full; do
    status=0
    "$sonde" run -q "$report" -- "$host" libcudart.so.13 >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = 1 ] || fail "$report: exit status $status"
    grep -q "cannot write /dev/full" "$work/err" || fail "$report: not told"
done
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
