#!/bin/sh
# The essentials of a dissection fit on one screen, for every shipped model, and read like this.
# whole: all
for recording in "$WHOLE"/*.sonde; do
    "$SONDE" infer "$recording" >screen || fail "inferring from $recording"
    [ "$(wc -l <screen)" -le 40 ] && [ "$(wc -L <screen)" -le 80 ] || fail "$recording: $(cat screen)"
done
"$SONDE" infer "$WHOLE/gtx560ti.sonde" | sed 1,3d >screen
diff -u - screen <<'SCREEN' || fail "the screen of gtx560ti"
  +- 8 SMs, each -------------------------------------------------------------+
  | [l1_data = local_l1 16 KiB] [texture_l1 12 KiB] [constant_l1 2 KiB]       |
  | [constant_l15 32 KiB] [shared memory]                                     |
  +- GPU ---------------------------------------------------------------------+
  | [l2 512 KiB] [l1_tlb] [l2_tlb] [memory]                                   |
  +---------------------------------------------------------------------------+

  cache        size      line  sets x ways policy     hit    miss + conf per
  l1_data      16 KiB    128 B 32 x 4      biased     116    261    0.97 sm
  texture_l1   12 KiB    32 B  4 x 96      lru        240    230    0.97 sm
  local_l1     16 KiB    128 B 32 x 4      biased     116    261    0.97 sm
  constant_l1  2 KiB     64 B  8 x 4       lru        50     53     0.97 sm
  constant_l15 32 KiB    256 B 16 x 8      lru        103    268    0.97 sm
  l2           512 KiB   128 B 256 x 16    lru        371    268    0.97 gpu
  memory                                              639           0.97
  not measured readonly_l1

  l1_tlb       32 MiB of 2 MiB pages, 16 entries, 1 set, lru, +27, per gpu
  l2_tlb       130 MiB of 2 MiB pages, 65 entries, 7 sets, lru, +74, per gpu

  accesses     cg P1 371, cg P2 398, cg P2-miss 665, cg P3 472, cg P3-miss 740,
               cg P4 639, cg P5 1276, ca P1 116, ca P1-l2 377, ca P2 404,
               ca P2-miss 682, ca P3 478, ca P3-miss 756, ca P4 655, ca P5 1293
  shared       32 banks of 4 B, latency 50 cycles
  in flight    mshr (0.98) of 128 entries

Latencies in cycles. With -v: each value's confidence, reasons, evidence.
SCREEN
