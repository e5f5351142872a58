#!/bin/sh
# check.sh SONDE FOLDER: kernels that Triton compiled (kernels.py), run with the same arguments as on
# an H200, must leave the same bytes: cases.tsv has the sum that cksum gave of the card's, or a file
# of the card's and a tolerance. The checker finds nothing in them.
set -eu
sonde=$1
folder=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-triton.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
tab=$(printf '\t')
failures=0
count=0
while IFS="$tab" read -r name kernel grid block shared arguments wanted; do
    case $name in '' | '#'*) continue ;; esac
    set -- -q --functional -d sim:h200 --kernel "$kernel" --grid "$grid" --block "$block" --shared "$shared"
    for argument in $arguments; do
        case $argument in out:@:*) argument="out:$scratch/$name:${argument#out:@:}" ;; esac
        set -- "$@" --arg "$argument"
    done
    "$sonde" exec "$folder/$name.ptx" "$@"
    if ! "$sonde" exec "$folder/$name.ptx" --check "$@" 2>"$scratch/found"; then
        cat "$scratch/found"
        failures=$((failures + 1))
    fi
    count=$((count + 1))
    case $wanted in
    *.h200\ *)
        od -An -v -tf4 -w4 "$folder/${wanted% *}" >"$scratch/card"
        got=$(od -An -v -tf4 -w4 "$scratch/$name" | paste "$scratch/card" - |
            awk -v most="${wanted#* }" '{ d = $1 - $2 } NF != 2 || d > most || -d > most || d != d { n++ }
                END { print n + 0 " of " NR " values are off" }')
        wanted="0 of $(wc -l <"$scratch/card") values are off"
        ;;
    *) got=$(cksum <"$scratch/$name") ;;
    esac
    if [ "$got" != "$wanted" ]; then
        echo "$name: $got, on the card $wanted"
        failures=$((failures + 1))
    fi
done <"$folder/cases.tsv"
echo "$count kernels, $failures wrong"
[ "$count" -gt 0 ] && [ "$failures" -eq 0 ]
