#!/bin/sh
# check.sh SONDE HOST FOLDER: a program under the memory checker: what is found, as text, JSON and JUnit XML.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-checked.XXXXXX")
trap 'rm -rf "$work"' EXIT
# checked STATUS OPTION ARGUMENT...
checked() {
    wanted=$1
    option=$2
    shift 2
    status=0
    "$sonde" run -q "$option" -- "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$wanted" ] || { echo "$option: status $status"; cat "$work/out" "$work/err"; exit 1; }
}
sonde=$1
host=$2
folder=$3
checked 0 --check "$host" "$folder"
grep -q '^==check== nothing found$' "$work/err"
checked 1 --check "$host" "$folder" more
grep -q "out of bounds: load of 4 bytes in global memory in kernel 'double_words'" "$work/err"
grep -q 'double.ptx:19' "$work/err"
grep -q '0 bytes behind the 128 bytes of allocation 1, made by cuMemAlloc_v2' "$work/err"
checked 1 --check=json:"$work/report.json" "$host" "$folder" more
checked 1 --check=junit:"$work/report.xml" "$host" "$folder" more
# a target that is newer than Kepler, and not than Hopper, is told once; -q says nothing
mkdir "$work/newer"
cp "$folder"/*.ptx "$work/newer"
sed 's/^\.target .*/.target sm_75/' "$folder/double.ptx" >"$work/newer/double.ptx"
newer='^sonde: warning: .*: its \.target is sm_75, and .*; a driver would refuse it'
"$sonde" run -d sim:gtx780 --functional -- "$host" "$work/newer" >"$work/out" 2>"$work/err"
[ "$(grep -c "$newer" "$work/err")" -eq 1 ] || { echo "not warned once:"; cat "$work/err"; exit 1; }
"$sonde" run -q -d sim:gtx780 --functional -- "$host" "$work/newer" >"$work/out" 2>"$work/err"
"$sonde" run -d sim:h200 --functional -- "$host" "$work/newer" >>"$work/out" 2>>"$work/err"
if grep "would refuse" "$work/err"; then echo "warned without need"; exit 1; fi
# what the host does wrong: WHAT KIND WHERE
wrong() {
    checked 1 --check "$host" "$folder" "$1"
    grep -q "^==check== $2" "$work/err" || { echo "$1:"; cat "$work/err"; exit 1; }
    grep -q "$3" "$work/err" || { echo "$1: not where:"; cat "$work/err"; exit 1; }
    grep -q 'of the 128 bytes of allocation 1, made by cuMemAlloc_v2, call 7' "$work/err"
}
wrong twice 'double free: free' 'called by cuMemFree_v2, call 14'
wrong middle 'free of what is no allocation: free' 'byte 16 of the 128 bytes'
wrong leak 'leak: 128 bytes were not freed' 'byte 0 of'
wrong copy 'out of bounds: a copy of 256 bytes' 'called by cuMemcpyHtoD_v2, call 13'
wrong late 'use after free: a copy of 128 bytes' 'freed by cuMemFree_v2, call 13'
wrong freed "use after free: load of 4 bytes in global memory in kernel 'double_words'" 'double.ptx:19:5'
checked 0 --check "$host" "$folder" running
checked 0 --check "$host" "$folder" threads
python3 - "$work" <<'PYTHON'
import json, sys, xml.etree.ElementTree
report = json.load(open(sys.argv[1] + "/report.json"))
kinds = [(each["kind"], each["kernel"], each["line"], each["count"]) for each in report["reports"]]
assert kinds == [("out-of-bounds", "double_words", 19, 32), ("out-of-bounds", "double_words", 21, 32)], kinds
suite = xml.etree.ElementTree.parse(sys.argv[1] + "/report.xml").getroot()
assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "2"), suite.attrib
PYTHON
