#!/bin/sh
# scripts/circles.sh passes a sound tree and an allowed circle; it reports a circle that is not allowed, one
# that has grown, a list that is no longer true, and a source that was not built.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
fail() { echo "$1"; failures=1; }

# put ROOM/FILE TEXT: a source of the tree, built.
put() {
    room=${1%%/*}
    object="$scratch/build/src/$room/CMakeFiles/sonde_$room.dir/${1#"$room"/}.o"
    mkdir -p "$scratch/src/${1%/*}" "${object%/*}"
    echo "$2" >"$scratch/src/$1"
    "${CC:-cc}" -c -o "$object" "$scratch/src/$1" || exit 1
}

# tree: a room of three files, one in a sub-folder; high uses mid, mid uses low, low calls through a pointer.
tree() {
    rm -rf "$scratch/src" "$scratch/build" "$scratch/scripts"
    mkdir -p "$scratch/scripts"
    put one/low.c 'int (*up)(void); int low(void) { return up(); }'
    put one/sub/mid.c 'int low(void); int mid(void) { return low(); }'
    put one/high.c 'extern int (*up)(void); int mid(void); int high(void) { up = mid; return mid(); }'
    # Another room may have the same names, and a static function is nobody else'"'"'s.
    put two/low.c 'static int high(void) { return 1; } int low(void) { return high(); }'
}

check() { "$root/scripts/circles.sh" "$scratch/build" "$scratch" >"$scratch/found" 2>&1; }

# reports TEXT: the check fails and says TEXT.
reports() {
    if check; then
        fail "not found: $1"
    elif ! grep -qF -- "$1" "$scratch/found"; then
        fail "expected: $1"
        cat "$scratch/found"
    fi
}

passes() { check || { fail "does not pass: $1"; cat "$scratch/found"; }; }

# allow FILE...: an entry of the list.
allow() {
    echo 'For now: a reason' >>"$scratch/scripts/circles.txt"
    for file in "$@"; do echo "    src/one/$file" >>"$scratch/scripts/circles.txt"; done
}

tree
passes 'a sound tree'
put one/low.c 'int mid(void); int low(void) { return mid(); }'
reports 'src/one: a circle of files:'
reports 'src/one/low.c uses mid of src/one/sub/mid.c'
reports 'src/one/sub/mid.c uses low of src/one/low.c'
if grep -q 'high.c' "$scratch/found"; then fail 'high.c is in no circle'; fi
allow low.c sub/mid.c
passes 'an allowed circle'
put one/low.c 'int high(void); int low(void) { return high(); }'
reports 'src/one/high.c uses mid of src/one/sub/mid.c'
tree
allow low.c sub/mid.c
reports 'scripts/circles.txt:2: src/one/low.c is in no such circle: take it off the list'
reports 'scripts/circles.txt:3: src/one/sub/mid.c is in no such circle'
tree
put one/low.c 'int mid(void); int low(void) { return mid(); }'
allow low.c sub/mid.c high.c
reports 'scripts/circles.txt:4: src/one/high.c is in no such circle'
tree
echo 'int late;' >"$scratch/src/one/late.c"
reports 'src/one/late.c: not built in'
tree
put one/gone.c 'int mid(void); int low(void) { return mid(); }'
rm "$scratch/src/one/gone.c"
passes 'a tree with the object of a source that is gone'
exit $failures
