#!/bin/sh
# lint.sh: formatting, layering, limits of the house style, compiler warnings as errors, circles of files,
# and the static analyzers. Goes on after a finding, so that one run shows all. Status 1 when there was one.
# lint.sh format: changes the layout of every C file to what the first step wants.
set -eu
cd "$(dirname "$0")/.."
status=0

# step NAME COMMAND...
step() {
    echo "== lint: $1"
    shift
    "$@" || status=1
}

c_files() {
    find src tests include shim mpi bench workloads -type f \( -name '*.c' -o -name '*.h' \) 2>/dev/null | LC_ALL=C sort
}

scripts_in_tree() {
    find scripts tests bench workloads studies .ci -type f \( -name '*.sh' -o -path '.ci/run' \) 2>/dev/null | LC_ALL=C sort
}

format() { c_files | xargs clang-format --dry-run -Werror --ferror-limit=3; }
layers() { scripts/layers.sh; }
folders() { scripts/folders.sh; }
thresholds() { scripts/thresholds.sh; }
limits() { c_files | xargs scripts/limits.sh; }
shell() { scripts_in_tree | xargs shellcheck -S warning; }
warnings() { scripts/build.sh dev all; }
circles() { scripts/circles.sh build/dev; } # of what `warnings` has built
cpp_check() {
    cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppressions-list=.cppcheck --error-exitcode=1 -j "$(nproc)" -I . -I src -I include src shim mpi workloads
}
# Options that GCC alone knows are errors to clang-tidy: it reads a database without them.
tidy_database() {
    mkdir -p build/lint
    sed 's/ -fno-ipa-ra / /' build/dev/compile_commands.json >build/lint/compile_commands.json
}
tidy() {
    find src -name '*.c' | LC_ALL=C sort |
        xargs -P "$(nproc)" -n 4 clang-tidy -p build/lint --quiet --warnings-as-errors='*' 2>/dev/null
}
# The files of shim are compiled up to eight times (shim/CMakeLists.txt): read as the driver's and as one runtime's.
# tidy_shim FOLDER... -- OPTION...
tidy_shim() {
    folders=
    while [ "$1" != -- ]; do folders="$folders $1" && shift; done
    shift
    # shellcheck disable=SC2086 # several words
    for file in $(find $folders -name '*.c' | LC_ALL=C sort); do
        clang-tidy --quiet --warnings-as-errors='*' "$file" -- -std=c17 -I. -Isrc -Iinclude -D_DEFAULT_SOURCE \
            -D_POSIX_C_SOURCE=200809L "$@" 2>/dev/null || return 1
    done
}
tidy_mpi() { # where the build found MPI
    ! grep -q ranks_mpi build/dev/compile_commands.json ||
        clang-tidy -p build/lint --quiet --warnings-as-errors='*' mpi/ranks_mpi.c 2>/dev/null
}

if [ "${1:-}" = format ]; then
    c_files | xargs clang-format -i
    exit 0
fi

step format format
step layers layers
step folders folders
step thresholds thresholds
step limits limits
step shell shell
step warnings warnings
step circles circles
step cppcheck cpp_check
tidy_database
step clang-tidy tidy
step "clang-tidy, the driver" tidy_shim shim/core shim/both shim/driver shim/linked --
step "clang-tidy, the runtime" tidy_shim shim/both shim/runtime -- -DSHIM_RUNTIME=13 -Ibuild/dev/shim/runtime13
step "clang-tidy, mpi" tidy_mpi
if [ "$status" -eq 0 ]; then echo "lint: nothing found"; else echo "lint: SOMETHING FOUND"; fi
exit "$status"
