/*
 * Call frames and local memory of a warp. Storage grows by doubling and is kept for the next CTA
 * that reuses the warp; a frame starts as zero where a register may be read that was never written,
 * so that this gives the same value in every run.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/program.h"
#include "exec/state.h"
#include "util/error.h"

#define FRAME_ALIGN_BYTES 64

static void point_at(struct exec_state *state)
{
    const struct exec_frame *frame = &state->frames[state->depth];
    uint8_t *start = state->storage + frame->offset;
    state->base[BASE_REG] = start;
    state->frame_offset = frame->offset;
    state->preds = (uint32_t *)(start + frame->function->regs_bytes);
    state->params = start + frame->function->regs_bytes + frame->function->preds_bytes;
    state->local_base = frame->local_base;
    state->local_top = frame->local_base + frame->function->local_bytes + frame->dynamic_bytes;
}

static int reserve_storage(struct exec_state *state, uint32_t used_bytes, uint32_t wanted_bytes)
{
    if (wanted_bytes <= state->storage_bytes)
        return SONDE_OK;
    uint32_t bytes = state->storage_bytes ? state->storage_bytes : 1024;
    while (bytes < wanted_bytes)
        bytes *= 2;
    uint8_t *grown = aligned_alloc(FRAME_ALIGN_BYTES, bytes);
    if (!grown)
        return error_memory();
    if (used_bytes)
        memcpy(grown, state->storage, used_bytes);
    free(state->storage);
    state->storage = grown;
    state->storage_bytes = bytes;
    state->known_bytes = used_bytes;
    return SONDE_OK;
}

static int reserve_local(struct exec_state *state, uint32_t wanted_bytes)
{
    uint32_t bytes = (wanted_bytes + LANE_STRIPE_BYTES - 1) / LANE_STRIPE_BYTES * LANE_STRIPE_BYTES;
    if (bytes <= state->local_bytes)
        return SONDE_OK;
    uint8_t *grown = realloc(state->local, (size_t)bytes * WARP_LANES);
    if (!grown)
        return error_memory();
    memset(grown + (size_t)state->local_bytes * WARP_LANES, 0,
           (size_t)(bytes - state->local_bytes) * WARP_LANES);
    state->local = grown;
    state->local_bytes = bytes;
    return SONDE_OK;
}

/* All zero; or all but registers that no instruction reads before one has written them, in which
 * something from before may be left. */
static void clear_frame(struct exec_state *state)
{
    const struct exec_frame *frame = &state->frames[state->depth];
    const struct exec_function *function = frame->function;
    uint32_t end = frame->offset + function->frame_bytes;
    bool keeps = !state->program->needs_zero && end <= state->known_bytes;
    uint32_t kept = keeps ? function->regs_bytes : 0;
    point_at(state);
    memset(state->base[BASE_REG] + kept, 0, function->frame_bytes - kept);
    if (state->known_bytes < end)
        state->known_bytes = end;
    state->preds[PRED_TRUE] = ~0u;
    state->preds[PRED_CLUSTER] = state->explicit_cluster ? ~0u : 0;
}

int frame_reset(struct exec_state *state)
{
    const struct exec_function *kernel = state->program->functions[0];
    if (!state->frames) {
        state->frames = calloc(4, sizeof *state->frames);
        if (!state->frames)
            return error_memory();
        state->frame_capacity = 4;
    }
    int rc = reserve_storage(state, 0, kernel->frame_bytes);
    if (rc == SONDE_OK)
        rc = reserve_local(state, kernel->local_bytes);
    if (rc != SONDE_OK)
        return rc;
    if (state->local_bytes)
        memset(state->local, 0, (size_t)state->local_bytes * WARP_LANES);
    state->depth = 0;
    state->frames[0] = (struct exec_frame){.function = kernel};
    clear_frame(state);
    return SONDE_OK;
}

int frame_push(struct exec_state *state, const struct exec_function *function,
               const struct uop *call)
{
    const struct exec_frame *caller = &state->frames[state->depth];
    uint32_t offset = caller->offset + caller->function->frame_bytes;
    uint32_t local_base =
        caller->local_base + caller->function->local_bytes + caller->dynamic_bytes;
    if (state->depth + 1 >= CALL_DEPTH_MAX || offset > UINT32_MAX / 4 ||
        (uint64_t)local_base + function->local_bytes > state->program->local_limit_bytes)
        return error_set(SONDE_EFAULT, "the call stack overflows in '%s', %u calls deep",
                         function->func->name, state->depth + 1);
    if (state->depth + 1 == state->frame_capacity) {
        uint32_t capacity = state->frame_capacity * 2;
        struct exec_frame *grown = realloc(state->frames, capacity * sizeof *grown);
        if (!grown)
            return error_memory();
        state->frames = grown;
        state->frame_capacity = capacity;
    }
    int rc = reserve_storage(state, offset, offset + function->frame_bytes);
    if (rc == SONDE_OK)
        rc = reserve_local(state, local_base + function->local_bytes);
    if (rc != SONDE_OK) {
        point_at(state);
        return rc;
    }
    state->depth++;
    state->frames[state->depth] = (struct exec_frame){
        .function = function, .call = call, .offset = offset, .local_base = local_base};
    clear_frame(state);
    return SONDE_OK;
}

int frame_set_dynamic(struct exec_state *state, uint32_t bytes)
{
    struct exec_frame *frame = &state->frames[state->depth];
    uint32_t top = frame->local_base + frame->function->local_bytes + bytes;
    int rc = reserve_local(state, top);
    if (rc == SONDE_OK) {
        frame->dynamic_bytes = bytes;
        state->local_top = top;
    }
    return rc;
}

void frame_unwind(struct exec_state *state, uint32_t depth)
{
    state->depth = depth;
    point_at(state);
}

uint8_t *frame_start(const struct exec_state *state, uint32_t depth)
{
    return state->storage + state->frames[depth].offset;
}

void frame_free(struct exec_state *state)
{
    free(state->frames);
    free(state->storage);
    free(state->local);
    state->frames = NULL;
    state->storage = state->local = NULL;
    state->storage_bytes = state->known_bytes = state->local_bytes = state->frame_capacity = 0;
}
