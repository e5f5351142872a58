#!/bin/sh
# run.sh BLIND [OPTION]...: 12 blind trials, every other one with noise. Six are drawn from the commit's hash (so
# that each commit is tried on hierarchies that nobody has seen), from BLIND_SEED where that is set, and from 1 where
# there is no repository; six are the same each time, and show what a change loses. A failure prints the seed of its
# trial: blind --replay SEED.
set -u
blind=$1
shift
cd "$(dirname "$0")" || exit 1
seed=${BLIND_SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1)}
status=0
"$blind" --seed "$seed" --count 6 --mix --jobs 2 --require "$@" || status=1
"$blind" --seed known --count 6 --mix --jobs 2 --known "$@" || status=1
exit $status
