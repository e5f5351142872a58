#!/bin/sh
# run.sh SCRIPT SONDE TRUTH GET SHUFFLE WHOLE: runs an end-to-end test in an empty scratch folder. What the
# script finds:
#   $SOURCE                      the root of the source tree
#   dissect DEV FILE [OPTION]... a dissection as JSON, which must be valid by the shipped schema: asked at the test's end, of all
#   whole MODEL FILE             the dissection of a model that tests share, valid likewise; its recording is
#                                $WHOLE/MODEL.sonde. The script says in its head: # whole: MODEL...
#   valid FILE...                are they?
#   expect FILE PATH VALUE [TOLERANCE]   an attribute ("l1_data.size"), or its status: "not measured",
#                                absent, "not asked", "not recorded"; "no value": tried, or not recorded
#   truth MODEL FILE             all of a dissection against what the model file says
#   shuffle IN OUT SEED          a recording with each trace's latencies permuted
#   bare FILE                    the JSON less what may differ from run to run: date and seconds
#   over FILE BASE               FILE.yaml, the model of the dissection FILE.json over BASE
#   holds FILE SECTION PATTERN   a section of FILE.yaml has such a line
#   number FILE SECTION KEY      of FILE.yaml with all its parameters written out
#   changes.py                   what its Python changes dissections with: from changes import ...
#   fail TEXT                    says what does not hold; the test goes on and fails at its end
set -u
SCRIPT=$1
SONDE=$2
TRUTH=$3
GET=$4
SHUFFLE=$5
WHOLE=$6
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-roundtrip.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C SOURCE WHOLE PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here"
dissections=$scratch/.dissections
mkdir "$dissections"

fail() {
    echo "FAIL: $*"
    : >"$scratch/.failed" # a file: what is behind a pipe is another shell
}
valid() {
    /usr/bin/python3 "$here/validate.py" "$SOURCE/docs/dissection.schema.json" "$@"
}
dissect() {
    device=$1
    file=$2
    shift 2
    "$SONDE" dissect -d "$device" --json - "$@" >"$file" || fail "dissecting $device: status $?"
    cp "$file" "$(mktemp "$dissections/${device##*/}.XXXXXX")"
}
whole() {
    cp "$WHOLE/$1.json" "$2" || fail "there is no dissection of $1"
}
over() {
    "$SONDE" export "$1.json" --format sonde --base "$2" -o "$1.yaml" && "$SONDE" model check "$1.yaml" >check || fail "$1 over $2: $(cat check)"
}
holds() {
    sed -n "/^$2:/,/^[a-z]/p" "$1.yaml" >part
    grep -q "^  $3" part || fail "$1: no $3 in: $(cat part)"
}
number() {
    "$SONDE" model show "./$1.yaml" | awk -v section="$2:" -v key="$3:" '/^[a-z]/ { here = $1 == section } here && $1 == key { print $2; exit }'
}
expect() {
    got=$("$GET" "$1" "$2") || fail "$1 has no $2"
    case $3 in
    "not measured" | absent | "not asked" | "not recorded")
        [ "$got" = "$3" ] || fail "$1: $2 is $got, expected: $3"
        ;;
    "no value")
        case $got in
        "not measured" | "not recorded") ;;
        *) fail "$1: $2 is $got, expected none" ;;
        esac
        ;;
    *)
        echo "$got $3 ${4:-0}" | awk '{ d = $1 - $2; exit !($1 + 0 == $1 && d <= $3 && -d <= $3) }' ||
            fail "$1: $2 is $got, expected $3 within ${4:-0}"
        ;;
    esac
}
truth() {
    "$TRUTH" "$1" "$2" || fail "$2 differs from what $1 says"
}
shuffle() {
    "$SHUFFLE" "$@" || fail "shuffling $1"
}
bare() {
    sed '/^  "date": /d; /^  "seconds": /d' "$1"
}

cd "$scratch" || exit 1
# shellcheck disable=SC1090  # the test
. "$SCRIPT"
if [ -n "$(ls "$dissections")" ]; then
    valid "$dissections"/* || fail "a dissection's JSON is not valid"
fi
[ ! -e "$scratch/.failed" ]
