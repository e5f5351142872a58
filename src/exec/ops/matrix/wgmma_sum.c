/* Sums for any processor, and the choice. */
#define SUM_TARGET
#define SUM_NAME sum_portable
#include "exec/ops/matrix/wgmma_sum.inc"

wgmma_sum_fn *wgmma_sum_choose(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (wgmma_sum_avx2 && __builtin_cpu_supports("avx2"))
        return wgmma_sum_avx2;
#endif
    return sum_portable;
}
