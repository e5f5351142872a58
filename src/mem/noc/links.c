/*
 * A network reduced to what a latency measurement sees of it: a latency each way, and one link
 * each way at each SM's port, which takes ceil(packet / width) cycles for a packet and delays
 * those behind it.
 *
 *      send at t, link free at f:      starts at max(t, f), on a clock edge
 *                                      arrives at start + latency + (cycles on the link - 1)
 *
 * A reply's link is reckoned at its far end, the latency later, in the order in which replies
 * come out there: so it belongs to the source, and a target may tell of a reply before its time.
 * Times are computed when a packet is sent; it costs one event each way. A source port holds up
 * to queue_entries requests: those that have not left the link, and those that have arrived where
 * the target refuses them. What is in between is on the wire. Without a bound it only counts them.
 *
 * With shared reads (spec->share_tables) a read that finds the same bytes under way for its group
 * of sources when it has arrived goes no further and gets that one's answer.
 *
 * Left out: contention inside the network and at the targets' ports (the targets' own lookups and
 * data ports stand for them), a bound on replies (there are no more than requests outstanding).
 */
#include <assert.h>
#include <stdlib.h>

#include "mem/noc/noc.h"
#include "mem/noc/shared_reads.h"
#include "mem/pool.h"
#include "mem/queue.h"
#include "mem/timeline.h"
#include "util/error.h"

struct links;

/* When each will be, ascending: a ring whose capacity is a power of two. */
struct departures {
    uint32_t head, count, capacity;
    uint64_t *at_ps;
};

struct link_source {
    struct links *links;
    noc_route *route;
    void *route_ctx;
    struct mem_outlet outlet;
    struct timeline request_link, reply_link;
    struct waiters space;
    bool wake_scheduled;
    uint32_t blocked;       /* requests that have arrived and were refused */
    struct departures left; /* of the requests that are not yet on the wire */
    uint32_t group;         /* that shares reads */
    struct mem_noc_way_stats replies;
};

struct link_target {
    struct links *links;
    struct mem_port port;
    struct request_list refused;
};

/* One request on its way, and whom its reply goes to. */
struct flight {
    struct link_source *source;
    uint32_t target;
    struct mem_request *request;
    struct shared_read *shared; /* by its group, and this is the first; NULL: it is not */
    engine_handler *reply;
    void *ctx;
};

struct links {
    const struct noc_spec *spec;
    struct engine *engine;
    const struct engine_clock *clock;
    uint32_t source_id;
    uint32_t source_count, target_count;
    struct link_source *sources;
    struct link_target *targets;
    struct pool flights;
    bool unbounded, shares;
    struct shared_reads reads;
    struct mem_outlet told; /* by the targets */
    struct mem_noc_way_stats requests;
};

static uint64_t *departures_at(const struct departures *left, uint32_t i)
{
    return &left->at_ps[(left->head + i) & (left->capacity - 1)];
}

static uint64_t departures_first_ps(const struct departures *left)
{
    return *departures_at(left, 0);
}

/* To at least `capacity`; false: memory is out. */
static bool departures_grow(struct departures *left, uint32_t capacity)
{
    uint32_t power = 1;
    while (power < capacity) {
        power *= 2;
    }
    uint64_t *at_ps = calloc(power, sizeof *at_ps);
    if (!at_ps) {
        return false;
    }
    for (uint32_t i = 0; i < left->count; i++) {
        at_ps[i] = *departures_at(left, i);
    }
    free(left->at_ps);
    *left = (struct departures){.count = left->count, .capacity = power, .at_ps = at_ps};
    return true;
}

static void departures_forget(struct departures *left, uint64_t until_ps)
{
    while (left->count > 0 && departures_first_ps(left) <= until_ps) {
        left->head++;
        left->count--;
    }
}

static bool departures_add(struct departures *left, uint64_t at_ps)
{
    if (left->count == left->capacity && !departures_grow(left, 2 * left->capacity)) {
        return false;
    }
    uint32_t i = left->count++;
    for (; i > 0 && *departures_at(left, i - 1) > at_ps; i--) {
        *departures_at(left, i) = *departures_at(left, i - 1);
    }
    *departures_at(left, i) = at_ps;
    return true;
}

static void links_told(void *self, struct mem_request *request, uint64_t reply_ps);

static void links_destroy(void *state)
{
    struct links *links = state;
    for (uint32_t i = 0; links->sources && i < links->source_count; i++) {
        timeline_free(&links->sources[i].request_link);
        timeline_free(&links->sources[i].reply_link);
        waiters_free(&links->sources[i].space);
        free(links->sources[i].left.at_ps);
    }
    free(links->sources);
    free(links->targets);
    shared_reads_free(&links->reads);
    pool_free_all(&links->flights);
    free(links);
}

static int links_create(void **state, const struct noc_spec *spec, struct engine *engine,
                        const struct engine_clock *clock, uint32_t source, uint32_t sources,
                        uint32_t targets)
{
    struct links *links = calloc(1, sizeof *links);
    if (!links) {
        return error_memory();
    }
    *links = (struct links){.spec = spec,
                            .engine = engine,
                            .clock = clock,
                            .source_id = source,
                            .source_count = sources,
                            .target_count = targets};
    links->told = (struct mem_outlet){.reply = links_told, .self = links};
    pool_init(&links->flights, sizeof(struct flight));
    links->sources = calloc(sources, sizeof *links->sources);
    links->targets = calloc(targets, sizeof *links->targets);
    bool whole = links->sources && links->targets;
    for (uint32_t i = 0; whole && i < sources; i++) {
        struct link_source *s = &links->sources[i];
        s->links = links;
        timeline_init(&s->request_link, engine);
        waiters_init(&s->space, engine, source);
        whole = departures_grow(&s->left, spec->queue_entries);
    }
    links->shares = spec->share_tables > 0;
    if (whole && links->shares) {
        whole = shared_reads_init(&links->reads, spec->share_tables, spec->share_most) == 0;
    }
    if (!whole) {
        links_destroy(links);
        return error_memory();
    }
    for (uint32_t i = 0; i < targets; i++) {
        links->targets[i].links = links;
    }
    *state = links;
    return 0;
}

static void links_connect(void *state, uint32_t target, struct mem_port port)
{
    struct links *links = state;
    links->targets[target].port = port;
}

/*
 * A packet of `bytes` on a link from `earliest_ps` on. *left: its tail is on the wire. Returns
 * when it arrives.
 */
static uint64_t pass_link(uint64_t *left_ps, const struct links *links, struct timeline *link,
                          uint64_t earliest_ps, uint32_t bytes, uint32_t width, uint32_t latency)
{
    uint64_t cycles = width == 0 || bytes <= width ? 1 : (bytes + width - 1) / width;
    uint64_t period_ps = links->clock->period_ps;
    uint64_t start_ps = clock_align(links->clock, earliest_ps);
    if (width) {
        start_ps = timeline_reserve(link, start_ps, cycles * period_ps);
    }
    *left_ps = start_ps + cycles * period_ps;
    return start_ps + (latency + cycles - 1) * period_ps;
}

static uint32_t held(struct link_source *source, uint64_t at_ps)
{
    departures_forget(&source->left, at_ps);
    return source->left.count + source->blocked;
}

static bool source_full(struct link_source *source)
{
    const struct links *links = source->links;
    return !links->unbounded &&
           held(source, engine_now_ps(links->engine)) >= links->spec->queue_entries;
}

static void on_left(void *ctx, uint64_t arg)
{
    struct link_source *source = ctx;
    (void)arg;
    source->wake_scheduled = false;
    if (!source_full(source)) {
        waiters_wake(&source->space);
    } else if (source->left.count) {
        source->wake_scheduled = true;
        engine_at(source->links->engine, departures_first_ps(&source->left),
                  source->links->source_id, on_left, source, 0);
    }
}

static void links_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct link_source *source = self;
    waiters_add(&source->space, handler, ctx, arg);
    if (!source->wake_scheduled) {
        on_left(source, 0);
    }
}

static void on_refused_space(void *ctx, uint64_t arg);

/* Gives the request back to its sender, and the answer on the way there. */
static void answer(struct links *links, struct mem_request *request, uint64_t reply_ps)
{
    struct flight *flight = request->ctx;
    request->reply = flight->reply;
    request->ctx = flight->ctx;
    request->outlet = NULL;
    noc_give_reply(&flight->source->outlet, request,
                   clock_align(links->clock, reply_ps) +
                       clock_cycles_to_ps(links->clock, links->spec->reply_cycles));
    pool_put(&links->flights, flight);
}

/* Those that wait with it are answered at the same time. */
static void answer_all(struct links *links, struct shared_read *read)
{
    while (read->waiting.head) {
        struct mem_request *request = request_list_pop(&read->waiting);
        request->served_at = read->served_at;
        answer(links, request, read->done_ps);
    }
}

static void links_told(void *self, struct mem_request *request, uint64_t reply_ps)
{
    const struct flight *flight = request->ctx;
    struct shared_read *read = flight->shared;
    enum mem_level served_at = request->served_at;
    answer(self, request, reply_ps);
    if (read) {
        read->done_ps = reply_ps;
        read->served_at = served_at;
        answer_all(self, read);
    }
}

static void on_reply(void *ctx, uint64_t arg)
{
    const struct flight *flight = ctx;
    (void)arg;
    struct links *links = flight->source->links;
    links_told(links, flight->request, engine_now_ps(links->engine));
}

static void links_deliver(void *state, uint32_t source_index, struct mem_request *request)
{
    struct links *links = state;
    struct link_source *source = &links->sources[source_index];
    struct engine *engine = source->outlet.engine;
    uint64_t now_ps = engine_now_ps(engine), left_ps;
    uint64_t there_ps =
        pass_link(&left_ps, links, &source->reply_link, now_ps,
                  noc_reply_bytes(links->spec, request), links->spec->reply_bytes_per_cycle, 0);
    source->replies.packets++;
    source->replies.latency_ps +=
        there_ps - now_ps + clock_cycles_to_ps(links->clock, links->spec->reply_cycles);
    if (there_ps == now_ps) {
        request->reply(request->ctx, (uintptr_t)request);
    } else {
        engine_at(engine, there_ps, links->source_id, request->reply, request->ctx,
                  (uintptr_t)request);
    }
}

/* Hand the refused ones on, as many as the target takes. */
static void on_refused_space(void *ctx, uint64_t arg)
{
    struct link_target *target = ctx;
    struct mem_request *head;
    (void)arg;
    while ((head = target->refused.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        struct link_source *source = ((struct flight *)head->ctx)->source;
        if (!target->port.send(target->port.self, head)) {
            target->port.when_space(target->port.self, on_refused_space, target, 0);
            return;
        }
        target->refused.head = next;
        source->blocked--;
        if (!source_full(source)) {
            waiters_wake(&source->space);
        }
    }
}

/* Whether the read's bytes are under way for its group; then it waits for them. Else others may
 * wait for it. */
static bool joins(struct links *links, struct flight *flight)
{
    uint32_t group = flight->source->group;
    struct mem_request *request = flight->request;
    struct shared_read *read =
        shared_reads_find(&links->reads, group, request, engine_now_ps(links->engine));
    if (!read) {
        flight->shared = shared_reads_begin(&links->reads, group, request);
        if (!flight->shared) {
            engine_fail(links->engine, error_memory());
        }
        return false;
    }
    read->requests++;
    request_list_push(&read->waiting, request);
    if (read->done_ps != ENGINE_NEVER) {
        answer_all(links, read);
    }
    return true;
}

/* `arg`: the request, which the engine has asked the host's caches for. */
static void on_arrival(void *ctx, uint64_t arg)
{
    struct flight *flight = ctx;
    (void)arg;
    struct links *links = flight->source->links;
    if (links->shares && flight->request->kind == MEM_READ && joins(links, flight)) {
        return;
    }
    links->requests.sectors += noc_ask(links->spec, flight->request);
    struct link_target *target = &links->targets[flight->target];
    bool others_wait = target->refused.head != NULL;
    if (others_wait || !target->port.send(target->port.self, flight->request)) {
        flight->source->blocked++;
        request_list_push(&target->refused, flight->request);
        if (!others_wait) {
            target->port.when_space(target->port.self, on_refused_space, target, 0);
        }
    }
}

static bool links_send(void *self, struct mem_request *request)
{
    struct link_source *source = self;
    struct links *links = source->links;
    if (source_full(source)) {
        return false;
    }
    struct flight *flight = pool_take(&links->flights);
    if (!flight) {
        engine_fail(links->engine, SONDE_ENOMEM);
        return false;
    }
    *flight = (struct flight){.source = source,
                              .target = source->route(source->route_ctx, request),
                              .request = request,
                              .reply = request->reply,
                              .ctx = request->ctx};
    assert(flight->target < links->target_count);
    request->reply = on_reply;
    request->outlet = &links->told;
    request->ctx = flight;
    uint64_t now_ps = engine_now_ps(links->engine), left_ps;
    uint64_t earliest_ps = request->arrive_ps > now_ps ? request->arrive_ps : now_ps;
    uint64_t arrive_ps =
        pass_link(&left_ps, links, &source->request_link, earliest_ps,
                  noc_request_bytes(links->spec, request), links->spec->request_bytes_per_cycle,
                  links->spec->request_cycles);
    links->requests.packets++;
    links->requests.latency_ps += arrive_ps - earliest_ps;
    /* What has arrived is not held, even where there is no way at all. */
    if (!departures_add(&source->left, left_ps < arrive_ps ? left_ps : arrive_ps)) {
        engine_fail(links->engine, error_memory());
    }
    request->arrive_ps = arrive_ps;
    engine_at(links->engine, arrive_ps, links->source_id, on_arrival, flight, (uintptr_t)request);
    return true;
}

static struct mem_port links_port(void *state, uint32_t source, noc_route *route, void *ctx,
                                  struct mem_outlet outlet)
{
    struct links *links = state;
    struct link_source *s = &links->sources[source];
    s->route = route;
    s->route_ctx = ctx;
    s->outlet = outlet;
    timeline_init(&s->reply_link, outlet.engine);
    return (struct mem_port){.send = links_send, .when_space = links_when_space, .self = s};
}

static void links_set_group(void *state, uint32_t source, uint32_t group)
{
    struct links *links = state;
    assert(group < links->spec->share_tables);
    links->sources[source].group = group;
}

static uint64_t links_lookahead_ps(const void *state)
{
    const struct links *links = state;
    return clock_cycles_to_ps(links->clock, links->spec->reply_cycles);
}

static void links_set_bounded(void *state, bool bounded)
{
    struct links *links = state;
    links->unbounded = !bounded;
}

static uint32_t links_held(void *state, uint32_t source, uint64_t at_ps)
{
    struct links *links = state;
    return held(&links->sources[source], at_ps);
}

static void links_stats(struct mem_noc_stats *out, const void *state)
{
    const struct links *links = state;
    out->requests = links->requests;
    for (uint32_t i = 0; i < links->source_count; i++) {
        out->replies.packets += links->sources[i].replies.packets;
        out->replies.latency_ps += links->sources[i].replies.latency_ps;
    }
}

const struct noc_ops noc_LINKS = {.create = links_create,
                                  .destroy = links_destroy,
                                  .connect = links_connect,
                                  .port = links_port,
                                  .lookahead_ps = links_lookahead_ps,
                                  .deliver = links_deliver,
                                  .set_group = links_set_group,
                                  .set_bounded = links_set_bounded,
                                  .held = links_held,
                                  .stats = links_stats};
