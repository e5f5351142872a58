#!/bin/sh
# comma.sh SONDE HOST COMMA: what is told of a program is the same whatever the locale that the program chooses for itself. Needs
# localedef with its sources, to make one whose numbers have a comma; 77 without.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-comma.XXXXXX")
trap 'rm -rf "$work"' EXIT
if ! localedef -c -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >"$work/log" 2>&1 && [ ! -d "$work/de_DE.UTF-8" ]; then
    echo "no localedef, or no source of de_DE: not tried"
    exit 77
fi
for kind in point comma; do
    preload=
    [ "$kind" = point ] || preload=$3
    "$1" run --sample --summary --stats "$work/$kind.stats" --timeline "$work/$kind.timeline" --profile=json:"$work/$kind.profile" -- \
        env LOCPATH="$work" LD_PRELOAD="$preload" "$2" >"$work/$kind.out" 2>"$work/$kind.err" || { cat "$work/$kind.err"; exit 1; }
done
for name in stats timeline profile err; do
    cmp "$work/point.$name" "$work/comma.$name" || { echo "$name: numbers follow the program's locale"; exit 1; }
done
grep -q '[0-9]\.[0-9]' "$work/comma.stats"
