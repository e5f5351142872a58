#!/bin/sh
# unity_reads_every_name.sh ROOT: sources that have a name at file scope in common are not compiled as one, wherever in a
# declaration the name stands; what stands in a parameter list or an initialiser is no name.
set -eu
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-unity.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cat >all.c <<'END'
static bool one, two[4], three = 3;
static uop_run run_a, run_b;
static const char *const names[] = {"x", "y"};
static int function(int a, int b)
END
number=0
for line in 'static int one;' 'static int two;' 'static int three;' 'static int run_a;' 'static int names;' \
    'static int function;' 'static int b;' 'static int y;'; do
    number=$((number + 1))
    echo "$line" >"$number.c"
    echo "$line: $(awk -v most=12 -f "$1/cmake/unity.awk" all.c "$number.c" | tail -1)"
done >got
cat >expected <<'END'
static int one;: 2
static int two;: 2
static int three;: 2
static int run_a;: 2
static int names;: 2
static int function;: 2
static int b;: 1
static int y;: 1
END
diff expected got
