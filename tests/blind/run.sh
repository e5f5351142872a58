#!/bin/sh
# run.sh BLIND [OPTION]...: blind trials drawn from BLIND_SEED, else from the commit's hash, else from 1.
set -u
blind=$1
shift
cd "$(dirname "$0")" || exit 1
seed=${BLIND_SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1)}
exec "$blind" --seed "$seed" --count 20 --mix --require "$@"
