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

# counted NAME PATTERN: an operation of the pattern must come at least as often as the kind has lines, the
# number at the end of NAME, and no more than what surrounds them adds.
counted() {
    wanted=${1##*.}
    found=$(operations "$scratch/out.cubin" | tr ' ' '\n' | grep -Ecx "$2")
    if [ "$found" -lt "$wanted" ] || [ "$found" -gt $((wanted + 18)) ]; then
        echo "FAIL: $1: $found operations $2, where $wanted lines are timed"
        failed=1
    fi
}

"$variants" "$scratch"
for file in "$scratch"/*.ptx; do
    name=$(basename "$file" .ptx)
    targets="75 90 120"
    case $name in instruction.*) targets="90 120" ;; esac
    for target in $targets; do
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
        # What is measured is there: IADD3 010 or IMAD.IADD 024, IMAD.HI 027, LOP3 012, SHF 019, PRMT 016, IDP 026, POPC
        # 109, FLO 100, BREV 101, FADD 021, FMUL 020, FFMA 023, DADD 029, DFMA 02b, HFMA2 031 or 035, MUFU 108, FRND 107,
        # SHFL 189, ATOMS 18c, HMMA 03c, IMMA 037, DMMA 03f; the digit in front is the operands' form.
        instruction.iadd.*) counted "$name" '.(10|24)' ;;
        instruction.imad.*) counted "$name" '.24' ;;
        instruction.imulhi.*) counted "$name" '.27' ;;
        instruction.logic.*) counted "$name" '.12' ;;
        instruction.shift.* | instruction.funnel.*) counted "$name" '.19' ;;
        instruction.prmt.*) counted "$name" '.16' ;;
        instruction.dp4a.*) counted "$name" '.26' ;;
        instruction.popc.*) counted "$name" '309' ;;
        instruction.bfind.*) counted "$name" '300' ;;
        instruction.brev.*) counted "$name" '301' ;;
        instruction.fadd.*) counted "$name" '.21' ;;
        instruction.fmul.*) counted "$name" '.20' ;;
        instruction.ffma.*) counted "$name" '.23' ;;
        instruction.dadd.*) counted "$name" '.29' ;;
        instruction.dfma.*) counted "$name" '.2b' ;;
        instruction.hfma2.* | instruction.bfma2.*) counted "$name" '.3[15]' ;;
        instruction.rsqrt.* | instruction.ex2.* | instruction.lg2.* | instruction.tanh.*) counted "$name" '308' ;;
        instruction.cvtround.*) counted "$name" '307' ;;
        instruction.shfl.*) counted "$name" '.89' ;;
        instruction.lds*) counted "$name" '984' ;;
        instruction.atoms.*) counted "$name" '38c' ;;
        instruction.hmma* | instruction.bmma* | instruction.tmma*) counted "$name" '.3c' ;;
        instruction.imma*) counted "$name" '.37' ;;
        instruction.dmma*) counted "$name" '.3f' ;;
        # The counter of turns is kept between the first accesses.
        shared*) window "$name sm_$target" 1 '805 (... ){4,7}([39]84 ){15,}[59]47 [39]88 805 ' ;;
        esac
    done
done
[ $failed = 0 ] && echo "all kernels are accepted, and timed as written"
exit $failed
