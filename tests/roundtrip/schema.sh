#!/bin/sh
# The validator rejects what is wrong, so that what it accepts says something: a document with a
# missing part, an attribute that is neither measured nor not, a unit or a confidence that cannot
# be, a key that comes twice, text that is cut short.
dissect sim:"$SOURCE"/tests/models/tiny.yaml good.json --only reference
rejected() {
    cmp -s good.json bad.json && fail "$1: the change changed nothing"
    valid bad.json >/dev/null
    [ $? -eq 1 ] || fail "$1 is accepted"
}
sed 's|"schema": "sonde.dissection/1"|"schema": "sonde.dissection/2"|' good.json >bad.json
rejected "another schema's number"
sed '/^  "tlbs": /d' good.json >bad.json
rejected "a missing part"
sed '0,/"unit": "B"/s//"unit": "furlong"/' good.json >bad.json
rejected "an unknown unit"
sed '0,/"confidence": /s//"confidence": 7/' good.json >bad.json
rejected "a confidence above 1"
sed '0,/"status": "not measured"/s//"status": "zero"/' good.json >bad.json
rejected "another status"
sed '0,/"evidence": "/s//"proof": "/' good.json >bad.json
rejected "a value without evidence"
sed 's/^  "seconds": .*/&\n  "seconds": 1,/' good.json >bad.json
rejected "a key that comes twice"
head -c 500 good.json >bad.json
rejected "half a document"

# Every command's JSON is this one's, or its own: an --only dissection is a whole document too.
"$SONDE" dissect -d sim:"$SOURCE"/tests/models/tiny.yaml --skip sweep --json skipped.json -q
valid skipped.json || fail "a dissection with a part skipped is not valid"
