/*
 * What kernels in today's style share: barriers in shared memory, copies that run ahead of the arithmetic, boxes that a
 * tensor map brings, descriptors of what wgmma multiplies.
 */
#ifndef SONDE_WORKLOADS_MODERN_CUH
#define SONDE_WORKLOADS_MODERN_CUH

#include <stdint.h>

static __device__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void barrier_init(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

static __device__ void barrier_expect(uint64_t *bar, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}

static __device__ void barrier_arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

static __device__ void barrier_wait(uint64_t *bar, unsigned phase)
{
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(
                     shared_address(bar)),
                 "r"(phase)
                 : "memory");
}

static __device__ void load_box(void *to, const void *map, int x, int y, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))
                 : "memory");
}

struct alignas(64) tensor_map {
    uint32_t words[32];
};

static __device__ void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

/* Of a tile of 64 halves a row, which a tensor map brought with 128-byte swizzle. */
static __device__ uint64_t descriptor(const void *p)
{
    return (uint64_t)(shared_address(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

#endif
