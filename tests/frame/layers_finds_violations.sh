#!/bin/sh
# Feeds scripts/layers.sh small trees: a sound one must pass, and each kind of violation must be
# reported with its file and line.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

# tree: a fresh sound tree of four rooms; low <- mid <- top, and top/special.c alone may see `far`.
tree() {
    rm -rf "$scratch/t"
    mkdir -p "$scratch/t/src/low" "$scratch/t/src/mid" "$scratch/t/src/top" "$scratch/t/src/far" \
        "$scratch/t/tests/unit/low"
    cd "$scratch/t" || exit 1
    echo 'sonde_room(low)' >src/low/CMakeLists.txt
    echo 'sonde_room(mid DEPENDS low LIBRARIES m)' >src/mid/CMakeLists.txt
    printf '# a comment: DEPENDS far\nsonde_room(top\n    DEPENDS mid\n    FILES special.c:far GENERATES made.def)\n' \
        >src/top/CMakeLists.txt
    echo 'sonde_room(far LINKS top)' >src/far/CMakeLists.txt
    printf '#include <stdio.h>\n#include "low/low.h"\n#include "sonde/sonde.h"\n' >src/mid/mid.c
    printf '#include "mid/mid.h"\n#include "low/low.h"\n#include "made.def"\n' >src/top/top.c
    echo '#include "far/far.h"' >src/top/special.c
    echo '#include "low/low.h"' >tests/unit/low/test_low.c
}

# reports TEXT: the check fails and says TEXT.
reports() {
    if found=$("$root/scripts/layers.sh" "$scratch/t"); then
        echo "not found: $1"
        failures=$((failures + 1))
    elif ! echo "$found" | grep -qF -- "$1"; then
        echo "expected: $1"
        echo "found:    $found"
        failures=$((failures + 1))
    fi
}

tree
if ! "$root/scripts/layers.sh" "$scratch/t"; then
    echo "a sound tree does not pass"
    failures=$((failures + 1))
fi

tree; printf '\n#include "top/top.h"\n' >src/low/low.c
reports 'src/low/low.c:2: low may not include top/top.h'
tree; printf '/* */\n #  include "far/far.h"\n' >src/top/top.c
reports 'src/top/top.c:2: top may not include far/far.h'
tree; echo '#include "top/top.h"' >src/far/far.h
reports 'src/far/far.h:1: far may not include top/top.h'
tree; echo '#include "mid/mid.h"' >tests/unit/low/test_low.c
reports 'tests/unit/low/test_low.c:1: low may not include mid/mid.h'
tree; echo '#include "low.h"' >src/low/low.c
reports 'src/low/low.c:1: "low.h": includes are written from src/'
tree; echo '#include "made.def"' >src/low/low.c
reports 'src/low/low.c:1: "made.def": includes are written from src/'
tree; echo '#include "../mid/mid.h"' >src/top/top.c
reports 'src/top/top.c:1: "../mid/mid.h": includes are written from src/'
tree; echo '#include <mid/mid.h>' >src/low/low.c
reports 'src/low/low.c:1: write "mid/mid.h", not <mid/mid.h>'
tree; mkdir workloads; echo 'sonde_room(workloads DEPENDS low)' >workloads/CMakeLists.txt
echo '#include "mid/mid.h"' >workloads/w.c
reports 'workloads/w.c:1: workloads may not include mid/mid.h'
tree; mkdir workloads; echo 'sonde_room(workloads DEPENDS low)' >workloads/CMakeLists.txt
echo '#include "workloads/w.h"' >src/low/low.c
reports 'src/low/low.c:1: low may not include workloads/w.h'
tree; mkdir src/new; echo 'int x;' >src/new/new.c
reports 'src/new/new.c: the room new has no src/new/CMakeLists.txt'
tree; echo 'sonde_room(low DEPENDS top)' >src/low/CMakeLists.txt
reports 'the rooms depend on each other in a circle:'
tree; echo 'sonde_room(low DEPENDS nowhere)' >src/low/CMakeLists.txt
reports 'src/low/CMakeLists.txt: there is no room nowhere'
tree; echo 'add_library(low)' >src/low/CMakeLists.txt
reports 'src/low/CMakeLists.txt: no sonde_room() here'

[ "$failures" -eq 0 ]
