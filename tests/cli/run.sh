#!/bin/sh
# run.sh SONDE SCRIPT.sh: runs a command-line test. The script is sourced by sh in an empty scratch
# folder with `sonde` on its path; everything that it prints, standard output and error together, must
# equal SCRIPT.expected. What the script finds:
#   $DATA        tests/cli/data, files to feed to sonde
#   run CMD...   runs a command and prints "status N" behind its output; never ends the script
#   tell CMD...  the same with the status on standard error, for commands whose standard output cannot
#                be written: tell sonde --help >/dev/full
#   $SOURCE      the root of the source tree
# UPDATE=1 writes SCRIPT.expected instead; say in the commit why it changed.
set -u
sonde=$1
script=$2
expected=${script%.sh}.expected
DATA=$(cd "$(dirname "$0")" && pwd)/data
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
export DATA SOURCE
unset NO_COLOR SONDE_MODEL_PATH
export LC_ALL=C TERM=dumb

scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-cli.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/work"
ln -s "$(cd "$(dirname "$sonde")" && pwd)/$(basename "$sonde")" "$scratch/bin/sonde"
PATH=$scratch/bin:$PATH

cat >"$scratch/prelude" <<'PRELUDE'
run() {
    "$@"
    echo "status $?"
}
tell() {
    "$@"
    echo "status $?" >&2
}
PRELUDE
cat "$scratch/prelude" "$script" >"$scratch/script"
(cd "$scratch/work" && sh "$scratch/script") >"$scratch/actual" 2>&1 </dev/null

if [ "${UPDATE:-0}" = 1 ]; then
    cp "$scratch/actual" "$expected"
    exit 0
fi
if [ ! -f "$expected" ]; then
    echo "there is no $expected; it would read:"
    cat "$scratch/actual"
    exit 1
fi
diff -u "$expected" "$scratch/actual"
