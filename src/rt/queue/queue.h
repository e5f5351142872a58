/*
 * The command queue: streams of work for one device, events, graphs, stream-ordered memory. Work is
 * put into streams and runs when the host waits or polls: work of one stream in order, work of
 * several at the same simulated time where nothing orders it (docs/adr/0010). The words are the
 * driver API's, and so are the rules (CUDA C++ Programming Guide, "Asynchronous Concurrent
 * Execution"): what waits for what, what a null stream is, what may be captured.
 *
 * Functions give 0 or a negative SONDE_E...; those that poll give RT_BUSY when work is left. Once a
 * kernel has faulted every function that starts or waits for work gives SONDE_EFAULT with the first
 * fault's text.
 *
 * Threads: every function here may be called from any thread. Those of rt.h may not: a caller that
 * has several threads, or streams, puts rt_lock() and rt_unlock() around them.
 */
#ifndef SONDE_RT_QUEUE_QUEUE_H
#define SONDE_RT_QUEUE_QUEUE_H

#include "rt/rt.h"

#define RT_BUSY 1 /* not ready */

struct rt_stream;
struct rt_event;
struct rt_graph;
struct rt_node; /* of a graph, which owns it */
struct rt_graph_exec;
struct rt_pool;

/* The one lock of a device, which a thread may take several times. Work does not go on while it is
 * held, and host functions run without it. */
void rt_lock(struct rt *rt);
void rt_unlock(struct rt *rt);
/* The device's time: that of the last thing that has happened on it. */
uint64_t rt_now_ps(struct rt *rt);
/* Whether the address is one of the device's range: allocations of any kind, never other memory of
 * the host. */
bool rt_owns(const struct rt *rt, uint64_t address);

/*
 * Streams. Flag RT_STREAM_NONBLOCKING: no order with the default stream. Priority: a lower number
 * goes first; out of rt_stream_priorities() it is clamped.
 */
enum { RT_STREAM_NONBLOCKING = 1 };
int rt_stream_create(struct rt *rt, struct rt_stream **out, unsigned flags, int priority);
/* Work that is left still runs; the handle is gone. */
int rt_stream_destroy(struct rt_stream *stream);
/* The null stream: waits for all blocking streams, and they for it. Never destroyed. */
struct rt_stream *rt_stream_default(struct rt *rt);
void rt_stream_priorities(const struct rt *rt, int *least, int *greatest);
struct rt *rt_stream_rt(const struct rt_stream *stream);
unsigned rt_stream_flags(const struct rt_stream *stream);
int rt_stream_priority(const struct rt_stream *stream);
uint64_t rt_stream_id(const struct rt_stream *stream); /* unique in a device; the default's is 0 */
int rt_stream_query(struct rt_stream *stream);         /* 0, RT_BUSY */
int rt_stream_sync(struct rt_stream *stream);
int rt_sync(struct rt *rt);

/* The program ends. What is left goes on a little, so that what would be over soon is told of, and
 * is then given up: SONDE_EINTERRUPTED, as everything gives from now on. Not waited for is what
 * another thread's host function keeps back. */
int rt_finish(struct rt *rt);
/* The device goes while other threads may be using it: what runs ends, and whoever waits or comes
 * is told so by SONDE_EDEVICE. When none is left: rt_destroy(). */
void rt_close(struct rt *rt);

/* `launch` is copied, arguments included. What a launch asks wrongly is told here. */
int rt_enqueue_launch(struct rt_stream *stream, struct rt_kernel *kernel,
                      const struct rt_launch *launch);

/* One end of a copy. Linear memory has rows row_bytes and slices slice_rows rows apart (0: as near
 * as they can be); an image counts x in bytes, z as struct rt_image_region does. */
enum rt_end_kind { RT_END_HOST, RT_END_DEVICE, RT_END_IMAGE };
struct rt_end {
    enum rt_end_kind kind;
    void *host;  /* HOST */
    bool pinned; /* HOST: page-locked. Else it is staged, see rt_enqueue_copy() */
    uint64_t device;
    struct rt_image *image;
    uint32_t level;
    uint64_t x_bytes, y, z;
    uint64_t row_bytes, slice_rows;
};
struct rt_copy {
    struct rt_end dst, src;
    uint64_t width_bytes, height, depth; /* of one dimension: height and depth are 1 */
    bool waits;                          /* the call returns when the copy is done */
};
/*
 * Host memory that is not pinned: a source is read before the call returns; with a destination the
 * call waits as with `waits`.
 */
int rt_enqueue_copy(struct rt_stream *stream, const struct rt_copy *copy);
/* What rt_enqueue_copy() would refuse it for; nothing is put into a stream. */
int rt_copy_check(struct rt *rt, const struct rt_copy *copy);

struct rt_memset {
    uint64_t address;
    uint64_t row_bytes;            /* between rows; 0: as near as they can be */
    uint32_t value, element_bytes; /* 1, 2 or 4 */
    uint64_t width, height;        /* elements, rows */
};
int rt_enqueue_memset(struct rt_stream *stream, const struct rt_memset *set);
int rt_memset_check(struct rt *rt, const struct rt_memset *set); /* as rt_copy_check() */

/* A word of memory that is written, or waited for: until it is at least the value (where words wrap
 * around: until the difference is not negative), equal to it, has one of its bits, or has a bit
 * that is 0 in both. */
enum rt_value_what {
    RT_VALUE_WRITE,
    RT_VALUE_WAIT_GEQ,
    RT_VALUE_WAIT_EQ,
    RT_VALUE_WAIT_AND,
    RT_VALUE_WAIT_NOR
};
struct rt_value {
    enum rt_value_what what;
    uint64_t address, value;
    uint32_t bytes; /* 4 or 8 */
};
int rt_enqueue_value(struct rt_stream *stream, const struct rt_value *value);

/* fn(ctx) runs on the thread that waits or polls, without the lock; not after a fault. A function
 * of this header that is called from it gives SONDE_EUSAGE, except rt_lock() and what asks for
 * nothing but properties. */
int rt_enqueue_host(struct rt_stream *stream, void (*fn)(void *ctx), void *ctx);
/* The same, but it runs after a fault too, and is told of it: status is 0 or SONDE_E.... */
int rt_enqueue_callback(struct rt_stream *stream, void (*fn)(void *ctx, int status), void *ctx);
bool rt_in_host_function(void); /* is this thread in one? */

/* Events. Times are simulated. */
enum { RT_EVENT_NO_TIMING = 1 };
int rt_event_create(struct rt *rt, struct rt_event **out, unsigned flags);
int rt_event_destroy(struct rt_event *event); /* also while it is to be recorded */
int rt_event_record(struct rt_event *event, struct rt_stream *stream);
int rt_event_query(struct rt_event *event); /* 0 also when it was never recorded */
int rt_event_sync(struct rt_event *event);
/* SONDE_EUSAGE: one was never recorded, or has no timing; RT_BUSY: is still to come. */
int rt_event_elapsed(int64_t *ps, struct rt_event *begin, struct rt_event *end);
/* What is put into the stream later waits for the last record of the event so far. */
int rt_stream_wait(struct rt_stream *stream, struct rt_event *event);

/* Work goes on by itself when no call has come for so long (docs/adr/0010); 0: never. 10 at first,
 * to be set before anything is enqueued. */
void rt_set_watchdog(struct rt *rt, uint32_t milliseconds);

/* Launches begin without timing once those that were timed have taken so many core cycles in all;
 * 0: never. What is under way goes on (struct rt_launch, max_cycles). */
void rt_set_timed_limit(struct rt *rt, uint64_t cycles);

/* Told of every launch that has ended, in the order of their ends, with the lock held. */
struct rt_done {
    const struct rt_kernel *kernel;
    uint64_t stream_id;
    uint32_t grid[3], block[3];
    bool functional;
    bool estimated; /* not simulated: times and cycles by others' (rt_sample()), no statistics */
    int status;     /* 0, SONDE_EFAULT, SONDE_EINTERRUPTED, ... */
    uint64_t begin_ps, end_ps;
    uint64_t cycles;                   /* 0: functional */
    uint64_t warp_insns, thread_insns; /* its own, of the blocks that have ended */
    struct gpu_stats stats; /* of the time from begin to end: other grids' too if they overlap, but
                               for launches and cycles */
    bool shared;            /* another grid was on the GPU in this time */
};
void rt_set_done(struct rt *rt, void (*done)(void *ctx, const struct rt_done *launch), void *ctx);
/* The same of every copy of a stream; `way` says between what. */
struct rt_copied {
    uint64_t stream_id, bytes, begin_ps, end_ps;
    const char *way;
};
void rt_set_copied(struct rt *rt, void (*copied)(void *ctx, const struct rt_copied *copy),
                   void *ctx);

/* Memory in the order of a stream. An address is known at once. */
int rt_pool_create(struct rt *rt, struct rt_pool **out);
int rt_pool_destroy(struct rt_pool *pool); /* what is taken from it stays until it is freed */
struct rt_pool *rt_pool_default(struct rt *rt);
/* Bytes that are kept when they are freed, for the next; the default is 0. */
void rt_pool_set_threshold(struct rt_pool *pool, uint64_t bytes);
int rt_pool_trim(struct rt_pool *pool, uint64_t keep_bytes);
struct rt_pool_info {
    uint64_t used_bytes, used_high, reserved_bytes, reserved_high, threshold;
};
void rt_pool_info(const struct rt_pool *pool, struct rt_pool_info *out);
void rt_pool_reset_high(struct rt_pool *pool);
int rt_enqueue_alloc(struct rt_stream *stream, struct rt_pool *pool, uint64_t *address,
                     uint64_t bytes);
/* Of an allocation of a pool or of rt_mem_alloc(). */
int rt_enqueue_free(struct rt_stream *stream, uint64_t address);

/*
 * Graphs. A node waits for its dependencies, which are nodes of the same graph. Parameters are
 * copied; host memory of a copy is read and written when the graph runs.
 */
enum rt_node_kind {
    RT_NODE_EMPTY,
    RT_NODE_LAUNCH,
    RT_NODE_COPY,
    RT_NODE_MEMSET,
    RT_NODE_HOST,
    RT_NODE_RECORD,
    RT_NODE_WAIT,
    RT_NODE_CHILD,
    RT_NODE_ALLOC,
    RT_NODE_FREE,
    RT_NODE_CONDITION
};
/* Which of its graphs a node runs, by the value that kernels have set. */
enum rt_condition {
    RT_CONDITION_IF,    /* the first, unless it is 0; then the second, where there is one */
    RT_CONDITION_WHILE, /* the first, again and again, until it is 0 */
    RT_CONDITION_SWITCH /* that of this number, where there is one */
};
#define RT_BODIES_MAX 64
struct rt_node_params {
    enum rt_node_kind kind;
    struct rt_kernel *kernel; /* LAUNCH */
    struct rt_launch launch;
    struct rt_copy copy;
    struct rt_memset memset;
    void (*host)(void *ctx); /* HOST */
    void *ctx;
    struct rt_event *event; /* RECORD, WAIT */
    struct rt_graph *child; /* CHILD: copied as it is */
    uint64_t address;       /* ALLOC: out; FREE */
    uint64_t bytes;         /* ALLOC */
    uint64_t condition;     /* CONDITION: a handle */
    enum rt_condition when;
    struct rt_graph **bodies; /* made with the node, empty; the node's */
    size_t body_count;
};
/* A value that kernels set; `assigns`: each launch of a graph that asks for it begins with `value`.
 */
int rt_condition_create(struct rt *rt, uint64_t *handle, uint32_t value, bool assigns);
int rt_graph_create(struct rt *rt, struct rt_graph **out);
void rt_graph_destroy(struct rt_graph *graph);
int rt_graph_clone(struct rt_graph **out, const struct rt_graph *graph);
int rt_graph_add(struct rt_graph *graph, struct rt_node **out, struct rt_node *const *deps,
                 size_t dep_count, struct rt_node_params *params);
/* SONDE_EUSAGE: of another graph, there twice, or in a circle. */
int rt_graph_depend(struct rt_graph *graph, struct rt_node *from, struct rt_node *to);
int rt_graph_undepend(struct rt_graph *graph, struct rt_node *from, struct rt_node *to);
int rt_graph_remove(struct rt_node *node);
size_t rt_graph_nodes(const struct rt_graph *graph);
struct rt_node *rt_graph_node(const struct rt_graph *graph, size_t i); /* in order of creation */
/* The node of a clone, or of a graph that was instantiated, that this one has become. */
struct rt_node *rt_graph_find(const struct rt_graph *clone, const struct rt_node *original);
struct rt_graph *rt_node_graph(const struct rt_node *node);
size_t rt_node_deps(const struct rt_node *node);
struct rt_node *rt_node_dep(const struct rt_node *node, size_t i);
/* Borrowed until the node is changed. */
const struct rt_node_params *rt_node_params(const struct rt_node *node);
/* Of the same kind. */
int rt_node_set(struct rt_node *node, const struct rt_node_params *params);
int rt_graph_instantiate(struct rt_graph_exec **out, const struct rt_graph *graph);
void rt_graph_exec_destroy(struct rt_graph_exec *exec); /* also while it runs */
/* `node` is of the graph that was instantiated. Launches from now on. */
int rt_graph_exec_set(struct rt_graph_exec *exec, const struct rt_node *node,
                      const struct rt_node_params *params);
/* A node that is not enabled does nothing: kernels, copies and memsets alone (SONDE_EINPUT). */
int rt_graph_exec_enable(struct rt_graph_exec *exec, const struct rt_node *node, bool enabled);
int rt_graph_exec_enabled(const struct rt_graph_exec *exec, const struct rt_node *node,
                          bool *enabled);
/* All nodes from a graph of the same form; SONDE_EINPUT: it has another, `*odd` (may be NULL) is a
 * node of `graph` that differs. */
int rt_graph_exec_update(struct rt_graph_exec *exec, const struct rt_graph *graph,
                         struct rt_node **odd);
int rt_graph_launch(struct rt_graph_exec *exec, struct rt_stream *stream);

/*
 * Capture: what is put into the stream, and into streams that wait for an event recorded in it,
 * becomes nodes instead of running. Queries and waits of a stream that is captured give
 * SONDE_EUSAGE and spoil the capture.
 */
enum rt_capture_state { RT_CAPTURE_NONE, RT_CAPTURE_ACTIVE, RT_CAPTURE_INVALID };
int rt_capture_begin(struct rt_stream *stream);
/* SONDE_EUSAGE: not begun here, spoilt, or a stream that was forked has not been joined. */
int rt_capture_end(struct rt_stream *stream, struct rt_graph **out);
enum rt_capture_state rt_capture_state(const struct rt_stream *stream, uint64_t *id,
                                       struct rt_graph **graph);
/* The nodes that the next one would depend on, borrowed; and their exchange. What is taken out need
 * not be joined to the stream at the end. */
size_t rt_capture_deps(const struct rt_stream *stream, struct rt_node *const **deps);
int rt_capture_set_deps(struct rt_stream *stream, struct rt_node *const *deps, size_t count,
                        bool add);

/* Blocks of the kernel that an SM holds at once. 0: not one. */
int rt_occupancy(struct rt *rt, uint32_t *blocks, const struct rt_kernel *kernel,
                 uint32_t block_threads, uint64_t dynamic_shared_bytes);
/* How many clusters of the launch are resident at once, and of how many blocks one is;
 * SONDE_EINPUT: one has more than may be. */
int rt_occupancy_clusters(struct rt *rt, uint32_t *clusters, uint32_t *size,
                          const struct rt_kernel *kernel, const struct rt_launch *launch);
/* The block size (a multiple of a warp, up to `limit` threads if that is not 0) with most threads
 * on an SM, and the grid that fills the GPU. `shared` gives a block's dynamic shared memory. */
int rt_occupancy_best(struct rt *rt, uint32_t *block_threads, uint32_t *grid,
                      const struct rt_kernel *kernel,
                      uint64_t (*shared)(void *ctx, uint32_t block_threads), void *ctx,
                      uint32_t limit);

#endif
