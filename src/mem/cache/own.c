/*
 * Requests that a cache makes for itself: fetches, write-backs, and both of sectors of which only a
 * part is known when they are to be written.
 *
 *      whole, dirty     ---------------------------------> write
 *      part, dirty      --> read --(at the lower level)--> write
 *
 * Left out: room for what waits between the read and the write.
 */
#include <assert.h>

#include "mem/cache/state.h"
#include "util/error.h"

struct own_request *own_take(struct mem_cache *cache, enum mem_kind kind, engine_handler *reply,
                             struct miss_line *line, uint32_t bytes, uint64_t sectors)
{
    struct own_request *own = pool_take(&cache->own);
    if (!own) {
        engine_fail(cache->engine, SONDE_ENOMEM);
        return NULL;
    }
    own->cache = cache;
    own->line = line;
    own->sectors = sectors;
    own->request.sm = 0;
    own->request.lanes = 0;
    own->request.passes = 0;
    own->request.sectors = 0;
    own->request.written[0] = own->request.written[1] = 0;
    own->request.bytes = bytes;
    own->request.kind = kind;
    own->request.served_at = MEM_AT_NONE;
    own->request.bypass = false;
    own->request.constant = false;
    own->request.joined = false;
    own->request.asked = 0;
    own->request.inner = false;
    own->request.reply = reply;
    own->request.outlet = NULL;
    own->request.ctx = own;
    return own;
}

static void on_written_back(void *ctx, uint64_t arg)
{
    struct own_request *own = ctx;
    (void)arg;
    pool_put(&own->cache->own, own);
}

/* The rest of a sector that is known in part has come: all of it is written. */
static void on_completed(void *ctx, uint64_t arg)
{
    struct own_request *own = ctx;
    struct mem_cache *cache = own->cache;
    (void)arg;
    own->request.kind = MEM_WRITE;
    own->request.served_at = MEM_AT_NONE;
    own->request.reply = on_written_back;
    cache_send_out(cache, &own->request, clock_align(cache->clock, engine_now_ps(cache->engine)));
}

uint32_t own_next_run(uint32_t *length, uint64_t bits)
{
    uint32_t first = 0;
    while (!(bits >> first & 1)) {
        first++;
    }
    *length = 0;
    while (first + *length < 64 && (bits >> (first + *length) & 1)) {
        ++*length;
    }
    return first;
}

uint64_t own_run_mask(uint32_t first, uint32_t length)
{
    return (UINT64_MAX >> (64 - length)) << first;
}

/* Each run of `sectors` of the line as one request; how many there are. */
static uint32_t send_runs(struct mem_cache *cache, uint64_t sectors, enum mem_kind kind,
                          engine_handler *reply, uint64_t base, uint64_t physical,
                          uint64_t leave_ps)
{
    uint32_t sector_bytes = cache->tags.sector_bytes, length, runs = 0;
    while (sectors) {
        uint32_t first = own_next_run(&length, sectors);
        uint64_t run = own_run_mask(first, length);
        struct own_request *own = own_take(cache, kind, reply, NULL, length * sector_bytes, run);
        if (!own) {
            break;
        }
        runs++;
        uint64_t offset = (uint64_t)first * sector_bytes;
        own->request.vaddr = base + offset;
        own->request.paddr = (cache->tags.physical ? physical : base) + offset;
        sectors &= ~run;
        cache_send_out(cache, &own->request, leave_ps);
    }
    return runs;
}

/* Of those that are there, what is written when the line leaves. */
static uint64_t sectors_to_write(const struct mem_cache *cache, const struct tag_line *line)
{
    bool whole = cache->spec->write == WRITE_BACK_WHOLE && line->dirty != 0;
    return whole ? line->valid : line->dirty & line->valid;
}

void own_write_back(struct mem_cache *cache, const struct tag_line *line, uint64_t physical,
                    uint64_t leave_ps)
{
    uint64_t base = line->line * cache->spec->line_bytes, parts = line->dirty & ~line->valid;
    cache->stats.writebacks += line->dirty != 0;
    cache->stats.fetches += parts != 0;
    send_runs(cache, sectors_to_write(cache, line), MEM_WRITE, on_written_back, base, physical,
              leave_ps);
    send_runs(cache, parts, MEM_READ, on_completed, base, physical, leave_ps);
}

bool mem_cache_is_dirty(const struct mem_cache *cache)
{
    for (uint32_t slot = 0; slot < cache->tags.lines; slot++) {
        if (cache->tags.slot[slot].dirty) {
            return true;
        }
    }
    return false;
}

/* Of those that mem_cache_write_back() has sent, one has been answered. */
static void on_flushed(void *ctx, uint64_t arg)
{
    struct own_request *own = ctx;
    struct mem_cache *cache = own->cache;
    (void)arg;
    pool_put(&cache->own, own);
    if (--cache->flush.left == 0) {
        cache->flush.done(cache->flush.ctx, 0);
    }
}

void mem_cache_write_back(struct mem_cache *cache, engine_handler *done, void *ctx)
{
    const struct tags *tags = &cache->tags;
    uint64_t leave_ps = clock_align(cache->clock, engine_now_ps(cache->engine));
    assert(cache->flush.left == 0 && cache->written.most_partial == 0);
    cache->flush.left = 1; /* until all are sent */
    cache->flush.done = done;
    cache->flush.ctx = ctx;
    for (uint32_t slot = 0; slot < tags->lines; slot++) {
        struct tag_line *line = &tags->slot[slot];
        uint64_t base = line->line * cache->spec->line_bytes;
        if (line->dirty) {
            cache->stats.writebacks++;
            cache->flush.left +=
                send_runs(cache, sectors_to_write(cache, line), MEM_WRITE, on_flushed, base,
                          tags->physical ? tags->physical[slot] : 0, leave_ps);
            line->dirty = 0;
        }
    }
    if (--cache->flush.left == 0) {
        done(ctx, 0);
    }
}
