#!/bin/sh
# Two runs of a GPU with every kind of cache are equal to the byte but for date and seconds, recordings
# altogether (ignores_the_driver.sh has another GPU); another seed may visit in another order and finds the same.
# whole: liar
whole liar a.json
dissect "sim:$SOURCE/tests/models/liar.yaml" b.json --record b.sonde
bare a.json >a
bare b.json >b
cmp a b || fail "two runs differ: $(diff a b | head -5)"
cmp "$WHOLE/liar.sonde" b.sonde || fail "two recordings differ"
dissect sim:gtx560ti seeded.json --seed 18446744073709551615
truth gtx560ti seeded.json
