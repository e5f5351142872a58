#!/bin/sh
# Models: listing, printing, checking; a printed model is the same model; files with mistakes.
run sonde model list
sonde model params >params
echo "status $?"
grep -A 2 '^l1_data.size' params
sonde model params dram | head -3
run sonde model params dram.channel
run sonde model params dram more
for name in $(sonde model list | cut -d ' ' -f 1); do
    run sonde model check "$name"
    sonde model show "$name" >shown.yaml
    sonde model show ./shown.yaml | sed '2s/.*//' >again
    sed '2s/.*//' shown.yaml | cmp - again && echo "shown again: the same"
    run sonde model check shown.yaml
done
echo "# mistakes: all of them, each with its place"
cp "$DATA/wrong_model.yaml" .
run sonde model check wrong_model.yaml
run sonde model show wrong_model.yaml
run sonde dissect -d sim:wrong_model.yaml -o out --record rec
ls
wrong() {
    # shellcheck disable=SC2059  # the text has escapes
    printf -- "$1" >case.yaml
    run sonde model check case.yaml
}
wrong ''
wrong ' \n\t\n'
wrong 'name: a\nname: b\n'
wrong 'l1_data: {size: 16 KiB, line: 128 B, sets: 30, ways: 4}\n'
wrong 'l1_data: {size: 12800 B, line: 100 B, sector: 100 B, sets: 32, ways: 4}\n'
wrong 'l2: {size: 12 KiB, line: 128 B, sets: 8, ways: 4}\n'
wrong 'l1_data: {sets: 24, size: 12 KiB, line: 128 B, ways: 4, index: {kind: bits, bits: [7, 8]}}\n'
wrong 'schema: sonde.model/1\ninherits: gtx780\n'
wrong 'schema: sonde.model/2\ninherits: gtx780\n'
wrong 'schema: sonde.dissection/1\ninherits: gtx780\n'
wrong 'schema: [1]\ninherits: gtx780\n'
wrong 'l2: {schema: sonde.model/1}\ninherits: gtx780\n'
wrong 'inherits: gtx78\n'
wrong 'inherits: case.yaml\n'
wrong 'inherits: gtx560ti\nl1_data: {ways: 8}\n'
wrong 'inherits: h200\nl1_data: {ways: 8}\n'
wrong 'inherits: gtx560ti\ncarveout: {choices: []}\nl1_data: {ways: 8, size: 32 KiB, replacement: {policy: lru}}\n'
wrong 'sms: 4\n'
wrong '# nothing but this\n'
wrong '---\ninherits: gtx780\n'
wrong '---\ninherits: gtx780\n...\n'
wrong 'clock: 700\n'
wrong 'clock: fast\n'
wrong 'sms: -1\n'
wrong 'sms: 99999999999999999999999\n'
wrong 'sms: [1, 2\n'
wrong 'sms: {a: &a [*a]}\n'
wrong '\001\002\003'
wrong '- a\n- b\n'
wrong 'l1_data: 3\n'
run sonde model check absent.yaml
run sonde model check .
run sonde model check /dev/null
run sonde model check ./

echo "# a file that was cut off (unit.model.read cuts each shipped one at every line)"
head -n 60 "$SOURCE/models/gtx780.yaml" >cut.yaml
run sonde model check cut.yaml
sonde model show gtx780 | sed '/^vm:/,$d' >cut.yaml
run sonde model check cut.yaml

echo "# inheriting from a file: relative to the heir's folder, over several, in no circle"
mkdir -p family/old
printf 'inherits: gtx780\nsms: 3\n' >family/old/first.yaml
printf 'inherits: old/first.yaml\nclusters: 2\n' >family/second.yaml
printf 'inherits: ./family/second.yaml\nname: third\n' >third.yaml
sed -i 's/^sms: 3/sms: 4/' family/old/first.yaml
run sonde model check third.yaml
sonde model show third.yaml | grep '^sms:\|^clusters:\|^name:' | sed 's/ *#.*//'
sonde model show gtx780 | sed '1d; /^vm:/,$d' >family/old/first.yaml
run sonde model check third.yaml
printf 'inherits: ../../third.yaml\n' >family/old/first.yaml
run sonde model check third.yaml
printf 'inherits: ../absent.yaml\n' >family/old/first.yaml
run sonde model check third.yaml
printf 'sms: many\nclock: slow\n' >family/old/first.yaml
run sonde model check third.yaml
echo "# a chain of models: eight that inherit, and one more"
printf 'inherits: gtx780\nname: own\n' >own1.yaml
for i in 2 3 4 5 6 7 8 9; do
    printf 'inherits: ./own%d.yaml\nname: own\n' $((i - 1)) >own$i.yaml
done
run sonde model check own8.yaml
run sonde model check own9.yaml
