/*
 * The queue's state, shared by the files of this folder. Work is a graph of operations: each waits
 * for others (`waits` of them), and what waits for it are its followers. A stream is no more than
 * its last operation, on which the next one waits; an event is its last record; a graph's nodes
 * become operations when it is launched.
 *
 *     requests of the host     enqueue.c, event.c, instance.c (launches of graphs), stream.c
 *     operations begin, end    watch.c, pump.c, alone.c
 *     objects                  op.c, load.c, graph.c, capture.c, params.c, pool.c
 *     copies                   copy.c (bytes), link.c (time), value.c (single words)
 *     mutual exclusion         lock.c
 *     the end of all work      end.c, budget.c
 *
 * Times. An operation begins at the end of the last that it waits for, and not before the host's
 * time when it was put in: the latest end that the host has waited for or seen by polling. What
 * the GPU has done beyond that, and nobody has asked for, does not move the host's time.
 */
#ifndef SONDE_RT_QUEUE_STATE_H
#define SONDE_RT_QUEUE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "rt/queue/queue.h"
#include "rt/sampling.h"
#include "rt/state.h"

enum op_kind {
    OP_EMPTY, /* only waits */
    OP_LAUNCH,
    OP_COPY,
    OP_MEMSET,
    OP_HOST,
    OP_CALLBACK,
    OP_RECORD,
    OP_FREE,
    OP_VALUE,
    OP_GRAPH_BEGIN, /* of a graph's launch */
    OP_GRAPH_END,
    OP_CONDITION /* decides what is run of a node's graphs */
};

struct op_launch {
    struct rt_kernel *kernel;
    struct rt_launch launch; /* without arguments */
    uint8_t *params;
    struct exec_launch run;
    struct gpu_grid *grid;       /* while it is on the GPU */
    struct exec_run *functional; /* while it runs without timing */
    struct exec_run_options options;
    struct gpu_grid_result result;
    struct gpu_stats *before;   /* NULL: nobody is told of it */
    struct device_work *device; /* what its threads have put in: device.c; NULL: nothing */
    void (*device_free)(struct device_work *device);
    int status;
    struct sampling sampling;
};

struct op_copy {
    struct rt_copy copy;
    void *staged; /* NULL: none */
};

struct op_host {
    void (*fn)(void *ctx);
    void (*told)(void *ctx, int status);
    void *ctx;
};

struct rt_op {
    enum op_kind kind;
    struct rt_op *next, **link;             /* of all that are left, in order of seq */
    struct rt_op *ready_next, **ready_link; /* of those that are ready, by priority and seq */
    struct rt_stream *stream;
    struct rt_op *parent; /* whose kernel put it in; NULL: the host did */
    uint64_t seq;
    bool last; /* the stream's order goes through it: not inside of a graph */
    uint32_t waits;
    VEC(struct rt_op *) followers;
    uint64_t begin_ps, end_ps; /* not before; known: not NEVER */
    union {
        struct op_launch launch;
        struct op_copy copy;
        struct rt_memset memset;
        struct op_host host;
        struct rt_event *event;
        uint64_t address;
        struct rt_value value;
        struct rt_graph_exec *exec;
        struct {
            struct rt_node *node;
            struct rt_op *end; /* of the node, which waits for this */
        } condition;
    };
};

struct capture;
struct rt_node_vec VEC_FIELDS(struct rt_node *);

struct rt_stream {
    struct rt *rt;
    struct rt_stream *next, **link;
    unsigned flags;
    int priority;
    uint64_t id;
    struct rt_op *tail; /* the last that was put in and is not done */
    uint64_t tail_seq, done_seq;
    uint64_t done_ps; /* the end of done_seq */
    uint32_t pending;
    bool gone;                 /* destroyed; goes with its last operation */
    struct capture *capture;   /* NULL: it runs */
    struct rt_node_vec latest; /* of a captured stream: what the next node depends on */
};

struct rt_event {
    struct rt *rt;
    unsigned flags;
    struct rt_op *op; /* the last record, while it is not done */
    uint64_t record_seq, done_seq;
    uint64_t at_ps;
    uint64_t capture_id; /* recorded in this capture, 0: in none */
    struct rt_node_vec latest;
    uint32_t users; /* operations, graphs, waiting threads, and the owner */
};

struct condition {
    uint32_t value, at_launch;
    bool assigns; /* at_launch, when a graph that asks for it is launched */
    bool taken;   /* a node has it */
};

struct queue {
    struct rt *rt;
    pthread_mutex_t mutex;
    pthread_cond_t progressed, watch_end;
    struct lock_taker
        *takers; /* threads that wait for the lock, in the order in which they asked */
    uint64_t progress, progress_told; /* operations that are done; as waiting threads know it */
    pthread_t owner;
    uint32_t depth;             /* of the owner's locks; 0: nobody's */
    atomic_uint wanting;        /* threads that wait for the lock */
    uint64_t calls;             /* of the interface, for the watchdog */
    bool pumping, pumping_told; /* a thread makes work go on; as waiting threads know it */
    struct rt_stream *streams;  /* all but the default one */
    struct rt_stream null_stream;
    uint64_t next_stream_id, next_seq, next_capture_id;
    uint32_t captures;
    struct rt_op *first, **end; /* all that is left */
    struct rt_op *ready;
    VEC(struct rt_op *) running;
    uint32_t pending;
    uint64_t now_ps;                  /* the latest end */
    uint64_t host_ps;                 /* what the host knows of it */
    uint64_t copy_free_ps[2];         /* the copy engines */
    uint32_t grids;                   /* on the GPU */
    uint32_t functional;              /* launches that run without timing */
    bool cooperative;                 /* one of them */
    bool estimated;                   /* a launch goes by whose time is an estimate */
    uint64_t estimated_ps;            /* the end of the last of these; no timed launch before it */
    bool waits;                       /* the host's thread that pumps waits for work to end */
    bool bounded;                     /* gpu_run() returns at a time, for what is not the GPU's */
    bool awaits_value;                /* an operation could begin, but for a word of memory */
    uint64_t timed_cycles;            /* of timed launches that have ended */
    uint64_t timed_limit;             /* no timed launch begins after so many; 0: never */
    VEC(uint64_t) frees;              /* memory to be freed when no grid is on the GPU */
    VEC(uint64_t) leaving;            /* memory whose free waits in a stream */
    VEC(struct condition) conditions; /* by handle */
    struct rt_pool *pools, *default_pool;
    void (*done)(void *ctx, const struct rt_done *launch);
    void *done_ctx;
    void (*copied)(void *ctx, const struct rt_copied *copy);
    void *copied_ctx;
    struct gpu_stats
        stats; /* as of this version: gathering them takes as long as an empty launch */
    uint64_t stats_version;
    uint32_t calling_host; /* host functions that are being executed */
    bool finishes;         /* the program ends: work has this much left */
    uint64_t finish_cycles, finish_insns;
    volatile int given_up;    /* nothing is to go on */
    bool watched, watch_ends; /* there is a watchdog; it has to end */
    uint32_t watch_ms;
    pthread_t watchdog;
};

/* lock.c: one call of the interface. */
int queue_enter(struct rt *rt); /* locks; SONDE_EUSAGE: in a host function, nothing is locked */
void queue_leave(struct rt *rt);
/* Gives everything that this thread holds to others that want it, and comes back. */
void queue_yield(struct queue *queue);
/* The same, and sleeps before it comes back. */
void queue_pause(struct queue *queue, const struct timespec *pause);
/* Until another thread has made work progress, or stops to. */
void queue_wait_change(struct queue *queue);
/* Without the lock. */
void queue_call_host(struct queue *queue, const struct op_host *host, int status);

/* op.c */
struct rt_op *op_create(struct rt_stream *stream, enum op_kind kind); /* NULL: no memory */
void op_destroy(struct rt_op *op);
int op_wait_for(struct rt_op *op, struct rt_op *other); /* NULL: nothing to wait for */
void op_submit(struct rt_op *op);
void op_unready(struct rt_op *op); /* it runs from now on */
void op_done(struct rt_op *op, uint64_t end_ps);
void op_forget(struct rt_op *op); /* it does nothing any more */
void stream_free(struct rt_stream *stream);
void event_release(struct rt_event *event);
void graph_exec_release(struct rt_graph_exec *exec);

/* device.c: what kernels put in. */
/* The launch's grid is over, or the last of its children: is it held by what it has put in? */
bool device_holds(struct rt_op *op, uint64_t end_ps);
void device_forget(const struct rt_op *op); /* a child is about to be gone */
/* A child is over: true if the parent is too, at *end_ps, unless it is held. */
bool device_child_over(struct rt_op *parent, uint64_t *end_ps);

/* pump.c */
typedef bool queue_met(const void *ctx, uint64_t seq);
/* Works until met(ctx, seq). */
int queue_wait(struct queue *queue, queue_met *met, const void *ctx, uint64_t seq);
/* Works a little, without waiting for anything. */
int queue_poll(struct queue *queue);
/* The same for the watchdog; false: nothing can be done. */
bool queue_push(struct queue *queue);

/* watch.c */
int watch_start(struct queue *queue);

/* alone.c */
/* gpu_set_alone(), of a queue: the host waits with its only thread, and no other work goes on. */
bool queue_is_alone(const void *ctx);

/* budget.c */
/* All that runs ends, and the rest is dropped, with this error, which is set. */
void queue_give_up(struct queue *queue, int code);
/* Counts what the program's end leaves time for, and gives up when it is used up. */
void queue_spend(struct queue *queue, uint64_t cycles, uint64_t warp_insns);

/* stream.c */
/* Locks, when the context is sound and there is room for another operation. */
int stream_enter(struct rt_stream *stream);
/* Behind what is in the stream, and what the stream waits for. Takes `op` over, also when it
 * fails. */
int stream_put(struct rt_stream *stream, struct rt_op *op);
int stream_wait_all(struct rt_stream *stream);

/* capture.c: what happens to a stream that is captured. */
int capture_add(struct rt_stream *stream, struct rt_node_params *params, struct rt_node **node);
int capture_record(struct rt_stream *stream, struct rt_event *event);
int capture_wait(struct rt_stream *stream, const struct rt_event *event);
int capture_spoil(struct rt_stream *stream, const char *what); /* SONDE_EUSAGE */

/* params.c: what is put into streams and graphs, told to be wrong as early as possible. */
int params_check(struct rt *rt, const struct rt_node_params *params);
/* load.c. Copies it all; `packed`: a launch's arguments, NULL: as `params` has them. */
int op_load(struct rt_op **out, struct rt_stream *stream, const struct rt_node_params *params,
            const uint8_t *packed);

/* graph.c */
struct rt_node {
    struct rt_graph *graph;
    size_t place;                   /* among the graph's nodes */
    const struct rt_node *original; /* of a clone's */
    struct rt_node_params params;
    uint8_t *packed; /* a launch's arguments, and pointers to each of them */
    const void **args;
    struct rt_node_vec deps;
    struct rt_op *begin, *end; /* while it is launched */
    bool disabled;
    uint32_t followers;
};
struct rt_graph {
    struct rt *rt;
    struct rt_node_vec nodes; /* in order of creation */
};
struct rt_graph_exec {
    struct rt *rt;
    struct rt_graph *graph;
    struct rt_op *last; /* the end of its last launch, while it is not done */
    uint32_t users;     /* its launches, and the owner */
};
/* In an order in which each stands behind what it waits for. */
int graph_order(struct rt_node_vec *out, const struct rt_graph *graph);

/* expand.c: the operations of a graph's nodes, behind `begin`; `end` waits for all of them. */
int graph_expand(struct rt_graph *graph, struct rt_stream *stream, struct rt_op *begin,
                 struct rt_op *end);
void graph_begins(const struct rt_graph_exec *exec);
/* A condition is looked at, whose operation is not done yet. */
int condition_run(struct rt_op *op);

/* pool.c */
struct rt_pool {
    struct rt *rt;
    struct rt_pool *next;
    bool gone;
    struct rt_pool_info info;
    VEC(struct vmem_range) taken, kept; /* given out; freed, for the next */
};
void pool_free(struct rt_pool *pool);
int pool_take(struct rt_pool *pool, uint64_t *address, uint64_t bytes);
bool pools_trim(struct queue *queue); /* all that they keep; false: that was nothing */
bool pool_give(struct queue *queue, uint64_t address); /* false: of none */
bool pool_keeps(const struct queue *queue, uint64_t address);

/* copy.c */
int copy_check(struct rt *rt, const struct rt_copy *copy);
int copy_stage(struct op_copy *op); /* reads the source */
int copy_perform(struct rt *rt, const struct rt_copy *copy);
int memset_check(struct rt *rt, const struct rt_memset *set);
int memset_perform(struct rt *rt, const struct rt_memset *set);

/* value.c */
int value_check(struct rt *rt, const struct rt_value *value);
bool value_perform(const struct rt_value *value); /* false: it is not what is waited for */
void value_wait(struct queue *queue);             /* a moment, without the lock */

/* link.c */
enum link_way { LINK_TO_DEVICE, LINK_FROM_DEVICE, LINK_NONE };
enum link_way link_way(const struct rt_copy *copy);
uint64_t link_copy_ps(const struct model *model, const struct rt_copy *copy, bool staged);
uint64_t link_memset_ps(const struct model *model, const struct rt_memset *set);

#endif
