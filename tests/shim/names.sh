#!/bin/sh
# names.sh FOLDER API.DEF: every name of the table is exported by the libraries that it belongs to,
# with the version node that programs were linked against, and no other name of CUDA's is. Those of
# called.txt do what they are for.
set -eu
folder=$1 table=$2
bad=0
compare() { # what, expected, actual
    if ! difference=$(diff "$2" "$3"); then
        echo "$1: < in the table, > exported"
        echo "$difference"
        bad=1
    fi
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^DRIVER\(_MISSING\)*(\([A-Za-z0-9_]*\)).*/\2/p' "$table" | LC_ALL=C sort >"$work/want"
nm -D --defined-only "$folder/libcuda.so.1" | sed -n 's/.* T \(cu[A-Z][A-Za-z0-9_]*\).*/\1/p' |
    LC_ALL=C sort >"$work/have"
compare libcuda.so.1 "$work/want" "$work/have"
for soname in libcudart.so.13 libcudart.so.12 libcudart.so.11.0; do
    release=${soname#libcudart.so.}
    release=${release%.0}
    sed -n 's/^RUNTIME\(_MISSING\)*(\([A-Za-z0-9_]*\), \([0-9]*\), \([0-9]*\)).*/\2 \3 \4/p' "$table" |
        awk -v r="$release" -v s="$soname" 'r >= $2 && r <= $3 { print $1 "@@" s }' |
        LC_ALL=C sort >"$work/want"
    nm -D --defined-only "$folder/$soname" | sed -n 's/.* T \(.*\)/\1/p' | LC_ALL=C sort >"$work/have"
    compare "$soname" "$work/want" "$work/have"
done
# What programs call is there, not only its name.
for name in $(sed '/^#/d' "$(dirname "$0")/called.txt"); do
    if ! grep -q "^RUNTIME($name,\|^DRIVER($name)" "$table"; then
        echo "$name: programs call it, and it is missing"
        bad=1
    fi
done
exit $bad
