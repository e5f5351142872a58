#!/bin/sh
# What is found of an SM's instructions is what the model's units say: on two shipped models and on one that is
# changed on purpose. A recording gives the same again; one without these measurements says so.

# unit NAME KEY: a number of the model's unit.
unit() {
    awk -v unit="    $1:" -v key="$2:" '
        /^  [^ ]/ { units = $1 == "units:" } units && /^    [^ ]/ { here = $0 == unit }
        here && $1 == key { print $2; exit }' model
}
of_sm() { # KEY: a number
    awk -v key="$1:" '/^[^ ]/ { sm = $1 == "sm:" } sm && /^  [^ ]/ && $1 == key { print $2; exit }' model
}
# kinds UNIT OP...: latency within a hundredth, rate within a twentieth. No unit does more than what issues.
kinds() {
    latency=$(unit "$1" latency)
    lanes=$(unit "$1" lanes_per_cycle)
    issue=$(awk "BEGIN { print 32 * $(of_sm schedulers) * $(of_sm issue_per_scheduler) / $(of_sm issue_interval) }")
    lanes=$(awk "BEGIN { print $lanes < $issue ? $lanes : $issue }")
    shift
    for op in "$@"; do
        expect found.json "sm.instructions.$op.latency" "$latency" "$(awk "BEGIN { print $latency / 100 }")"
        expect found.json "sm.instructions.$op.lanes_per_cycle" "$lanes" "$(awk "BEGIN { print $lanes / 20 }")"
    done
}
follows() {
    "$SONDE" model show "$1" >model || fail "no model $1"
    dissect "sim:$1" found.json --only instructions,sm "${2:--q}" ${3:+"$3"}
    kinds alu iadd logic minmax select
    kinds imul imad imulhi
    kinds shift shift popc brev
    kinds fp32 fadd ffma fminmax
    kinds fp64 dfma
    kinds idiv idiv
    kinds fdiv fdiv
    kinds sfu ex2 rsqrt
    kinds cvt cvtint cvtround
    kinds shuffle shfl
    expect found.json sm.sub_cores "$(of_sm schedulers)"
    expect found.json sm.issue_per_sub_core "$(awk "BEGIN { print $(of_sm issue_per_scheduler) / $(of_sm issue_interval) }")" 0.03
}

follows gtx280 --record gtx280.sonde
"$SONDE" infer gtx280.sonde --only instructions,sm --json - >again.json || fail "no inference of the recording"
bare found.json | grep -v '"spec"\|"kind"' >live
bare again.json | grep -v '"spec"\|"kind"' >recorded
cmp live recorded || fail "the recording gives something else"

follows m2070

cat >changed.yaml <<MODEL
inherits: m2070
name: changed
sm:
  schedulers: 4
  units:
    alu: {latency: 5 cycles, lanes_per_cycle: 64}
    imul: {latency: 9 cycles, lanes_per_cycle: 48}
    shift: {latency: 13 cycles, lanes_per_cycle: 24}
    fp32: {latency: 4 cycles, lanes_per_cycle: 128}
    fp64: {latency: 21 cycles, lanes_per_cycle: 12}
    sfu: {latency: 33 cycles, lanes_per_cycle: 20}
    cvt: {latency: 7 cycles, lanes_per_cycle: 40}
    shuffle: {latency: 26 cycles, lanes_per_cycle: 10}
MODEL
follows changed.yaml

# Written as a model over a base whose units are all different, it is the same: exactly, for lanes are whole numbers.
"$SONDE" export found.json --format sonde --base gtx280 -o again.yaml || fail "no model"
cp model told
"$SONDE" model show ./again.yaml >model || fail "no such model"
[ "$(of_sm schedulers)" = 4 ] || fail "schedulers: $(of_sm schedulers)"
for name in alu imul idiv shift fp32 fp64 fdiv sfu cvt shuffle; do
    for key in latency lanes_per_cycle; do
        again=$(unit $name $key)
        was=$(cp model again && cp told model && unit $name $key && cp again model)
        [ "$was" = "$again" ] || fail "$name.$key: $again, and was $was"
    done
done
for name in branch barrier; do
    [ "$(unit $name latency)" = 22 ] || fail "$name: $(unit $name latency)"
done
grep -q 'enabled: false' again.yaml && fail "what nobody asked for is written as absent"

"$SONDE" infer "$SOURCE/tests/infer/h200-outstanding/outstanding.sonde" --only instructions,sm --json - >old.json ||
    fail "no inference of an old recording"
expect old.json sm.sub_cores "not recorded"
expect old.json sm.instructions.ffma.latency "not recorded"
expect old.json sm.instructions.ffma.lanes_per_cycle "not recorded"
