#!/bin/sh
# check.sh FOLDER: the vendor's assembler takes every kernel in FOLDER, in the variant of every cache
# operator, for old and newer targets, and leaves the timed window of the chase as it was written:
# clock, load, store, clock, one right after the other. Machine instructions of these targets have
# 16 bytes, their operation in the lowest 12 bits: CS2R (clock) 805, LDG .81, STS .88. Skipped (77)
# where there is no ptxas.
set -eu
kernels=$1
if ! command -v ptxas >/dev/null 2>&1; then
    echo "skipped: there is no ptxas here"
    exit 77
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-kernels.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

operations() {
    od -A n -v -t x8 -w16 "$1" | awk '{ printf "%s ", substr($1, 14) }'
}

# window NAME COUNT PATTERN FILE: the pattern must come COUNT times.
window() {
    found=$(operations "$4" | grep -Eo "$3" | wc -l)
    if [ "$found" -ne "$2" ]; then
        echo "FAIL: $1: $found of $2 timed stretches are as written"
        failed=1
    fi
}

for file in "$kernels"/*.ptx; do
    name=$(basename "$file" .ptx)
    for op in ca cg cv; do
        grep -q 'ld\.global\.ca' "$file" || [ "$op" = ca ] || continue
        sed "s/ld\\.global\\.ca/ld.global.$op/" "$file" >"$scratch/$name.$op.ptx"
        for target in 75 80 90 100 120; do
            if ! ptxas -arch=sm_$target "$scratch/$name.$op.ptx" -o "$scratch/out.cubin"; then
                echo "FAIL: $name.$op for sm_$target"
                failed=1
                continue
            fi
            case $name in
            chase) window "chase.$op sm_$target" 1 '805 [39]81 [39]88 805 ' "$scratch/out.cubin" ;;
            overhead) window "overhead sm_$target" 1 '805 [39]88 805 ' "$scratch/out.cubin" ;;
            average) window "average.$op sm_$target" 1 '([39]81 ){15}' "$scratch/out.cubin" ;;
            esac
        done
    done
done
[ $failed = 0 ] && echo "all kernels are accepted, and timed as written"
exit $failed
