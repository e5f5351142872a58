#!/bin/sh
# run.sh TARGET CORPUS: a short run of one fuzz target, the same every time. The number of inputs is
# fixed (FUZZ_RUNS), the seed too; the time limit only protects a slow machine. New inputs go to a
# scratch folder: the committed corpus does not change.
set -eu
target=$1
corpus=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/new"
set -- "$scratch/new"
if [ -d "$corpus" ]; then set -- "$@" "$corpus"; fi
dictionary="$corpus.dict"
if [ -f "$dictionary" ]; then set -- "-dict=$dictionary" "$@"; fi
"$target" -seed=1 -runs="${FUZZ_RUNS:-20000}" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=5 \
    -rss_limit_mb=1024 -max_len=65536 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="${FUZZ_ARTIFACTS:-$scratch/}" "$@"
