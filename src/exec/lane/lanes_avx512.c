/*
 * The lane loops for x86-64 processors with AVX-512 (F, BW, DQ, VL; servers since 2017): a warp's
 * words are two registers, and a part of its lanes is a mask of the store. As in lanes_avx2.c, only
 * the instruction selection differs.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SONDE_PORTABLE_LANES)
#define LANE_FEATURES "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,popcnt"
#if defined(__clang__)
#define LANE_TARGET __attribute__((target(LANE_FEATURES), min_vector_width(512)))
#else
#define LANE_TARGET __attribute__((target(LANE_FEATURES ",prefer-vector-width=512")))
#endif
#define LANE_TABLE lanes_avx512
#define LANE_TABLE_NAME "avx512"
#define LANE_SPECIAL lanes_special_avx512
#define LANE_COMPARES lanes_compares_avx512
#include "exec/lane/lanes.inc"
#else
#include "exec/lane/lanes.h"
const struct lane_table lanes_avx512 = {.name = "avx512"};
#endif
