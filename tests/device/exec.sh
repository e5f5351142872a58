#!/bin/sh
# exec.sh SONDE FAKE_CUDA: `sonde exec -d cuda:0` through a library that plays the driver: which kernel is launched, by
# the text's names, with which arguments and what comes back.
set -u
sonde=$(readlink -f "$1")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-card.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
ln -s "$(readlink -f "$2")" "$scratch/libcuda.so.1"
export LD_LIBRARY_PATH="$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
cd "$here/exec" || exit 1
run() {
    "$sonde" exec card.ptx -d cuda:0 "$@" 2>&1
    echo "status $?"
}
{
    run --kernel add --arg y=zero:16 --arg u32:4 --arg u32:5 --print y:u32:4
    echo "# which"
    run --arg y=zero:16
    run --kernel nothing --arg y=zero:16
    run --kernel twice --arg y=zero:16
    echo "# not the driver's, but in the text"
    run --kernel other --arg y=zero:16
} >"$scratch/actual"
if [ "${UPDATE:-0}" = 1 ]; then cp "$scratch/actual" expected; fi
diff -u expected "$scratch/actual"
