#!/bin/sh
# check.sh VARIANTS: the vendor's assembler takes every kernel that VARIANTS writes, for old and newer
# targets, and leaves the timed stretches as they were written: for the chase clock, load, store,
# clock, one right after the other. Machine instructions of these targets have 16 bytes, their
# operation in the lowest 12 bits: CS2R (clock) 805, LDG .81, LDL .83, LDC b82, LDS .84, STS .88, TLD
# b66 or 367. From compute capability 9 on a texture's handle goes through two uniform registers
# first (R2UR 2ca, UMOV c82, TLD f66). Skipped (77) where there is no ptxas.
set -eu
variants=$1
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

# window NAME COUNT PATTERN: the pattern must come COUNT times.
window() {
    found=$(operations "$scratch/out.cubin" | grep -Eo "$3" | wc -l)
    if [ "$found" -ne "$2" ]; then
        echo "FAIL: $1: $found of $2 timed stretches are as written"
        failed=1
    fi
}

"$variants" "$scratch"
for file in "$scratch"/*.ptx; do
    name=$(basename "$file" .ptx)
    for target in 75 80 90 100 120; do
        if ! ptxas -arch=sm_$target "$file" -o "$scratch/out.cubin"; then
            echo "FAIL: $name for sm_$target"
            failed=1
            continue
        fi
        case $name in
        chase.tex*) window "$name sm_$target" 1 '805 (b66|367|2ca c82 f66) [39]88 805 ' ;;
        chase.const*) window "$name sm_$target" 1 '805 b82 [39]88 805 ' ;;
        chase.local*) window "$name sm_$target" 1 '805 [39]83 [39]88 805 ' ;;
        chase.*) window "$name sm_$target" 1 '805 [39]81 [39]88 805 ' ;;
        scope) window "$name sm_$target" 1 '805 [39]81 [39]88 805 ' ;;
        overhead) window "$name sm_$target" 1 '805 [39]88 805 ' ;;
        average.*) window "$name sm_$target" 1 '([39]81 ){15}' ;;
        # What branches past the loads, and register moves, may stand in front of them; between them nothing.
        threads.*)
            loads=$(echo "$name" | sed 's/.*\.//')
            window "$name sm_$target" 1 "805 (... ){0,4}([39]81 ){$loads}(... ){2,20}b1d (c0c )?805 "
            ;;
        # Addresses may be made between the loads (c10, 210, ..); the loads are all there.
        constant) window "$name sm_$target" 1 '805 (... ){0,12}(b82 (... ){0,6}){8}' ;;
        # The counter of turns is kept between the first accesses.
        shared*) window "$name sm_$target" 1 '805 (... ){4,7}([39]84 ){15,}[59]47 [39]88 805 ' ;;
        esac
    done
done
[ $failed = 0 ] && echo "all kernels are accepted, and timed as written"
exit $failed
