#!/bin/sh
# claims.sh SOURCE: what a paper states is a row of its study or stands under `not_testable` (claims.tsv), and the other
# way about: no row and no such entry without a claim. And each row can fail: a changed model (studies/*/perturbed), a
# changed size (programs.sh) or a changed program (test_programs.c) makes it.
set -u
export LC_ALL=C
cd "$1" || exit 1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-claims.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
claims=tests/study/claims.tsv
status=0

# complain WHAT: the lines of standard input, if any, are faults.
complain() {
    while IFS= read -r line; do
        echo "$1: $line"
        touch "$scratch/bad"
    done
}

grep -v '^#' "$claims" | awk -F '\t' 'NF != 4 || $4 == ""' | complain "not four columns"
grep -v '^#' "$claims" | cut -f 1,2 | sort | uniq -d | complain "claimed twice"

for file in studies/*/study.yaml; do
    study=$(basename "$(dirname "$file")")
    # A file that was cut off is known by its end.
    first=$(awk 'NF && !/^#/ { print; exit }' "$file")
    last=$(tail -n 1 "$file")
    [ "$first $last" = '--- ...' ] || echo "$study" | complain "does not begin with --- and end with ..."
    sed -n 's/^  - id: //p' "$file" | sort >"$scratch/ids"
    sed '/^rows:/,$d' "$file" | sed -n 's/^  - id: //p' | sort >"$scratch/untested"
    comm -23 "$scratch/ids" "$scratch/untested" >"$scratch/rows"
    awk -F '\t' -v study="$study" '$1 == study { gsub(",", "\n", $3); print $3 }' "$claims" | sort -u >"$scratch/named"
    [ -s "$scratch/named" ] || echo "$study" | complain "no claims"
    # An id is named by itself or by its beginning up to a dot.
    awk 'NR == FNR { named[$1]; next }
        { at = $1; while (!(at in named) && sub(/\.[^.]*$/, "", at)); if (!(at in named)) print }' \
        "$scratch/named" "$scratch/ids" | complain "$study: no claim names"
    awk 'NR == FNR { at = $1; do ids[at]; while (sub(/\.[^.]*$/, "", at)); next } !($1 in ids)' \
        "$scratch/ids" "$scratch/named" | complain "$study: a claim names what is neither row nor not_testable"
    {
        [ ! -d "studies/$study/perturbed" ] || sed -n 's/^# fails: //p' "studies/$study/perturbed"/*.yaml
        [ "$study" != bakhoda2009 ] || grep -o 'FAILS("[^"]*")' tests/unit/study/test_programs.c | cut -d '"' -f 2
        [ "$study" != h200 ] || sed -n 's/.*FAILS("\([^"]*\)".*/\1/p' tests/unit/study/test_kernels.c
    } | tr ' ' '\n' | sort -u >"$scratch/fails"
    comm -23 "$scratch/rows" "$scratch/fails" | complain "$study: nothing makes this row fail"
done
[ ! -e "$scratch/bad" ] || status=1
exit "$status"
