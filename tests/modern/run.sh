#!/bin/sh
# run.sh NVCC SONDE PROGRAM.cu FOLDER: compiles the program if it is younger than its binary in FOLDER, and runs it without timing, with it, and under the
# checker. Each time every value is to be the host's own, the bytes that a kernel leaves those of a card where h200.txt has their hash, and the checker is to
# find nothing.
set -eu
nvcc=$1 sonde=$2 source=$3 folder=$4
here=$(dirname "$source")
name=$(basename "$source" .cu)
binary=$folder/$name
if [ -z "$(find "$binary" -newer "$source" -newer "$here/modern.cuh" -newer "$here/products.cuh" 2>/dev/null)" ]; then
    "$nvcc" -w -std=c++17 -O3 -gencode arch=compute_90a,code=compute_90a -cudart shared -o "$binary" "$source"
fi
for mode in --functional --timing --check; do
    option=$mode
    if [ $mode = --timing ]; then
        option=-q
    fi
    status=0
    "$sonde" run -q $option -d sim:h200 -- "$binary" >"$binary.out" 2>"$binary.err" || status=$?
    if [ $status != 0 ]; then
        echo "$name $mode: exit status $status"
        cat "$binary.out" "$binary.err"
        exit 1
    fi
    while read -r kernel hash _; do
        card=$(sed -n "s/^$kernel \([0-9a-f]*\) .*/\1/p" "$here/h200.txt" 2>/dev/null || true)
        if [ -n "$card" ] && [ "$card" != "$hash" ]; then
            echo "$name $mode: $kernel left $hash, the card $card"
            exit 1
        fi
    done <"$binary.out"
done
grep -qx '==check== nothing found' "$binary.err" || { cat "$binary.err"; exit 1; }
