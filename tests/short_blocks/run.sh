#!/bin/sh
# run.sh SONDE: a launch without timing of so many blocks that the first look for warps that stand still falls into
# it (2^24 warp instructions). Its blocks end soon: between two of them no warp is left, and that is no standstill.
sonde=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-short-blocks.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
{
    printf '.version 6.0\n.target sm_35\n.address_size 64\n.entry short()\n{\n.reg .u32 %%r<2>;\nmov.u32 %%r1, 1;\n'
    i=0
    while [ $i -lt 128 ]; do
        echo 'add.u32 %r1, %r1, 1;'
        i=$((i + 1))
    done
    printf 'ret;\n}\n'
} >"$scratch/short.ptx"
failed=0
for check in "" --check; do
    # shellcheck disable=SC2086 # no word where there is no option
    if ! "$sonde" exec "$scratch/short.ptx" -q --functional --grid 20000 --block 256 $check >"$scratch/said" 2>&1; then
        echo "sonde exec $check says of blocks that end:"
        cat "$scratch/said"
        failed=1
    fi
done
exit $failed
