/*
 * The GPU's state, shared by the files of this room: build.c wires it, launch.c runs launches,
 * gpu.c answers questions about it.
 *
 *     SM --+-- L1 --+
 *          |        +-- network source (one an SM) -- network -- L2 slice -- DRAM channel
 *          +--------+
 *
 * Every L2 slice belongs to one channel; slices are dealt to channels in order.
 */
#ifndef SONDE_GPU_STATE_H
#define SONDE_GPU_STATE_H

#include "core/sm.h"
#include "gpu/gpu.h"
#include "mem/mem.h"

struct gpu {
    const struct model *model;
    struct exec_memory *memory;
    struct gpu_translate translate;
    struct engine *engine;
    struct engine_clock clock;
    struct sm **sm;               /* model->sms of each */
    struct mem_cache **l1;        /* NULL where the carve-out leaves none */
    struct mem_port *source_port; /* into the network */
    struct mem_noc *noc;
    struct mem_cache **l2; /* model->l2_slices */
    struct mem_dram **dram;
    uint32_t next_source; /* engine source ids handed out so far */
    uint32_t l1_source;   /* the L1s' ids begin here: they keep them over carve-outs */

    struct cache_spec l1_spec; /* as the carve-out leaves it */
    uint64_t shared_bytes;
    uint32_t carveout, wanted_carveout;
    uint64_t l1_reads_before, l1_hits_before; /* of L1s that a carve-out has replaced */

    const volatile int *cancel;
    uint64_t launches, cycles;

    /* The launch in progress. */
    uint64_t cta_count, cta_next, cta_ended;
    int error;
};

/* build.c */
int gpu_build(struct gpu *gpu);
int gpu_apply_carveout(struct gpu *gpu);

/* launch.c: what the SMs report */
void gpu_cta_done(void *ctx, uint32_t sm);
void gpu_fault(void *ctx, uint32_t sm, int code);

#endif
