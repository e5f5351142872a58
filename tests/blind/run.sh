#!/bin/sh
# run.sh BLIND [OPTION]...: 20 blind trials, every other one with noise, drawn from the commit's hash (so that
# each commit is tried on hierarchies that nobody has seen), from BLIND_SEED where that is set, and from 1 where
# there is no repository. A failure prints the seed of its trial: blind --replay SEED.
set -u
blind=$1
shift
cd "$(dirname "$0")" || exit 1
seed=${BLIND_SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1)}
exec "$blind" --seed "$seed" --count 20 --mix --jobs 2 --require "$@"
