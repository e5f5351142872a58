#!/bin/sh
# layers.sh [ROOT]: holds every #include of src/, workloads/ and tests/unit/ against what the rooms declare in
# their src/<room>/CMakeLists.txt, and the room workloads in its own folder:
#   DEPENDS a b     the room may include a's and b's headers, and those that these depend on
#   LINKS a         linked, but its headers stay out of sight (the cli sees the public header alone)
#   FILES f.c:a     the file src/<room>/f.c alone may include a's headers
#   GENERATES x.def the build writes x.def for this room, which includes it by that name
# Tests may also include what tests share, from tests/support/: "support/x.h".
# Prints each violation as file:line: reason; status 1 when there is one.
set -eu
root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"
# shellcheck disable=SC2046  # no name in the tree has a space
set -- $(find src -mindepth 2 -maxdepth 2 -name CMakeLists.txt | LC_ALL=C sort) \
       $(find workloads -maxdepth 1 -name CMakeLists.txt 2>/dev/null) \
       $(find src workloads tests/unit -type f \( -name '*.[ch]' -o -name '*.def' \) 2>/dev/null | LC_ALL=C sort)

exec awk '
function complain(text) { print text; bad = 1 }

# src/<room>/x.c, workloads/x.c and tests/unit/<room>/x.c belong to a room.
function room_of(file,    part, n) {
    n = split(file, part, "/")
    return part[1] == "src" ? part[2] : part[1] == "workloads" ? part[1] : part[3]
}

function declare(text, file,    word, n, i, mode, room, pair) {
    gsub(/#[^\n]*/, "", text)
    if (!match(text, /sonde_room[ \n]*\([^)]*\)/)) {
        complain(file ": no sonde_room() here")
        return
    }
    text = substr(text, RSTART, RLENGTH)
    gsub(/sonde_room|[()]/, " ", text)
    n = split(text, word, /[ \t\n]+/)
    for (i = 1; i <= n; i++) {
        if (word[i] == "") continue
        if (word[i] ~ /^(DEPENDS|LIBRARIES|LINKS|FILES|GENERATES)$/) { mode = word[i]; continue }
        if (room == "") {
            room = word[i]
            if (room != room_of(file)) complain(file ": declares the room " room)
            declared[room] = file
        } else if (mode == "DEPENDS") {
            direct[room] = direct[room] " " word[i]
        } else if (mode == "GENERATES") {
            generated[room, word[i]] = 1
        } else if (mode == "FILES") {
            split(word[i], pair, ":")
            special["src/" room "/" pair[1]] = special["src/" room "/" pair[1]] " " pair[2]
        }
    }
}

# Everything `room` may see, as a set in seen[]; a room met again on its own path is a cycle.
function visit(room, path,    word, n, i) {
    if (index(path, " " room " ")) { cycle = path room; return }
    if (room in seen) return
    seen[room] = 1
    n = split(direct[room], word, " ")
    for (i = 1; i <= n; i++) visit(word[i], path room " ")
}

function may_see(from, to,    key, r) {
    if (!(from in closed)) {
        for (key in seen) delete seen[key]
        visit(from, " ")
        for (r in seen) allowed[from, r] = 1
        closed[from] = 1
    }
    return (from, to) in allowed
}

function close_rooms(    room, word, n, i) {
    for (room in declared) {
        cycle = ""
        may_see(room, room)
        if (cycle != "") complain(declared[room] ": the rooms depend on each other in a circle:" cycle)
        n = split(direct[room], word, " ")
        for (i = 1; i <= n; i++)
            if (!(word[i] in declared)) complain(declared[room] ": there is no room " word[i])
    }
}

function check_include(target, angle,    from, to, part, word, n, i) {
    from = room_of(FILENAME)
    split(target, part, "/")
    to = part[1]
    if (angle) {
        if (to in declared && target ~ /\//)
            complain(FILENAME ":" FNR ": write \"" target "\", not <" target ">")
        return
    }
    if (to == "sonde" || (from, target) in generated) return
    if (FILENAME ~ /^tests\// && target ~ /^(\.\.\/\.\.\/)?support\//) return
    if (target !~ /\// || !(to in declared)) {
        complain(FILENAME ":" FNR ": \"" target "\": includes are written from src/, room first")
        return
    }
    if (may_see(from, to)) return
    n = split(special[FILENAME], word, " ")
    for (i = 1; i <= n; i++) if (may_see(word[i], to)) return
    complain(FILENAME ":" FNR ": " from " may not include " target \
             " (src/" from "/CMakeLists.txt does not allow " to ")")
}

FILENAME ~ /CMakeLists\.txt$/ {
    texts[FILENAME] = texts[FILENAME] $0 "\n"
    next
}
!ready {
    for (file in texts) declare(texts[file], file)
    close_rooms()
    ready = 1
}
!(room_of(FILENAME) in declared) && !(FILENAME in told) {
    told[FILENAME] = 1
    complain(FILENAME ": the room " room_of(FILENAME) " has no src/" room_of(FILENAME) "/CMakeLists.txt")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    check_include(quoted[2], 0)
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    split($0, angled, /[<>]/)
    check_include(angled[2], 1)
}
END {
    if (!ready) { for (file in texts) declare(texts[file], file); close_rooms() }
    exit bad
}
' "$@"
