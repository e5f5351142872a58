/*
 * The queue's state, shared by the files of this folder. Work is a graph of operations: each waits
 * for others (`waits` of them), and what waits for it are its followers. A stream is no more than
 * its last operation, on which the next one waits; an event is its last record; a graph's nodes
 * become operations when it is launched.
 */
#ifndef SONDE_RT_QUEUE_STATE_H
#define SONDE_RT_QUEUE_STATE_H

#include <pthread.h>

#include "rt/queue/queue.h"
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
    OP_GRAPH_END /* the last of a graph's launch */
};

enum op_state { OP_WAITS, OP_READY, OP_RUNS };

struct rt_op {
    enum op_kind kind;
    enum op_state state;
    struct rt_op *next, **link;             /* of all that are left, in order of seq */
    struct rt_op *ready_next, **ready_link; /* of those that are ready, by priority and seq */
    struct rt_stream *stream;
    uint64_t seq;
    bool last; /* the stream's order goes through it: not inside of a graph */
    uint32_t waits;
    VEC(struct rt_op *) followers;
    uint64_t begin_ps, end_ps; /* begin: not before, until it runs */
    union {
        struct {
            struct rt_kernel *kernel;
            struct rt_launch launch; /* without arguments */
            uint8_t *params;
            struct exec_launch run;
            uint64_t cycles;
        } launch;
        struct {
            struct rt_copy copy;
            void *staged; /* NULL: none */
        } copy;
        struct rt_memset memset;
        struct {
            void (*fn)(void *ctx);
            void (*told)(void *ctx, int status);
            void *ctx;
        } host;
        struct rt_event *event;
        uint64_t address;
        struct rt_graph_exec *exec;
    };
};

struct rt_stream {
    struct rt *rt;
    struct rt_stream *next, **link;
    unsigned flags;
    int priority;
    uint64_t id;
    struct rt_op *tail; /* the last that was put in and is not done */
    uint64_t tail_seq, done_seq;
    uint32_t pending;
    bool gone; /* destroyed; goes with its last operation */
};

struct rt_event {
    struct rt *rt;
    unsigned flags;
    struct rt_op *op; /* the last record, while it is not done */
    uint64_t record_seq, done_seq;
    uint64_t at_ps;
    uint32_t users; /* operations, waiting threads, and the owner */
};

struct queue {
    struct rt *rt;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t owner;
    uint32_t depth;            /* of the owner's locks; 0: nobody's */
    uint32_t wanting;          /* threads that wait for the lock */
    bool pumping;              /* a thread is in queue_pump() */
    struct rt_stream *streams; /* all but the default one */
    struct rt_stream null_stream;
    uint64_t next_stream_id, next_seq;
    struct rt_op *first, **end; /* all that is left */
    struct rt_op *ready;
    VEC(struct rt_op *) running;
    uint32_t pending;
    uint64_t now_ps;
    uint64_t copy_free_ps[2]; /* to the device, from it */
    uint64_t gpu_free_ps;
    void (*done)(void *ctx, const struct rt_done *launch);
    void *done_ctx;
};

/* lock.c: one call of the interface. */
int queue_enter(struct rt *rt); /* locks; SONDE_EUSAGE: in a host function, nothing is locked */
void queue_leave(struct rt *rt);
/* Everything that this thread holds, given back for a while: the depth for queue_retake(). */
uint32_t queue_release(struct queue *queue);
void queue_retake(struct queue *queue, uint32_t depth);
void queue_wait_change(struct queue *queue); /* until another thread has let go of the lock */
/* Without the lock. */
void queue_call_host(struct queue *queue, const struct rt_op *op, int status);

/* op.c */
struct rt_op *op_create(struct rt_stream *stream, enum op_kind kind); /* NULL: no memory */
void op_destroy(struct rt_op *op);
int op_wait_for(struct rt_op *op, struct rt_op *other); /* NULL: nothing to wait for */
void op_submit(struct rt_op *op);
void op_unready(struct rt_op *op); /* it runs from now on */
void op_done(struct rt_op *op, uint64_t end_ps);
void op_forget(struct rt_op *op); /* it does nothing any more */

/* enqueue.c */
int op_set_launch(struct rt_op *op, struct rt_kernel *kernel, const struct rt_launch *launch);

/* stream.c */
/* Locks, when the context is sound and there is room for another operation. */
int stream_enter(struct rt_stream *stream);
/* Behind what is in the stream, and what the stream waits for. Takes `op` over, also when it
 * fails. */
int stream_put(struct rt_stream *stream, struct rt_op *op);
int stream_wait_all(struct rt_stream *stream);
void stream_op_done(struct rt_stream *stream, const struct rt_op *op);

/* event.c */
void event_release(struct rt_event *event);
void event_op_done(struct rt_event *event, const struct rt_op *op, uint64_t at_ps);

/* pump.c */
typedef bool queue_met(const void *ctx, uint64_t seq);
/* Works until met(ctx, seq). */
int queue_wait(struct queue *queue, queue_met *met, const void *ctx, uint64_t seq);
void queue_spoil(struct queue *queue); /* the error that is set is the context's */
/* What can be done at the present time and without waiting for anything. */
int queue_poll(struct queue *queue);

/* copy.c */
int copy_check(struct rt *rt, const struct rt_copy *copy);
int copy_stage(struct rt_op *op); /* reads the source */
int copy_perform(struct rt *rt, const struct rt_copy *copy);
int memset_check(struct rt *rt, const struct rt_memset *set);
int memset_perform(struct rt *rt, const struct rt_memset *set);

/* link.c */
enum link_way { LINK_TO_DEVICE, LINK_FROM_DEVICE, LINK_NONE };
enum link_way link_way(const struct rt *rt, const struct rt_copy *copy);
uint64_t link_copy_ps(const struct rt *rt, const struct rt_copy *copy, bool staged);
uint64_t link_memset_ps(const struct rt *rt, const struct rt_memset *set);

int queue_create(struct rt *rt);
void queue_destroy(struct rt *rt);

#endif
