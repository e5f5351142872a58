#!/bin/sh
# circles.sh [BUILD [ROOT]]: the files of a room do not need each other in a circle.
#
# A file needs another one of its room when it uses a symbol that the other one defines. What each defines
# and uses is read from the object files that the build folder BUILD (build/dev) holds for src/<room>/. Calls
# through a table or a pointer are no need: that is how a circle is broken.
#
# scripts/circles.txt lists the circles that are allowed, with the reason. An entry must still be true: a
# file in it that is in no circle any more is a violation too. Prints each violation; status 1 when there is
# one.
set -eu
build=$(cd "${1:-build/dev}" && pwd)
root=${2:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# Objects of sources that are gone may still lie in the build folder, so the sources say what is looked at.
for source in $(find src -mindepth 2 -name '*.c' ! -name main.c | LC_ALL=C sort); do
    room=${source#src/}
    room=${room%%/*}
    object="$build/src/$room/CMakeFiles/sonde_$room.dir/${source#src/"$room"/}.o"
    if [ -f "$object" ]; then
        echo "$source $object"
    else
        echo "$source: not built in $build" >&2
        status=1
    fi
done >"$work/objects"
[ "$status" -eq 0 ] || exit 1
cut -d' ' -f2 "$work/objects" | xargs nm -A -P >"$work/symbols"
allowed=scripts/circles.txt
[ -f "$allowed" ] || allowed=/dev/null

awk '
function complain(text) { print text; bad = 1 }

function room_of(file,    part) { split(file, part, "/"); return part[2] }

# reach[from, to]: over one or more edges.
function visit(from, at,    i) {
    for (i = 1; i <= out_count[at]; i++)
        if (!((from, out[at, i]) in reach)) {
            reach[from, out[at, i]] = 1
            visit(from, out[at, i])
        }
}

function in_circle_with(a, b) { return (a, b) in reach && (b, a) in reach }

# The entry that allows the circle of `file`, or 0: all of the circle are in it.
function entry_of(file,    e, i, whole) {
    for (e = 1; e <= entries; e++) {
        if (!((e, file) in entry)) continue
        whole = 1
        for (i = 1; i <= files; i++)
            if (in_circle_with(file, name[i]) && !((e, name[i]) in entry)) whole = 0
        if (whole) return e
    }
    return 0
}

function tell_circle(file,    i, j, text) {
    text = "src/" room_of(file) ": a circle of files:"
    for (i = 1; i <= files; i++)
        if (name[i] == file || in_circle_with(file, name[i])) {
            told[name[i]] = 1
            for (j = 1; j <= out_count[name[i]]; j++)
                if (in_circle_with(file, out[name[i], j]))
                    text = text "\n    " name[i] " uses " why[name[i], out[name[i], j]] " of " out[name[i], j]
        }
    complain(text)
}

FILENAME == objects { source[$2] = $1; name[++files] = $1; next }

FILENAME == allowed {
    if (/^#/ || NF == 0) next
    if (/^[^ ]/) { entries++; next }
    entry[entries, $1] = 1
    listed[entries, ++length_of[entries]] = $1
    place[entries, $1] = FNR
    next
}

# "OBJECT: SYMBOL TYPE ..."
{
    object = $1
    sub(/:$/, "", object)
    file = source[object]
    if ($3 ~ /^[A-TV-Z]$/) defined[room_of(file), $2] = file
    else if ($3 == "U") { used_by[++uses] = file; used[uses] = $2 }
}

END {
    for (i = 1; i <= uses; i++) {
        from = used_by[i]
        to = defined[room_of(from), used[i]]
        if (to == "" || to == from || (from, to) in why) continue
        why[from, to] = used[i]
        out[from, ++out_count[from]] = to
    }
    for (i = 1; i <= files; i++) visit(name[i], name[i])
    for (i = 1; i <= files; i++) {
        if (!((name[i], name[i]) in reach) || name[i] in told) continue
        e = entry_of(name[i])
        if (e) excused[e, name[i]] = 1
        else tell_circle(name[i])
    }
    for (e = 1; e <= entries; e++)
        for (i = 1; i <= length_of[e]; i++)
            if (!((e, listed[e, i]) in excused) && !(listed[e, i] in told))
                complain(allowed ":" place[e, listed[e, i]] ": " listed[e, i] \
                         " is in no such circle: take it off the list")
    exit bad
}
' objects="$work/objects" allowed="$allowed" "$work/objects" "$allowed" "$work/symbols"
