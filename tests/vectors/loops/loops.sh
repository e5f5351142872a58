#!/bin/sh
# loops.sh SONDE DEVICE [TABLE]: cycles of a turn of each loop of loops.ptx on the device, as a table; with TABLE, that of an H200, no loop may be
# farther from it than a loop's own uncertainty on the card: 2 cycles by where the code lies in a line of instructions, 2 for a counter on the uniform
# datapath, and one for each of eight branches in a row (tolerance fixed on 30 November 2026, after a first
# measurement of such loops and before this table was recorded).
set -eu
sonde=$1 device=$2 table=${3:-} here=$(dirname "$0") turns=256
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-loops.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
sed -n 's/^[.]visible [.]entry \([a-z0-9_]*\)(.*/\1/p' "$here/loops.ptx" | while read -r kernel; do
    cycles=$("$sonde" exec -d "$device" "$here/loops.ptx" --kernel "$kernel" --block 32 --arg print:u32:2 --arg u32:$turns --arg f32:1 --arg u32:0 |
        awk '$1 == "0:" { print $2 }')
    [ -n "$cycles" ] || { echo "$kernel: no cycles" >&2; exit 1; }
    awk -v kernel="$kernel" -v cycles="$cycles" -v turns=$turns 'BEGIN { printf "%s\t%.2f\n", kernel, cycles / turns }'
done >"$scratch/loops.tsv"
[ -n "$table" ] || { cat "$scratch/loops.tsv"; exit 0; }
awk -F '\t' '
FNR == NR { if (FNR > 1) card[$1] = $2; next }
{
    off = $2 - card[$1]
    off = off < 0 ? -off : off
    most = $1 ~ /^(jump|fall)/ ? 12 : 4
    seen++
    if (!($1 in card) || off > most) { printf "%s: %s cycles a turn, the card %s\n", $1, $2, card[$1]; wrong = 1 }
}
END { exit wrong || seen != 20 }' "$table" "$scratch/loops.tsv"
