#!/bin/sh
# check.sh [BUILD...]: builds what the tests need and runs every test through ctest, in four builds:
#   release   all tests but those of single rooms, as users run it
#   asan      tests of single rooms, here alone: the sanitizers and assertions see all that a release's run of
#             them would; the command line's once more, and a few whole runs (labels unit, cli, asan)
#   tsan      what runs on several host threads again, under the thread sanitizer (label threads)
#   fuzz      a short, repeatable libFuzzer run of each reader of outside data
# Without arguments all of them: the release beside the three others, so that no core waits for the last tests
# of a build or for its configuration. Ends with one line a build; status 1 when a test failed anywhere.
set -eu
cd "$(dirname "$0")/.."
export SONDE_TESTS=ON
# What undefined behaviour runs into is told with its place (cmake/SondeCompiler.cmake).
# Of freed memory 16 MiB are kept apart, not 256: each page that is not used again is a page fault.
export ASAN_OPTIONS="handle_sigill=1:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
jobs=$(nproc 2>/dev/null || echo 2)

# A python3 that is a script (pyenv's) looks for the interpreter at each start: half a second of processor time, of which the
# interpreter itself takes a tenth. The tests start a hundred; here it is found once.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null || true)
if [ -x "$python" ] && [ "$(head -c 2 "$(command -v python3)")" = '#!' ]; then
    PATH=$(dirname "$python"):$PATH
    export PATH
fi

# check NAME TARGET CTEST-ARGUMENT...: what it found goes to build/NAME/check.txt, the first word of which is
# `passed` or `failed`.
check() {
    name=$1
    target=$2
    shift 2
    began=$(date +%s)
    echo "== $name: building"
    if ! scripts/build.sh "$name" "$target"; then
        echo "failed $name: the build failed" >"build/$name/check.txt"
        return 0
    fi
    echo "== $name: testing"
    report=build/$name/ctest.txt
    { ctest --test-dir "build/$name" -j "$jobs" --output-on-failure --no-tests=error "$@" 2>&1 ||
        echo "ctest-failed"; } | tee "$report.all" |
        awk -v name="$name" '/^ctest-failed$/ || /^ *Start / { next } { print name ": " $0; fflush() }'
    verdict=passed
    if grep -q '^ctest-failed$' "$report.all"; then verdict=failed; fi
    result=$(grep 'tests passed' "$report.all" || echo "no tests ran")
    echo "$verdict $name: $result, $(($(date +%s) - began)) s with the build" >"build/$name/check.txt"
}

check_build() {
    mkdir -p "build/$1"
    echo "failed $1: broken off" >"build/$1/check.txt"
    case $1 in
    release) check release all -LE '^unit$' ;;
    asan) check asan all -L 'unit|cli|asan' ;;
    tsan) check tsan threaded -L threads ;;
    fuzz) check fuzz fuzzers -L fuzz ;;
    *)
        echo "check.sh: no build '$1'; there are release, asan, tsan and fuzz" >&2
        exit 2
        ;;
    esac
}

if [ $# -gt 0 ]; then
    for build in "$@"; do check_build "$build"; done
    exit 0
fi

# By xargs, which ends with what it started when it is interrupted.
builds="release asan tsan fuzz"
for build in $builds; do rm -f "build/$build/check.txt"; done
printf 'release\nasan tsan fuzz\n' | xargs -P 2 -L 1 scripts/check.sh || true

echo
echo "== make check"
status=0
for build in $builds; do
    read -r verdict result <"build/$build/check.txt" || result="$build: broken off"
    [ "${verdict:-failed}" = passed ] || status=1
    echo "$result"
done
if [ "$status" -eq 0 ]; then echo "everything passed"; else echo "SOMETHING FAILED"; fi
exit "$status"
