#!/bin/sh
# checked_counts.sh BENCH_CHECKED [NAME...]: what the memory checker costs in instructions of the host within launches
# without timing, which no other work on the machine changes: "NAME SIZE PLAIN CHECKED RATIO" for each workload (of all when none is
# named), in millions, then the largest ratio. Needs valgrind, whose processor has AVX2 and no AVX-512. Sizes are
# below the full ones where valgrind would take minutes.
set -eu
bench=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
count() {
    valgrind --tool=callgrind --toggle-collect=exec_run_launch_with --callgrind-out-file="$out/counts" \
        "$bench" count "$1" "$2" "$3" >"$out/log" 2>&1 || { cat "$out/log" >&2; exit 1; }
    sed -n 's/^.*Collected : *\([0-9]*\).*$/\1/p' "$out/log"
}
while read -r name size; do
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    plain=$(count "$name" "$size" plain)
    checked=$(count "$name" "$size" checked)
    awk -v n="$name" -v s="$size" -v p="$plain" -v c="$checked" \
        'BEGIN { printf "%s %s %.1f %.1f %.2f\n", n, s, p / 1e6, c / 1e6, c / p }' | tee -a "$out/all"
done <<'SIZES'
vectoradd 400000
matmul 128
reduction 2000000
blackscholes 100000
walsh 17
dyadic 16
stencil 64
bfs 30000
nbody 1024
laplace3d 60
raytrace 128
frontier 30000
aes 65536
coulomb 128
nqueens 9
storegpu 49152
scan 65536
transpose 256
scalarproduct 64
histogram 250000
convolution 256
binomial 8
libor 256
mummer 1000
neural 1
weather 16
maxwell 4
matmul_copy 128
matmul_wgmma 256
layer_norm 1024
softmax 1024
stencil_box 512
histogram_cluster 250000
split_k 128
attention 128
attention_wgmma 256
SIZES
sort -k5,5nr "$out/all" | awk 'NR == 1 { print "most", $5, $1 }'
