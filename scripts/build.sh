#!/bin/sh
# build.sh PRESET [TARGET...]: configures build/PRESET when needed and builds the targets (all when
# none is named). Quiet unless something fails or VERBOSE=1. SONDE_TESTS=OFF leaves the tests out.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
folder=build/$preset
tests=${SONDE_TESTS:-}
if [ -z "$tests" ]; then
    # A plain build must not need the test library; a check has installed it before it comes here.
    tests=OFF
    if pkg-config --exists cmocka; then tests=ON; fi
fi

mkdir -p "$folder"
log=$folder/build.log
if [ "${VERBOSE:-0}" = 1 ]; then
    cmake --preset "$preset" "-DSONDE_TESTS=$tests"
elif ! cmake --preset "$preset" "-DSONDE_TESTS=$tests" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
if [ $# -gt 0 ]; then set -- --target "$@"; fi
if [ "${VERBOSE:-0}" = 1 ]; then
    cmake --build "$folder" "$@"
elif ! cmake --build "$folder" "$@" >"$log" 2>&1; then
    # The errors, without the lines of what went well.
    grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\|Embedding\|Generating\)' "$log" >&2 || cat "$log" >&2
    echo "build.sh: building $preset failed; the whole log is $log" >&2
    exit 1
else
    grep -A6 'warning:' "$log" >&2 || true
fi
