#!/bin/sh
# record.sh OUT [FILE]: the measurements of the study h200 (of the kernels of FILE.cu alone), on a machine with an NVIDIA GPU,
# its driver, gcc, CUDA's headers (cuda.h) and ncu. OUT receives device.txt, check.tsv, time.tsv and ncu.N.csv; recorded.py makes recorded.tsv of them.
#   check  what each launch leaves in its buffers
#   time   launches between two events, the least of five, with L2 emptied and warm
#   ncu    counters. It empties the caches before each of its passes, leaves the clocks alone, and its cycles hold the launch.
# record.sh --metrics prints the counters and does nothing else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
file=${2:-}

base=sm__cycles_elapsed.max,sm__cycles_elapsed.avg.per_second,sm__cycles_active.avg,gpu__time_duration.sum
base=$base,smsp__inst_executed.sum,smsp__thread_inst_executed.sum,dram__bytes_read.sum,dram__bytes_write.sum
base=$base,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
base=$base,lts__t_sectors.sum,lts__t_sectors_lookup_hit.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
base=$base,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_tex_lookup_hit.sum,launch__registers_per_thread
more=$base,l1tex__t_sectors.sum,l1tex__t_sectors_lookup_hit.sum,lts__t_sectors_op_atom.sum,lts__t_sectors_op_red.sum
more=$more,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,sm__warps_active.avg.per_cycle_active
more=$more,dram__cycles_elapsed.avg.per_second,lts__cycles_elapsed.avg.per_second
most=$more,sm__inst_executed_pipe_alu.sum,sm__inst_executed_pipe_fma.sum,sm__inst_executed_pipe_fp64.sum
most=$most,sm__inst_executed_pipe_lsu.sum,sm__inst_executed_pipe_xu.sum,sm__inst_executed_pipe_uniform.sum
most=$most,sm__inst_executed_pipe_cbu.sum,sm__inst_executed_pipe_adu.sum
if [ "$out" = --metrics ]; then
    echo "$most"
    exit 0
fi

cuda=${CUDA:-/usr/local/cuda}
record=${RECORD:-$out/../record.$$}
if [ ! -x "$record" ]; then
    gcc -O2 -I"$here/../../src" -I"$cuda/include" -o "$record" "$here/record.c" "$here/../../src/study/kernels/plan.c" \
        "$here/../../src/study/kernels/fill.c" -L"$cuda/lib64/stubs" -lcuda -lm || exit 1
fi
{
    date -u '+%Y-%m-%dT%H:%M:%SZ'
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,clocks.sm,clocks.mem --format=csv,noheader
    ncu --version | tail -n 1
} >"$out/device.txt"
timeout 60 "$record" check "$here/kernels" ${file:+"$file"} >"$out/check.tsv" || echo "check: status $?"

# profile METRICS FILE ARGUMENT...
profile() {
    metrics=$1
    log=$2
    shift 2
    timeout 150 ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" --log-file "$log" \
        "$record" plain "$here/kernels" "$@" >/dev/null
}
for metrics in "$most" "$more" "$base"; do
    profile "$metrics" "$out/try.csv" empty && grep -q smsp__inst_executed "$out/try.csv" && break
    cat "$out/try.csv"
done
rm -f "$out/try.csv"
if [ "$file" ]; then
    profile "$metrics" "$out/ncu.0.csv" "$file" || echo "ncu: status $?"
else
    for part in 0 1 2 3; do
        profile "$metrics" "$out/ncu.$part.csv" "$part/4" || echo "ncu $part: status $?"
    done
fi
timeout 80 "$record" time "$here/kernels" ${file:+"$file"} >"$out/time.tsv" || echo "time: status $?"
nvidia-smi --query-gpu=clocks.sm,clocks.mem --format=csv,noheader >>"$out/device.txt"
wc -l "$out"/*
