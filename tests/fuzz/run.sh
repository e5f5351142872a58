#!/bin/sh
# run.sh TARGET CORPUS: a short run of one fuzz target. The number of inputs is fixed (FUZZ_RUNS for another), the seed
# too; no clock ends it, unless FUZZ_SECONDS asks for that. New inputs go to a scratch folder: the committed corpus
# does not change.
set -eu
target=$1
corpus=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/new"
export TMPDIR="$scratch" # for what a target writes
set -- "$scratch/new"
if [ -d "$corpus" ]; then set -- "$@" "$corpus"; fi
dictionary="$corpus.dict"
if [ -f "$dictionary" ]; then set -- "-dict=$dictionary" "$@"; fi
# Inputs for about 5 seconds of processor time each: a program that is run takes 30 ms, one that is parsed 3 ms, a
# model 0.6 ms, a document or a recording less.
runs=20000
case $target in
*fuzz_exec_grammar) runs=200 ;;
*fuzz_exec | *fuzz_ptx) runs=2000 ;;
*fuzz_ptx_link | *fuzz_model) runs=6000 ;;
*fuzz_cli) runs=4000 ;;
*fuzz_api_saved) runs=1000 ;;
esac
quiet=0
case $target in *fuzz_cli) quiet=3 ;; esac # what commands print
"$target" -seed=1 -runs="${FUZZ_RUNS:-$runs}" -max_total_time="${FUZZ_SECONDS:-0}" -timeout=50 \
    -rss_limit_mb=1024 -max_len=65536 -verbosity=0 -close_fd_mask=$quiet -print_final_stats=1 \
    -artifact_prefix="${FUZZ_ARTIFACTS:-$scratch/}" "$@"
