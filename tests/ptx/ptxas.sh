#!/bin/sh
# ptxas.sh FOLDER ROWS_TEST FORMS_TEST: the vendor's assembler must accept every accept/*.ptx, the text
# of every instruction row and of every form of forms.tsv, and reject every reject/*.ptx. Skipped (77) where there is no ptxas.
set -eu
folder=$1
rows_test=$2
forms_test=$3
if ! command -v ptxas >/dev/null 2>&1; then
    echo "skipped: ptxas is not on PATH"
    exit 77
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-ptxas.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
SONDE_ROWS_OUT="$scratch/rows.ptx" "$rows_test" >/dev/null 2>&1
SONDE_FORMS_OUT="$scratch/forms.ptx" "$forms_test" >/dev/null 2>&1
failures=0

# Only errors count: a file may need symbols from another one to become a program. Predicates as
# parameters are possible only where it sees the whole program.
complains() {
    for how in --compile-only --warn-on-spills; do
        ptxas -arch=sm_90a "$how" "$1" -o "$scratch/out" >"$scratch/log" 2>&1 || true
        grep -v "Unresolved extern" "$scratch/log" | grep -q -e "error" -e "fatal" || return 1
    done
}

for file in "$folder"/accept/*.ptx "$scratch/rows.ptx" "$scratch/forms.ptx"; do
    if complains "$file"; then
        echo "ptxas rejects $file:"
        head -5 "$scratch/log"
        failures=$((failures + 1))
    fi
done
for file in "$folder"/reject/*.ptx; do
    if ! complains "$file"; then
        echo "ptxas accepts $file"
        failures=$((failures + 1))
    fi
done
echo "$failures files on which ptxas disagrees"
[ "$failures" -eq 0 ]
