#!/bin/sh
# A sweep goes on elsewhere: points are known by what their models and files contain, not by where they lie.
mkdir here
cat >here/plan.yaml <<'YAML'
sweep: plan
run: {exec: ./kernel.ptx, args: "zero:128"}
models: [gtx780, ./own.yaml, PLACE/own.yaml]
parameters: {sms: [4, 8]}
columns: [cycles]
YAML
printf 'inherits: gtx780\nsm: {lsu: {latency: 9 cycles}}\n' >here/own.yaml
cat >here/kernel.ptx <<'PTX'
.version 7.0
.target sm_30
.address_size 64
.visible .entry kernel(.param .u64 out)
{
    .reg .u64 %r<4>;
    .reg .u32 %a;
    ld.param.u64 %r1, [out];
    cvta.to.global.u64 %r1, %r1;
    mov.u32 %a, %tid.x;
    mul.wide.u32 %r2, %a, 4;
    add.u64 %r1, %r1, %r2;
    st.global.u32 [%r1], %a;
    ret;
}
PTX
# on FOLDER: goes on there.
on() {
    sed -i "s:- .*, :&:; s:, [^ ,]*/own.yaml\]:, $PWD/$1/own.yaml]:" "$1/plan.yaml"
    run sonde sweep "$1/plan.yaml" -o "$1/out" --resume | sed 's/ out of .*//'
    wc -l <"$1/out/points.jsonl"
}
echo "# from nothing; a model by two paths is one model"
on here
cut -d, -f1,3-5 here/out/table.csv
echo "# in another folder"
cp -r here there
on there
cmp here/out/points.jsonl there/out/points.jsonl && echo same
echo "# another model: its points"
sed -i 's/9 cycles/90 cycles/' there/own.yaml
on there
echo "# another kernel: all points"
sed -i 's/mov.u32 %a, %tid.x;/&\n    add.u32 %a, %a, 1;/' there/kernel.ptx
on there
echo "# a script and inputs that arguments name: by what they contain"
mkdir script
cat >script/plan.yaml <<'YAML'
sweep: script
run: {command: [sh, ./x.sh, ./in, "--more=more", "file:../far", "${n}"]}
variables: {n: [1, 2]}
columns: [a]
YAML
echo 'echo "{\"a\": $(cat "$1" more ../far | wc -c)}"' >script/x.sh
echo one >script/in && echo two >script/more && echo three >far
run sonde sweep script/plan.yaml -o script/out
for file in script/x.sh script/in script/more far; do
    run sonde sweep script/plan.yaml -o script/out --resume
    echo "# changed: $file"
    echo >>"$file"
    run sonde sweep script/plan.yaml -o script/out --resume
done
cut -d, -f1-4 script/out/table.csv
echo "# known by a variable of its own, where a command names places"
cat >known.yaml <<'YAML'
sweep: known
run: {command: [sh, -c, "${what}"]}
variables: {what: ["echo '{\"a\": 1}' # /here/1", "echo '{\"a\": 2}' # /here/2"], point: [one, two]}
zip: [[what, point]]
known_by: [point]
columns: [a]
YAML
run sonde sweep known.yaml -o known
sed -i 's:/here/:/there/:g' known.yaml
run sonde sweep known.yaml -o known --resume
echo "# mistakes"
sed 's/one, two/one, one/' known.yaml >same.yaml
run sonde sweep same.yaml -o same
sed -i 's/known_by.*/known_by: [place]/' known.yaml
run sonde sweep known.yaml --list
sed -i 's/known_by.*/known_by: point/' known.yaml
run sonde sweep known.yaml --list
