#!/bin/sh
# programs.sh SONDE: the study bakhoda2009, at sizes that a test has the time for; that its rows can fail, each on changed
# machines or with other programs, is in tests/unit/study/test_programs.c. Here: rows that do not depend on time hold at
# the paper's sizes, and programs that run as points of a sweep give the same as one after the other.
# shellcheck disable=SC2154  # common.sh sets scratch and status
. "$(dirname "$0")/common.sh"
sonde=$(readlink -f "$1")

# fails NAME IDS OPTION...: exactly these rows fail.
fails() {
    name=$1
    echo "$2" | tr ' ' '\n' | sed '/^$/d' | sort >"$scratch/expected"
    shift 2
    "$sonde" study bakhoda2009 "$@" >"$scratch/table"
    rc=$?
    {
        if [ -s "$scratch/expected" ]; then wanted=1; else wanted=0; fi
        [ "$rc" -eq "$wanted" ] || echo "exit-status-$rc"
        failed_rows "$scratch/table"
    } >"$scratch/actual"
    compare "$name"
}

held=table1.lps,table1.aes,table1.nqu,table1.sto
shares=$held,table1.bfs,table1.cp,fig4.lps,fig4.bfs.alu,fig4.bfs.control,fig4.ray,fig5.bfs.global,fig7.lps,fig7.bfs
fails "as printed" "" --only $shares

# Other grids, of which LPS fills its warps less.
fails "other sizes" "fig7.lps.full" --only fig7.lps,fig4.lps --size lps=40

# FIFO costs most where many warps are at work; the baseline in its place costs nothing at any size.
fails "FIFO" "" --only fig12.bfs.fifo --size bfs=20480
fails "FR-FCFS in place of FIFO" fig12.bfs.fifo --only fig12.bfs.fifo --size bfs=4096 -d fifo=sim:bakhoda2009

# Processes of a sweep: the same rows, the same numbers; what is there is taken over; what cannot run is told.
# No figure belongs to these rows: with -o it would ask for all programs.
few="--only $held"
# shellcheck disable=SC2086
"$sonde" study bakhoda2009 -q $few --json "$scratch/here.json"
# A folder named from here, not from where the points run.
# shellcheck disable=SC2086
(cd "$scratch" && "$sonde" study bakhoda2009 -q $few --json points.json -j 2 -o points)
cmp "$scratch/here.json" "$scratch/points.json" || status=1
grep -qv '"status":"ok"' "$scratch/points/points.jsonl" && status=1
[ "$(wc -l <"$scratch/points/points.jsonl")" -eq 4 ] || { wc -l "$scratch/points/points.jsonl" && status=1; }
# shellcheck disable=SC2086
"$sonde" study bakhoda2009 -q $few --json "$scratch/again.json" -j 2 -o "$scratch/points" --resume
cmp "$scratch/here.json" "$scratch/again.json" || status=1
# Figure 5 has the texture accesses of the program that is a suffix tree in texture memory: where it ran as a point.
"$sonde" workload mummer --size 50 -q -d sim:bakhoda2009 --stats "$scratch/mum.json" || status=1
grep -q '"tex": [1-9]' "$scratch/mum.json" || { echo "no texture access in mummer" && status=1; }
# One thread of NQU does most of the work (Bakhoda et al. 2009, section 2.4): most instructions have one active lane.
"$sonde" workload nqueens --size 10 -q -d sim:bakhoda2009 --stats "$scratch/nqu.json" || status=1
tr -d '\n ' <"$scratch/nqu.json" | sed 's/.*"warp_instructions_by_active_lanes":\[\([0-9,]*\)\].*/\1/' |
    awk -F, '{ for (i = 1; i <= NF; i++) all += $i; print $2 " of " all; exit NF != 33 || $2 <= all / 2 }' >"$scratch/lanes" ||
    { echo "nqueens, instructions with one lane: $(cat "$scratch/lanes")" && status=1; }
# Without --resume what is there is not written over, and the reason is told.
# shellcheck disable=SC2086
"$sonde" study bakhoda2009 -q $few -j 2 -o "$scratch/points" 2>"$scratch/told" && status=1
grep -q "holds a sweep already" "$scratch/told" || { cat "$scratch/told" && status=1; }
# A folder that was carried elsewhere is taken over: nothing runs again. With another model the point does.
printf 'inherits: bakhoda2009\nsms: 1\nclusters: 1\nnoc: {kind: perfect, request_latency: 0 cycles, reply_latency: 0 cycles}\n' >"$scratch/one.yaml"
cps="--only table1.cp -d one=sim:$scratch/one.yaml"
# shellcheck disable=SC2086
"$sonde" study bakhoda2009 -q $cps --json "$scratch/cp.json" -j 1 -o "$scratch/carried" || status=1
mv "$scratch/carried" "$scratch/elsewhere"
# shellcheck disable=SC2086
"$sonde" study bakhoda2009 -q $cps --json "$scratch/again.json" -j 1 -o "$scratch/elsewhere" --resume || status=1
cmp "$scratch/cp.json" "$scratch/again.json" || status=1
[ "$(wc -l <"$scratch/elsewhere/points.jsonl")" -eq 1 ] || { echo "a carried point ran again" && status=1; }
echo "sm: {max_ctas: 4}" >>"$scratch/one.yaml"
# shellcheck disable=SC2086
"$sonde" study bakhoda2009 $cps -j 1 -o "$scratch/elsewhere" --resume >"$scratch/table" && status=1
failed_rows "$scratch/table" | grep -qx table1.cp.concurrent || { cat "$scratch/table" && status=1; }
"$sonde" study bakhoda2009 --only fig16.lps.quarter --size lps=100x2 -j 2 -d "quarter=sim:$scratch/none.yaml" >"$scratch/table" 2>&1
grep -q "none.yaml" "$scratch/table" || { cat "$scratch/table" && status=1; }
exit "$status"
