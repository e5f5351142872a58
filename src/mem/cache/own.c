/*
 * Requests that a cache makes for itself: fetches, write-backs, and both of sectors of which only a
 * part is known when they are to be written.
 *
 *      whole, dirty     ---------------------------------> write
 *      part, dirty      --> read --(at the lower level)--> write
 *
 * Left out: room for what waits between the read and the write.
 */
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
    own->request.inner = false;
    own->request.reply = reply;
    own->request.outlet = NULL;
    own->request.ctx = own;
    own->request.arg = 0;
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

/* Each run of `sectors` of the line as one request. */
static void send_runs(struct mem_cache *cache, uint64_t sectors, enum mem_kind kind,
                      engine_handler *reply, uint64_t base, uint64_t physical, uint64_t leave_ps)
{
    uint32_t sector_bytes = cache->tags.sector_bytes, length;
    while (sectors) {
        uint32_t first = own_next_run(&length, sectors);
        uint64_t run = own_run_mask(first, length);
        struct own_request *own = own_take(cache, kind, reply, NULL, length * sector_bytes, run);
        if (!own) {
            return;
        }
        uint64_t offset = (uint64_t)first * sector_bytes;
        own->request.vaddr = base + offset;
        own->request.paddr = (cache->tags.physical ? physical : base) + offset;
        sectors &= ~run;
        cache_send_out(cache, &own->request, leave_ps);
    }
}

void own_write_back(struct mem_cache *cache, const struct tag_line *line, uint64_t physical,
                    uint64_t leave_ps)
{
    bool whole = cache->spec->write == WRITE_BACK_WHOLE && line->dirty != 0;
    uint64_t base = line->line * cache->spec->line_bytes, parts = line->dirty & ~line->valid;
    uint64_t known = whole ? line->valid : line->dirty & line->valid;
    cache->stats.writebacks += line->dirty != 0;
    cache->stats.fetches += parts != 0;
    send_runs(cache, known, MEM_WRITE, on_written_back, base, physical, leave_ps);
    send_runs(cache, parts, MEM_READ, on_completed, base, physical, leave_ps);
}
