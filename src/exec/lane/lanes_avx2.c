/*
 * The lane loops for x86-64 processors with AVX2, BMI and FMA (2013 and later). Only the
 * instruction selection differs: contraction of a * b + c stays off, so results are those of the
 * portable loops.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SONDE_PORTABLE_LANES)
#define LANE_TARGET __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define LANE_TABLE lanes_avx2
#define LANE_TABLE_NAME "avx2"
#define LANE_SPECIAL lanes_special_avx2
#define LANE_COMPARES NULL
#include "exec/lane/lanes.inc"
#else
#include "exec/lane/lanes.h"
const struct lane_table lanes_avx2 = {.name = "avx2"};
#endif
