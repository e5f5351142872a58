/*
 * The page walker. A walk takes its fixed latency, then reads one entry of each level through L2,
 * each read made when the one before has been answered: so what a walk costs depends on where its
 * entries lie. Walks beyond spec->walks wait in order of arrival; misses to one page have been
 * merged by the TLB that sends them (two TLBs that miss one page make two walks).
 *
 * The active window of page tables: Mei et al. 2014, section 4.2, on Kepler.
 */
#include <stdlib.h>

#include "mem/pool.h"
#include "mem/queue.h"
#include "mem/tlb/tlb.h"
#include "util/error.h"

struct walk {
    struct mem_request read; /* of the present level's entry */
    struct mem_walker *walker;
    struct mem_request *asked; /* the translation */
    uint32_t level;
};

struct mem_walker {
    const struct walker_spec *spec;
    struct engine *engine;
    const struct engine_clock *clock;
    uint32_t source;
    struct mem_walker_memory memory;
    struct mem_walker_stats stats;

    struct request_queue in;
    struct waiters space;
    struct pool walks;
    uint32_t active; /* walks under way */
    bool pump_scheduled;

    bool window_known;
    uint64_t window;    /* the active one's number */
    uint64_t window_ps; /* when it is, or was, activated */
};

int mem_walker_check(const struct walker_spec *spec)
{
    if (spec->levels > WALKER_MAX_LEVELS) {
        return error_set(SONDE_EINPUT, "levels: %d are the most, not %u", WALKER_MAX_LEVELS,
                         spec->levels);
    }
    for (uint32_t i = 0; i < spec->levels; i++) {
        if (spec->level[i].span_bytes == 0 || spec->level[i].entry_bytes == 0) {
            return error_set(SONDE_EINPUT, "level%u: the span and the entry must not be 0", i + 1);
        }
    }
    if (spec->read_bytes == 0 || spec->walks == 0 || spec->queue_entries == 0) {
        return error_set(SONDE_EINPUT, "read, walks and queue must be at least 1");
    }
    return 0;
}

int mem_walker_create(struct mem_walker **out, const struct walker_spec *spec,
                      struct engine *engine, const struct engine_clock *clock, uint32_t source,
                      const struct mem_walker_memory *memory)
{
    *out = NULL;
    int rc = mem_walker_check(spec);
    if (rc < 0) {
        return rc;
    }
    struct mem_walker *walker = calloc(1, sizeof *walker);
    if (!walker) {
        return error_memory();
    }
    walker->spec = spec;
    walker->engine = engine;
    walker->clock = clock;
    walker->source = source;
    walker->memory = *memory;
    waiters_init(&walker->space, engine, source);
    pool_init(&walker->walks, sizeof(struct walk));
    rc = request_queue_init(&walker->in, spec->queue_entries);
    if (rc < 0) {
        mem_walker_destroy(walker);
        return rc;
    }
    *out = walker;
    return 0;
}

void mem_walker_destroy(struct mem_walker *walker)
{
    if (walker) {
        request_queue_free(&walker->in);
        waiters_free(&walker->space);
        pool_free_all(&walker->walks);
        free(walker);
    }
}

const struct mem_walker_stats *mem_walker_stats(const struct mem_walker *walker)
{
    return &walker->stats;
}

/* When a walk for `vaddr` may begin that is ready at `time_ps`: its window must be active. */
static uint64_t activate_window(struct mem_walker *walker, uint64_t vaddr, uint64_t time_ps)
{
    if (walker->spec->window_bytes == 0) {
        return time_ps;
    }
    uint64_t window = vaddr / walker->spec->window_bytes;
    if (!walker->window_known) {
        walker->window_known = true;
        walker->window = window;
    }
    if (time_ps < walker->window_ps) {
        time_ps = walker->window_ps;
    }
    if (window != walker->window) {
        walker->stats.window_switches++;
        walker->window = window;
        time_ps += clock_cycles_to_ps(walker->clock, walker->spec->switch_cycles);
        walker->window_ps = time_ps;
    }
    return time_ps;
}

static void walk_step(struct walk *walk, uint64_t time_ps);

static void read_send(void *ctx, uint64_t arg)
{
    struct walk *walk = ctx;
    (void)arg;
    struct mem_walker *walker = walk->walker;
    struct mem_port port = walker->memory.port(walker->memory.ctx, walk->read.paddr);
    if (!port.send(port.self, &walk->read)) {
        port.when_space(port.self, read_send, walk, 0);
    }
}

static void serve_queue(struct mem_walker *walker);

static void walk_end(struct walk *walk, uint64_t time_ps)
{
    struct mem_walker *walker = walk->walker;
    struct mem_request *asked = walk->asked;
    engine_at(walker->engine, time_ps, walker->source, asked->reply, asked->ctx, (uintptr_t)asked);
    pool_put(&walker->walks, walk);
    walker->active--;
    if (walker->in.count && !walker->pump_scheduled) {
        serve_queue(walker);
    }
}

static void on_entry(void *ctx, uint64_t arg)
{
    struct walk *walk = ctx;
    (void)arg;
    if (walk->read.served_at > walk->asked->served_at) {
        walk->asked->served_at = walk->read.served_at;
    }
    walk->level++;
    walk_step(walk, engine_now_ps(walk->walker->engine));
}

static void on_end(void *ctx, uint64_t arg)
{
    (void)arg;
    struct walk *walk = ctx;
    walk_end(walk, engine_now_ps(walk->walker->engine));
}

/* The next read at `time_ps`, or the end. */
static void walk_step(struct walk *walk, uint64_t time_ps)
{
    struct mem_walker *walker = walk->walker;
    uint64_t paddr;
    while (walk->level < walker->spec->levels) {
        if (walker->memory.entry(walker->memory.ctx, walk->level, walk->asked->vaddr, &paddr)) {
            uint64_t base = paddr - paddr % walker->spec->read_bytes;
            walk->read.vaddr = walk->read.paddr = base;
            walk->read.bytes = walker->spec->read_bytes;
            walk->read.arrive_ps = time_ps;
            walker->stats.reads++;
            read_send(walk, 0);
            return;
        }
        walk->level++; /* nothing there to read */
    }
    if (time_ps > engine_now_ps(walker->engine)) {
        engine_at(walker->engine, time_ps, walker->source, on_end, walk, 0);
    } else {
        walk_end(walk, time_ps);
    }
}

static bool walk_begin(struct mem_walker *walker, struct mem_request *asked, uint64_t edge_ps)
{
    struct walk *walk = pool_take(&walker->walks);
    if (!walk) {
        engine_fail(walker->engine, SONDE_ENOMEM);
        return false;
    }
    *walk =
        (struct walk){.walker = walker,
                      .asked = asked,
                      .read = {.kind = MEM_READ, .sm = asked->sm, .reply = on_entry, .ctx = walk}};
    asked->served_at = MEM_AT_NONE;
    walker->active++;
    walker->stats.walks++;
    uint64_t start_ps = activate_window(walker, asked->vaddr, edge_ps);
    walk_step(walk, start_ps + clock_cycles_to_ps(walker->clock, walker->spec->latency_cycles));
    return true;
}

static void walker_pump(void *ctx, uint64_t arg)
{
    struct mem_walker *walker = ctx;
    (void)arg;
    walker->pump_scheduled = false;
    serve_queue(walker);
}

static void serve_queue(struct mem_walker *walker)
{
    struct mem_request *head;
    uint64_t now_ps = engine_now_ps(walker->engine);
    while (walker->active < walker->spec->walks && (head = request_queue_head(&walker->in))) {
        if (head->arrive_ps > now_ps) {
            walker->pump_scheduled = true;
            engine_at(walker->engine, head->arrive_ps, walker->source, walker_pump, walker, 0);
            return;
        }
        bool was_full = request_queue_full(&walker->in);
        request_queue_pop(&walker->in);
        if (was_full) {
            waiters_wake(&walker->space);
        }
        if (!walk_begin(walker, head, clock_align(walker->clock, now_ps))) {
            return;
        }
    }
}

static bool walker_send(void *self, struct mem_request *request)
{
    struct mem_walker *walker = self;
    if (request_queue_full(&walker->in)) {
        return false;
    }
    uint64_t now_ps = engine_now_ps(walker->engine);
    if (request->arrive_ps < now_ps) {
        request->arrive_ps = now_ps;
    }
    request_queue_push(&walker->in, request);
    if (walker->in.count == 1 && !walker->pump_scheduled) {
        serve_queue(walker);
    }
    return true;
}

static void walker_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct mem_walker *walker = self;
    waiters_add(&walker->space, handler, ctx, arg);
    if (!request_queue_full(&walker->in)) {
        waiters_wake(&walker->space);
    }
}

struct mem_port mem_walker_port(struct mem_walker *walker)
{
    return (struct mem_port){.send = walker_send, .when_space = walker_when_space, .self = walker};
}
