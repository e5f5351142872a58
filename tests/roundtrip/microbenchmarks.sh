#!/bin/sh
# v100 and a100 take what microbenchmarks of the real ones took: Jia et al. 2018 (table 3.1, chapter 3), Abdelkhalik et al.
# 2022 (memory latencies), and what GTC 2021 S33322 says of the far part of an A100's L2. See the heads of the models.
records() { # MODEL KEY=VALUE...
    device=sim:$1
    shift
    for pair; do set -- "$@" --set "$pair" && shift; done
    "$SONDE" probe chase -d "$device" "$@" --csv - | sed 1d | cut -d, -f2 | sort -n
}
near() { # WHAT EXPECTED TOLERANCE: of the records in `latencies`, from the place of them that $4 is a share of
    got=$(awk -v share="$4" '{ l[NR] = $1 } END { print l[1 + int((NR - 1) * share)] }' latencies)
    echo "$got $2 $3" | awk '{ d = $1 - $2; exit !($1 != "" && d <= $3 && -d <= $3) }' ||
        fail "$1: $got cycles, published $2 (within $3)"
}
cold="bytes=33554432 stride=131072 warm=0 cold=1 window=128"
shared() { # MODEL EXPECTED
    "$SONDE" probe shared -d "sim:$1" --set stride=0 --csv - | sed 1d | tr ',' ' ' |
        awk '{ print $1 / $2 }' >latencies
    near "$1: shared memory" "$2" 0.5 0.5
}
records v100 op=ca bytes=8192 stride=128 >latencies
near "v100: L1" 28 0 0.5
records v100 op=cg bytes=8192 stride=128 >latencies
near "v100: L2" 193 1 0.5
# shellcheck disable=SC2086  # words
records v100 op=cg flush_bytes=12582912 $cold >latencies
near "v100: memory, where TLBs hit" 375 2 0.5
records v100 op=const bytes=1024 stride=64 >latencies
near "v100: constants, L1" 27 0 0.5
records v100 op=const bytes=16384 stride=64 >latencies
near "v100: constants, L1.5" 89 1 0.5
shared v100 19

records a100 op=ca bytes=8192 stride=128 >latencies
near "a100: L1" 33 0 0.5
records a100 op=cg bytes=8192 stride=128 >latencies
near "a100: L2, the near part" 200 1 0
# Lines whose home is the near part, and the far one.
# shellcheck disable=SC2086  # words
records a100 op=cg flush_bytes=50331648 $cold >latencies
near "a100: memory" 290 2 0.1
# (not the last tenth: of channels that refresh in turn, 350 ns each 3900, 9 % of the loads meet a refresh)
near "a100: memory beyond the far part: 150 and a copy's 17 more" 457 2 0.8
shared a100 23
