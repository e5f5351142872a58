#!/bin/sh
# together.sh NVCC BINARY PROGRAM.cu...: compiles programs of programs/ as one, BINARY, in one call of nvcc, which reads
# the headers once: `BINARY NAME` runs a program. Each lies in a namespace of its own; what they include stands in
# front of all, and what one defines ends with it. The option --alone prints those that a binary of their own is
# compiled for instead: units or libraries belong to them, or they say `// alone: why`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

alone() { # PROGRAM.cu
    name=$(basename "$1")
    [ -f "$here/programs/units/$name" ] || [ -f "$here/programs/libraries/$name" ] || grep -q '^// alone: ' "$1"
}
if [ "$1" = --alone ]; then
    for source in "$here"/programs/*.cu; do
        if alone "$source"; then basename "$source" .cu; fi
    done
    exit 0
fi

nvcc=$1 binary=$2
shift 2
if [ -n "$(find "$binary" -newer "$here/programs" -newer "$0" 2>/dev/null)" ] &&
    [ -z "$(find "$@" "$here/programs/check.h" -newer "$binary")" ]; then
    exit 0
fi
{
    cat "$@" | grep '^#include <' | LC_ALL=C sort -u
    echo '#define PROGRAM static void program()'
    echo '#include "check.h"'
    for source in "$@"; do
        echo "namespace program_$(basename "$source" .cu) {"
        echo "#include \"$source\""
        echo "}"
        sed -n 's/^#define \([A-Za-z_0-9]*\).*/#undef \1/p' "$source"
    done
    echo 'int main(int count, char **words)'
    echo '{'
    for source in "$@"; do
        name=$(basename "$source" .cu)
        echo "    if (count == 2 && !strcmp(words[1], \"$name\")) { program_$name::program(); return 0; }"
    done
    echo '    return 2;'
    echo '}'
} >"$binary.cu"
NVCC=$nvcc "$here/compile.sh" "$binary.cu" "$binary" -arch=compute_75 -I "$here/programs"
