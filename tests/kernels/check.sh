#!/bin/sh
# check.sh VARIANTS: the vendor's assembler takes every kernel that VARIANTS writes, for old and newer
# targets, and leaves the timed stretches as they were written: for the chase clock, load, store,
# clock, one right after the other. Machine instructions of these targets have 16 bytes, their
# operation in the lowest 12 bits: CS2R (clock) 805, LDG .81, LDL .83, LDC b82, LDS .84, STS .88, TLD
# b66 or 367. From compute capability 9 on a texture's handle goes through two uniform registers
# first (R2UR 2ca, UMOV c82, TLD f66). Kernels of a target are assembled in one go, each under a name of its own, and
# judged by few processes: starting them costs more than the kernels do. Skipped (77) where there is no ptxas.
set -eu
variants=$1
if ! command -v ptxas >/dev/null 2>&1; then
    echo "skipped: there is no ptxas here"
    exit 77
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-kernels.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

# window NAME COUNT PATTERN: the pattern must come COUNT times in $operations.
window() {
    found=$(echo "$operations " | grep -Eo "$3" | wc -l)
    if [ "$found" -ne "$2" ]; then
        echo "FAIL: $1: $found of $2 timed stretches are as written"
        failed=1
    fi
}

# assemble TARGET FILE...: out.cubin of all of them; where they are not taken, each alone says which is not.
assemble() {
    target=$1
    shift
    if ptxas -arch="sm_$target" "$@" -o "$scratch/out.cubin"; then return 0; fi
    for file in "$@"; do
        ptxas -arch="sm_$target" "$file" -o "$scratch/alone.cubin" || echo "FAIL: $(basename "$file" .ptx) for sm_$target"
    done
    return 1
}

# operations_of TARGET FILE...: `code` has a line for each file, its name and the operations of its kernels.
operations_of() {
    assemble "$@" || return 1
    readelf -SW "$scratch/out.cubin" 2>/dev/null |
        sed -n 's/.* \.text\.\([^ ]*\) *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2 \3/p' >"$scratch/sections"
    od -A x -v -t x8 -w16 "$scratch/out.cubin" >"$scratch/words"
    sort -k 2,2 "$scratch/sections" | awk -v width="$(awk 'NR == 1 { print length($1) }' "$scratch/words")" '
        function padded(hex) { while (length(hex) < width) hex = "0" hex; return substr(hex, length(hex) - width + 1) }
        FILENAME == "-" { sub(/__.*/, "", $1); of[padded($2)] = $1; size[padded($2)] = padded($3); next }
        { at = tolower($1); if (at in of) { name = of[at]; left = -1; bytes = size[at] } }
        at in of { left = 0; for (i = 1; i <= width; i++) left = left * 16 + index("0123456789abcdef", substr(bytes, i, 1)) - 1 }
        left > 0 { code[name] = code[name] " " substr($2, 14); left -= 16 }
        END { for (name in code) print name code[name] }' - "$scratch/words" | sort >"$scratch/code"
    shift
    [ "$(wc -l <"$scratch/code")" -eq $# ] || { echo "FAIL: code of $(wc -l <"$scratch/code") files of $#"; return 1; }
}

# check_probes TARGET FILE...
check_probes() {
    operations_of "$@" || { failed=1; return 0; }
    while read -r name operations; do
        of="$name sm_$1"
        case $name in
        chase_tex*) window "$of" 1 '805 (b66|367|2ca c82 f66) [39]88 805 ' ;;
        chase_const*) window "$of" 1 '805 b82 [39]88 805 ' ;;
        chase_local*) window "$of" 1 '805 [39]83 [39]88 805 ' ;;
        chase_*) window "$of" 1 '805 [39]81 [39]88 805 ' ;;
        scope) window "$of" 1 '805 [39]81 [39]88 805 ' ;;
        overhead) window "$of" 1 '805 [39]88 805 ' ;;
        average_*) window "$of" 1 '([39]81 ){15}' ;;
        # A warp more waits by a clock that ptxas may read into a uniform register (S2UR 9c3, 8cb), and loads once.
        threads_hit*)
            window "$of" 1 '(805|9c3|8cb) (... ){0,10}([39]81 ){3}'
            window "$of" 1 '(805|9c3|8cb) (... ){0,3}[39]81 (... ){2,7}[39]86 (805|9c3|8cb) '
            ;;
        # What branches past the loads, and register moves, may stand in front of them; between them nothing.
        threads_*)
            loads=$(echo "$name" | sed 's/.*_//')
            window "$of" 1 "805 (... ){0,4}([39]81 ){$loads}(... ){2,20}b1d (c0c )?805 "
            ;;
        # Addresses may be made between the loads (c10, 210, ..); the loads are all there.
        constant) window "$of" 1 '805 (... ){0,12}(b82 (... ){0,6}){8}' ;;
        # The counter of turns is kept between the first accesses.
        shared*) window "$of" 1 '805 (... ){4,7}([39]84 ){15,}[59]47 [39]88 805 ' ;;
        esac
    done <"$scratch/code"
}

# check_instructions TARGET FILE...: an operation of the kind's pattern must come at least as often as the kind has lines, the
# number at the end of the name, and no more than what surrounds them adds. IADD3 010 or IMAD.IADD 024, IMAD.HI 027, LOP3 012,
# SHF 019, PRMT 016, IDP 026, POPC 109, FLO 100, BREV 101, FADD 021, FMUL 020, FFMA 023, DADD 029, DFMA 02b, HFMA2 031 or 035,
# MUFU 108, FRND 107, SHFL 189, ATOMS 18c, HMMA 03c, IMMA 037, DMMA 03f; the digit in front is the operands' form.
cat >"$scratch/kinds" <<'END'
iadd .(10|24)
imad .24
imulhi .27
logic .12
shift|funnel .19
prmt .16
dp4a .26
popc 309
bfind 300
brev 301
fadd .21
fmul .20
ffma .23
dadd .29
dfma .2b
hfma2|bfma2 .3[15]
rsqrt|ex2|lg2|tanh 308
cvtround 307
shfl .89
lds.* 984
atoms 38c
hmma.*|bmma.*|tmma.* .3c
imma.* .37
dmma.* .3f
END
check_instructions() {
    operations_of "$@" || { failed=1; return 0; }
    awk -v target="sm_$1" '
        FILENAME ~ /kinds$/ { pattern[++kinds] = "^(" $2 ")$"; kind[kinds] = "^(" $1 ")$"; next }
        {
            split($1, part, "_")
            wanted = part[length(part)]
            for (k = 1; k <= kinds; k++) {
                if (part[2] !~ kind[k]) continue
                found = 0
                for (i = 2; i <= NF; i++) found += $i ~ pattern[k]
                if (found >= wanted && found <= wanted + 18) continue
                print "FAIL: " $1 " " target ": " found " operations " pattern[k] ", where " wanted " lines are timed"
                bad = 1
            }
        }
        END { exit bad }' "$scratch/kinds" "$scratch/code" || failed=1
}

# Constants of several probes are more than a module has room for: these go alone.
mkdir "$scratch/written" "$scratch/probes" "$scratch/alone" "$scratch/instructions"
"$variants" "$scratch/written"
awk -v scratch="$scratch" '
    FNR == 1 {
        close(out)
        name = FILENAME
        sub(/.*\//, "", name)
        kind = name ~ /^instruction/ ? "instructions" : name ~ /^constant|[.]const/ ? "alone" : "probes"
        out = scratch "/" kind "/" name
        sub(/[.]ptx$/, "", name)
        gsub(/[.]/, "_", name)
    }
    { sub(/[.]entry /, "&" name "__"); print >out }' "$scratch"/written/*.ptx
for target in 75 90 120; do
    check_probes "$target" "$scratch"/probes/*.ptx
    for file in "$scratch"/alone/*.ptx; do check_probes "$target" "$file"; done
    [ "$target" = 75 ] || check_instructions "$target" "$scratch"/instructions/*.ptx
done
[ $failed = 0 ] && echo "all kernels are accepted, and timed as written"
exit $failed
