#!/bin/sh
# space.sh SONDE LIBRARIES HOST ARGUMENT: installed below a folder with a space in its name, Sonde runs a program that has
# a runtime linked into it, and the dynamic linker has nothing to say.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-space.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/a folder/shim"
cp "$1" "$work/a folder/sonde"
cp "$2"/lib*.so* "$work/a folder/shim"
"$work/a folder/sonde" run -q --functional -- "$3" "$4" 2>"$work/err" || { echo "status $?"; cat "$work/err"; exit 1; }
if grep 'ld\.so' "$work/err"; then exit 1; fi
