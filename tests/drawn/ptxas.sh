#!/bin/sh
# ptxas.sh PTXAS DRAWN FORMS [FIRST COUNT]: the vendor's assembler takes the drawn kernels.
set -eu
ptxas=$1 drawn=$2 forms=$3 first=${4:-1} count=${5:-8}
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-drawn.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$drawn" "$forms" "$first" "$count" --write "$work"
[ "$(find "$work" -name '*.ptx' | wc -l)" -eq "$count" ]
for file in "$work"/*.ptx; do
    "$ptxas" -arch=sm_90 -o /dev/null "$file" || { echo "refused: ${file##*/}"; exit 1; }
done
