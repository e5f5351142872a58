#!/bin/sh
# run.sh TARGET CORPUS: a short run of one fuzz target. The number of inputs is
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
# What a target that runs whole programs takes for an input, 30 ms, is a thousand times what a reader takes.
runs=20000
seconds=20
case $target in
*fuzz_exec_grammar) runs=600 seconds=600 ;;
esac
"$target" -seed=1 -runs="${FUZZ_RUNS:-$runs}" -max_total_time="${FUZZ_SECONDS:-$seconds}" -timeout=50 \
    -rss_limit_mb=1024 -max_len=65536 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="${FUZZ_ARTIFACTS:-$scratch/}" "$@"
