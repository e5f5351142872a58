/*
 * The lines that a request for `pool` of them with a `seed` means (the probe `evict`): the i-th of
 * them is drawn from all units of memory, whatever the length of the pool. The kernel computes the
 * same (probe/kernels/evict.ptx); inference needs it to name single lines. After the generator
 * splitmix64 (Steele et al., OOPSLA 2014).
 */
#ifndef SONDE_TRACE_POOL_H
#define SONDE_TRACE_POOL_H

#include <stdint.h>

/* The number of the unit, below `units`, which is below 2^32. */
static inline uint32_t pool_unit(uint32_t seed, uint32_t i, uint32_t units)
{
    uint64_t z = ((uint64_t)seed << 32 | i) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * units >> 32);
}

#endif
