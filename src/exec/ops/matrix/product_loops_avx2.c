/* Loops of products for x86-64 processors with AVX2. */
#if defined(__x86_64__) && defined(__GNUC__)
#define LOOP_TARGET __attribute__((target("avx2")))
#define LOOP_TABLE product_loops_avx2
#define LOOP_LINKAGE
#include "exec/ops/matrix/product_loops.inc"
#else
#include "exec/ops/matrix/product_loops.h"
const struct product_loops product_loops_avx2 = {0};
#endif
