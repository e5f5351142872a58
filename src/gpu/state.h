/*
 * The GPU's state, shared by the files of this room: build.c wires it, launch.c runs launches,
 * gpu.c answers questions about it.
 *
 *     SM --+-- L1 --+
 *          |        +-- translator -- network source (one an SM) -- network -- L2 slice -- DRAM
 * channel
 *          +--------+       |                                                    |
 *                         TLBs -- page walker -----------------------------------+
 *
 * Every L2 slice belongs to one channel; slices are dealt to channels in order. An L1 that knows
 * lines by physical addresses has a translator in front and the network behind it.
 */
#ifndef SONDE_GPU_STATE_H
#define SONDE_GPU_STATE_H

#include "core/sm.h"
#include "gpu/gpu.h"
#include "mem/mem.h"
#include "mem/tlb/tlb.h"

/* The TLBs of one level. */
struct gpu_tlbs {
    struct mem_cache **cache;
    uint32_t count;
};

/* An SM's caches of what a kernel only reads; NULL where the model has none. */
struct gpu_readonly {
    struct mem_cache *texture, *constant, *constant_l15;
    struct mem_port texture_port, constant_port;
};

struct gpu {
    const struct model *model;
    struct exec_memory *memory;
    struct gpu_translate translate;
    struct engine *engine;
    struct engine_clock clock;
    struct sm **sm;                 /* model->sms of each */
    struct mem_cache **l1;          /* NULL where the carve-out leaves none */
    struct mem_port *source_port;   /* into the network, through translation */
    struct mem_port *network_port;  /* into the network, for what is translated */
    struct gpu_tlbs tlb_l1, tlb_l2; /* without instances where nothing is translated */
    struct mem_walker *walker;
    struct mem_translator **translators; /* two an SM, see vm.c */
    uint32_t translator_source;
    struct gpu_readonly *readonly; /* one an SM */
    uint64_t local_address, local_bytes;
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

    gpu_placed *placed;
    void *placed_ctx;

    /* The launch in progress. */
    uint64_t start_ps;
    uint64_t cta_count, cta_next, cta_ended;
    int error;
};

/* build.c */
int gpu_build(struct gpu *gpu);
int gpu_apply_carveout(struct gpu *gpu);

/* vm.c. gpu_translator() puts a translator in front of *port, if the model translates at all. */
int gpu_vm_create(struct gpu *gpu);
void gpu_vm_destroy(struct gpu *gpu);
int gpu_translator(struct gpu *gpu, struct mem_port *port, uint32_t sm, bool before_l1);
void gpu_vm_stats(const struct gpu *gpu, struct gpu_stats *out);

/* readonly.c. The caches first, the SMs attached to them when they are there. */
int gpu_readonly_create(struct gpu *gpu);
void gpu_readonly_attach(struct gpu *gpu);
void gpu_readonly_destroy(struct gpu *gpu);
void gpu_readonly_invalidate(struct gpu *gpu); /* as a launch does */
void gpu_readonly_stats(const struct gpu *gpu, struct gpu_stats *out);
void gpu_local_place(struct gpu *gpu, const struct exec_launch *launch);

/* launch.c: what the SMs report */
void gpu_cta_done(void *ctx, uint32_t sm, uint64_t cta);
void gpu_fault(void *ctx, uint32_t sm, int code);

#endif
