#!/bin/sh
# compare.sh SONDE [-d MODEL]: every case on the simulator (MODEL is sim:h200 where nothing is said), with empty caches, beside what a card took
# (recorded.tsv). Builds the program first (build.sh; SUITES names one that is built already), runs two cases at a time and prints a table and
# what it comes to. NAMES="a b" for some cases only. Status 1 when a case fails or leaves a wrong result.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sonde=${1:?usage: compare.sh SONDE [-d MODEL]}
model=sim:h200
shift
while [ $# -gt 0 ]; do
    case $1 in
    -d) model=${2:?compare.sh: -d wants a model} && shift 2 ;;
    *) echo "usage: compare.sh SONDE [-d MODEL]" >&2 && exit 2 ;;
    esac
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
program=${SUITES:-$out/suites}
[ "${SUITES:-}" ] || "$here/build.sh" "$program" || exit 1

# shellcheck disable=SC2016 # the inner shell's
one='
case=$4.$5
[ "$4" = EMPTY ] && set -- "$1" "$2" "$3" EMPTY ""
timeout "${LIMIT:-600}" "$1" run -q -d "$2" --cold --stats "$3/$case.stats" -- "$SUITES" "$4" $5 >"$3/$case.log" 2>&1 </dev/null
echo $? >"$3/$case.status"'
export SUITES="$program"
{
    echo EMPTY -
    for name in ${NAMES:-$("$program" LIST)}; do
        echo "$name small"
        echo "$name large"
    done
} | tee "$out/cases" | xargs -P 2 -L 1 sh -c "$one" sh "$sonde" "$model" "$out"

python3 "$here/compare.py" "$out"
