/*
 * The private state of a warp: registers in call frames, predicates, local memory, and the way its
 * lanes have diverged.
 *
 * A call frame is one block of the warp's frame storage:
 *
 *     | 32-bit slots | 64-bit slots | predicates: one mask each | .param area: 32 x param_bytes |
 *
 * Slot s is uint32_t[32] as a 32-bit register, and with slot s + 1 uint64_t[32] as a 64-bit one; 8-
 * and 16-bit values lie in the low bits of a 32-bit lane. The two views are apart, although a real
 * register file has one: slots are shared by liveness, and in divergent code lanes that hold a
 * 32-bit value in a slot wait while others hold a 64-bit one in it. Predicates 0 to 2 of a frame
 * are "always true", "nobody reads it" and %is_explicit_cluster.
 *
 * Local memory is striped so that it can grow without being moved lane by lane:
 *
 *     byte `a` of lane `l` lies at (a / 16) * 512 + l * 16 + a % 16
 *
 * Aligned accesses of up to 16 bytes never leave a stripe. A call's local variables lie above those
 * of its caller; local_base is where the running function's begin.
 */
#ifndef SONDE_EXEC_STATE_H
#define SONDE_EXEC_STATE_H

#include <stdint.h>

#include "exec/divergence/diverge.h"
#include "exec/exec.h"

#define LANE_STRIPE_BYTES 16
#define PRED_TRUE 0
#define PRED_SINK 1
#define PRED_CLUSTER 2
#define PRED_FIRST 3
#define SLOT_BYTES (WARP_LANES * 4)
#define SPECIAL_VECTORS 4
#define CALL_DEPTH_MAX 4096
#define EXTENT_HINTS 16
#define AHEAD_PLACES 16

struct uop;
struct exec_function;

/* Where an operand's lanes lie: see operand_ref in program.h. */
enum operand_base { BASE_REG, BASE_POOL, BASE_SPECIAL, BASE_COUNT };

/* A call in progress: where its caller's frame is, and how to go back. */
struct exec_frame {
    const struct exec_function *function;
    const struct uop *call; /* NULL in the kernel itself */
    uint32_t offset;        /* of the frame in the frame storage */
    uint32_t local_base;
    uint32_t dynamic_bytes; /* of local memory above the function's own: the most of any lane */
};

struct exec_state {
    /* What every instruction touches. */
    const struct uop *uops;
    uint8_t *base[BASE_COUNT];
    uint32_t *preds;
    uint32_t reconverge;   /* arrive() when the pc gets here */
    uint32_t frame_offset; /* where the running frame begins in `storage` */
    uint32_t depth;        /* running frame: frames[depth] */
    uint32_t first_thread;
    uint32_t local_base, local_top; /* the running frame's local variables; top is the end */

    uint8_t *params; /* the running frame's .param area */
    const struct exec_program *program;
    const struct diverge_ops *diverge_ops;
    struct diverge_state *diverge;
    struct exec_frame *frames;
    uint32_t frame_capacity;
    uint8_t *storage;                    /* all frames, 64-byte aligned */
    uint32_t storage_bytes, known_bytes; /* known: from the start, of which something was written */
    uint8_t *local;                      /* striped, local_bytes for each lane */
    uint32_t local_bytes;
    const struct uop *barrier_uop;     /* the barrier reduction whose result is awaited */
    uint32_t carry;                    /* the carry flag of each lane */
    uint32_t device_error[WARP_LANES]; /* the last one of the device's runtime */
    bool explicit_cluster;             /* of the launch */
    uint32_t cluster_waits;            /* lanes that have come to wait at the cluster's barrier */
    size_t extents[EXTENT_HINTS];      /* the allocations that accesses found, by their pc */
    uint64_t began[AHEAD_PLACES];      /* where accesses of device memory last did, by their pc */

    /* Thread coordinates of the lanes, and values of special registers for the current operand. */
    _Alignas(64) uint32_t tid[3][WARP_LANES];
    _Alignas(64) uint64_t special[SPECIAL_VECTORS][WARP_LANES];
};

/* frame.c */
int frame_reset(struct exec_state *state); /* the kernel's frame alone, all zero */
int frame_push(struct exec_state *state, const struct exec_function *function,
               const struct uop *call);
void frame_unwind(struct exec_state *state, uint32_t depth);
void frame_free(struct exec_state *state);
/* The running frame has so much local memory beside its function's own. */
int frame_set_dynamic(struct exec_state *state, uint32_t bytes);
/* Where a frame lies in storage; valid until the next push. */
uint8_t *frame_start(const struct exec_state *state, uint32_t depth);

/* Where `bytes` of a lane's local memory lie, which the caller has checked against local_bytes. */
static inline uint8_t *local_pointer(const struct exec_state *state, uint32_t lane, uint64_t offset)
{
    return state->local + offset / LANE_STRIPE_BYTES * (WARP_LANES * LANE_STRIPE_BYTES) +
           lane * LANE_STRIPE_BYTES + offset % LANE_STRIPE_BYTES;
}

#endif
