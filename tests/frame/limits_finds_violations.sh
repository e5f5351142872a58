#!/bin/sh
# scripts/limits.sh passes a sound file and reports a long line, a long file and a missing opening.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
printf '/* Sound. */\nint x;\n' >sound.c
"$root/scripts/limits.sh" sound.c || failures=1
printf 'int x;\n' >bare.c
awk 'BEGIN { printf "/* Wide.\n%101s\n", "*/" }' >wide.c
awk 'BEGIN { print "/* Long. */"; for (i = 0; i < 800; i++) print "int x;" }' >long.c
for file in bare wide long; do
    if "$root/scripts/limits.sh" $file.c >found; then
        echo "$file.c passes"
        failures=1
    fi
done
"$root/scripts/limits.sh" bare.c wide.c long.c >found
printf 'bare.c:1: the file does not open with a comment\nwide.c:2: longer than 100 columns\nlong.c: longer than 800 lines\n' |
    diff - found || failures=1
exit $failures
