#!/bin/sh
# Sweeps: points, tables, what becomes of a point that does not end well, resuming, drawings.
cat >plan.yaml <<'YAML'
sweep: plan
doc: a few points of each outcome
run: {workload: "${program}", size: "${n}"}
models: [gtx780, ./own.yaml]
parameters:
  l2.slices: [2, 6, 6]
  dram.channels: [2, 4, 2]
variables:
  program: [vectoradd, matmul]
  n: {from: 16, to: 32, times: 2}
zip: [[l2.slices, dram.channels]]
where:
  - program == 'matmul' || n == 32
columns: [cycles, "caches.l2.hit*", {per_n: cycles / n}, {nothing: cycles / absent}]
cost: n * n
YAML
printf 'inherits: gtx780\nsms: 4\n' >own.yaml
echo "# the points"
run sonde sweep plan.yaml --list
echo "# one by one, and two at a time: the same table"
run sonde sweep plan.yaml -o one
run sonde sweep plan.yaml -o two -j 2 -q
cmp one/table.csv two/table.csv && cmp one/table.json two/table.json && echo same
sed 's/,[0-9a-f]\{16\},/,HASH,/; s/,[^,]*$/,HOST/' one/table.csv
ls one
echo "# the dearest first"
sed -n 's/.*"cycles":\([0-9]*\).*/\1/p' one/points.jsonl
echo "# cut off in the middle of a line, it goes on"
mkdir part && cp one/sweep.yaml part
head -c 700 one/points.jsonl >part/points.jsonl
run sonde sweep plan.yaml -o part | sed 's/^/: /'
run sonde sweep plan.yaml -o part --resume
cmp one/table.csv part/table.csv && echo same
echo "# what does not end well"
cat >outcomes.yaml <<'YAML'
sweep: outcomes
run: {command: [sh, -c, "${what}"]}
variables:
  what:
    - echo '{"a":1,"list":[{"id":"x","v":2.5},7],"text":"b,c","not":null,"told":{"status":"measured","value":9}}'
    - exit 3
    - echo why >&2; exit 1
    - kill -SEGV $$
    - echo no json
    - 'echo "{}"'
YAML
run sonde sweep outcomes.yaml -o outcomes -j 2
sed 's/,[^,]*$/,HOST/' outcomes/table.csv
run sonde sweep outcomes.yaml -o outcomes --resume
sed -i 's/exit 3/touch flag; exit 4/' outcomes.yaml
run sonde sweep outcomes.yaml -o outcomes --retry
ls flag
cat >limit.yaml <<'YAML'
sweep: limit
run: {command: [sh, -c, "sleep 1000 & echo $! >>children; sleep 1000"]}
limit: 500 ms
YAML
run sonde sweep limit.yaml -o limit
sed 's/,[^,]*$/,HOST/' limit/table.csv
gone() { # a process that was killed takes its time where others have the processor
    for _ in $(seq 100); do
        [ -e "/proc/$1" ] && ! grep -qs '^State:.Z' "/proc/$1/status" || return 0
        sleep 0.1
    done
    return 1
}
for child in $(cat children 2>/dev/null); do # none where half a second was too short to begin
    gone "$child" || echo "a point left a process behind"
done
echo "# a signal that ends the sweep, and a point with it, is no outcome of the point"
cat >group.yaml <<'YAML'
sweep: group
run: {command: [sh, -c, "echo {}; if [ ${n} = 20 ]; then kill -TERM $PPID; kill -KILL $$; fi"]}
variables: {n: {from: 1, to: 60, step: 1}}
YAML
run sonde sweep group.yaml -o group -j 16 -q
grep -v '"status":"ok"' group/points.jsonl
echo "# a model of one's own beside the plan, and one that is not there"
printf 'sweep: own\nmodels: [own.yaml, none.yaml]\nrun: {workload: vectoradd, size: 1024}\ncolumns: [cycles]\n' >beside.yaml
run sonde sweep beside.yaml -o beside -q
cut -d, -f1-3 beside/table.csv
echo "# drawings and fronts"
run sonde sweep --plot x=n y=cycles by=model where="program == 'matmul' && l2.slices == 6" one | sed 's/, data only.*/, .svg, .png/'
cat one/cycles_over_n.csv
run sonde sweep --pareto min:cycles,max:n one
echo "# mistakes"
run sonde sweep --plot x=n y=cycles one
run sonde sweep --plot x=n y=cicles one
run sonde sweep --plot x=n y=cycles where='foo > 1' one
run sonde sweep --plot x=n y=cycles where='n == 16 || cicles > 1' one
run sonde sweep --plot x=n y=cycles where='cycles < 0' one
run sonde sweep --plot x=n one
run sonde sweep --pareto cycles one
run sonde sweep plan.yaml
run sonde sweep
run sonde sweep plan.yaml -o one -j 0
run sonde sweep missing.yaml -o missing
mistake() {
    sed "$1" plan.yaml >wrong.yaml
    run sonde sweep wrong.yaml --list
}
mistake 's/^models/modles/'
mistake 's/size: "${n}"/size: "${m}"/'
mistake 's/to: 32/to: 8/'
mistake 's/times: 2/times: 1/'
mistake "s/n == 32/m == 32/"
mistake 's/zip: .*/zip: [[program, l2.slices, n]]/'
mistake 's/^  - program.*/  - n > 100/'
mistake 's/workload:/workloads:/'
mistake 's/^run.*/run: {workload: bfs, kernel: k}/'
echo "# between --- and ... a plan that was cut off at any line is refused"
{ echo ---; cat plan.yaml; echo ...; } >whole.yaml
lines=$(wc -l <whole.yaml)
for line in $(seq 1 $((lines - 1))); do
    head -n "$line" whole.yaml >cut.yaml
    sonde sweep cut.yaml --list >listed 2>/dev/null
    [ $? -eq 4 ] && [ ! -s listed ] || echo "cut off after line $line: accepted"
done
sonde sweep plan.yaml --list >points
sonde sweep whole.yaml --list | cmp - points && echo "whole: all points"
run sonde workload nbdy
run sonde workload vectoradd --size 100 --depth 3
run sonde workload vectoradd --size 100
run sonde workload split_k --size 32 --functional
run sonde workload matmul_wgmma --functional -d sim:a100
