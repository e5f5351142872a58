/*
 * The way in and out of a cache: its input queue, lookups per cycle, and the senders it
 * refused. A request that finds the cache idle is looked up inside send(),
 * without an event; one that does not is looked up by an event at the first edge with a free
 * lookup, in order of arrival.
 *
 * A request whose lookup cannot go on (miss structure full, downstream refuses) blocks those
 * behind it: real ones replay it, at a cost that no measurement here tells apart.
 */
#include <assert.h>
#include <stdlib.h>

#include "mem/cache/state.h"
#include "util/error.h"

int mem_cache_check(const struct cache_spec *spec)
{
    int rc = tags_check(spec);
    if (rc < 0) {
        return rc;
    }
    rc = written_check(spec);
    rc = rc < 0 ? rc : gather_check(spec);
    if (rc < 0) {
        return rc;
    }
    if (!miss_ops_of(spec->miss)) {
        return error_set(SONDE_EINPUT, "miss structure: unknown kind %d", (int)spec->miss);
    }
    if (spec->mshr_entries == 0 || spec->mshr_entries > TAGS_MAX_LINES) {
        return error_set(SONDE_EINPUT, "mshr_entries: 1 to %u are possible, not %u", TAGS_MAX_LINES,
                         spec->mshr_entries);
    }
    if (spec->queue_entries == 0 || spec->queue_entries > TAGS_MAX_LINES) {
        return error_set(SONDE_EINPUT, "queue_entries: 1 to %u are possible, not %u",
                         TAGS_MAX_LINES, spec->queue_entries);
    }
    return 0;
}

static void cache_resume(struct mem_cache *cache);

static int cache_build(struct mem_cache *cache)
{
    int rc = tags_init(&cache->tags, cache->spec);
    if (rc < 0) {
        return rc;
    }
    cache->miss_ops = miss_ops_of(cache->spec->miss);
    rc = cache->miss_ops->create(&cache->misses, cache->spec);
    if (rc < 0) {
        return rc;
    }
    rc = written_init(&cache->written, cache->spec, cache->tags.lines);
    rc = rc < 0 ? rc : gather_init(&cache->gather, cache->spec);
    if (rc < 0) {
        return rc;
    }
    return request_queue_init(&cache->in, cache->spec->queue_entries);
}

int mem_cache_create(struct mem_cache **out, const struct cache_spec *spec, enum mem_level level,
                     struct engine *engine, const struct engine_clock *clock, uint32_t source,
                     struct mem_port downstream)
{
    *out = NULL;
    int rc = spec->enabled ? mem_cache_check(spec) : 0;
    if (rc < 0) {
        return rc;
    }
    struct mem_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        return error_memory();
    }
    cache->spec = spec;
    cache->level = level;
    cache->engine = engine;
    cache->clock = clock;
    cache->source = source;
    cache->downstream = downstream;
    cache->resume = cache_resume;
    timeline_init(&cache->data_port, engine);
    timeline_init(&cache->atomics, engine);
    waiters_init(&cache->space, engine, source);
    pool_init(&cache->own, sizeof(struct own_request));
    rc = spec->enabled ? cache_build(cache) : 0;
    if (rc < 0) {
        mem_cache_destroy(cache);
        return rc;
    }
    *out = cache;
    return 0;
}

void mem_cache_destroy(struct mem_cache *cache)
{
    if (cache) {
        tags_free(&cache->tags);
        written_free(&cache->written);
        gather_free(&cache->gather);
        if (cache->misses) {
            cache->miss_ops->destroy(cache->misses);
        }
        timeline_free(&cache->data_port);
        timeline_free(&cache->atomics);
        request_queue_free(&cache->in);
        waiters_free(&cache->space);
        pool_free_all(&cache->own);
        free(cache);
    }
}

const struct mem_cache_stats *mem_cache_stats(const struct mem_cache *cache)
{
    return &cache->stats;
}

static void cache_pump(void *ctx, uint64_t arg);

static void schedule_pump(struct mem_cache *cache, uint64_t time_ps)
{
    if (!cache->pump_scheduled) {
        cache->pump_scheduled = true;
        engine_at(cache->engine, time_ps, cache->source, cache_pump, cache, 0);
    }
}

/* Whether a lookup is left at this edge. */
static bool take_lookup(struct mem_cache *cache, uint64_t edge_ps)
{
    if (edge_ps != cache->lookup_ps) {
        cache->lookup_ps = edge_ps;
        cache->lookups = 0;
    }
    uint32_t most = cache->spec->accesses_per_cycle;
    if (most && cache->lookups == most) {
        return false;
    }
    cache->lookups++;
    return true;
}

/* Look up what is due now; leave an event behind for what is due later. */
static void serve_queue(struct mem_cache *cache)
{
    struct mem_request *head;
    uint64_t now_ps = engine_now_ps(cache->engine);
    uint64_t edge_ps = clock_align(cache->clock, now_ps);
    while (!cache->stalled && (head = request_queue_head(&cache->in))) {
        if (head->arrive_ps > now_ps) {
            schedule_pump(cache, head->arrive_ps);
            return;
        }
        if (!take_lookup(cache, edge_ps)) {
            schedule_pump(cache, edge_ps + cache->clock->period_ps);
            return;
        }
        if (!cache_lookup(cache, head, edge_ps)) {
            cache->lookups--; /* nothing came of it: another may use it */
            cache->stalled = true;
            return;
        }
        if (head->done_bytes == head->bytes) {
            bool was_full = request_queue_full(&cache->in);
            request_queue_pop(&cache->in);
            if (was_full) {
                waiters_wake(&cache->space);
            }
        }
    }
}

static void cache_pump(void *ctx, uint64_t arg)
{
    struct mem_cache *cache = ctx;
    (void)arg;
    cache->pump_scheduled = false;
    serve_queue(cache);
}

/* A fill or space has come: the head may try again. */
static void cache_resume(struct mem_cache *cache)
{
    cache->stalled = false;
    gather_drain(cache);
    if (cache->in.count && !cache->pump_scheduled) {
        serve_queue(cache);
    }
}

static bool cache_send(void *self, struct mem_request *request)
{
    struct mem_cache *cache = self;
    if (request_queue_full(&cache->in)) {
        return false;
    }
    assert(request->bytes > 0 && request->reply);
    uint64_t now_ps = engine_now_ps(cache->engine);
    uint64_t key = cache_key(cache, request);
    if (request->arrive_ps <= now_ps) {
        request->arrive_ps = now_ps;
    } else {
        tags_expect(&cache->tags, key);
    }
    request->served_at = MEM_AT_NONE;
    request->done_bytes = 0;
    request->done_lanes = 0;
    request->ready_ps = 0;
    request->stalled = false;
    request->pieces = (uint32_t)(tags_line(&cache->tags, key + request->bytes - 1) -
                                 tags_line(&cache->tags, key)) +
                      1;
    request_queue_push(&cache->in, request);
    if (cache->in.count == 1 && !cache->pump_scheduled) {
        serve_queue(cache);
    }
    return true;
}

bool mem_cache_hit_now(struct mem_cache *cache, uint64_t address, uint64_t arrive_ps,
                       uint64_t *ready_ps)
{
    const struct cache_spec *spec = cache->spec;
    bool sectored = cache->tags.sector_bytes != spec->line_bytes || cache->written.most_partial;
    if (!spec->enabled || sectored || cache->in.count) {
        return false;
    }
    uint64_t now_ps = engine_now_ps(cache->engine);
    if (arrive_ps > now_ps && spec->accesses_per_cycle) {
        return false; /* whether a lookup is left then is not known yet */
    }
    struct tags *tags = &cache->tags;
    uint64_t line = tags_line(tags, address);
    uint32_t set = tags->sets == 1 ? 0 : tags_set(tags, line * spec->line_bytes);
    uint32_t slot = cache->hit_slot;
    if (tags->slot[slot].line != line || !tag_line_is_there(&tags->slot[slot])) {
        slot = tags_find(tags, set, line);
    }
    uint64_t edge_ps = clock_align(cache->clock, arrive_ps > now_ps ? arrive_ps : now_ps);
    if (slot == TAGS_NONE || (spec->accesses_per_cycle && !take_lookup(cache, edge_ps))) {
        return false;
    }
    tags_use(tags, set, slot);
    cache->hit_slot = slot;
    cache->stats.reads++;
    cache->stats.read_hits++;
    *ready_ps = edge_ps + clock_cycles_to_ps(cache->clock, spec->hit_cycles);
    return true;
}

static void cache_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct mem_cache *cache = self;
    waiters_add(&cache->space, handler, ctx, arg);
    if (!request_queue_full(&cache->in)) {
        waiters_wake(&cache->space);
    }
}

struct mem_port mem_cache_port(struct mem_cache *cache)
{
    if (!cache->spec->enabled) {
        return cache->downstream;
    }
    return (struct mem_port){.send = cache_send, .when_space = cache_when_space, .self = cache};
}

void mem_cache_send_gathered(struct mem_cache *cache)
{
    gather_flush(cache);
}
