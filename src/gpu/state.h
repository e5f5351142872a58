/*
 * The GPU's state, shared by the files of this room: build.c wires it, distribute.c hands out
 * CTAs, launch.c runs launches, gpu.c answers questions about it.
 *
 *     SM --+-- L1 --+
 *          |        +-- boundary -- translator -- network source -- network -- L2 slice -- channel
 *          +--------+               |         (one an SM)                     |
 *                                  TLBs -- page walker -----------------------+
 *
 * Terms:
 *   boundary  of an SM: where the SM with its caches ends and memory begins (boundary.c)
 *   channel   of DRAM: where memory ends and DRAM begins (channel.c)
 *   mailbox   carries requests and replies across a boundary or into a channel (mailbox.c)
 *   message   a request, or its reply, with its time
 *   window    a span of time in which groups of components run apart (windows.c)
 *
 * Every L2 slice belongs to one channel; slice s to channel s mod channels. An L1 that knows
 * lines by physical addresses has a translator in front and the network behind it.
 */
#ifndef SONDE_GPU_STATE_H
#define SONDE_GPU_STATE_H

#include "core/sm.h"
#include "exec/cluster.h"
#include "gpu/gpu.h"
#include "gpu/set.h"
#include "mem/mem.h"
#include "mem/pool.h"
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

/* A request, or its reply, on the way from one group of components to another. */
struct gpu_message {
    uint64_t at_ps;
    struct mem_request *request;
};
struct gpu_message_list {
    uint32_t count, capacity;
    uint64_t earliest_ps; /* of them; ENGINE_NEVER: none */
    struct gpu_message *message;
};

/* The end of a CTA; GPU_NO_CTA: of something else that the grid waits for. */
#define GPU_NO_CTA UINT64_MAX
struct gpu_cta_end {
    uint64_t at_ps, cta;
    uint32_t sm;
    struct gpu_grid *grid;
    struct sm_cta_counts counts;
};

/* Where CTAs of a grid may start. */
struct gpu_place {
    struct gpu_grid *grid;
    struct gpu_boundary *boundary;
    bool prepared; /* the SM is, for this grid */
};

/* A cluster of CTAs that are resident: cluster.c. */
struct gpu_cluster {
    struct gpu_cluster *next;
    uint64_t id; /* in the grid */
    struct exec_cluster *exec;
    uint32_t sm[EXEC_CLUSTER_MAX]; /* by rank */
};

struct gpu_grid {
    struct sm_grid sm;
    struct gpu_grid *next;
    struct gpu_place *place; /* one an SM */
    int priority;
    uint64_t max_cycles;
    uint64_t cta_count, cta_next, cta_ended; /* CTAs are counted in the order of their clusters */
    const struct gpu_skips *skips;
    uint32_t cluster_size;
    bool has_clusters; /* of several CTAs, or its program uses them */
    struct gpu_cluster *clusters;
    uint64_t start_ps, last_end_ps; /* its begin; the end of the CTA that ended last */
    uint64_t end_ps;
    uint64_t noted_ps; /* the last end of a CTA is */
    uint32_t settling; /* L1s that are being written to memory, and the end that comes after CTAs */
    struct sm_cta_counts counts; /* of the CTAs that have ended */
    bool over, shared;           /* others were on the GPU with it */
    bool is_dealt;               /* in visits, as deal.c has it */
};

/* Between an upper group, which sends requests, and a lower one, which replies: mailbox.c. */
struct gpu_mailbox {
    /* The upper group's. */
    _Alignas(64) struct engine *upper;
    uint32_t source, reply_source; /* the engines' ids of requests and of replies */
    bool parted;                   /* the two groups run apart */
    uint32_t used, credits;        /* requests not known to be let go of; at most */
    /* Written by this group; written by the other one and to be read by this one. */
    struct gpu_message_list posted_requests, delivered_replies;
    struct waiters space;
    engine_handler *out; /* out(out_ctx, request) at the reply's time */
    void *out_ctx;
    struct gpu_set *asked; /* gets `number` with the first request that is posted; NULL: nothing */
    /* The lower group's. */
    _Alignas(64) struct engine *lower;
    struct gpu_message_list posted_replies, delivered_requests;
    struct mem_port below;
    struct request_list refused;
    uint32_t taken, held;     /* handed on since the last exchange; held below as of then */
    struct gpu_set *answered; /* gets `number` with the first reply that is posted; NULL: nothing */
    uint32_t number;
    struct mem_outlet outlet; /* of what is handed on; without `reply`: nobody asks for it */
};

/* The boundary of an SM, and what the SM reports while it runs apart. */
struct gpu_boundary {
    _Alignas(64) struct gpu *gpu;
    struct engine *engine; /* of the SM and its caches; joined to the GPU's, or apart */
    uint32_t sm;
    uint64_t period; /* in which the SM was last used: gpu->period */
    bool counts;     /* since its counters were last read: stats.c */
    /* What a window leaves for the exchange after it, in one line of the host's cache. */
    uint64_t next_ps; /* the first event of the engine */
    bool has_news, has_stores, awaits_turn;
    uint32_t end_count, end_capacity, end_told;
    struct gpu_cta_end *end;
    int fault; /* the first, with its text */
    uint64_t fault_ps;
    char fault_text[ERROR_TEXT_MAX];
    struct gpu_mailbox mailbox;
};

/* Where memory has posted something since the last exchange; no other group writes here. */
struct gpu_notes {
    _Alignas(64) struct gpu_set answered_sms, asked_channels;
    uint64_t constants_answered; /* by clusters' caches, since SMs and memory run apart */
};

/* A slice of L2, with its ways in and out: parts.c. */
struct gpu_slice {
    struct gpu *gpu;
    uint32_t source, part, away_cycles;
    struct mem_port cache, channel, crossing;
    struct request_list waiting; /* reads of copies that are not in the cache yet */
    struct pool copies;
    uint32_t copies_in, copies_most;
    bool copies_wait; /* on_copies() will come */
};

/* A cluster's second constant cache, as an SM reaches it: constants.c. */
struct gpu_constant_way {
    struct gpu *gpu;
    uint32_t sm;
    struct mem_port above;  /* the SM's boundary */
    struct mem_port below;  /* translation and network */
    struct mem_port cache;  /* of its cluster */
    bool constant_refused;  /* it was the cache that refused last */
    struct mem_outlet told; /* by the cache */
    uint64_t asked, noted;  /* requests of the SM, in all and up to the last exchange */
};

/* A channel of DRAM. */
struct gpu_channel {
    struct gpu_mailbox mailbox;
    struct engine *engine; /* joined to the GPU's, or apart */
    struct mem_dram *dram;
    struct mem_port port; /* of the mailbox */
};

/* The SMs' counters: stats.c. */
struct gpu_sm_sums {
    struct sm_stats sum;
    struct sm_stats before[]; /* what of each SM is in the sum */
};

/* Looking for endless kernels: endless.c. */
struct gpu_endless {
    uint64_t next_ps, wait_ps; /* the next question or look; between two looks */
    uint32_t visits;           /* of a warp in the next look */
    bool looks;
};

struct gpu {
    const struct model *model;
    struct gpu_sm_sums *sums;
    struct exec_memory *memory;
    struct gpu_translate translate;
    struct engine *engine;          /* memory's, and everybody's while nothing runs apart */
    struct gpu_boundary *boundary;  /* one an SM */
    uint32_t *busy;                 /* the SMs that have something to do in a window */
    uint32_t *asking, asking_count; /* those whose requests memory has not read yet */
    uint64_t *sm_next_ps;           /* when each SM goes on, as of the last exchange */
    struct gpu_set sms_to_look_at;  /* in the next exchange, beside those that memory answers */
    /* The same of DRAM's channels. */
    uint32_t *busy_channels;
    uint32_t *answering, answering_count; /* whose replies memory has not read yet */
    uint64_t *channel_next_ps;
    struct gpu_set channels_to_look_at; /* beside those that memory asks */
    struct gpu_notes *notes;
    int part_error; /* of the first SM or channel whose engine could not go on; 0: none */
    struct gpu_message_list atomics; /* that memory has served in a window, in its order */
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
    struct mem_cache **l2;    /* model->l2_slices */
    struct gpu_slice *slice;  /* of each */
    uint32_t part_slices;     /* of each part of L2 */
    struct mem_noc *crossing; /* between parts of L2; NULL: there is one */
    struct noc_spec crossing_spec;
    uint32_t *near_part;                   /* of each SM */
    struct mem_cache **constant_l15;       /* one a cluster; NULL: each SM has its own */
    struct gpu_constant_way *constant_way; /* of each SM; NULL: the same */
    uint32_t fetch_refused;                /* the SM for which its fetch was refused last */
    uint64_t constants_asked;              /* of those caches, up to the last exchange */
    struct gpu_channel *channel;           /* model->dram.channels */
    uint32_t next_source;                  /* engine source ids handed out so far */
    uint32_t l1_source;                /* the L1s' ids begin here: they keep them over carve-outs */
    uint32_t noc_source, start_source; /* of the network; of CTAs that start */

    struct cache_spec l1_spec; /* as the carve-out leaves it */
    uint64_t shared_bytes;
    uint32_t carveout, wanted_carveout;
    /* Of L1s that a carve-out has replaced. */
    uint64_t l1_reads_before, l1_hits_before, l1_pending_before;

    const volatile int *cancel;
    bool tells_cancelled;
    const struct progress *progress;
    uint64_t polls;
    uint64_t launches, cycles;
    uint64_t
        resident_warp_cycles; /* of CTAs that have ended, less the cycles when the others began */
    uint64_t resident_warps;  /* of CTAs that have begun and not ended */
    uint64_t placed_cycle;    /* the last one in which a CTA began or ended */
    uint64_t stats_version;
    uint32_t threads;  /* of the host */
    struct team *team; /* NULL: not made yet */

    void (*sample)(void *ctx, uint64_t now_ps); /* NULL: nobody */
    void *sample_ctx;
    uint64_t sample_interval_ps, next_sample_ps;
    gpu_placed *placed;
    void *placed_ctx;

    /* The grids on the GPU. */
    struct gpu_grid *grids; /* in order of priority, then as they came */
    struct sm_room *room;   /* of each SM: what the distributor has given out */
    struct gpu_gate {
        uint64_t begin_ps; /* of the interval in which the last CTA has passed */
        uint32_t ctas;     /* that pass in it */
    } starts, ends;
    struct gpu_deal {
        uint32_t turn;       /* the cluster that comes next */
        uint32_t group, sm;  /* that is visited; where to look on in it */
        uint32_t visits;     /* of clusters since the SMs apart were visited last */
        uint32_t each, left; /* CTAs that each SM gets; of these all, how many are to come */
        bool gets_rest[MODEL_MAX_SMS]; /* one more than that */
    } deal;                            /* of the grid that was dealt last */
    uint64_t period;                   /* of use: between two idle times */
    bool spoilt;                       /* the last one ended with an error */
    bool running;                      /* the first of them has begun */
    bool is_only_grid;                 /* no other can come beside it */
    struct gpu_endless endless;
    bool (*alone)(const void *ctx); /* gpu_set_alone() */
    const void *alone_ctx;
    bool grid_is_over;           /* one has ended since gpu_run() was called */
    bool asked;                  /* gpu_return_soon() was called since then */
    bool reached;                /* it has come to its `until_ps` */
    const atomic_uint *pause;    /* gpu_run() returns while it is not 0; NULL: never is */
    uint64_t counted_ps;         /* gpu->cycles count the time up to here */
    uint64_t local_thread_bytes; /* of the local memory that is placed */
    bool local_shared;           /* it has room for all warp slots of all SMs */
    uint64_t window_ps;          /* no SM has come further while they run apart */
    uint64_t latest_ps;          /* the latest of all clocks when they were joined */
    uint64_t lookahead_ps;       /* SMs hear of the network no sooner; 0: at once */
    uint64_t sm_ahead_ps;        /* nor of each other; the same while no CTA waits for a place */
    uint64_t sm_ahead_alone_ps;
    uint64_t stride_ps;     /* of a window in which all have something to do */
    bool parted;            /* SMs and memory run apart, see windows.c */
    uint64_t dram_ahead_ps; /* DRAM knows of a reply so long before; 0: it is memory's */
    bool stopping;          /* no CTA starts any more */
    int error;
};

/* build.c */
int gpu_build(struct gpu *gpu);
int gpu_apply_carveout(struct gpu *gpu);

/* parts.c. A line's home; `ctx`: the GPU. */
int gpu_l2_create(struct gpu *gpu);
void gpu_l2_destroy(struct gpu *gpu);
struct mem_port gpu_slice_port(struct gpu *gpu, uint32_t slice);
uint32_t gpu_home_slice(const struct gpu *gpu, uint64_t paddr);
uint32_t gpu_near_slice(void *ctx, const struct mem_request *request);
bool gpu_is_far(void *ctx, uint32_t sm, uint64_t paddr); /* its home is not the SM's part */
void gpu_drop_copies(struct gpu *gpu, uint64_t vaddr, uint64_t paddr);
uint32_t gpu_cluster_of(const struct model *model, uint32_t sm);

/* constants.c. gpu_constants_below() comes between an SM's boundary and the network. */
bool gpu_constants_are_shared(const struct model *model);
int gpu_constants_create(struct gpu *gpu);
void gpu_constants_destroy(struct gpu *gpu);
void gpu_constants_below(struct gpu *gpu, struct mem_port *port, uint32_t sm);
struct mem_port gpu_constants_above(struct gpu *gpu, uint32_t sm);
/* SMs and memory begin to run apart; an SM's requests are delivered; one has no answer yet. */
void gpu_constants_part(struct gpu *gpu);
void gpu_constants_note(struct gpu *gpu, uint32_t sm);
bool gpu_constants_are_awaited(const struct gpu *gpu);
/* An answer is known so long before it is there. While none is awaited, the next one is there no
 * sooner than a round after it is asked for. ENGINE_NEVER: there are none. */
uint64_t gpu_constants_lookahead_ps(const struct gpu *gpu);
uint64_t gpu_constants_round_ps(const struct gpu *gpu);

/* vm.c. gpu_translator() puts a translator in front of *port, if the model translates at all. */
int gpu_vm_create(struct gpu *gpu);
void gpu_vm_destroy(struct gpu *gpu);
int gpu_translator(struct gpu *gpu, struct mem_port *port, uint32_t sm, bool before_l1);
void gpu_vm_stats(const struct gpu *gpu, struct gpu_stats *out);

/* readonly.c. The caches first, an SM attached to them when it and its L1 (NULL: none) are there.
 */
int gpu_readonly_create(struct gpu *gpu);
void gpu_readonly_attach(struct gpu *gpu, uint32_t sm, const struct mem_port *l1);
void gpu_readonly_destroy(struct gpu *gpu);
void gpu_readonly_invalidate(struct gpu *gpu); /* as a launch does: those that SMs share */
void gpu_readonly_invalidate_sm(struct gpu *gpu, uint32_t sm);
void gpu_readonly_stats(const struct gpu *gpu, struct gpu_stats *out);
void gpu_local_place(struct gpu *gpu, const struct exec_launch *launch, bool shares);
/* Whether the launch can use local memory as it is placed, beside others. */
bool gpu_local_is_placed(const struct gpu *gpu, const struct exec_launch *launch);

/* mailbox.c */
void gpu_message_add(struct gpu_message_list *list, uint64_t at_ps, struct mem_request *request,
                     struct engine *engine);
void gpu_messages_clear(struct gpu_message_list *list);
/* Requests to *port go through the mailbox from now on. */
void gpu_mailbox_attach(struct gpu_mailbox *mailbox, struct mem_port *port, uint32_t source);
void gpu_mailbox_free(struct gpu_mailbox *mailbox);
void gpu_mailbox_reply(struct gpu_mailbox *mailbox, struct mem_request *request, uint64_t at_ps);
void gpu_mailbox_part(struct gpu_mailbox *mailbox, uint32_t credits);
/* Nothing of the upper group is earlier than `now_ps`. */
void gpu_mailbox_join(struct gpu_mailbox *mailbox, uint64_t now_ps);
/*
 * Delivers what both groups have posted; no event of the upper group is earlier than `now_ps`.
 * `held`: requests that the port below has taken and still counts. Each group reads what was
 * delivered before it runs on.
 */
void gpu_mailbox_exchange(struct gpu_mailbox *mailbox, uint32_t held, uint64_t now_ps);
void gpu_mailbox_read_replies(struct gpu_mailbox *mailbox);
void gpu_mailbox_read_requests(struct gpu_mailbox *mailbox);

/* boundary.c */
int gpu_boundaries_create(struct gpu *gpu);
void gpu_boundaries_destroy(struct gpu *gpu);
void gpu_boundary_attach(struct gpu_boundary *boundary, struct mem_port *port);
struct mem_outlet gpu_boundary_outlet(struct gpu_boundary *boundary);
void gpu_boundary_exchange(struct gpu_boundary *boundary, uint64_t now_ps);
/* What memory has served happens. */
void gpu_boundaries_do_atomics(struct gpu *gpu);

/* channel.c */
int gpu_channels_create(struct gpu *gpu);
void gpu_channels_destroy(struct gpu *gpu);
/* A reply is known at least so long before it is there. */
uint64_t gpu_channels_lookahead_ps(const struct gpu *gpu);

/* windows.c */
uint64_t gpu_lookahead_ps(const struct gpu *gpu);
int gpu_part(struct gpu *gpu);
void gpu_join(struct gpu *gpu);
int gpu_run_windows(struct gpu *gpu,
                    uint64_t until_ps);      /* as gpu_run(), up to the last CTA alone */
bool gpu_is_last_cta(const struct gpu *gpu); /* of the only grid */

/* grid.c */
int gpu_grid_create(struct gpu_grid **out, struct gpu *gpu, const struct exec_launch *launch);
void gpu_grid_free(struct gpu_grid *grid);
void gpu_grid_insert(struct gpu *gpu, struct gpu_grid *grid);
void gpu_grid_over(struct gpu *gpu, struct gpu_grid *grid, uint64_t at_ps);
bool gpu_cancelled(const struct gpu *gpu);
/* Where all warps are, behind the error that is set; `code`. */
int gpu_tell_positions(const struct gpu *gpu, int code);
/* Cancelled, endless, or beyond max_cycles; tells how far the grids are. */
int gpu_check_time(struct gpu *gpu, uint64_t now_ps);
bool gpu_pauses(const struct gpu *gpu); /* gpu_run() returns */

/* endless.c. From the begin of grids on an idle GPU to the end of the last one; gpu_run() begins
 * anew; the time of a question has come: SONDE_EFAULT, the grids will never end. */
void gpu_endless_begin(struct gpu *gpu, uint64_t start_ps);
void gpu_endless_end(struct gpu *gpu);
void gpu_endless_again(struct gpu *gpu);
int gpu_endless_check(struct gpu *gpu, uint64_t now_ps);

/*
 * cluster.c. gpu_cluster_take() finds room for the next cluster on SMs of one of the model's
 * clusters, takes it, and says which; false: there is none. gpu_cluster_check(): SONDE_EINPUT, not
 * even on an idle GPU.
 */
int gpu_cluster_check(const struct gpu *gpu, const struct gpu_grid *grid);
bool gpu_cluster_take(struct gpu *gpu, const struct gpu_grid *grid, uint32_t sm[EXEC_CLUSTER_MAX]);
/* A cluster is about to start; SONDE_ENOMEM. That of a CTA of the grid, NULL: it has none. */
int gpu_cluster_begin(struct gpu_grid *grid, uint64_t id, const uint32_t *sm);
struct exec_cluster *gpu_cluster_find(const struct gpu_grid *grid, uint64_t order);
void gpu_clusters_sweep(struct gpu_grid *grid, bool all);        /* forgets those that have ended */
void gpu_cluster_phase(void *ctx, struct exec_cluster *cluster); /* what an SM reports */
void gpu_cluster_barriers(void *ctx, struct exec_cluster *exec, uint32_t sm, uint32_t cycles);

/* stats.c */
void gpu_stats_drop_resident(struct gpu *gpu); /* CTAs that will not end any more */

/* deal.c. Has the SM room for one of the grid's CTAs? Of those that have the one with the fewest
 * CTAs, in a cluster or in any; that which the grid's next CTA goes to. GPU_NO_SM: none has room.
 */
#define GPU_NO_SM UINT32_MAX
#define GPU_ANY_CLUSTER UINT32_MAX
bool gpu_fits(const struct gpu *gpu, uint32_t sm, const struct gpu_grid *grid);
uint32_t gpu_emptiest_sm(const struct gpu *gpu, const struct gpu_grid *grid, uint32_t cluster);
uint32_t gpu_deal_next(struct gpu *gpu, struct gpu_grid *grid);

/* distribute.c */
int gpu_distribute(struct gpu *gpu); /* as many CTAs as fit at once */
/* The same for what has come to a GPU that runs, not before `start_ps`. */
void gpu_distribute_at(struct gpu *gpu, uint64_t start_ps);
void gpu_cta_ended(struct gpu *gpu, const struct gpu_cta_end *end);
/* An SM's L1 is written to memory sm.cta_start_cycles after its last CTA has ended. */
bool gpu_ends_flush(const struct gpu *gpu);
int gpu_deadlock(const struct gpu *gpu); /* the error of a launch in which nothing is pending */
/* SMs are made ready for a grid when a CTA of it comes to them. */
int gpu_sm_prepare(struct gpu *gpu, struct gpu_place *place);
/* What the SMs report; ctx is the GPU. */
void gpu_cta_done(void *ctx, uint32_t sm, const struct sm_grid *grid, uint64_t cta,
                  const struct sm_cta_counts *counts);
void gpu_fault(void *ctx, uint32_t sm, int code);

#endif
