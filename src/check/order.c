/*
 * What comes before what: vector clocks of a block's warps, and sets of blocks. Time is a count of
 * the block's own that goes on whenever something orders accesses; an access of warp u at time t
 * comes before what warp v does now if v has seen u up to t. Lanes of a warp are one with its
 * clock; what orders them among themselves is bar.warp.sync and every barrier, or, where lanes run
 * in lockstep, the program.
 *
 * Between blocks: a block that makes a fence and then an atomic access, or one that releases, has
 * released all that it has done; who reads the place atomically afterwards has seen it, and what it
 * had seen. That the fence came before later plain accesses of the same block is not told apart, so
 * a race may stay unseen there, but none is made up. A strong store without either hands on that
 * the block's reads are over, as programs do who publish what they made of what they read (scans
 * that look back, in place): who reads the place afterwards may write there.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

#define PLACES_MAX_BYTES (64u << 20)
#define EVER UINT32_MAX

static void set_floor(struct watched_cta *cta, uint32_t warp)
{
    uint32_t least = EVER;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        least = cta->clock[warp].seen[i] < least ? cta->clock[warp].seen[i] : least;
    cta->floor[warp] = least;
}

void order_begin(struct watched_cta *cta)
{
    bool lockstep = cta->launch->check->lockstep;
    memset(cta->barrier, 0, sizeof cta->barrier);
    memset(cta->barrier_threads, 0, sizeof cta->barrier_threads);
    memset(cta->barrier_come, 0, sizeof cta->barrier_come);
    memset(cta->fenced, 0, sizeof cta->fenced);
    cta->any_fence = false;
    cta->gone = 0;
    for (uint32_t v = 0; v < cta->warp_count; v++) {
        for (uint32_t u = 0; u < cta->warp_count; u++)
            cta->clock[v].seen[u] = u == v && lockstep ? EVER : cta->time - 1;
        set_floor(cta, v);
    }
    free(cta->seen_blocks);
    free(cta->seen_reads);
    cta->seen_blocks = cta->seen_reads = NULL;
    cta->launch->place_bytes -= cta->places.count * sizeof(struct sync_place);
    order_forget(&cta->places);
}

static void join(const struct watched_cta *cta, struct clocks *to, const struct clocks *from)
{
    for (uint32_t i = 0; i < cta->warp_count; i++)
        to->seen[i] = from->seen[i] > to->seen[i] ? from->seen[i] : to->seen[i];
}

/* What a warp hands on: what it has seen, and all of its own. */
static void hand_on(struct watched_cta *cta, struct clocks *to, uint32_t warp)
{
    struct clocks own = cta->clock[warp];
    own.seen[warp] = cta->time;
    join(cta, to, &own);
}

static void take_over(struct watched_cta *cta, uint32_t warp, const struct clocks *from)
{
    uint32_t own = cta->clock[warp].seen[warp];
    join(cta, &cta->clock[warp], from);
    if (own == EVER)
        cta->clock[warp].seen[warp] = own;
    set_floor(cta, warp);
}

void order_lanes(struct watched_cta *cta, uint32_t warp)
{
    if (cta->clock[warp].seen[warp] != EVER)
        cta->clock[warp].seen[warp] = cta->time++;
    set_floor(cta, warp);
}

void order_arrive(struct watched_cta *cta, uint32_t warp, uint32_t barrier)
{
    hand_on(cta, &cta->barrier[barrier], warp);
    cta->time++;
}

/* `all`: the barrier waited for the whole block, so that who has exited has come, too. */
void order_leave(struct watched_cta *cta, uint64_t warps, uint32_t barrier, bool all)
{
    struct clocks *from = &cta->barrier[barrier];
    for (uint32_t i = 0; all && i < cta->warp_count; i++)
        if (cta->gone >> i & 1)
            from->seen[i] = EVER;
    /* Who has waited has done nothing since it came: all of its accesses are older than this time.
     */
    for (uint64_t rest = warps; rest; rest &= rest - 1)
        from->seen[__builtin_ctzll(rest)] = cta->time - 1;
    for (uint64_t rest = warps; rest; rest &= rest - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(rest);
        take_over(cta, warp, from);
        if (cta->clock[warp].seen[warp] != EVER)
            cta->clock[warp].seen[warp] = from->seen[warp];
        set_floor(cta, warp);
    }
    memset(from, 0, sizeof *from);
}

/* The blocks of a cluster have met: all of their accesses are ordered. */
void order_cluster(struct watched_cta *cta)
{
    for (uint32_t v = 0; v < cta->warp_count; v++) {
        for (uint32_t u = 0; u < cta->warp_count; u++)
            if (cta->clock[v].seen[u] != EVER)
                cta->clock[v].seen[u] = cta->time;
        set_floor(cta, v);
    }
    cta->time++;
    const struct exec_cluster *cluster = cta->cta->cluster;
    struct check_launch *launch = cta->launch;
    for (size_t i = 0; i < launch->ctas.count; i++) {
        const struct watched_cta *other = launch->ctas.data[i];
        size_t bytes = (size_t)(launch->blocks / 8 + 1);
        if (!other->cta || other == cta || other->cta->cluster != cluster)
            continue; /* it has ended, or is of another cluster */
        if (!cta->seen_blocks && !(cta->seen_blocks = calloc(1, bytes)))
            return;
        cta->seen_blocks[other->number / 8] |= (uint8_t)(1u << other->number % 8);
    }
}

static bool has(const struct watched_cta *cta, const uint8_t *set, uint32_t block)
{
    return set && block < cta->launch->blocks && set[block / 8] >> block % 8 & 1;
}

bool order_has_block(const struct watched_cta *cta, uint32_t block)
{
    return has(cta, cta->seen_blocks, block);
}

bool order_has_reads(const struct watched_cta *cta, uint32_t block)
{
    return has(cta, cta->seen_reads, block);
}

static size_t set_bytes(const struct watched_cta *cta)
{
    return (size_t)(cta->launch->blocks / 8 + 1);
}

/* `make`: where there is none; NULL for lack of room is told by *lost, if anybody wants to know. */
static struct sync_place *place_at(struct watched_cta *cta, uint64_t address, bool make, bool *lost)
{
    struct check_launch *launch = cta->launch;
    struct u64_map *places = address & ORDER_SHARED ? &cta->places : &launch->places;
    struct sync_place *place = u64_map_get_pointer(places, address);
    if (place || !make || launch->order_lost)
        return place;
    size_t sets = address & ORDER_SHARED ? 0 : 2 * set_bytes(cta);
    bool room = launch->place_bytes + sizeof *place + sets <= PLACES_MAX_BYTES;
    place = room ? calloc(1, sizeof *place + sets) : NULL;
    if (!place || u64_map_put_pointer(places, address, place) < 0) {
        free(place);
        if (lost)
            *lost = true;
        return NULL;
    }
    launch->place_bytes += sizeof *place + sets;
    place->block = cta->number;
    return place;
}

void order_forget(struct u64_map *places)
{
    for (size_t i = 0; i < places->count; i++)
        free(places->entries[i].pointer);
    u64_map_clear(places);
}

void order_release(struct watched_cta *cta, uint32_t warp, uint64_t address)
{
    struct sync_place *place = place_at(cta, address, true, &cta->launch->order_lost);
    if (!place)
        return;
    if (place->block != cta->number) {
        memset(&place->clocks, 0, sizeof place->clocks);
        place->block = cta->number;
    }
    hand_on(cta, &place->clocks, warp);
    cta->time++;
    size_t bytes = address & ORDER_SHARED ? 0 : set_bytes(cta);
    for (size_t i = 0; cta->seen_blocks && i < bytes; i++)
        place->blocks[i] |= cta->seen_blocks[i];
    if (bytes)
        place->blocks[cta->number / 8] |= (uint8_t)(1u << cta->number % 8);
}

void order_acquire(struct watched_cta *cta, uint32_t warp, uint64_t address)
{
    const struct sync_place *place = place_at(cta, address, false, NULL);
    if (!place)
        return;
    if (place->block == cta->number)
        take_over(cta, warp, &place->clocks);
    size_t bytes = address & ORDER_SHARED ? 0 : set_bytes(cta);
    if (bytes && !cta->seen_blocks && !(cta->seen_blocks = calloc(1, bytes))) {
        cta->launch->order_lost = true;
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        cta->seen_blocks[i] |= place->blocks[i];
}

/* Where there is no room for the place nothing is handed on. */
void order_tell_reads(struct watched_cta *cta, uint64_t address)
{
    struct sync_place *place = place_at(cta, address, true, NULL);
    size_t bytes = set_bytes(cta);
    uint8_t *reads = place ? place->blocks + bytes : NULL;
    for (size_t i = 0; reads && i < bytes; i++)
        reads[i] |= (uint8_t)((cta->seen_blocks ? cta->seen_blocks[i] : 0) |
                              (cta->seen_reads ? cta->seen_reads[i] : 0));
    if (reads)
        reads[cta->number / 8] |= (uint8_t)(1u << cta->number % 8);
}

void order_see_reads(struct watched_cta *cta, uint64_t address)
{
    const struct sync_place *place = place_at(cta, address, false, NULL);
    size_t bytes = set_bytes(cta);
    if (!place || (!cta->seen_reads && !(cta->seen_reads = calloc(1, bytes))))
        return;
    for (size_t i = 0; i < bytes; i++)
        cta->seen_reads[i] |= place->blocks[bytes + i];
}
