#!/bin/sh
# record.sh OUT [few]: the recording of these cases on a machine with an NVIDIA GPU, nvcc 13 and ncu, under the conditions of the study's own
# (../record.sh): a process each, caches emptied before each pass, clocks left alone, the same counters, which take several passes.
# With `few`, only the counters of one or two passes: their cycles hold what the first touch of a page takes.
# OUT receives device.txt, cases.tsv, a line a case: its name, size and status ("wrong" where the host finds another result), and
# the counters of each, NAME.SIZE.csv. recorded.py makes recorded.tsv of them. NAMES="a b" for some cases only.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
metrics=$("$here/../record.sh" --metrics)
if [ "${2:-}" = few ]; then
    metrics=sm__cycles_elapsed.max,gpc__cycles_elapsed.max,smsp__inst_executed.sum,dram__bytes_read.sum,dram__bytes_write.sum
    metrics=$metrics,lts__t_sectors_srcunit_tex.sum,l1tex__t_sectors.sum,l1tex__t_sectors_lookup_hit.sum
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$here/build.sh" "$tmp/suites" || exit 1
{
    date -u '+%Y-%m-%dT%H:%M:%SZ'
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,clocks.sm,clocks.mem --format=csv,noheader
    ncu --version | tail -n 1
} >"$out/device.txt"

printf 'name\tsize\tstatus\n' >"$out/cases.tsv"
for name in ${NAMES:-$("$tmp/suites" LIST)}; do
    for size in small large; do
        timeout 60 ncu --clock-control none --cache-control all --csv --page raw --print-units base --metrics "$metrics" \
            --log-file "$out/$name.$size.csv" "$tmp/suites" "$name" "$size" >"$tmp/stdout"
        status=$?
        grep -q -e WRONG -e 'NOT FINITE' "$tmp/stdout" && status=wrong
        printf '%s\t%s\t%s\n' "$name" "$size" "$status" >>"$out/cases.tsv"
        [ "$status" = 0 ] || echo "record.sh: $name $size: status $status" >&2
    done
done
