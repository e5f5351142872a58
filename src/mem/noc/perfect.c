/*
 * A perfect memory in place of network, L2 and DRAM: every request is answered after the network's
 * two latencies, any number at a time. What the machine would do if memory never held it back
 * (Bakhoda et al. 2009, 4.1); targets are never asked.
 */
#include <stdlib.h>

#include "mem/noc/noc.h"
#include "util/error.h"

struct perfect_source {
    struct perfect *perfect;
    struct mem_outlet outlet;
};

struct perfect {
    const struct noc_spec *spec;
    struct engine *engine;
    struct perfect_source *sources;
    uint64_t latency_ps;
    uint32_t source_id;
    struct mem_noc_stats stats;
};

static int perfect_create(void **state, const struct noc_spec *spec, struct engine *engine,
                          const struct engine_clock *clock, uint32_t source, uint32_t sources,
                          uint32_t targets)
{
    (void)targets;
    struct perfect *perfect = calloc(1, sizeof *perfect);
    if (!perfect) {
        return error_memory();
    }
    perfect->sources = calloc(sources, sizeof *perfect->sources);
    if (!perfect->sources) {
        free(perfect);
        return error_memory();
    }
    uint64_t cycles = (uint64_t)spec->request_cycles + spec->reply_cycles;
    perfect->spec = spec;
    perfect->engine = engine;
    perfect->latency_ps = clock_cycles_to_ps(clock, cycles ? cycles : 1);
    perfect->source_id = source;
    *state = perfect;
    return 0;
}

static void perfect_destroy(void *state)
{
    struct perfect *perfect = state;
    free(perfect->sources);
    free(perfect);
}

static void perfect_connect(void *state, uint32_t target, struct mem_port port)
{
    (void)state;
    (void)target;
    (void)port;
}

static bool perfect_send(void *self, struct mem_request *request)
{
    const struct perfect_source *source = self;
    struct perfect *perfect = source->perfect;
    uint64_t now_ps = engine_now_ps(perfect->engine);
    uint64_t sent_ps = request->arrive_ps > now_ps ? request->arrive_ps : now_ps;
    request->served_at = MEM_AT_DRAM;
    perfect->stats.requests.packets++;
    perfect->stats.requests.sectors += noc_ask(perfect->spec, request);
    perfect->stats.replies.packets++;
    perfect->stats.replies.latency_ps += perfect->latency_ps;
    noc_give_reply(&source->outlet, request, sent_ps + perfect->latency_ps);
    return true;
}

/* Never asked: nothing is ever refused. */
static void perfect_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    const struct perfect *perfect = ((const struct perfect_source *)self)->perfect;
    engine_at(perfect->engine, engine_now_ps(perfect->engine), perfect->source_id, handler, ctx,
              arg);
}

static struct mem_port perfect_port(void *state, uint32_t source, noc_route *route, void *ctx,
                                    struct mem_outlet outlet)
{
    (void)route;
    (void)ctx;
    struct perfect *perfect = state;
    struct perfect_source *s = &perfect->sources[source];
    *s = (struct perfect_source){.perfect = perfect, .outlet = outlet};
    return (struct mem_port){.send = perfect_send, .when_space = perfect_when_space, .self = s};
}

static uint64_t perfect_lookahead_ps(const void *state)
{
    const struct perfect *perfect = state;
    return perfect->latency_ps;
}

/* There is no bound and nothing to hold. */
static void perfect_set_bounded(void *state, bool bounded)
{
    (void)state;
    (void)bounded;
}

static uint32_t perfect_held(void *state, uint32_t source, uint64_t at_ps)
{
    (void)state;
    (void)source;
    (void)at_ps;
    return 0;
}

static void perfect_stats(struct mem_noc_stats *out, const void *state)
{
    const struct perfect *perfect = state;
    *out = perfect->stats;
}

const struct noc_ops noc_PERFECT = {.create = perfect_create,
                                    .destroy = perfect_destroy,
                                    .connect = perfect_connect,
                                    .port = perfect_port,
                                    .lookahead_ps = perfect_lookahead_ps,
                                    .set_bounded = perfect_set_bounded,
                                    .held = perfect_held,
                                    .stats = perfect_stats};
