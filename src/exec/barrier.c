/* Counting at barriers; see barrier.h. */
#include "exec/barrier.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void cta_barriers_init(struct cta_barriers *barriers, uint32_t warps)
{
    memset(barriers, 0, sizeof *barriers);
    barriers->alive = warps >= 64 ? UINT64_MAX : (UINT64_C(1) << warps) - 1;
}

static uint32_t result_of(const struct cta_barrier *barrier, enum exec_barrier_kind kind)
{
    switch (kind) {
    case BARRIER_POPC:
        return barrier->count;
    case BARRIER_AND:
        return barrier->count == barrier->lanes;
    case BARRIER_OR:
        return barrier->count > 0;
    default:
        return 0;
    }
}

/* Let all go if enough have come. */
static uint64_t release(struct cta_barriers *barriers, uint32_t id, struct exec_warp *const *warps)
{
    struct cta_barrier *barrier = &barriers->barrier[id];
    uint32_t expected =
        barrier->expected ? barrier->expected : (uint32_t)__builtin_popcountll(barriers->alive);
    if (barrier->arrived == 0 || barrier->arrived < expected)
        return 0;
    uint64_t waiting = barrier->waiting;
    for (uint64_t rest = waiting; rest; rest &= rest - 1) {
        struct exec_warp *warp = warps[__builtin_ctzll(rest)];
        exec_barrier_result(warp, result_of(barrier, warp->barrier_kind));
    }
    memset(barrier, 0, sizeof *barrier);
    return waiting;
}

/* Have all warps of its warpgroup committed what it waits for? */
static bool products_are_made(const struct cta_barriers *barriers, uint32_t index)
{
    const struct cta_products *products = &barriers->products;
    for (uint64_t rest = cta_warpgroup(index) & barriers->alive; rest; rest &= rest - 1)
        if (products->made[__builtin_ctzll(rest)] < products->wanted[index])
            return false;
    return true;
}

/* Of the warpgroup's warps those that need not wait any longer. */
static uint64_t release_products(struct cta_barriers *barriers, uint32_t index)
{
    uint64_t released = 0;
    for (uint64_t rest = cta_warpgroup(index) & barriers->products.waiting; rest; rest &= rest - 1)
        if (products_are_made(barriers, (uint32_t)__builtin_ctzll(rest)))
            released |= rest & -rest;
    barriers->products.waiting &= ~released;
    return released;
}

static uint64_t arrive_products(struct cta_barriers *barriers, const struct exec_warp *warp,
                                uint32_t index)
{
    struct cta_products *products = &barriers->products;
    uint32_t left = warp->barrier_id, *made = &products->made[index];
    uint64_t self = UINT64_C(1) << index;
    if (warp->barrier_kind == BARRIER_PRODUCTS_ARRIVE) {
        (*made)++;
        return release_products(barriers, index) | self;
    }
    products->wanted[index] = *made > left ? *made - left : 0;
    products->waiting |= self;
    return release_products(barriers, index);
}

uint64_t cta_barriers_arrive(struct cta_barriers *barriers, struct exec_warp *const *warps,
                             uint32_t index)
{
    const struct exec_warp *warp = warps[index];
    if (exec_barrier_is_of_products(warp->barrier_kind))
        return arrive_products(barriers, warp, index);
    struct cta_barrier *barrier = &barriers->barrier[warp->barrier_id % CTA_BARRIERS];
    uint64_t self = UINT64_C(1) << index;
    barrier->arrived++;
    barrier->count += (uint32_t)__builtin_popcount(warp->barrier_value);
    barrier->lanes += (uint32_t)__builtin_popcount(warp->barrier_lanes);
    if (warp->barrier_threads)
        barrier->expected = warp->barrier_threads / WARP_LANES;
    if (warp->barrier_kind != BARRIER_ARRIVE)
        barrier->waiting |= self;
    uint64_t released = release(barriers, warp->barrier_id % CTA_BARRIERS, warps);
    return warp->barrier_kind == BARRIER_ARRIVE ? released | self : released;
}

uint64_t cta_barriers_exit(struct cta_barriers *barriers, struct exec_warp *const *warps,
                           uint32_t index)
{
    barriers->alive &= ~(UINT64_C(1) << index);
    uint64_t released = release_products(barriers, index);
    for (uint32_t id = 0; id < CTA_BARRIERS; id++)
        if (barriers->barrier[id].arrived && !barriers->barrier[id].expected)
            released |= release(barriers, id, warps);
    return released;
}

void exec_barrier_text(char *out, size_t size, const struct exec_warp *warp)
{
    if (warp->barrier_kind == BARRIER_CLUSTER_WAIT)
        snprintf(out, size, "at the barrier of its cluster");
    else if (warp->barrier_kind == BARRIER_PRODUCTS_WAIT)
        snprintf(out, size, "for products of other warps of its warpgroup");
    else
        snprintf(out, size, "at barrier %" PRIu32, warp->barrier_id);
}
