/* The network's contract, handed to the kind that the model chose. */
#include "mem/noc/noc.h"

#include <stdlib.h>

#include "util/error.h"

/* A source's end of the network. */
struct noc_end {
    struct mem_noc *noc;
    uint32_t source;
    struct mem_outlet outlet;
};

struct mem_noc {
    const struct noc_ops *ops;
    void *state;
    struct engine *engine;
    uint32_t source; /* the engine's, for replies that nobody else takes */
    struct noc_end *ends;
};

static void on_out(void *ctx, uint64_t arg)
{
    const struct noc_end *end = ctx;
    mem_noc_deliver(end->noc, end->source, (struct mem_request *)(uintptr_t)arg);
}

static void reply_as_event(void *self, struct mem_request *request, uint64_t at_ps)
{
    const struct mem_noc *noc = ((struct noc_end *)self)->noc;
    engine_at(noc->engine, at_ps, noc->source, on_out, self, (uintptr_t)request);
}

static const struct noc_ops *const kinds[NOC_KIND_COUNT] = {
#define NOC(id, text, doc) [NOC_##id] = &noc_##id,
#include "mem/noc/noc.def"
#undef NOC
};

int mem_noc_check(const struct noc_spec *spec, uint32_t sources, uint32_t targets)
{
    if ((unsigned)spec->kind >= NOC_KIND_COUNT) {
        return error_set(SONDE_EINPUT, "network: unknown kind %d", (int)spec->kind);
    }
    if (spec->queue_entries == 0 || sources == 0 || targets == 0) {
        return error_set(SONDE_EINPUT,
                         "network: queue entries, sources and targets must be at least 1");
    }
    if (spec->folds_header && spec->write_granule_bytes != NOC_SECTOR_BYTES) {
        return error_set(SONDE_EINPUT, "network: folds_header needs a write_granule of %d B",
                         NOC_SECTOR_BYTES);
    }
    const struct noc_ops *ops = kinds[spec->kind];
    if (spec->share_tables > 0 && !ops->set_group) {
        return error_set(SONDE_EINPUT, "network: a network of this kind shares no reads");
    }
    return ops->check ? ops->check(spec, sources, targets) : 0;
}

int mem_noc_create(struct mem_noc **out, const struct noc_spec *spec, struct engine *engine,
                   const struct engine_clock *clock, uint32_t source, uint32_t sources,
                   uint32_t targets)
{
    *out = NULL;
    int rc = mem_noc_check(spec, sources, targets);
    if (rc < 0) {
        return rc;
    }
    struct mem_noc *noc = calloc(1, sizeof *noc);
    if (!noc) {
        return error_memory();
    }
    *noc = (struct mem_noc){.ops = kinds[spec->kind], .engine = engine, .source = source};
    noc->ends = calloc(sources, sizeof *noc->ends);
    if (!noc->ends) {
        free(noc);
        return error_memory();
    }
    rc = noc->ops->create(&noc->state, spec, engine, clock, source, sources, targets);
    if (rc < 0) {
        free(noc->ends);
        free(noc);
        return rc;
    }
    for (uint32_t i = 0; i < sources; i++) {
        struct noc_end *end = &noc->ends[i];
        *end = (struct noc_end){.noc = noc, .source = i};
        end->outlet = (struct mem_outlet){.reply = reply_as_event, .self = end, .engine = engine};
    }
    *out = noc;
    return 0;
}

void mem_noc_destroy(struct mem_noc *noc)
{
    if (noc) {
        noc->ops->destroy(noc->state);
        free(noc->ends);
        free(noc);
    }
}

void mem_noc_connect(struct mem_noc *noc, uint32_t target, struct mem_port port)
{
    noc->ops->connect(noc->state, target, port);
}

struct mem_port mem_noc_port(struct mem_noc *noc, uint32_t source, noc_route *route, void *ctx)
{
    return noc->ops->port(noc->state, source, route, ctx, noc->ends[source].outlet);
}

void mem_noc_set_outlet(struct mem_noc *noc, uint32_t source, struct mem_outlet outlet)
{
    noc->ends[source].outlet = outlet;
}

void mem_noc_set_group(struct mem_noc *noc, uint32_t source, uint32_t group)
{
    noc->ops->set_group(noc->state, source, group);
}

void mem_noc_deliver(struct mem_noc *noc, uint32_t source, struct mem_request *request)
{
    if (noc->ops->deliver) {
        noc->ops->deliver(noc->state, source, request);
    } else {
        request->reply(request->ctx, (uintptr_t)request);
    }
}

uint64_t mem_noc_lookahead_ps(const struct mem_noc *noc)
{
    return noc->ops->lookahead_ps(noc->state);
}

void mem_noc_set_bounded(struct mem_noc *noc, bool bounded)
{
    noc->ops->set_bounded(noc->state, bounded);
}

uint32_t mem_noc_held(struct mem_noc *noc, uint32_t source, uint64_t at_ps)
{
    return noc->ops->held(noc->state, source, at_ps);
}

void mem_noc_stats(struct mem_noc_stats *out, const struct mem_noc *noc)
{
    *out = (struct mem_noc_stats){0};
    noc->ops->stats(out, noc->state);
}
