#!/bin/sh
# compile.sh PROGRAM.cu BINARY OPTION...: as programs/ wants it. Of units/ the file of the same name is
# linked in for host and device; of libraries/ it becomes a shared library beside the binary, BINARY.so.
set -eu
source=$1 binary=$2
shift 2
folder=$(dirname "$source") name=$(basename "$source")
units=$source
if [ -f "$folder/units/$name" ]; then
    units="-rdc=true $source $folder/units/$name"
fi
compile() {
    "${NVCC:-nvcc}" -w -std=c++17 --extended-lambda -cudart shared "$@"
}
if [ -f "$folder/libraries/$name" ]; then
    compile "$@" -shared -Xcompiler -fPIC -o "$binary.so" "$folder/libraries/$name"
fi
# shellcheck disable=SC2086 # several words
compile "$@" -o "$binary" $units -lcuda -ldl
