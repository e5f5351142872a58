#!/bin/sh
# compare.sh KEPT NEW: figures of two runs of the benchmarks, a line each: new by kept, then both and the unit. Files have a
# figure a line as run.sh prints it, NAME<TAB>VALUE<TAB>UNIT, and comments that begin with '#'; of these "# machine: "
# says where. A ratio that is worse by more than 5 % is marked: a larger one of seconds, memory or wrong values, a smaller one of
# anything else. Figures that only one of the files has are told. Status 1: a file cannot be read, or has no such line.
set -eu
[ $# -eq 2 ] || { echo "usage: bench/compare.sh KEPT NEW" >&2; exit 2; }
for file in "$1" "$2"; do
    [ -r "$file" ] || { echo "compare.sh: cannot read $file" >&2; exit 1; }
done
exec awk -F '\t' '
FNR == 1 { part++ }
/^# machine: / { machine[part] = substr($0, 12); next }
/^#/ || /^$/ { next }
NF != 3 || $2 !~ /^-?[0-9.]+([eE][-+]?[0-9]+)?$/ {
    print FILENAME ":" FNR ": not NAME<TAB>VALUE<TAB>UNIT: " $0
    bad = 1
    exit
}
part == 1 { kept[$1] = $2; unit[$1] = $3; next }
{ name[++count] = $1; value[count] = $2; fresh[$1] = 1; new_unit[count] = $3 }

function less_is_better(what, of) { return of == "s" || of == "MiB" || what ~ /wrong/ }

END {
    if (bad) exit 1
    if (machine[1] != machine[2])
        printf "  other machine: kept on %s, now on %s\n", machine[1] ? machine[1] : "?", machine[2] ? machine[2] : "?"
    for (i = 1; i <= count; i++) {
        n = name[i]
        if (!(n in kept)) { printf "       new  %s: %s %s\n", n, value[i], new_unit[i]; continue }
        if (unit[n] != new_unit[i]) { printf "     units  %s: %s, now %s\n", n, unit[n], new_unit[i]; continue }
        if (kept[n] + 0 == 0) { printf "      of 0  %s: 0, now %s %s\n", n, value[i], unit[n]; continue }
        ratio = value[i] / kept[n]
        worse = less_is_better(n, unit[n]) ? ratio > 1.05 : ratio < 0.95
        printf "%8.3f%s  %s: %s, now %s %s\n", ratio, worse ? " worse" : "", n, kept[n], value[i], unit[n]
    }
    for (n in kept) if (!(n in fresh)) { missing = missing " " n; gone++ }
    if (gone) print "  not measured now: " gone " of the kept figures"
}' "$1" "$2"
