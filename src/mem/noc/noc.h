/*
 * What a kind of network provides. The functions are those of mem.h without the dispatch; `state`
 * is the kind's own.
 */
#ifndef SONDE_MEM_NOC_NOC_H
#define SONDE_MEM_NOC_NOC_H

#include "mem/mem.h"

typedef uint32_t noc_route(void *ctx, const struct mem_request *request);

struct noc_ops {
    /* What the kind asks of its specification beyond noc.c's; NULL: nothing. */
    int (*check)(const struct noc_spec *spec, uint32_t sources, uint32_t targets);
    int (*create)(void **state, const struct noc_spec *spec, struct engine *engine,
                  const struct engine_clock *clock, uint32_t source, uint32_t sources,
                  uint32_t targets);
    void (*destroy)(void *state);
    void (*connect)(void *state, uint32_t target, struct mem_port port);
    struct mem_port (*port)(void *state, uint32_t source, noc_route *route, void *ctx,
                            struct mem_outlet outlet);
    uint64_t (*lookahead_ps)(const void *state);
    /* A reply has come out at the source; NULL: it is there. */
    void (*deliver)(void *state, uint32_t source, struct mem_request *request);
    void (*set_group)(void *state, uint32_t source, uint32_t group); /* NULL: no reads are shared */
    void (*set_bounded)(void *state, bool bounded);
    uint32_t (*held)(void *state, uint32_t source, uint64_t at_ps);
    void (*stats)(struct mem_noc_stats *out, const void *state);
};

#define NOC(id, text, doc) extern const struct noc_ops noc_##id;
#include "mem/noc/noc.def"
#undef NOC

/* The reply will be with its source at `at_ps`. */
static inline void noc_give_reply(const struct mem_outlet *outlet, struct mem_request *request,
                                  uint64_t at_ps)
{
    outlet->reply(outlet->self, request, at_ps);
}

/* Every piece that the write touches is written whole. */
static inline bool noc_writes_whole(const struct mem_request *r)
{
    if ((r->paddr | r->bytes) & (NOC_SECTOR_BYTES - 1)) {
        return false;
    }
    bool whole = true;
    for (uint32_t at = 0; at < 128 && (r->written[0] | r->written[1]); at += NOC_SECTOR_BYTES) {
        uint32_t piece = (uint32_t)(r->written[at / 64] >> at % 64);
        whole = whole && (piece == 0 || piece == UINT32_MAX);
    }
    return whole;
}

/*
 * Lanes that want one word take turns, and each turn is a packet: of one word a header, of more a
 * header and a piece for each sector. Without turns one lane does it for all. Of one sector no more
 * turns have several words than lanes are left beside one a turn; turns of several sectors are
 * taken as even.
 */
static inline uint32_t noc_atomic_bytes(const struct noc_spec *spec, const struct mem_request *r)
{
    uint32_t passes = r->passes ? r->passes : 1, sectors = r->sectors ? r->sectors : 1;
    if (sectors > 1) {
        return spec->header_bytes * ((passes + sectors - 1) / sectors) + NOC_SECTOR_BYTES * passes;
    }
    uint32_t beside = r->passes && r->lanes > passes ? r->lanes - passes : 0;
    return spec->header_bytes * passes + NOC_SECTOR_BYTES * (beside < passes ? beside : passes);
}

static inline uint32_t noc_request_bytes(const struct noc_spec *spec, const struct mem_request *r)
{
    if (spec->folds_header && r->kind == MEM_ATOMIC) {
        return noc_atomic_bytes(spec, r);
    }
    bool carries = r->kind == MEM_WRITE || r->kind == MEM_ATOMIC;
    uint64_t bytes = r->bytes, granule = spec->write_granule_bytes;
    if (granule > 0) {
        bytes = ((r->paddr + bytes - 1) / granule - r->paddr / granule + 1) * granule;
        uint64_t touched = (uint64_t)r->sectors * NOC_SECTOR_BYTES;
        bytes = touched > 0 && touched < bytes ? touched : bytes;
    }
    if (spec->folds_header && r->kind == MEM_WRITE && noc_writes_whole(r)) {
        return (uint32_t)bytes;
    }
    return spec->header_bytes + (carries ? (uint32_t)bytes : 0);
}

/* Those that a request asks for or writes. */
static inline uint64_t noc_sectors(const struct noc_spec *spec, const struct mem_request *r)
{
    uint64_t all = (r->paddr + r->bytes - 1) / NOC_SECTOR_BYTES - r->paddr / NOC_SECTOR_BYTES + 1;
    bool some = spec->write_granule_bytes > 0 && r->kind == MEM_WRITE && r->sectors > 0;
    return some && r->sectors < all ? r->sectors : all;
}

/* The request goes on to its target: how many sectors that makes. Between parts of L2 it passes a
 * second network, which does not count for it. */
static inline uint64_t noc_ask(const struct noc_spec *spec, struct mem_request *r)
{
    uint64_t sectors = noc_sectors(spec, r);
    if (r->asked == 0) {
        mem_request_ask(r, sectors);
    }
    return sectors;
}

static inline uint32_t noc_reply_bytes(const struct noc_spec *spec, const struct mem_request *r)
{
    bool carries = r->kind == MEM_READ || r->kind == MEM_ATOMIC;
    return spec->header_bytes + (carries ? r->bytes : 0);
}

#endif
