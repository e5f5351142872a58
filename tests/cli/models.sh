#!/bin/sh
# Models: listing, printing, checking; a printed model is the same model; files with mistakes.
run sonde model list
sonde model params >params
echo "status $?"
grep -A 2 '^l1_data.size' params
for name in $(sonde model list | cut -d ' ' -f 1); do
    run sonde model check "$name"
    sonde model show "$name" >shown.yaml
    sonde model show ./shown.yaml | sed '1s/.*//' >again
    sed '1s/.*//' shown.yaml | cmp - again && echo "shown again: the same"
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
wrong 'inherits: gtx78\n'
wrong 'inherits: case.yaml\n'
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
