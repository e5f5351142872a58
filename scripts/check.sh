#!/bin/sh
# check.sh: builds what the tests need and runs every test through ctest, in four builds:
#   release   all tests but those of single rooms, as users run it
#   asan      tests of single rooms, here alone: the sanitizers and assertions see all that a release's run of
#             them would; the command line's once more, and a few whole runs (labels unit, cli, asan)
#   tsan      what runs on several host threads again, under the thread sanitizer (label threads)
#   fuzz      a short, repeatable libFuzzer run of each reader of outside data
# Ends with one line a build; status 1 when a test failed anywhere.
set -eu
cd "$(dirname "$0")/.."
export SONDE_TESTS=ON
jobs=$(nproc 2>/dev/null || echo 2)
summary=
status=0

# check NAME TARGET CTEST-ARGUMENT...
check() {
    name=$1
    target=$2
    shift 2
    began=$(date +%s)
    echo "== $name: building"
    if ! scripts/build.sh "$name" "$target"; then
        summary="$summary$name: the build failed
"
        status=1
        return 0
    fi
    echo "== $name: testing"
    report=build/$name/ctest.txt
    rc=0
    { ctest --test-dir "build/$name" -j "$jobs" --output-on-failure --no-tests=error "$@" 2>&1 ||
        echo "ctest-failed"; } | tee "$report.all" | grep -v '^ctest-failed$\|^ *Start ' || true
    if grep -q '^ctest-failed$' "$report.all"; then rc=1; fi
    result=$(grep 'tests passed' "$report.all" || echo "no tests ran")
    summary="$summary$name: $result, $(($(date +%s) - began)) s with the build
"
    [ "$rc" -eq 0 ] || status=1
}

check release all -LE '^unit$'
check asan all -L 'unit|cli|asan'
check tsan threaded -L threads
check fuzz fuzzers -L fuzz

echo
echo "== make check"
printf '%s' "$summary"
if [ "$status" -eq 0 ]; then echo "everything passed"; else echo "SOMETHING FAILED"; fi
exit "$status"
