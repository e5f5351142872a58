#!/bin/sh
# check.sh SONDE GET RECORDING EXPECTED: infers from a recording and holds each attribute that EXPECTED
# names against its range. EXPECTED: PATH<TAB>LOW<TAB>HIGH<TAB>SOURCE, or PATH<TAB>=<TAB>TEXT<TAB>SOURCE, which must be met
# word by word; comments with #. A line "# only: LIST" asks for these experiments.
set -u
sonde=$1
get=$2
recording=$3
expected=$4
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-infer.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
checked=0
tab=$(printf '\t')

only=$(sed -n 's/^# only: //p' "$expected")
"$sonde" infer "$recording" ${only:+--only "$only"} --json - >"$scratch/result.json" || exit 1
while IFS=$tab read -r path low high source; do
    case "$path" in '' | '#'*) continue ;; esac
    got=$("$get" "$scratch/result.json" "$path") || got="absent"
    checked=$((checked + 1))
    if [ "$low" = "=" ]; then # an empty list is -
        [ "${got:--}" = "$high" ] && echo "ok: $path is $got" && continue
        echo "FAIL: $path is $got, expected $high ($source)"
        failures=$((failures + 1))
    elif echo "$got $low $high" | awk '{ exit !($1 + 0 == $1 && $1 >= $2 && $1 <= $3) }'; then
        echo "ok: $path is $got"
    else
        echo "FAIL: $path is $got, expected $low to $high ($source)"
        failures=$((failures + 1))
    fi
done <"$expected"
echo "$checked attributes checked, $failures wrong"
[ "$failures" -eq 0 ] && [ "$checked" -gt 0 ]
