#!/bin/sh
# run.sh BLIND [OPTION]...: blind trials drawn from BLIND_SEED, else from 1. Not yet from the commit's hash:
# some hierarchies are still told wrong or take too long (CHANGELOG, known weaknesses), and a commit must not
# fail for the luck of its hash. BLIND_SEED=$(git rev-parse --short=12 HEAD) draws fresh ones.
set -u
blind=$1
shift
cd "$(dirname "$0")" || exit 1
seed=${BLIND_SEED:-1}
exec "$blind" --seed "$seed" --count 20 --mix --require "$@"
