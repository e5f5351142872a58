#!/bin/sh
# home.sh SONDE TABLE: near which SM the card's L2 keeps each block of h200_home.tsv, by what a release behind a load of it takes, is what the masks of
# sim:h200 say: SM 37 is in the part of blocks of even parity, SM 0 in the other.
set -eu
sonde=$1 table=$2
masks=$("$sonde" model show h200 | sed -n '/^  part_index:/,/^  [a-z]*:$/s/^    masks: \[0x\([0-9a-f]*\)\]$/\1/p')
[ -n "$masks" ] || { echo "sim:h200 has no mask for L2's parts" >&2; exit 1; }
awk -v mask="$masks" -F '\t' '
function parity(offset, i, digit, sum) {
    sum = 0
    for (i = length(mask); i > 0; i--) {
        digit = index("0123456789abcdef", substr(mask, i, 1)) - 1
        for (bit = 0; bit < 4; bit++) {
            sum += digit % 2 * (offset % 2)
            digit = int(digit / 2)
            offset = int(offset / 2)
        }
    }
    return sum % 2
}
NR > 1 {
    blocks++
    far = parity($1)
    wrong += ($4 > 530) != far
    if ($2 != "-") wrong += ($2 > 530) != !far
}
END {
    if (blocks != 137 || wrong) { print blocks " blocks, " wrong + 0 " on the wrong side"; exit 1 }
}' "$table"
