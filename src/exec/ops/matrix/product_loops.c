/* Loops of products for any processor, and the choice. */
#define LOOP_TARGET
#define LOOP_TABLE product_loops_portable
#define LOOP_LINKAGE
#include "exec/ops/matrix/product_loops.inc"

const struct product_loops *product_loops_choose(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (product_loops_avx2.parts && __builtin_cpu_supports("avx2"))
        return &product_loops_avx2;
#endif
    return &product_loops_portable;
}
