#!/bin/sh
# An interrupt in the middle of a long dissection: status 130, what was measured is a whole recording,
# and no result is left that could be taken for one.
cat >large.yaml <<'YAML'
inherits: gtx780
name: large
doc: an L2 of 96 MiB, which takes longer than any interrupt
l2: {size: 16 MiB, sets: 8192}
YAML
# interrupt SIGNAL MASK COMMAND...: sends the signal when the program catches it (MASK is its bit in the SigCgt line of
# /proc/PID/status), has used a fifth of a second of processor time, and $begun is there. What is printed is the same
# however far it has come by then.
some=$(($(getconf CLK_TCK) / 5))
begun=large.yaml
interrupt() {
    signal=$1
    mask=$2
    shift 2
    "$@" 2>stderr &
    pid=$!
    while grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null; do
        caught=$(sed -n 's/^SigCgt:.*\(........\)$/\1/p' "/proc/$pid/status")
        ticks=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 12,13 | tr ' ' +)
        [ $((0x${caught:-0} & mask)) -ne 0 ] && [ $((${ticks:-0})) -ge "$some" ] && [ -e "$begun" ] && break
        sleep 0.1
    done
    kill -s "$signal" "$pid"
    wait "$pid"
    echo "status $?"
    sed 's/^sonde: .*interrupted/sonde: interrupted/; s/at [^ ]*\(two_kernels.ptx\):[0-9]*: [a-z ]*;/at \1:N: ..;/' stderr
}
interrupt INT 0x2 sonde dissect -d sim:large.yaml --record rec.sonde --json result.json
sonde infer rec.sonde -v >table
echo "infer: status $?, $(sed -n 1p table)"
grep -c 'not recorded' table | sed 's/^[1-9][0-9]*$/some/'
interrupt TERM 0x4000 sonde dissect -d sim:large.yaml -o folder
ls folder
interrupt INT 0x2 sonde dissect -d sim:large.yaml --json -
echo "# a terminal that goes away, and a quit, end the work as an interrupt does"
for case in "HUP 0x1" "QUIT 0x4"; do
    rm rec.sonde
    interrupt $case sonde dissect -d sim:large.yaml --record rec.sonde
    sonde infer rec.sonde >table
    echo "infer: status $?, $(sed -n 1p table)"
done
interrupt HUP 0x1 sonde probe chase -d sim:large.yaml --set bytes=2MiB --set stride=128 --set windows=4096
echo "# a study: the rows that were measured"
# The second device's model is a pipe: it is read when all rows before its first one are measured.
mkfifo pipe.yaml
{ cat large.yaml >pipe.yaml && : >begun; } &
begun=begun
interrupt INT 0x2 sonde study mei2014 -d kepler=sim:pipe.yaml -o study >table
rm pipe.yaml begun
begun=large.yaml
head -n "$(wc -l <study/study.txt)" table | cmp - study/study.txt && echo "the table is shown and written"
tail -n 1 study/study.txt | sed 's/[1-9][0-9]* rows/N rows/'
tail -n 2 table
grep -c '"verdict": "ok"' study/study.json | sed 's/^[1-9][0-9]*$/some/'
grep -c '"verdict": "not reached"' study/study.json | sed 's/^[1-9][0-9]*$/some/'
echo "$(grep -c '"id"' study/study.json) rows"
ls study
echo "# launches of kernels: those that have ended are kept, and taken over"
(until grep -q chase_l1 launches/kernels.jsonl 2>/dev/null; do sleep 0.05; done && : >begun) &
begun=begun
interrupt TERM 0x4000 sonde study h200 --kernels chase --only results -o launches >table
rm begun
begun=large.yaml
tail -n 2 table
grep -c '^chase_l1 ' table | sed 's/^[12]$/some/'
cut -f 1,2,5 launches/kernels.tsv | sed -n '1p;2p'
sed 's/\("cycles":\)[0-9.]*/\11000.0/' launches/kernels.jsonl >edited && cp edited launches/kernels.jsonl
sonde study h200 --quick --kernels chase_l1 --only results -o launches --resume | grep '^chase_l1 '
sonde study h200 --quick --kernels chase_l1 --only results --resume
echo "status $?"
rm edited
interrupt INT 0x2 sonde exec "$DATA/two_kernels.ptx" --kernel spin
interrupt INT 0x2 sonde exec "$DATA/two_kernels.ptx" --kernel spin --functional
ls -A
