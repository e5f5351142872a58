/*
 * A network of routers, flit by flit: two fabrics, one for requests and one for replies, so that
 * no reply ever waits behind a request. Every SM and every L2 slice is a node of both. One event a
 * cycle drives them while a packet is inside; a packet sent in a cycle enters at the next edge.
 *
 * A source holds up to queue_entries requests that have not begun to leave. A target that refuses
 * a request blocks its node, and the network behind it fills; it also takes none while
 * reply_entries replies wait for the way back, as a memory controller whose reply port is stalled
 * cannot go on (Bakhoda et al. 2009, 4.4).
 */
#include <assert.h>
#include <stdlib.h>

#include "mem/noc/fabric.h"
#include "mem/noc/noc.h"
#include "mem/pool.h"
#include "mem/queue.h"
#include "util/error.h"

struct flits;

struct flit_source {
    struct flits *flits;
    noc_route *route;
    void *route_ctx;
    struct mem_outlet outlet;
    struct waiters space;
};

struct flit_target {
    struct flits *flits;
    struct mem_port port;
    struct request_list refused;
    bool asked; /* when_space() was called, its answer is to come */
};

/* One request on its way, and whom its reply goes to. */
struct flight {
    struct fabric_packet packet;
    struct flit_source *source;
    uint32_t target;
    struct mem_request *request;
    engine_handler *reply;
    void *ctx;
    uint64_t sent_ps;
};

struct flits {
    const struct noc_spec *spec;
    struct engine *engine;
    uint64_t period_ps;
    uint32_t source_id;
    uint32_t source_count, target_count;
    struct flit_source *sources;
    struct flit_target *targets;
    struct fabric *requests, *replies;
    struct pool flights;
    bool ticking;
    bool unbounded;
    uint32_t waiting_sources, refusing_targets; /* that may have to be looked at after a cycle */
    uint64_t request_ps, reply_ps;              /* on the way, in all */
    uint64_t request_sectors;
};

/* ---- construction ---- */

static void flits_destroy(void *state)
{
    struct flits *flits = state;
    for (uint32_t i = 0; flits->sources && i < flits->source_count; i++) {
        waiters_free(&flits->sources[i].space);
    }
    free(flits->sources);
    free(flits->targets);
    fabric_destroy(flits->requests);
    fabric_destroy(flits->replies);
    pool_free_all(&flits->flights);
    free(flits);
}

/* The places of the targets: as the model says, else spread evenly. */
static int place_targets(uint16_t *place, const struct noc_flits_spec *spec, uint32_t places,
                         uint32_t targets)
{
    if (spec->memory_place_count == 0) {
        for (uint32_t i = 0; i < targets; i++) {
            place[i] = (uint16_t)((2 * (uint64_t)i + 1) * places / (2 * (uint64_t)targets));
        }
        return 0;
    }
    if (spec->memory_place_count != targets) {
        return error_set(SONDE_EINPUT, "network: places of %u L2 slices are given, there are %u",
                         spec->memory_place_count, targets);
    }
    for (uint32_t i = 0; i < targets; i++) {
        place[i] = spec->memory_places[i];
        if (place[i] >= places) {
            return error_set(SONDE_EINPUT, "network: an L2 slice at place %u of %u (from 0)",
                             place[i], places);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (place[j] == place[i]) {
                return error_set(SONDE_EINPUT, "network: two L2 slices at place %u", place[i]);
            }
        }
    }
    return 0;
}

/* Sources take the places that targets leave, in order. Nodes: sources first, then targets. */
static int place_nodes(uint16_t **out, const struct noc_flits_spec *spec, uint32_t sources,
                       uint32_t targets)
{
    uint32_t nodes = sources + targets, places = fabric_places(spec, nodes);
    uint16_t *place = calloc(nodes, sizeof *place);
    bool *taken = calloc(places, sizeof *taken);
    bool whole = place && taken;
    int rc = whole ? place_targets(place + sources, spec, places, targets) : error_memory();
    if (rc == 0 && whole) {
        for (uint32_t i = sources; i < nodes; i++) {
            taken[place[i]] = true;
        }
        uint32_t next = 0;
        for (uint32_t i = 0; i < sources; i++) {
            while (taken[next]) {
                next++;
            }
            place[i] = (uint16_t)next++;
        }
        *out = place;
    } else {
        free(place);
    }
    free(taken);
    return rc;
}

static int flits_check(const struct noc_spec *spec, uint32_t sources, uint32_t targets)
{
    uint16_t *place = NULL;
    if (spec->flits.reply_entries == 0) {
        return error_set(SONDE_EINPUT, "network: the reply queue must have at least 1 entry");
    }
    int rc = fabric_check(&spec->flits, sources + targets);
    if (rc == 0) {
        rc = place_nodes(&place, &spec->flits, sources, targets);
    }
    free(place);
    return rc;
}

static void on_request_arrived(void *ctx, struct fabric_packet *packet, uint64_t cycle);
static void on_reply_arrived(void *ctx, struct fabric_packet *packet, uint64_t cycle);

static int ends_create(struct flits *flits)
{
    flits->sources = calloc(flits->source_count, sizeof *flits->sources);
    flits->targets = calloc(flits->target_count, sizeof *flits->targets);
    if (!flits->sources || !flits->targets) {
        return error_memory();
    }
    for (uint32_t i = 0; i < flits->source_count; i++) {
        flits->sources[i].flits = flits;
        waiters_init(&flits->sources[i].space, flits->engine, flits->source_id);
    }
    for (uint32_t i = 0; i < flits->target_count; i++) {
        flits->targets[i].flits = flits;
    }
    return 0;
}

static int fabrics_create(struct flits *flits)
{
    const struct noc_flits_spec *spec = &flits->spec->flits;
    uint32_t nodes = flits->source_count + flits->target_count;
    uint16_t *place = NULL;
    int rc = place_nodes(&place, spec, flits->source_count, flits->target_count);
    if (rc == 0) {
        rc = fabric_create(&flits->requests, spec, place, nodes, on_request_arrived, flits);
    }
    if (rc == 0) {
        rc = fabric_create(&flits->replies, spec, place, nodes, on_reply_arrived, flits);
    }
    free(place);
    return rc;
}

static int flits_create(void **state, const struct noc_spec *spec, struct engine *engine,
                        const struct engine_clock *clock, uint32_t source, uint32_t sources,
                        uint32_t targets)
{
    struct flits *flits = calloc(1, sizeof *flits);
    if (!flits) {
        return error_memory();
    }
    *flits = (struct flits){.spec = spec,
                            .engine = engine,
                            .period_ps =
                                spec->flits.period_ps ? spec->flits.period_ps : clock->period_ps,
                            .source_id = source,
                            .source_count = sources,
                            .target_count = targets};
    pool_init(&flits->flights, sizeof(struct flight));
    int rc = ends_create(flits);
    if (rc == 0) {
        rc = fabrics_create(flits);
    }
    if (rc < 0) {
        flits_destroy(flits);
        return rc;
    }
    *state = flits;
    return 0;
}

static void flits_connect(void *state, uint32_t target, struct mem_port port)
{
    struct flits *flits = state;
    flits->targets[target].port = port;
}

/* ---- cycles ---- */

static bool source_full(const struct flit_source *source)
{
    const struct flits *flits = source->flits;
    uint32_t node = (uint32_t)(source - flits->sources);
    return !flits->unbounded && fabric_waiting(flits->requests, node) >= flits->spec->queue_entries;
}

static bool target_full(const struct flit_target *target)
{
    const struct flits *flits = target->flits;
    uint32_t node = flits->source_count + (uint32_t)(target - flits->targets);
    return fabric_waiting(flits->replies, node) >= flits->spec->flits.reply_entries;
}

static void hand_on_refused(struct flit_target *target);

static void wake_source(struct flits *flits, struct flit_source *source)
{
    if (source->space.count && !source_full(source)) {
        waiters_wake(&source->space);
        flits->waiting_sources--;
    }
}

/* Those that are full are so until a packet begins to leave. */
static void wake_sources(struct flits *flits)
{
    uint32_t node;
    for (uint32_t i = 0; flits->unbounded && i < flits->source_count; i++) {
        wake_source(flits, &flits->sources[i]);
    }
    while (fabric_take_begun(flits->requests, &node)) {
        if (node < flits->source_count) {
            wake_source(flits, &flits->sources[node]);
        }
    }
}

static void on_tick(void *ctx, uint64_t arg)
{
    struct flits *flits = ctx;
    (void)arg;
    uint64_t now_ps = engine_now_ps(flits->engine), cycle = now_ps / flits->period_ps;
    bool requests = fabric_tick(flits->requests, cycle);
    bool replies = fabric_tick(flits->replies, cycle);
    if (flits->waiting_sources) {
        wake_sources(flits);
    }
    for (uint32_t i = 0; flits->refusing_targets && i < flits->target_count; i++) {
        struct flit_target *target = &flits->targets[i];
        if (target->refused.head && !target->asked && !target_full(target)) {
            hand_on_refused(target);
        }
    }
    flits->ticking = requests || replies || flits->refusing_targets;
    if (flits->ticking) {
        engine_at(flits->engine, now_ps + flits->period_ps, flits->source_id, on_tick, flits, 0);
    }
}

/* A packet of `bytes` goes in at `node`, not before `earliest_ps`. */
static void enter(struct flits *flits, struct fabric *fabric, uint32_t node,
                  struct fabric_packet *packet, uint64_t earliest_ps, uint32_t bytes)
{
    uint32_t flit_bytes = flits->spec->flits.flit_bytes;
    uint64_t next = engine_now_ps(flits->engine) / flits->period_ps + 1;
    packet->flits = bytes <= flit_bytes ? 1 : (bytes + flit_bytes - 1) / flit_bytes;
    packet->enter_cycle = earliest_ps / flits->period_ps + 1;
    fabric_send(fabric, node, packet);
    if (!flits->ticking) {
        flits->ticking = true;
        engine_at(flits->engine, next * flits->period_ps, flits->source_id, on_tick, flits, 0);
    }
}

/* ---- requests ---- */

static bool flits_send(void *self, struct mem_request *request)
{
    struct flit_source *source = self;
    struct flits *flits = source->flits;
    if (source_full(source)) {
        return false;
    }
    struct flight *flight = pool_take(&flits->flights);
    if (!flight) {
        engine_fail(flits->engine, SONDE_ENOMEM);
        return false;
    }
    uint64_t now_ps = engine_now_ps(flits->engine);
    *flight = (struct flight){.source = source,
                              .target = source->route(source->route_ctx, request),
                              .request = request,
                              .reply = request->reply,
                              .ctx = request->ctx,
                              .sent_ps = request->arrive_ps > now_ps ? request->arrive_ps : now_ps};
    assert(flight->target < flits->target_count);
    flight->packet.to = flits->source_count + flight->target;
    flight->packet.owner = flight;
    request->ctx = flight;
    enter(flits, flits->requests, (uint32_t)(source - flits->sources), &flight->packet,
          flight->sent_ps, noc_request_bytes(flits->spec, request));
    return true;
}

static void flits_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct flit_source *source = self;
    source->flits->waiting_sources += source->space.count == 0;
    waiters_add(&source->space, handler, ctx, arg);
    if (!source_full(source)) {
        waiters_wake(&source->space);
        source->flits->waiting_sources--;
    }
}

static void on_reply(void *ctx, uint64_t arg);

static bool target_takes(struct flit_target *target, struct mem_request *request)
{
    if (target_full(target)) {
        return false;
    }
    request->reply = on_reply;
    request->outlet = NULL;
    request->arrive_ps = engine_now_ps(target->flits->engine);
    return target->port.send(target->port.self, request);
}

static void on_space(void *ctx, uint64_t arg)
{
    struct flit_target *target = ctx;
    (void)arg;
    target->asked = false;
    hand_on_refused(target);
}

/* Of a target that refused; one whose replies wait is looked at after each cycle instead. */
static void ask_for_space(struct flit_target *target)
{
    if (!target_full(target) && !target->asked) {
        target->asked = true;
        target->port.when_space(target->port.self, on_space, target, 0);
    }
}

/* Hands the refused ones on, as many as the target takes. */
static void hand_on_refused(struct flit_target *target)
{
    struct flits *flits = target->flits;
    struct mem_request *head;
    while ((head = target->refused.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        if (!target_takes(target, head)) {
            ask_for_space(target);
            return;
        }
        target->refused.head = next;
    }
    flits->refusing_targets--;
    fabric_block(flits->requests, flits->source_count + (uint32_t)(target - flits->targets), false);
}

static void on_request_there(void *ctx, uint64_t arg)
{
    struct flight *flight = ctx;
    (void)arg;
    struct flits *flits = flight->source->flits;
    struct flit_target *target = &flits->targets[flight->target];
    bool others_wait = target->refused.head != NULL;
    flits->request_ps += engine_now_ps(flits->engine) - flight->sent_ps;
    flits->request_sectors += noc_ask(flits->spec, flight->request);
    if (!others_wait && target_takes(target, flight->request)) {
        return;
    }
    request_list_push(&target->refused, flight->request);
    if (!others_wait) {
        flits->refusing_targets++;
        fabric_block(flits->requests, flight->packet.to, true);
        ask_for_space(target);
    }
}

static void on_request_arrived(void *ctx, struct fabric_packet *packet, uint64_t cycle)
{
    struct flits *flits = ctx;
    engine_at(flits->engine, cycle * flits->period_ps, flits->source_id, on_request_there,
              packet->owner, 0);
}

/* ---- replies ---- */

static void on_reply(void *ctx, uint64_t arg)
{
    struct flight *flight = ctx;
    (void)arg;
    struct flits *flits = flight->source->flits;
    uint32_t node = flits->source_count + flight->target;
    flight->sent_ps = engine_now_ps(flits->engine);
    flight->packet.to = (uint32_t)(flight->source - flits->sources);
    enter(flits, flits->replies, node, &flight->packet, flight->sent_ps,
          noc_reply_bytes(flits->spec, flight->request));
}

static void on_reply_arrived(void *ctx, struct fabric_packet *packet, uint64_t cycle)
{
    struct flits *flits = ctx;
    struct flight *flight = packet->owner;
    struct mem_request *request = flight->request;
    request->reply = flight->reply;
    request->ctx = flight->ctx;
    flits->reply_ps += cycle * flits->period_ps - flight->sent_ps;
    noc_give_reply(&flight->source->outlet, request, cycle * flits->period_ps);
    pool_put(&flits->flights, flight);
}

static struct mem_port flits_port(void *state, uint32_t source, noc_route *route, void *ctx,
                                  struct mem_outlet outlet)
{
    struct flits *flits = state;
    struct flit_source *s = &flits->sources[source];
    s->route = route;
    s->route_ctx = ctx;
    s->outlet = outlet;
    return (struct mem_port){.send = flits_send, .when_space = flits_when_space, .self = s};
}

/* The last router's crossbar has been passed; its channel to the node has not. */
static uint64_t flits_lookahead_ps(const void *state)
{
    const struct flits *flits = state;
    const struct noc_flits_spec *spec = &flits->spec->flits;
    return (uint64_t)(spec->switch_cycles + spec->link_cycles) * flits->period_ps;
}

static void fill_way(struct mem_noc_way_stats *way, const struct fabric *fabric, uint32_t first,
                     uint32_t count, uint64_t latency_ps)
{
    const struct fabric_stats *stats = fabric_stats(fabric);
    *way = (struct mem_noc_way_stats){.packets = stats->packets,
                                      .flits = stats->flits,
                                      .routers = stats->routers,
                                      .latency_ps = latency_ps};
    for (uint32_t i = 0; i < count; i++) {
        way->stalled_cycles += fabric_stalled(fabric, first + i);
    }
}

static void flits_set_bounded(void *state, bool bounded)
{
    struct flits *flits = state;
    flits->unbounded = !bounded;
}

/* As of now: nobody knows when a flit will leave. */
static uint32_t flits_held(void *state, uint32_t source, uint64_t at_ps)
{
    const struct flits *flits = state;
    (void)at_ps;
    return fabric_waiting(flits->requests, source);
}

static void flits_stats(struct mem_noc_stats *out, const void *state)
{
    const struct flits *flits = state;
    fill_way(&out->requests, flits->requests, 0, flits->source_count, flits->request_ps);
    out->requests.sectors = flits->request_sectors;
    fill_way(&out->replies, flits->replies, flits->source_count, flits->target_count,
             flits->reply_ps);
}

const struct noc_ops noc_FLITS = {.check = flits_check,
                                  .create = flits_create,
                                  .destroy = flits_destroy,
                                  .connect = flits_connect,
                                  .port = flits_port,
                                  .lookahead_ps = flits_lookahead_ps,
                                  .set_bounded = flits_set_bounded,
                                  .held = flits_held,
                                  .stats = flits_stats};
