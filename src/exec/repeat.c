/*
 * The fingerprint of a warp's state. Left out is what decides nothing: hints, and what operands
 * were made of for the instruction before. Counters that only grow go in as what is asked of them:
 * turns as their order, and the patience of divergence (divergence/independent.c) up to its limits.
 */
#include "exec/repeat.h"

#include <string.h>

#include "exec/divergence/stack.h"
#include "exec/program.h"
#include "exec/state.h"
#include "util/hash.h"

/* `bytes`: a multiple of 4. */
static uint64_t mix_bytes(uint64_t hash, const uint8_t *from, size_t bytes)
{
    uint64_t word;
    size_t at = 0;
    for (; at + sizeof word <= bytes; at += sizeof word) {
        memcpy(&word, from + at, sizeof word);
        hash = hash_word(hash, word);
    }
    if (at < bytes) {
        uint32_t half;
        memcpy(&half, from + at, sizeof half);
        hash = hash_word(hash, half);
    }
    return hash;
}

static uint64_t mix_pair(uint64_t hash, uint32_t a, uint32_t b)
{
    return hash_word(hash, (uint64_t)a << 32 | b);
}

/*
 * Of the turns since which paths wait only the order decides, among each other and with the turn
 * that it is: so many wait less long, and it has waited at all.
 */
static uint32_t place_in_waiting(const struct diverge_state *stack, uint32_t entry)
{
    uint32_t age = stack->turn - stack->entries[entry].since, younger = 0;
    for (uint32_t i = 0; i < stack->count; i++)
        younger += stack->turn - stack->entries[i].since < age;
    return 2 * younger + (age > 0);
}

static uint64_t mix_divergence(uint64_t hash, const struct diverge_state *stack)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct entry *e = &stack->entries[i];
        hash = mix_pair(hash, e->pc, e->reconverge);
        hash = mix_pair(hash, e->lanes, e->depth);
        hash = mix_pair(hash, e->level, place_in_waiting(stack, i));
        hash = hash_word(hash, e->is_call);
    }
    hash = mix_pair(hash, stack->count, stack->at_barrier);
    hash = mix_pair(hash, stack->barrier, stack->come);
    return mix_pair(hash, stack->spin_pc, stack->spin_depth);
}

static uint32_t at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

/* How far the stack's patience goes is asked only while others of the warp wait. */
static uint64_t mix_patience(uint64_t hash, const struct exec_state *state)
{
    const struct diverge_state *stack = state->diverge;
    if (state->diverge_ops != &diverge_stack)
        return mix_pair(hash, stack->backwards, stack->spins);
    if (stack->spin_depth <= 1)
        return hash;
    return mix_pair(hash, at_most(stack->backwards, DIVERGE_PATIENCE_WITH_LOOPS),
                    at_most(stack->spins, DIVERGE_PATIENCE));
}

static uint64_t mix_calls(uint64_t hash, const struct exec_state *state)
{
    for (uint32_t i = 0; i <= state->depth; i++) {
        const struct exec_frame *frame = &state->frames[i];
        hash = hash_word(hash, (uintptr_t)frame->function);
        hash = hash_word(hash, (uintptr_t)frame->call);
        hash = mix_pair(hash, frame->offset, frame->local_base);
        hash = hash_word(hash, frame->dynamic_bytes);
    }
    return hash;
}

bool exec_warp_is_comparable(const struct exec_warp *warp)
{
    const struct exec_state *state = warp->state;
    return state->diverge_ops == &diverge_stack ||
           (state->diverge->backwards == 0 && state->diverge->spins == 0);
}

static uint64_t mix_storage(uint64_t hash, const struct exec_state *state)
{
    const struct exec_frame *top = &state->frames[state->depth];
    hash = mix_bytes(hash, state->storage, top->offset + top->function->frame_bytes);
    return mix_bytes(hash, state->local, (size_t)state->local_bytes * WARP_LANES);
}

uint64_t exec_warp_values(const struct exec_warp *warp)
{
    uint64_t hash = mix_pair(0, warp->pc, warp->active);
    return mix_storage(mix_pair(hash, warp->live, warp->state->depth), warp->state);
}

uint64_t exec_warp_fingerprint(const struct exec_warp *warp)
{
    const struct exec_state *state = warp->state;
    uint64_t hash = mix_pair(0, warp->pc, warp->active);
    hash = mix_pair(hash, warp->live, state->reconverge);
    hash = mix_pair(hash, state->carry, state->cluster_waits);
    hash = mix_calls(hash, state);
    hash = hash_word(hash, (uintptr_t)state->diverge_ops);
    hash = mix_divergence(hash, state->diverge);
    hash = mix_patience(hash, state);
    hash = mix_bytes(hash, (const uint8_t *)state->device_error, sizeof state->device_error);
    return mix_storage(hash, state);
}
