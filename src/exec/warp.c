/* A warp's life: initialised for a CTA, issued one instruction at a time, reused or freed. */
#include <stdlib.h>
#include <string.h>

#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/memory/image.h"
#include "exec/memory/one.h"
#include "exec/ops.h"
#include "util/error.h"

static int make_state(struct exec_warp *warp)
{
    if (warp->state)
        return SONDE_OK;
    struct exec_state *state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64);
    if (!state)
        return error_memory();
    memset(state, 0, offsetof(struct exec_state, tid)); /* what is behind is written before read */
    warp->state = state;
    return SONDE_OK;
}

/* Coordinates of the lanes' threads; lanes past the block's end stay inactive. */
static uint32_t place_threads(struct exec_state *state, const uint32_t block[3], uint32_t first)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2], left;
    uint32_t x = first % block[0], y = first / block[0] % block[1], z = first / block[0] / block[1];
    bool in_a_row = block[0] - x >= WARP_LANES;
    for (uint32_t i = 0; i < (in_a_row ? WARP_LANES : 0); i++) {
        state->tid[0][i] = x + i;
        state->tid[1][i] = y;
        state->tid[2][i] = z;
    }
    for (uint32_t i = in_a_row ? WARP_LANES : 0; i < WARP_LANES; i++) {
        state->tid[0][i] = x;
        state->tid[1][i] = y;
        state->tid[2][i] = z;
        if (++x < block[0])
            continue;
        x = 0;
        if (++y == block[1]) {
            y = 0;
            z++;
        }
    }
    left = first < threads ? threads - first : 0;
    return left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
}

int exec_warp_init(struct exec_warp *warp, struct exec_cta *cta, uint32_t first_thread,
                   const struct exec_env *env)
{
    int rc = make_state(warp);
    if (rc != SONDE_OK)
        return rc;
    struct exec_state *state = warp->state;
    const struct exec_program *program = cta->launch->program;
    warp->cta = cta;
    warp->env = env;
    warp->barrier_id = warp->barrier_threads = warp->barrier_value = warp->barrier_lanes = 0;
    warp->fault_lane = 0;
    warp->fault_address = 0;
    state->program = program;
    state->uops = env->untimed ? program->untimed_uops : program->uops;
    state->base[BASE_POOL] = program->pool;
    state->base[BASE_SPECIAL] = (uint8_t *)state->tid;
    state->first_thread = first_thread;
    state->diverge_ops = cta->launch->yield_after ? &diverge_independent : &diverge_stack;
    state->carry = 0;
    state->cluster_waits = 0;
    warp->slept_ns = 0;
    memset(state->device_error, 0, sizeof state->device_error);
    state->explicit_cluster = cta->launch->explicit_cluster;
    uint32_t lanes = place_threads(state, cta->launch->block, first_thread);
    if (!lanes)
        return error_set(SONDE_EINPUT, "a warp that starts at thread %u has no threads",
                         first_thread);
    rc = frame_reset(state);
    return rc == SONDE_OK ? state->diverge_ops->reset(warp, lanes, program->functions[0]->first_pc)
                          : rc;
}

void exec_warp_free(struct exec_warp *warp)
{
    if (!warp->state)
        return;
    if (warp->state->diverge_ops)
        warp->state->diverge_ops->free(warp);
    frame_free(warp->state);
    free(warp->state);
    warp->state = NULL;
}

/*
 * A load of the kernel's parameters waits for nothing and nobody may change what it reads, so it is
 * over when it issues. What is described of it is what statistics ask for. False: it was left
 * alone, nothing has changed but the description.
 */
static bool issue_parameter(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    const struct uop_memory *memory = uop->memory;
    access_begin(access, warp, memory->kind, SPACE_PARAM, memory->bytes);
    access->vec = memory->vec;
    access->mask = mask;
    access->done =
        mask && memory->kind == ACCESS_LOAD && warp->state->program->direct(warp, uop, mask);
    return access->done;
}

/* An access by one lane, as run_memory() describes it. */
static void describe_one(struct exec_access *access, const struct exec_warp *warp,
                         const struct uop_memory *memory, uint32_t lane, uint64_t address)
{
    access_begin(access, warp, memory->kind, memory->space, memory->bytes);
    access->vec = memory->vec;
    access->mask = 1u << lane;
    access->cache_op = memory->cache_op;
    access->is_volatile = memory->is_volatile;
    access->non_coherent = memory->non_coherent;
    access->address[lane] = address;
}

/* The same of shared memory by one lane, as chases record what they see. */
static bool issue_shared_by_one(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                struct exec_access *access)
{
    const struct uop_memory *memory = uop->memory;
    uint32_t lane = lowest_lane(mask);
    uint64_t address;
    if (memory->shape == DIRECT_NEVER || !shared_one_finds(&address, warp, memory, lane))
        return false;
    describe_one(access, warp, memory, lane, address);
    access->apart = 0;
    shared_one_moves(warp, memory, lane, address);
    access->done = true;
    advance(warp);
    return true;
}

/* A load of device memory by one lane. False: it is no plain word of the allocation that the
 * instruction found last. */
static bool issue_load_by_one(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                              struct exec_access *access)
{
    const struct uop_memory *memory = uop->memory;
    const struct exec_memory *image = warp->cta->launch->memory;
    size_t hint = warp->state->extents[warp->pc % EXTENT_HINTS];
    if (!mask || mask & (mask - 1) || memory->shape != DIRECT_DEVICE_WORD ||
        memory->kind != ACCESS_LOAD || memory->space != SPACE_GLOBAL || hint >= image->count)
        return false;
    uint32_t lane = lowest_lane(mask);
    uint64_t address =
        ((const lane_dword *)lanes_at(warp->state, memory->base))[lane] + memory->offset;
    if (address & 3 || !image_extent_holds(&image->extents[hint], address, 4))
        return false;
    describe_one(access, warp, memory, lane, address);
    advance(warp);
    return true;
}

/* What takes effect when it issues, and is then described as done, and what is described in a
 * shorter way. False: the uop is to be run. Out of the way of what every instruction passes. */
__attribute__((noinline)) static bool issue_at_once(struct exec_warp *warp, const struct uop *uop,
                                                    uint32_t mask, struct exec_access *access)
{
    if (uop->memory->space == SPACE_PARAM)
        return issue_parameter(warp, uop, mask, access);
    if (uop->memory->space != SPACE_SHARED)
        return issue_load_by_one(warp, uop, mask, access);
    if (mask == UINT32_MAX)
        return warp->state->program->direct_shared(warp, uop, access);
    return mask && (mask & (mask - 1)) == 0 && issue_shared_by_one(warp, uop, mask, access);
}

enum exec_event exec_issue(struct exec_warp *warp, struct exec_access *access)
{
    const struct uop *uop = &warp->state->uops[warp->pc];
    uint32_t mask = guarded_lanes(warp, uop);
    access->done = false;
    if (uop->run == run_memory && issue_at_once(warp, uop, mask, access))
        return EXEC_ACCESS;
    return uop->run(warp, uop, mask, access);
}

void exec_issue_lanes(struct exec_warp *warp)
{
    const struct exec_state *state = warp->state;
    const struct uop *uop = &state->uops[warp->pc];
    uint32_t mask = guarded_lanes(warp, uop);
    if (mask)
        lanes_run(state, uop, mask);
    advance(warp);
}

bool exec_is_guarded_off(const struct exec_warp *warp)
{
    return guarded_lanes(warp, &warp->state->uops[warp->pc]) == 0;
}

enum exec_event exec_issue_apart(struct exec_warp *warp, struct exec_access *access)
{
    const struct uop *uop = &warp->state->uops[warp->pc];
    access->done = false;
    return uop->run(warp, uop, guarded_lanes(warp, uop), access);
}

bool exec_others_go_on(struct exec_warp *warp)
{
    const struct diverge_ops *ops = warp->state->diverge_ops;
    return ops->wait && ops->wait(warp, cluster_held(warp));
}
