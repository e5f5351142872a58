/*
 * What a lookup decides, and what a fill does. A place for a line is chosen when its first
 * sectors arrive, not when they are asked for: no way is held while a fetch is on its way, and a
 * victim may still be hit until then. To the replacement policy a read of other sectors of a line
 * that is there is a hit (measured on an H200: docs/h200.md).
 *
 * Left out: byte masks where the cache keeps no parts of sectors (written.c; others fetch a sector
 * that is written in part first, and take a request to write all from its first to its last byte),
 * the replacement policy's view of requests that merge with a pending line (the fill counts once),
 * a lookup's cost for fills, bank conflicts of the data array.
 */
#include "mem/cache/state.h"
#include "util/error.h"

static inline void next_piece(struct piece *piece, const struct mem_cache *cache,
                              const struct mem_request *request)
{
    uint32_t line_bytes = cache->spec->line_bytes;
    uint64_t key = cache_key(cache, request) + request->done_bytes;
    uint64_t line = tags_line(&cache->tags, key);
    uint64_t base = line * line_bytes;
    uint32_t offset = (uint32_t)(key - base);
    uint32_t bytes = request->bytes - request->done_bytes;
    if (bytes > line_bytes - offset) {
        bytes = line_bytes - offset;
    }
    piece->line = line;
    piece->offset = offset;
    piece->bytes = bytes;
    piece->sectors = tags_sectors_touched(&cache->tags, offset, bytes);
    piece->set = tags_set(&cache->tags, base);
    piece->slot = tags_find(&cache->tags, piece->set, line);
}

#define PASS_CYCLES 16u

/* What a pass over the data array takes; 0: less than a cycle. */
static inline uint64_t pass_time(const struct mem_cache *cache)
{
    uint32_t passes = cache->spec->atomic_passes;
    return passes ? PASS_CYCLES * cache->clock->period_ps / passes : 0;
}

/* The end of the data port's work for `bytes` that are ready at `ready_ps`. */
static uint64_t pass_port(struct mem_cache *cache, uint64_t ready_ps, uint32_t bytes,
                          uint32_t width)
{
    if (width == 0) {
        return ready_ps;
    }
    uint64_t period_ps = cache->clock->period_ps;
    uint64_t cycles = bytes <= width ? 1 : (bytes + width - 1) / width;
    uint64_t busy_ps = cycles * period_ps, pass_ps = pass_time(cache);
    busy_ps = busy_ps < pass_ps ? pass_ps : busy_ps;
    uint64_t start_ps = timeline_reserve(&cache->data_port, ready_ps, busy_ps);
    return start_ps + (cycles - 1) * period_ps;
}

/* Of reads, where they have passes of their own: to parts of a cycle. */
static uint64_t pass_read(struct mem_cache *cache, uint64_t ready_ps, uint32_t bytes)
{
    const struct cache_spec *spec = cache->spec;
    uint64_t period_ps = cache->clock->period_ps;
    uint64_t pass_ps = PASS_CYCLES * period_ps / spec->read_passes;
    uint64_t bytes_ps = bytes * period_ps / spec->data_bytes_per_cycle;
    uint64_t busy_ps = bytes_ps > pass_ps ? bytes_ps : pass_ps;
    uint64_t start_ps = timeline_reserve(&cache->data_port, ready_ps, busy_ps);
    return start_ps + (bytes_ps > period_ps ? bytes_ps - period_ps : 0);
}

/* What is done to the data of a request whose line is there: reads pass the port; writes of
 * parts of sectors may take longer, by whole sectors; atomics one pass after the other. */
static uint64_t pass_data(struct mem_cache *cache, const struct mem_request *request,
                          uint32_t offset, uint32_t bytes, uint64_t ready_ps)
{
    const struct cache_spec *spec = cache->spec;
    if (request->kind == MEM_ATOMIC && spec->atomic_passes > 0) {
        uint64_t passes = request->passes ? request->passes : 1;
        uint64_t busy_ps = passes * PASS_CYCLES * cache->clock->period_ps / spec->atomic_passes;
        return timeline_reserve(&cache->atomics, ready_ps, busy_ps) + busy_ps -
               cache->clock->period_ps;
    }
    if (request->kind == MEM_WRITE &&
        (spec->write_bytes_per_cycle > 0 || spec->whole_write_bytes_per_cycle > 0)) {
        uint32_t last = (offset + bytes - 1) / STORE_SECTOR_BYTES;
        uint32_t sectors = last - offset / STORE_SECTOR_BYTES + 1;
        bool all = request->sectors == 0 || request->sectors >= sectors;
        bool covers = all && offset % STORE_SECTOR_BYTES == 0 && bytes % STORE_SECTOR_BYTES == 0;
        uint32_t width = covers ? spec->whole_write_bytes_per_cycle : spec->write_bytes_per_cycle;
        bytes = (all ? sectors : request->sectors) * STORE_SECTOR_BYTES;
        return pass_port(cache, ready_ps, bytes, width ? width : spec->data_bytes_per_cycle);
    }
    return request->kind == MEM_READ && spec->read_passes && spec->data_bytes_per_cycle
               ? pass_read(cache, ready_ps, bytes)
               : pass_port(cache, ready_ps, bytes, spec->data_bytes_per_cycle);
}

/* One piece is there at `ready_ps`; the reply is due when the last one is. */
static void complete_piece(struct mem_cache *cache, struct mem_request *request, uint64_t ready_ps,
                           enum mem_level served_at)
{
    if (ready_ps > request->ready_ps) {
        request->ready_ps = ready_ps;
    }
    if (served_at > request->served_at) {
        request->served_at = served_at;
    }
    if (--request->pieces > 0) {
        return;
    }
    if (request->outlet) {
        request->outlet->reply(request->outlet->self, request, request->ready_ps);
    } else {
        engine_at(cache->engine, request->ready_ps, cache->source, request->reply, request->ctx,
                  (uintptr_t)request);
    }
}

static uint32_t make_room(struct mem_cache *cache, uint32_t set, uint64_t line, uint64_t physical,
                          uint64_t now_ps)
{
    struct tag_line evicted;
    uint64_t evicted_physical;
    uint32_t slot = tags_allocate(&cache->tags, set, line, physical, &evicted, &evicted_physical);
    if (tag_line_is_there(&evicted)) {
        cache->stats.evictions++;
        written_forget(&cache->written, slot);
        own_write_back(cache, &evicted, evicted_physical, now_ps);
    }
    return slot;
}

/* The physical address of the line's first byte. */
static uint64_t line_physical(const struct mem_request *request, const struct piece *piece)
{
    return request->paddr + request->done_bytes - piece->offset;
}

/* Ask downstream for sectors of a pending line, each run of neighbours as one read. */
static void fetch_sectors(struct mem_cache *cache, struct mem_request *request,
                          const struct piece *piece, struct miss_line *line, uint64_t sectors,
                          uint64_t leave_ps);

static void count_access(struct mem_cache *cache, const struct mem_request *request, bool hit,
                         bool pending)
{
    struct mem_cache_stats *stats = &cache->stats;
    if (request->done_lanes > 0) {
        return; /* the rest of one that has been counted */
    }
    switch (request->kind) {
    case MEM_READ:
    case MEM_PREFETCH:
        stats->reads++;
        stats->read_hits += hit;
        stats->read_pending_hits += pending;
        break;
    case MEM_ATOMIC:
        stats->atomics++;
        break;
    case MEM_WRITE:
        stats->writes++;
        stats->write_hits += hit;
        break;
    }
}

/*
 * What the request wants of a pending line's places. Lanes that found none stay at the head of the
 * queue, as the miss structure's rule for a full one is; `done_lanes` have been placed before.
 */
static uint32_t places_wanted(const struct mem_cache *cache, const struct mem_request *request)
{
    bool by_lane = cache->spec->merger == MERGER_LANE && request->lanes > 0;
    return by_lane ? request->lanes - request->done_lanes : 1;
}

static bool wait_for_misses(struct mem_cache *cache, struct mem_request *request)
{
    cache->stats.mshr_full_stalls += !request->stalled;
    request->stalled = true;
    return false;
}

static void piece_placed(struct mem_request *request, const struct piece *piece)
{
    request->done_bytes += piece->bytes;
    request->done_lanes = 0;
}

static bool lookup_miss(struct mem_cache *cache, struct mem_request *request,
                        const struct piece *piece, uint64_t missing, uint64_t edge_ps)
{
    bool writes = request->kind == MEM_WRITE || request->kind == MEM_ATOMIC;
    struct miss_waiter waiter = {.request = request,
                                 .sectors = missing,
                                 .dirty = writes ? piece->sectors : 0,
                                 .bytes = piece->bytes,
                                 .places = places_wanted(cache, request)};
    struct miss_line *line;
    uint64_t fetch;
    uint32_t placed;
    int rc = cache->miss_ops->add(&line, &fetch, &placed, cache->misses, piece->line, &waiter);
    if (rc == MISS_FULL) {
        return wait_for_misses(cache, request);
    }
    if (rc < 0) {
        engine_fail(cache->engine, rc);
        return false;
    }
    count_access(cache, request, false, fetch == 0);
    if (cache->level == MEM_AT_L1 && request->done_lanes == 0) {
        request->joined = fetch == 0;
    }
    if (fetch) {
        uint64_t miss_ps = clock_cycles_to_ps(cache->clock, cache->spec->miss_cycles);
        fetch_sectors(cache, request, piece, line, fetch, edge_ps + miss_ps);
    }
    if (placed < waiter.places) {
        request->done_lanes += (uint8_t)placed;
        request->pieces++;
        return wait_for_misses(cache, request);
    }
    piece_placed(request, piece);
    return true;
}

/* Sectors that are absent, and what else a miss fetches with them. */
static uint64_t fetch_whole(const struct mem_cache *cache, uint64_t missing)
{
    uint32_t together = cache->spec->sector_bytes / cache->tags.sector_bytes;
    if (together == 1 || !missing) {
        return missing;
    }
    uint64_t whole = 0, group = UINT64_MAX >> (64 - together);
    for (; group; group = together < 64 ? group << together : 0) {
        whole |= missing & group ? group : 0;
    }
    return whole;
}

/* What a request wants of its line and is not there. */
static uint64_t sectors_missing(const struct mem_cache *cache, const struct mem_request *request,
                                const struct piece *piece, const struct tag_line *slot)
{
    uint64_t there = slot ? slot->valid : 0, missing = piece->sectors & ~there;
    if (request->kind == MEM_WRITE && cache->spec->write == WRITE_BACK_WHOLE) {
        uint32_t line_bytes = cache->spec->line_bytes;
        return missing ? tags_sectors_touched(&cache->tags, 0, line_bytes) & ~there : 0;
    }
    if (request->kind == MEM_WRITE) {
        missing &= ~tags_sectors_covered(&cache->tags, piece->offset, piece->bytes);
    }
    return fetch_whole(cache, missing) & ~there;
}

/* Reads, and writes and atomics of a cache that keeps them. */
static bool lookup_kept(struct mem_cache *cache, struct mem_request *request, uint64_t edge_ps)
{
    struct piece piece;
    next_piece(&piece, cache, request);
    struct tag_line *slot = piece.slot == TAGS_NONE ? NULL : &cache->tags.slot[piece.slot];
    bool writes = request->kind == MEM_WRITE || request->kind == MEM_ATOMIC;
    bool keeps_parts = request->kind == MEM_WRITE && cache->written.most_partial > 0;
    uint64_t missing = keeps_parts ? 0 : sectors_missing(cache, request, &piece, slot);
    bool hit = slot && (piece.sectors & ~slot->valid) == 0;
    bool may_clean = writes && written_has_limits(&cache->written);
    if ((missing || !slot || may_clean) && cache->out.head) {
        return false; /* it may have to send downstream, where others wait */
    }
    if (missing) {
        bool placed = lookup_miss(cache, request, &piece, missing, edge_ps);
        if (placed && slot) {
            tags_use(&cache->tags, piece.set, piece.slot);
        }
        return placed;
    }
    if (slot) {
        tags_use(&cache->tags, piece.set, piece.slot);
    } else {
        piece.slot =
            make_room(cache, piece.set, piece.line, line_physical(request, &piece), edge_ps);
        slot = &cache->tags.slot[piece.slot];
    }
    if (keeps_parts) {
        written_store(cache, request, &piece);
    } else if (writes) {
        slot->valid |= piece.sectors;
        slot->dirty |= piece.sectors;
    }
    if (writes) {
        written_changed(cache, piece.slot, edge_ps);
    }
    count_access(cache, request, hit, false);
    piece_placed(request, &piece);
    uint64_t hit_ps = clock_cycles_to_ps(cache->clock, cache->spec->hit_cycles);
    uint64_t ready_ps = pass_data(cache, request, piece.offset, piece.bytes, edge_ps + hit_ps);
    complete_piece(cache, request, ready_ps, cache->level);
    return true;
}

/* The line becomes stale here: it goes, and if it is on its way it will not be kept. */
static void evict_line(struct mem_cache *cache, const struct piece *piece, uint64_t edge_ps)
{
    cache->miss_ops->discard(cache->misses, piece->line);
    if (piece->slot != TAGS_NONE) {
        uint64_t physical = cache->tags.physical ? cache->tags.physical[piece->slot] : 0;
        struct tag_line dropped = tags_drop(&cache->tags, piece->set, piece->slot);
        cache->stats.evictions++;
        written_forget(&cache->written, piece->slot);
        own_write_back(cache, &dropped, physical, edge_ps);
    }
}

/* Requests that go on downstream as they are: bypasses, the L1's atomics, write-through. */
static bool lookup_passed_on(struct mem_cache *cache, struct mem_request *request, bool bypass,
                             uint64_t edge_ps)
{
    if (cache->out.head && !gather_takes(cache, request)) {
        return false;
    }
    bool hit = true;
    while (request->done_bytes < request->bytes) {
        struct piece piece;
        next_piece(&piece, cache, request);
        request->done_bytes += piece.bytes;
        hit = hit && piece.slot != TAGS_NONE;
        if (bypass || cache->spec->write == WRITE_THROUGH_INVALIDATE) {
            evict_line(cache, &piece, edge_ps);
        } else if (piece.slot != TAGS_NONE) {
            tags_use(&cache->tags, piece.set, piece.slot);
        }
    }
    if (bypass) {
        cache->stats.bypasses++;
    } else {
        count_access(cache, request, hit, false);
        edge_ps += clock_cycles_to_ps(cache->clock, cache->spec->miss_cycles);
    }
    if (cache->gather.capacity > 0 && request->kind == MEM_WRITE) {
        gather_store(cache, request, edge_ps);
    } else {
        cache_send_out(cache, request, edge_ps);
    }
    return true;
}

bool cache_lookup(struct mem_cache *cache, struct mem_request *request, uint64_t edge_ps)
{
    if (cache->level == MEM_AT_L1 && (request->bypass || request->kind == MEM_ATOMIC)) {
        return lookup_passed_on(cache, request, true, edge_ps);
    }
    if (request->kind == MEM_WRITE && !cache_keeps_writes(cache->spec)) {
        return lookup_passed_on(cache, request, false, edge_ps);
    }
    return lookup_kept(cache, request, edge_ps);
}

/* What a fill's waiters need to know. */
struct fill {
    struct mem_cache *cache;
    struct tag_line *slot; /* NULL: not kept */
    uint64_t forward_ps;
    enum mem_level served_at;
};

static void on_served(void *ctx, const struct miss_waiter *waiter)
{
    const struct fill *fill = ctx;
    if (fill->slot) {
        fill->slot->valid |= waiter->dirty;
        fill->slot->dirty |= waiter->dirty;
    }
    uint64_t ready_ps = pass_data(fill->cache, waiter->request, 0, waiter->bytes, fill->forward_ps);
    complete_piece(fill->cache, waiter->request, ready_ps, fill->served_at);
}

/*
 * Sectors have arrived: keep them, serve who waited for them, let the head of the queue try
 * again.
 */
static void on_fill(void *ctx, uint64_t arg)
{
    struct own_request *own = ctx;
    struct mem_cache *cache = own->cache;
    (void)arg;
    uint64_t edge_ps = clock_align(cache->clock, engine_now_ps(cache->engine));
    struct miss_line *pending = own->line;
    struct fill fill = {.cache = cache,
                        .forward_ps =
                            edge_ps + clock_cycles_to_ps(cache->clock, cache->spec->fill_cycles),
                        .served_at = own->request.served_at};
    if (!pending->discard) {
        uint64_t base = pending->line * cache->spec->line_bytes;
        uint64_t offset = cache_key(cache, &own->request) - base;
        uint32_t set = tags_set(&cache->tags, base);
        uint32_t slot = tags_find(&cache->tags, set, pending->line);
        if (slot == TAGS_NONE) {
            slot = make_room(cache, set, pending->line, own->request.paddr - offset, edge_ps);
        }
        fill.slot = &cache->tags.slot[slot];
        fill.slot->valid |= own->sectors;
    }
    if (cache->level == MEM_AT_L1) {
        mem_request_ask(own->request.asker, own->request.asked); /* it waits for these sectors */
    }
    cache->miss_ops->arrive(cache->misses, pending, own->sectors, on_served, &fill);
    if (fill.slot) {
        written_changed(cache, (uint32_t)(fill.slot - cache->tags.slot), edge_ps);
    }
    pool_put(&cache->own, own);
    cache->resume(cache);
}

static void fetch_sectors(struct mem_cache *cache, struct mem_request *request,
                          const struct piece *piece, struct miss_line *line, uint64_t sectors,
                          uint64_t leave_ps)
{
    uint32_t sector_bytes = cache->tags.sector_bytes, length;
    while (sectors) {
        uint32_t first = own_next_run(&length, sectors);
        struct own_request *own = own_take(cache, MEM_READ, on_fill, line, length * sector_bytes,
                                           own_run_mask(first, length));
        if (!own) {
            return;
        }
        uint64_t shift = (uint64_t)first * sector_bytes - piece->offset + request->done_bytes;
        own->request.vaddr = request->vaddr + shift;
        own->request.paddr = request->paddr + shift;
        own->request.sm = request->sm;
        own->request.asker = request;
        sectors &= ~own->sectors;
        cache->stats.fetches++;
        cache_send_out(cache, &own->request, leave_ps);
    }
}

void mem_cache_invalidate(struct mem_cache *cache)
{
    if (!cache->spec->enabled) {
        return;
    }
    struct tags *tags = &cache->tags;
    /* A large cache is invalidated often and hardly filled. */
    for (uint32_t set = 0; (set = tags_next_touched(tags, set)) < tags->sets;) {
        uint32_t *filled = tags_filled(tags, set), first = tags_first(tags, set);
        for (uint32_t slot = first; slot < first + tags_ways(tags, set); slot++) {
            cache->stats.writebacks += tags->slot[slot].dirty != 0;
            written_forget(&cache->written, slot);
            tags->slot[slot] = (struct tag_line){0};
        }
        tags->held -= *filled;
        *filled = 0;
    }
    cache->miss_ops->discard_all(cache->misses);
}

void mem_cache_drop(struct mem_cache *cache, uint64_t address)
{
    if (!cache->spec->enabled) {
        return;
    }
    struct tags *tags = &cache->tags;
    uint64_t line = tags_line(tags, address);
    uint32_t set = tags_set(tags, line * cache->spec->line_bytes);
    uint32_t slot = tags_find(tags, set, line);
    cache->miss_ops->discard(cache->misses, line);
    if (slot != TAGS_NONE) {
        cache->stats.evictions++;
        written_forget(&cache->written, slot);
        cache->stats.writebacks += tags_drop(tags, set, slot).dirty != 0;
    }
}

/* The part of some bytes that lies in the first of their lines. */
struct line_part {
    uint64_t line, sectors;
    uint32_t set, bytes;
};

static struct line_part first_line(const struct mem_cache *cache, uint64_t address, uint64_t bytes)
{
    const struct tags *tags = &cache->tags;
    uint64_t line = tags_line(tags, address), start = line * cache->spec->line_bytes;
    uint32_t offset = (uint32_t)(address - start), left = cache->spec->line_bytes - offset;
    uint32_t here = bytes < left ? (uint32_t)bytes : left;
    return (struct line_part){.line = line,
                              .sectors = tags_sectors_touched(tags, offset, here),
                              .set = tags_set(tags, start),
                              .bytes = here};
}

void mem_cache_touch(struct mem_cache *cache, uint64_t address, uint64_t bytes, bool dirty)
{
    if (!cache->spec->enabled) {
        return;
    }
    struct tags *tags = &cache->tags;
    for (uint32_t step; bytes > 0; address += step, bytes -= step) {
        const struct line_part part = first_line(cache, address, bytes);
        step = part.bytes;
        uint32_t set = part.set, slot = tags_find(tags, set, part.line);
        if (slot == TAGS_NONE) {
            struct tag_line evicted;
            uint64_t evicted_physical;
            slot = tags_allocate(tags, set, part.line, part.line * cache->spec->line_bytes,
                                 &evicted, &evicted_physical);
            cache->stats.evictions += tag_line_is_there(&evicted);
            cache->stats.writebacks += evicted.dirty != 0;
            written_forget(&cache->written, slot);
        } else {
            tags_use(tags, set, slot);
        }
        tags->slot[slot].valid |= part.sectors;
        if (dirty && cache_keeps_writes(cache->spec)) {
            tags->slot[slot].dirty |= part.sectors;
        }
        written_changed_at_once(cache, slot);
    }
}

bool mem_cache_holds(const struct mem_cache *cache, uint64_t address, uint64_t bytes)
{
    if (!cache->spec->enabled) {
        return false;
    }
    const struct tags *tags = &cache->tags;
    for (uint32_t step; bytes > 0; address += step, bytes -= step) {
        const struct line_part part = first_line(cache, address, bytes);
        step = part.bytes;
        uint32_t slot = tags_find(tags, part.set, part.line);
        if (slot == TAGS_NONE || (part.sectors & ~tags->slot[slot].valid)) {
            return false;
        }
    }
    return true;
}
