#!/bin/sh
# thresholds.sh [ROOT]: the thresholds of src/infer stand in one const struct a file, each with unit and reason.
# A macro that is a number is allowed there only as the size of an array, "[NAME]" somewhere in src/, or as a
# limit that several files share (`shared`). Prints each other one; status 1 when there is one.
set -eu
root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"
shared="TLB_UNIT_BYTES TLB_MOST_PAGES TLB_BLOCK_UNITS TLB_FIRST_LINE TLB_LEAST_PAGE TLB_COUNT_ROUNDS POLICY_WARM_ROUNDS POLICY_WASHES"
find src -type f \( -name '*.c' -o -name '*.h' \) | LC_ALL=C sort | xargs awk -v limits="$shared" '
BEGIN { split(limits, each, " "); for (i in each) allowed[each[i]] = 1 }

# Nothing but digits, operators and the suffixes of numbers.
function is_number(text) {
    gsub(/UINT(8|16|32|64)_C/, "", text)
    gsub(/0[xX][0-9a-fA-F]+[uUlL]*|[0-9]*\.?[0-9]+\.?([eE][-+]?[0-9]+)?[uUlLfF]*/, "0", text)
    return text ~ /^[-+*\/<>() \t]*0[-+*\/<>()0 \t]*$/
}

{ line = $0; sub(/\/\*.*/, "", line) }

# What brackets hold is a size or an index; a name in them counts.
{
    rest = line
    while (match(rest, /\[[^][]*\]/)) {
        inside = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        while (match(inside, /[A-Za-z_][A-Za-z_0-9]*/)) {
            allowed[substr(inside, RSTART, RLENGTH)] = 1
            inside = substr(inside, RSTART + RLENGTH)
        }
    }
}

open != "" && is_number(line) { names[++count] = open; places[count] = at }
{ open = "" }

FILENAME ~ /^src\/infer\// && line ~ /^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+[ \t]/ {
    sub(/^[ \t]*#[ \t]*define[ \t]+/, "", line)
    name = line
    sub(/[ \t].*/, "", name)
    sub(/^[^ \t]+[ \t]+/, "", line)
    if (line ~ /^\\/) { open = name; at = FILENAME ":" FNR } # its number is in the next line
    else if (is_number(line)) { names[++count] = name; places[count] = FILENAME ":" FNR }
}

END {
    for (i = 1; i <= count; i++)
        if (!(names[i] in allowed)) {
            print places[i] ": " names[i] " is a number and the size of no array: a member of a const struct, " \
                "with unit and reason"
            bad = 1
        }
    exit bad
}'
