#!/bin/sh
# scripts/thresholds.sh passes sizes of arrays and what is no number, and reports each threshold that is a macro.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
mkdir -p "$scratch/src/infer/fit" "$scratch/src/other"
cat >"$scratch/src/infer/fit/good.c" <<'END'
#define MOST_ROWS 16 /* [FALSE_SIZE] */
#define NOBODY UINT32_MAX
#define COUNT(x) 1
#define SUM 0 ADD(1)
static int rows[2 * MOST_ROWS + 1];
END
echo '#define SHARE 0.5' >"$scratch/src/other/elsewhere.c"
"$root/scripts/thresholds.sh" "$scratch" || failures=1
cat >"$scratch/src/infer/fit/bad.h" <<'END'
#define SHARE 0.25 /* of the loads */
#define FAR_BYTES (UINT64_C(256) << 20)
#define PATIENCE \
    10.0
#define FALSE_SIZE 8
#define LATE 15e3
END
if found=$("$root/scripts/thresholds.sh" "$scratch"); then
    echo 'thresholds that are macros pass'
    failures=1
fi
expected='src/infer/fit/bad.h:1: SHARE
src/infer/fit/bad.h:2: FAR_BYTES
src/infer/fit/bad.h:3: PATIENCE
src/infer/fit/bad.h:5: FALSE_SIZE
src/infer/fit/bad.h:6: LATE'
names=$(echo "$found" | sed 's/ is a number.*//')
[ "$names" = "$expected" ] || { echo "found: $found"; failures=1; }
exit $failures
