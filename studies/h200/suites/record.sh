#!/bin/sh
# record.sh OUT [few]: the recording of these cases on a machine with an NVIDIA GPU, nvcc 13 and ncu, under the conditions of the study's own
# (../record.sh): a process each, caches emptied before each pass, clocks left alone, the same counters, which take several passes.
# With `few`, only the counters of one or two passes: their cycles hold what the first touch of a page takes.
# OUT receives device.txt and cases.csv, a line a case: its name, size, status ("wrong" where the host finds another result) and
# counters. recorded.py makes recorded.tsv of them. NAMES="a b" for some cases only.
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

# counters NAME,SIZE,STATUS LOG: the line of a profile of one launch. The page has a line of names, one of units and one a launch;
# values are quoted and may hold commas.
counters() {
    awk -v want="$metrics" -v line="$1" '
        function cut(text, into,   n, i, c, quoted, value) {
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) { into[++n] = value; value = "" }
                else value = value c
            }
            into[++n] = value
            return n
        }
        /^"ID"/ { n = cut($0, head); for (i = 1; i <= n; i++) at[head[i]] = i }
        /^"[0-9]+"/ && n { cut($0, values); launches++ }
        END {
            m = split(want, metric, ",")
            for (i = 1; i <= m; i++) {
                x = launches == 1 && (metric[i] in at) ? values[at[metric[i]]] : ""
                gsub(/,/, "", x)
                line = line "," x
            }
            print line
        }' "$2"
}

echo "name,size,status,$metrics" >"$out/cases.csv"
for name in ${NAMES:-$("$tmp/suites" LIST)}; do
    for size in small large; do
        : >"$tmp/log"
        timeout 60 ncu --clock-control none --cache-control all --csv --page raw --print-units base --metrics "$metrics" \
            --log-file "$tmp/log" "$tmp/suites" "$name" "$size" >"$tmp/stdout"
        status=$?
        grep -q -e WRONG -e 'NOT FINITE' "$tmp/stdout" && status=wrong
        counters "$name,$size,$status" "$tmp/log" >>"$out/cases.csv"
        [ "$status" = 0 ] || echo "record.sh: $name $size: status $status" >&2
    done
done
