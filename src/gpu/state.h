/*
 * The GPU's state, shared by the files of this room: build.c wires it, launch.c runs launches,
 * gpu.c answers questions about it.
 *
 *     SM --+-- L1 --+
 *          |        +-- side -- translator -- network source -- network -- L2 slice -- channel
 *          +--------+               |         (one an SM)                     |
 *                                  TLBs -- page walker -----------------------+
 *
 * A side is where an SM with its caches ends and memory begins (side.c), a channel where memory
 * ends and DRAM begins (channel.c). Every L2 slice belongs to one channel; slices are dealt to
 * channels in order. An L1 that knows lines by physical addresses has a translator in front and the
 * network behind it.
 */
#ifndef SONDE_GPU_STATE_H
#define SONDE_GPU_STATE_H

#include "core/sm.h"
#include "gpu/gpu.h"
#include "mem/mem.h"
#include "mem/queue.h"
#include "mem/tlb/tlb.h"
#include "util/error.h"
#include "util/team.h"

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

/* A request, or its reply, on the way between an SM and memory. */
struct gpu_mail {
    uint64_t at_ps;
    struct mem_request *request;
};
struct gpu_mail_list {
    uint32_t count, capacity;
    uint64_t earliest_ps; /* of them; ENGINE_NEVER: none */
    struct gpu_mail *mail;
};

struct gpu_cta_end {
    uint64_t at_ps, cta;
    uint32_t sm;
};

/* Where two groups meet: crossing.c. */
struct gpu_crossing {
    /* The upper one's. */
    _Alignas(64) struct engine *upper;
    uint32_t source, reply_source;    /* the engines' ids of requests and of replies */
    bool parted;                      /* the two run apart */
    uint32_t used, places;            /* requests not known to be let go of; at most */
    struct gpu_mail_list down, inbox; /* written; to be read, see gpu_crossing_exchange() */
    struct waiters space;
    engine_handler *out; /* out(out_ctx, request) at the reply's time */
    void *out_ctx;
    /* The lower one's. */
    _Alignas(64) struct engine *lower;
    struct gpu_mail_list up, outbox;
    struct mem_port below;
    struct request_list refused;
    uint32_t taken, held;   /* handed on since the last exchange; held below as of then */
    struct mem_outlet told; /* of what is handed on; without `reply`: nobody asks for it */
};

/* What an SM tells while it runs apart from the others, until somebody looks. */
struct gpu_side {
    _Alignas(64) struct gpu *gpu;
    struct engine *engine; /* of the SM and its caches; joined to the GPU's, or apart */
    uint32_t sm;
    /* What a window leaves for the exchange after it, in one line of the host's cache. */
    uint64_t next_ps; /* the first event of the engine */
    bool has_news, has_stores;
    uint32_t end_count, end_capacity, end_told;
    struct gpu_cta_end *end;
    int fault; /* the first, with its text */
    uint64_t fault_ps;
    char fault_text[ERROR_TEXT_MAX];
    struct gpu_crossing crossing;
};

/* A channel of DRAM. */
struct gpu_channel {
    struct gpu_crossing crossing;
    struct engine *engine; /* joined to the GPU's, or apart */
    struct mem_dram *dram;
    struct mem_port port; /* of the crossing */
};

struct gpu {
    const struct model *model;
    struct exec_memory *memory;
    struct gpu_translate translate;
    struct engine *engine;        /* memory's, and everybody's while nothing runs apart */
    struct gpu_side *side;        /* one an SM */
    uint32_t *busy;               /* the SMs that have something to do in a window */
    struct gpu_mail_list atomics; /* that memory has served in a window, in its order */
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
    struct mem_cache **l2;             /* model->l2_slices */
    struct gpu_channel *channel;       /* model->dram.channels */
    uint32_t next_source;              /* engine source ids handed out so far */
    uint32_t l1_source;                /* the L1s' ids begin here: they keep them over carve-outs */
    uint32_t noc_source, start_source; /* of the network; of CTAs that start */

    struct cache_spec l1_spec; /* as the carve-out leaves it */
    uint64_t shared_bytes;
    uint32_t carveout, wanted_carveout;
    uint64_t l1_reads_before, l1_hits_before; /* of L1s that a carve-out has replaced */

    const volatile int *cancel;
    uint64_t launches, cycles;
    uint32_t threads;  /* of the host */
    struct team *team; /* NULL: not made yet */

    gpu_placed *placed;
    void *placed_ctx;

    /* The launch in progress. */
    uint64_t start_ps, last_end_ps; /* its begin; the end of the CTA that ended last */
    uint64_t latest_ps;             /* the latest of all clocks when they were joined */
    uint64_t lookahead_ps;          /* SMs and memory hear of each other no sooner; 0: at once */
    bool parted;                    /* SMs and memory run apart, see windows.c */
    uint64_t dram_ahead_ps;         /* DRAM knows of a reply so long before; 0: it is memory's */
    bool stopping;                  /* no CTA starts any more */
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

/* crossing.c */
void gpu_mail_add(struct gpu_mail_list *list, uint64_t at_ps, struct mem_request *request,
                  struct engine *engine);
void gpu_mail_forget(struct gpu_mail_list *list);
/* Requests to *port go through the crossing from here on. */
void gpu_crossing_attach(struct gpu_crossing *crossing, struct mem_port *port, uint32_t source);
void gpu_crossing_free(struct gpu_crossing *crossing);
void gpu_crossing_reply(struct gpu_crossing *crossing, struct mem_request *request, uint64_t at_ps);
void gpu_crossing_part(struct gpu_crossing *crossing, uint32_t places);
/* Nothing of the upper group is earlier than `now_ps`. */
void gpu_crossing_join(struct gpu_crossing *crossing, uint64_t now_ps);
/*
 * Hands over what was noted; nothing of the upper group is earlier than `now_ps`. `held`: requests
 * that the port below has taken and still counts. Both sides find it when they read their mail,
 * before they run on.
 */
void gpu_crossing_exchange(struct gpu_crossing *crossing, uint32_t held, uint64_t now_ps);
void gpu_crossing_read_inbox(struct gpu_crossing *crossing);
void gpu_crossing_read_outbox(struct gpu_crossing *crossing);

/* side.c */
int gpu_sides_create(struct gpu *gpu);
void gpu_sides_destroy(struct gpu *gpu);
void gpu_side_attach(struct gpu_side *side, struct mem_port *port);
struct mem_outlet gpu_side_outlet(struct gpu_side *side);
void gpu_side_exchange(struct gpu_side *side, uint64_t now_ps);
/* What memory has served happens. */
void gpu_sides_do_atomics(struct gpu *gpu);

/* channel.c */
int gpu_channels_create(struct gpu *gpu);
void gpu_channels_destroy(struct gpu *gpu);
/* A reply is known at least so long before it is there. */
uint64_t gpu_channels_lookahead_ps(const struct gpu *gpu);

/* windows.c */
uint64_t gpu_lookahead_ps(const struct gpu *gpu, const struct exec_launch *launch);
int gpu_part(struct gpu *gpu);
void gpu_join(struct gpu *gpu);
int gpu_run_windows(struct gpu *gpu);

/* launch.c */
void gpu_cta_ended(struct gpu *gpu, const struct gpu_cta_end *end);
int gpu_deadlock(const struct gpu *gpu);
bool gpu_cancelled(const struct gpu *gpu);
/* What the SMs report. */
void gpu_cta_done(void *ctx, uint32_t sm, uint64_t cta);
void gpu_fault(void *ctx, uint32_t sm, int code);

#endif
