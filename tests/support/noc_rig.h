/*
 * A network on a test bench: two sources, and two targets, told apart by address bit 8, that answer
 * after 50 cycles. A test fills in the specification and starts it.
 */
#ifndef SONDE_TESTS_SUPPORT_NOC_RIG_H
#define SONDE_TESTS_SUPPORT_NOC_RIG_H

#include "support/memory_rig.h"

enum { BELOW_CYCLES = 50 };

struct fixture {
    struct engine *engine;
    struct sink sink[2];
    struct noc_spec spec;
    struct mem_noc *noc;
    struct mem_port port[2];
};

/* A mesh of four nodes on which every step takes a cycle. */
static inline struct noc_flits_spec rig_mesh(uint32_t buffer_flits, uint32_t reply_entries)
{
    return (struct noc_flits_spec){.topology = NOC_TOPOLOGY_MESH,
                                   .width = 2,
                                   .height = 2,
                                   .flit_bytes = 16,
                                   .virtual_channels = 2,
                                   .buffer_flits = buffer_flits,
                                   .iterations = 1,
                                   .input_speedup = 1,
                                   .routing_cycles = 1,
                                   .vc_cycles = 1,
                                   .switch_cycles = 1,
                                   .link_cycles = 1,
                                   .reply_entries = reply_entries};
}

static inline uint32_t route_by_bit_8(void *ctx, const struct mem_request *request)
{
    (void)ctx;
    return request->paddr >> 8 & 1;
}

static inline void fixture_start(struct fixture *f)
{
    assert_int_equal(mem_noc_create(&f->noc, &f->spec, f->engine, &rig_clock, 1, 2, 2), 0);
    for (uint32_t i = 0; i < 2; i++) {
        f->sink[i] = (struct sink){.engine = f->engine, .latency_cycles = BELOW_CYCLES};
        mem_noc_connect(f->noc, i, sink_port(&f->sink[i]));
    }
    for (uint32_t i = 0; i < 2; i++) {
        f->port[i] = mem_noc_port(f->noc, i, route_by_bit_8, NULL);
    }
}

static inline void fixture_close(struct fixture *f)
{
    mem_noc_destroy(f->noc);
    engine_destroy(f->engine);
}

#endif
