/*
 * Stores on their way down wait for others of the same line, and leave as one request:
 *
 *   - which of them is the next: the line that has been held longest
 *   - when: lines beyond the first `gather_held` as soon as downstream takes them, any that no
 * store has touched for `gather_cycles`, the oldest where there is room for no further line, one of
 *     which every byte is known, all at a fence
 *
 * Found on an NVIDIA H200 (docs/h200.md). Left out: that a load of a line waits for what is held of
 * it.
 */
#include "mem/cache/gather.h"

#include <stdlib.h>
#include <string.h>

#include "mem/cache/state.h"
#include "util/error.h"

int gather_check(const struct cache_spec *spec)
{
    if (spec->gather_lines > 0 &&
        (spec->gather_held >= spec->gather_lines || spec->gather_cycles == 0)) {
        return error_set(
            SONDE_EINPUT, "gather: of %u lines %u may be held, for a cycle at least, not %u for %u",
            spec->gather_lines, spec->gather_lines - 1, spec->gather_held, spec->gather_cycles);
    }
    return 0;
}

int gather_init(struct gather *gather, const struct cache_spec *spec)
{
    gather->capacity = spec->gather_lines;
    gather->line = gather->capacity ? calloc(gather->capacity, sizeof *gather->line) : NULL;
    return gather->capacity && !gather->line ? error_memory() : 0;
}

void gather_free(struct gather *gather)
{
    free(gather->line);
}

/* A request that stood for several is answered: so are they. */
static void on_answered(void *ctx, uint64_t arg)
{
    struct own_request *own = ctx;
    struct mem_cache *cache = own->cache;
    uint64_t now_ps = engine_now_ps(cache->engine);
    (void)arg;
    mem_request_ask(own->gathered, own->request.asked);
    for (struct mem_request *next, *request = own->gathered; request; request = next) {
        next = request->next;
        request->served_at = own->request.served_at;
        if (request->outlet) {
            request->outlet->reply(request->outlet->self, request, now_ps);
        } else {
            engine_at(cache->engine, now_ps, cache->source, request->reply, request->ctx,
                      (uintptr_t)request);
        }
    }
    pool_put(&cache->own, own);
}

static uint32_t sectors_of(const uint64_t written[2])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CHUNK_BYTES / STORE_SECTOR_BYTES; i++) {
        count += (written[i / 2] >> i % 2 * STORE_SECTOR_BYTES & UINT32_MAX) != 0;
    }
    return count;
}

/* One request for all that is held of a line; NULL: the engine was told that there is no memory. */
static struct mem_request *as_one(struct mem_cache *cache, const struct gather_line *line)
{
    const uint64_t *written = line->written;
    const struct mem_request *any = line->first;
    uint32_t first =
        (uint32_t)(written[0] ? __builtin_ctzll(written[0]) : 64 + __builtin_ctzll(written[1]));
    uint32_t last = (uint32_t)(written[1] ? 127 - __builtin_clzll(written[1])
                                          : 63 - __builtin_clzll(written[0]));
    struct own_request *own = own_take(cache, MEM_WRITE, on_answered, NULL, last - first + 1, 0);
    if (!own) {
        return NULL;
    }
    uint64_t offset = cache_key(cache, any) % CHUNK_BYTES;
    own->gathered = line->first;
    own->request.vaddr = any->vaddr - offset + first;
    own->request.paddr = any->paddr - offset + first;
    own->request.sm = any->sm;
    own->request.sectors = (uint16_t)sectors_of(written);
    own->request.written[0] = written[0];
    own->request.written[1] = written[1];
    return &own->request;
}

static void send_line(struct mem_cache *cache, uint32_t i)
{
    struct gather *gather = &cache->gather;
    struct gather_line line = gather->line[i];
    memmove(&gather->line[i], &gather->line[i + 1], (--gather->count - i) * sizeof line);
    struct mem_request *request = line.first == line.last ? line.first : as_one(cache, &line);
    uint64_t now_ps = clock_align(cache->clock, engine_now_ps(cache->engine));
    if (request) {
        cache_send_out(cache, request, line.leave_ps > now_ps ? line.leave_ps : now_ps);
    }
}

static void on_time(void *ctx, uint64_t arg);

static void set_timer(struct mem_cache *cache)
{
    struct gather *gather = &cache->gather;
    if (gather->timed || gather->count == 0) {
        return;
    }
    uint64_t soonest_ps = UINT64_MAX;
    for (uint32_t i = 0; i < gather->count; i++) {
        uint64_t leave_ps = gather->line[i].leave_ps;
        soonest_ps = leave_ps < soonest_ps ? leave_ps : soonest_ps;
    }
    gather->timed = true;
    engine_at(cache->engine,
              soonest_ps + clock_cycles_to_ps(cache->clock, cache->spec->gather_cycles),
              cache->source, on_time, cache, 0);
}

static void on_time(void *ctx, uint64_t arg)
{
    struct mem_cache *cache = ctx;
    struct gather *gather = &cache->gather;
    uint64_t wait_ps = clock_cycles_to_ps(cache->clock, cache->spec->gather_cycles);
    uint64_t now_ps = engine_now_ps(cache->engine);
    (void)arg;
    gather->timed = false;
    for (uint32_t i = 0; i < gather->count;) {
        if (gather->line[i].leave_ps + wait_ps <= now_ps) {
            send_line(cache, i);
        } else {
            i++;
        }
    }
    set_timer(cache);
}

void gather_drain(struct mem_cache *cache)
{
    while (cache->gather.count > cache->spec->gather_held && !cache->out.head) {
        send_line(cache, 0);
    }
}

void gather_flush(struct mem_cache *cache)
{
    while (cache->gather.count > 0) {
        send_line(cache, 0);
    }
}

/* The place of a line; the count: it has none. */
static uint32_t place_of(const struct gather *gather, uint64_t line)
{
    uint32_t i = 0;
    while (i < gather->count && gather->line[i].line != line) {
        i++;
    }
    return i;
}

/* A store as a line sees it; false: it is of more lines than one. */
static bool store_of(struct gather_line *store, const struct mem_cache *cache,
                     const struct mem_request *request)
{
    uint64_t key = cache_key(cache, request);
    uint32_t first = (uint32_t)(key % CHUNK_BYTES);
    *store = (struct gather_line){.line = key / CHUNK_BYTES};
    chunk_written(store->written, request, first, first + request->bytes);
    return first + request->bytes <= CHUNK_BYTES;
}

static bool is_whole(const uint64_t written[2])
{
    return (written[0] & written[1]) == UINT64_MAX;
}

bool gather_takes(const struct mem_cache *cache, const struct mem_request *request)
{
    const struct gather *gather = &cache->gather;
    struct gather_line store;
    if (gather->capacity == 0 || request->kind != MEM_WRITE || !store_of(&store, cache, request)) {
        return false;
    }
    return place_of(gather, store.line) < gather->count ||
           (gather->count < gather->capacity && !is_whole(store.written));
}

static struct gather_line *new_line(struct mem_cache *cache, uint64_t line)
{
    struct gather *gather = &cache->gather;
    if (gather->count == gather->capacity) {
        send_line(cache, 0);
    }
    gather->line[gather->count] = (struct gather_line){.line = line};
    return &gather->line[gather->count++];
}

static void add(struct gather_line *held, struct mem_request *request, const uint64_t written[2],
                uint64_t leave_ps)
{
    request->next = NULL;
    if (held->last) {
        held->last->next = request;
    } else {
        held->first = request;
    }
    held->last = request;
    held->written[0] |= written[0];
    held->written[1] |= written[1];
    held->leave_ps = leave_ps;
}

void gather_store(struct mem_cache *cache, struct mem_request *request, uint64_t leave_ps)
{
    struct gather *gather = &cache->gather;
    struct gather_line store;
    bool is_of_one = store_of(&store, cache, request);
    uint32_t place = place_of(gather, store.line);
    bool is_held = place < gather->count;
    if (!is_of_one || (!is_held && is_whole(store.written))) {
        cache_send_out(cache, request, leave_ps);
        return;
    }
    struct gather_line *held = is_held ? &gather->line[place] : new_line(cache, store.line);
    add(held, request, store.written, leave_ps);
    if (is_whole(held->written)) {
        send_line(cache, (uint32_t)(held - gather->line));
    }
    gather_drain(cache);
    set_timer(cache);
}
