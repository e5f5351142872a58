/*
 * What the files of exec/ops/ share: the steps that every instruction's run function takes. A run
 * function executes one uop for the lanes of `mask` (active lanes whose guard holds; may be none),
 * moves the warp to the next instruction and says what its caller has to do.
 */
#ifndef SONDE_EXEC_OPS_H
#define SONDE_EXEC_OPS_H

#include "exec/divergence/diverge.h"
#include "exec/program.h"
#include "exec/state.h"

/* 32 lanes in registers, of either width; any type may alias them. */
typedef uint32_t __attribute__((may_alias)) lane_word;
typedef uint64_t __attribute__((may_alias)) lane_dword;

/* The lanes behind an operand reference. */
static inline void *lanes_at(const struct exec_state *state, uint32_t ref)
{
    return state->base[ref >> REF_BASE_SHIFT] + (ref & REF_OFFSET_MASK);
}

/* The state space that a generic address lies in. */
static inline enum isa_space generic_space(uint64_t address)
{
    uint64_t window = (address - EXEC_SHARED_WINDOW) / EXEC_WINDOW_BYTES;
    switch (window) {
    case 0:
        return SPACE_SHARED;
    case 1:
        return SPACE_LOCAL;
    case 2:
        return SPACE_PARAM;
    default:
        return window - EXEC_CLUSTER_FIRST < EXEC_CLUSTER_MAX ? SPACE_SHARED_CLUSTER : SPACE_GLOBAL;
    }
}

/* Straight-line code: the next instruction. */
static inline enum exec_event advance(struct exec_warp *warp)
{
    struct exec_state *state = warp->state;
    if (++warp->pc == state->reconverge)
        state->diverge_ops->arrive(warp);
    return EXEC_DONE;
}

static inline uint32_t lowest_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

/* A predicate operand: the lanes in which it holds. */
static inline uint32_t pred_lanes(const struct exec_state *state, const struct uop *uop, int source)
{
    uint32_t flip = uop->pred_flip >> source & 1 ? UINT32_MAX : 0;
    return state->preds[uop->pred_source[source]] ^ flip;
}

static inline void pred_write(const struct exec_state *state, uint16_t slot, uint32_t lanes,
                              uint32_t mask)
{
    state->preds[slot] = (state->preds[slot] & ~mask) | (lanes & mask);
}

/* Value of lane `lane` of a register or constant of `register_bytes` (4 or 8). */
static inline uint64_t element_get(const struct exec_state *state, const struct element *element,
                                   uint32_t lane)
{
    const void *lanes = lanes_at(state, element->ref);
    return element->register_bytes == 8 ? ((const lane_dword *)lanes)[lane]
                                        : ((const lane_word *)lanes)[lane];
}

static inline void element_set(const struct exec_state *state, const struct element *element,
                               uint32_t lane, uint64_t value)
{
    void *lanes = lanes_at(state, element->ref);
    if (element->register_bytes == 8)
        ((lane_dword *)lanes)[lane] = value;
    else
        ((lane_word *)lanes)[lane] = (uint32_t)value;
}

/* A lane loop over the uop's operands; `mask` is not 0. */
static inline void lanes_run(const struct exec_state *state, const struct uop *uop, uint32_t mask)
{
    uop->lanes(lanes_at(state, uop->dst), lanes_at(state, uop->source[0]),
               lanes_at(state, uop->source[1]), lanes_at(state, uop->source[2]),
               lanes_at(state, uop->source[3]), mask);
}

/* Run functions, by file of ops/. */
uop_run run_lanes, run_float, run_convert, run_select, run_pred_logic; /* alu.c */
uop_run run_compare, run_set;                                          /* compare.c */
bool compare_is_plain(const struct uop *uop); /* of all active lanes into one predicate */
uop_run run_carry, run_prmt_mode;             /* carry.c */
uop_run run_pack, run_unpack, run_move_vector, run_move_wide; /* move.c */
uop_run run_memory, run_fence;                                /* memory.c */
/* An access of `mask` at warp->pc with its addresses, which have not been looked at. */
void memory_access_begin(const struct exec_warp *warp, const struct uop_memory *memory,
                         uint32_t mask, struct exec_access *access);
uop_run run_frame_param;                                                /* access.c */
uop_run run_isspacep;                                                   /* address.c */
uop_run run_branch, run_switch, run_exit, run_trap, run_nop, run_sleep; /* control.c */
uop_run run_call, run_return;                                           /* call.c */
uop_run run_barrier;                                                    /* barrier.c */
uop_run run_cluster_barrier, run_mapa, run_rank;                        /* cluster.c */
/*
 * Are the lanes that the lowest active lane's member mask names here? Where lanes are scheduled
 * independently the others are waited for; false: the instruction is not to be executed yet.
 * `*mask`, the lanes that execute, may have grown.
 */
bool warp_together(struct exec_warp *warp, const lane_word *members, uint32_t *mask,
                   const struct uop *uop);
/* Without .sync nobody is waited for: uop->target says so of votes and shuffles. */
enum { WITH_ACTIVE_LANES = 1 };
uop_run run_activemask, run_vote, run_shfl, run_match, run_warp_sync, run_whole; /* warp.c */
uop_run run_texture;                                                             /* tex.c */
uop_run run_value;                                                               /* value.c */
uop_run run_alloca, run_stacksave, run_stackrestore;                             /* stack.c */
uop_run run_redux;                                                               /* redux.c */
uop_run run_product;                                                             /* matrix.c */
uop_run run_copy;                                                                /* copy.c */
uop_run run_mbarrier;                                                            /* async.c */
uop_run run_special;                                                             /* special.c */

/* place.c: where the bytes lie that a lane passes in a call, in the frame `depth`. */
uint8_t *call_place_at(const struct exec_state *state, uint32_t depth,
                       const struct call_place *side, uint32_t lane);

/* The lanes that execute the instruction at which the warp is. */
static inline uint32_t guarded_lanes(const struct exec_warp *warp, const struct uop *uop)
{
    return warp->active & (warp->state->preds[uop->guard] ^ uop->guard_flip);
}

/* What an access that begins here has in common with others; its operation fills in the rest. */
static inline void access_begin(struct exec_access *access, const struct exec_warp *warp,
                                enum exec_access_kind kind, enum isa_space space, uint32_t bytes)
{
    access->kind = kind;
    access->space = space;
    access->pc = warp->pc;
    access->bytes = (uint8_t)bytes;
    access->vec = 1;
    access->cache_op = MOD_NONE;
    access->is_volatile = access->non_coherent = access->contiguous = false;
    access->frame_offset = warp->state->frame_offset;
}

/* fragment_move.c: the second half of wmma.load and wmma.store */
int commit_fragment(struct exec_warp *warp, const struct exec_access *access);
/* copy.c, small_matrix.c: the second halves */
void commit_copy(const struct exec_warp *warp, const struct exec_access *access);
void commit_ldmatrix(const struct exec_warp *warp, const struct exec_access *access);
void commit_stmatrix(const struct exec_warp *warp, const struct exec_access *access);
void commit_wait(const struct exec_warp *warp, const struct exec_access *access); /* async.c */
/* tex.c: the second half of a fetch */
int commit_texture(struct exec_warp *warp, const struct uop_memory *memory,
                   const struct exec_access *access);

#endif
