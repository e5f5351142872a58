#!/bin/sh
# full.sh SONDE: disks that are full. Where the sweep's folder has no room for the journal, the sweep ends and goes on when there
# is; where points have none for their files, they say so. Small file systems of its own: skipped (77) where there can be none.
set -u
if [ "${2:-}" != inside ]; then
    unshare -rm true 2>/dev/null || exit 77
    exec unshare -rm "$0" "$1" inside
fi
sonde=$(readlink -f "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-full.XXXXXX") || exit 1
cd "$work" || exit 1
mkdir small && mount -t tmpfs -o size=24k tmpfs small || { rm -rf "$work" && exit 77; }
trap 'umount "$work/small"; rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*"
    exit 1
}
cat >plan.yaml <<'YAML'
sweep: plan
run: {command: [echo, "{\"a\": ${n}, \"text\": \"sixty-four bytes and more, so that not so many points have room there\"}"]}
variables: {n: {from: 1, to: 200, step: 1}}
YAML
"$sonde" sweep plan.yaml -o alone -q || fail "with room"
"$sonde" sweep plan.yaml -o small/out -j 2 -q 2>told && fail "a full disk was no error"
grep -q "points.jsonl: No space left on device" told || { cat told && fail "what a full disk is told as"; }
mount -o remount,size=2m small
"$sonde" sweep plan.yaml -o small/out --resume >told || fail "going on"
grep -q "200 points, 200 ok; [1-9][0-9]* from earlier runs" told || { cat told && fail "nothing was left to go on with"; }
cmp alone/table.csv small/out/table.csv || fail "another table"
rm -r small/out
mount -o remount,size=4k small && echo full >small/filler
TMPDIR=$work/small "$sonde" sweep plan.yaml -o files -q
grep -q ",failed,.*no space is left where points have their files" files/table.csv || { head -3 files/table.csv && fail "why points failed"; }
umount small && mount -t tmpfs -o size=0 tmpfs small || fail "no file system without a bound"
sed 's/\[echo, .*\]/[sh, -c, "exit ${n}"]/' plan.yaml >fails.yaml
TMPDIR=$work/small "$sonde" sweep fails.yaml -o unbounded -q
grep -q ",failed," unbounded/table.csv || fail "points that fail"
grep -m 1 "no space is left" unbounded/table.csv && fail "a file system without a bound is told as full"
exit 0
