#!/bin/sh
# bench/compare.sh tells ratios, what got worse, what has no counterpart, and refuses what is no figure; bench/run.sh refuses
# what it could not keep or compare before it measures.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

expect() {
    if [ "$(cat actual)" != "$1" ]; then
        printf 'expected:\n%s\nfound:\n' "$1"
        cat actual
        failures=$((failures + 1))
    fi
}

printf '# machine: A, 2 cores\n# commit: 1\nspeed\t200\tloads/s\ntime\t4.0\ts\nold\t1\ts\nblind.confidently_wrong\t0\tshare\n' >kept
printf '# machine: A, 2 cores\nspeed\t150\tloads/s\ntime\t2\ts\nfresh\t7\tMiB\nblind.confidently_wrong\t0.01\tshare\n' >new
"$root/bench/compare.sh" kept new >actual || failures=$((failures + 1))
expect '   0.750 worse  speed: 200, now 150 loads/s
   0.500  time: 4.0, now 2 s
       new  fresh: 7 MiB
      of 0  blind.confidently_wrong: 0, now 0.01 share
  not measured now: 1 of the kept figures'

printf '# machine: B\ntime\t4.4\ts\nspeed\t195\tinsn/s\n' >new
"$root/bench/compare.sh" kept new >actual || failures=$((failures + 1))
expect '  other machine: kept on A, 2 cores, now on B
   1.100 worse  time: 4.0, now 4.4 s
     units  speed: loads/s, now insn/s
  not measured now: 2 of the kept figures'

printf 'speed fast\n' >new
if "$root/bench/compare.sh" kept new >actual; then failures=$((failures + 1)); fi
expect 'new:1: not NAME<TAB>VALUE<TAB>UNIT: speed fast'
if "$root/bench/compare.sh" kept missing 2>actual; then failures=$((failures + 1)); fi
expect 'compare.sh: cannot read missing'

if ONLY=sim KEEP=9.9 "$root/bench/run.sh" 2>actual; then failures=$((failures + 1)); fi
expect 'run.sh: KEEP is of a whole run, not of ONLY=sim'
if KEEP=../x "$root/bench/run.sh" 2>actual; then failures=$((failures + 1)); fi
expect 'run.sh: KEEP=../x is no version'
if COMPARE=none.tsv "$root/bench/run.sh" 2>actual; then failures=$((failures + 1)); fi
expect 'run.sh: cannot read none.tsv'
[ "$failures" -eq 0 ]
