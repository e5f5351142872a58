#!/bin/sh
# on_card.sh [FOLDER]: the programs on a real GPU with the vendor's own libraries: compiles those of
# programs/ into FOLDER (default: a temporary one) and runs each. A line a program, and at the end how
# many passed; status 1 if one did not. NVCC names the compiler, TIMES=1 prints seconds too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d)}
nvcc=${NVCC:-nvcc}
passed=0 failed=0
mkdir -p "$folder"
for source in "$here"/programs/*.cu; do
    name=$(basename "$source" .cu)
    more=
    [ "$name" != children ] || more='-rdc=true -lcudadevrt'
    # shellcheck disable=SC2086 # several words
    if [ ! -x "$folder/$name" ] &&
        ! NVCC=$nvcc "$here/compile.sh" "$source" "$folder/$name" $more -gencode arch=compute_90,code=sm_90 \
            >"$folder/$name.log" 2>&1; then
        echo "$name: does not compile"
        failed=$((failed + 1))
        continue
    fi
    start=$(date +%s%N)
    if timeout 120 "$folder/$name" >"$folder/$name.out" 2>&1; then
        passed=$((passed + 1))
        result=passes
    else
        failed=$((failed + 1))
        result="FAILS: $(tail -1 "$folder/$name.out")"
    fi
    [ -z "${TIMES:-}" ] || result="$result ($((($(date +%s%N) - start) / 1000000)) ms)"
    echo "$name: $result"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
