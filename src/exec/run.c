/*
 * Functional mode: a launch without timing. CTAs run one after the other; the warps of a CTA take
 * turns, each until it waits at a barrier, exits, or has used up its slice (so that a warp that
 * spins on a value that another warp writes does not spin for ever). The CTAs of a cooperative
 * launch may wait for each other: they are all in flight and take turns too. Memory is accessed at
 * once. %clock counts the instructions that the CTA has executed. Left out: CTAs of other launches
 * that wait for each other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exec/barrier.h"
#include "exec/memory/direct.h"
#include "exec/fault.h"
#include "exec/ops.h"
#include "exec/program.h"
#include "util/error.h"

#define SLICE_INSNS 4096
#define BLOCK_MAX_THREADS 1024
#define SHARED_LIMIT_BYTES (4u << 20)

struct runner {
    const struct exec_launch *launch;
    struct exec_run_options *options;
    struct exec_cta cta;
    struct exec_env env;
    struct cta_barriers barriers;
    struct exec_access access;
    struct exec_warp warp[CTA_WARPS_MAX];
    struct exec_warp *warps[CTA_WARPS_MAX];
    uint32_t warp_count;
    uint64_t ready; /* warps that can issue */
    direct_fn *direct;
};

static int check_launch(const struct exec_launch *launch)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || block[i] == 0 || block[i] > BLOCK_MAX_THREADS)
            return error_set(SONDE_EINPUT, "grid (%u,%u,%u) of blocks (%u,%u,%u) is not possible",
                             grid[0], grid[1], grid[2], block[0], block[1], block[2]);
        threads *= block[i];
    }
    if (threads > BLOCK_MAX_THREADS)
        return error_set(SONDE_EINPUT, "a block of %" PRIu64 " threads; at most %d are possible",
                         threads, BLOCK_MAX_THREADS);
    if (launch->dynamic_shared_bytes > SHARED_LIMIT_BYTES)
        return error_set(SONDE_EINPUT, "%u bytes of dynamic shared memory; at most %u are possible",
                         launch->dynamic_shared_bytes, SHARED_LIMIT_BYTES);
    if (launch->param_bytes < launch->program->functions[0]->func->param_bytes)
        return error_set(SONDE_EINPUT, "%u bytes of parameters where the kernel has %u",
                         launch->param_bytes, launch->program->functions[0]->func->param_bytes);
    return SONDE_OK;
}

static int start_cta(struct runner *r, uint64_t linear)
{
    const uint32_t *grid = r->launch->grid;
    r->cta.ctaid[0] = (uint32_t)(linear % grid[0]);
    r->cta.ctaid[1] = (uint32_t)(linear / grid[0] % grid[1]);
    r->cta.ctaid[2] = (uint32_t)(linear / grid[0] / grid[1]);
    r->cta.linear_id = (uint32_t)linear;
    if (r->cta.shared_bytes)
        memset(r->cta.shared, 0, r->cta.shared_bytes);
    cta_barriers_init(&r->barriers, r->warp_count);
    r->ready = r->barriers.alive;
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < r->warp_count; i++)
        rc = exec_warp_init(&r->warp[i], &r->cta, i * WARP_LANES, &r->env);
    return rc;
}

/* Account for a finished slice; an error when a limit is reached. */
static int account(struct runner *r, const struct exec_warp *warp, uint64_t insns, uint64_t lanes)
{
    struct exec_run_options *options = r->options;
    options->warp_insns += insns;
    options->thread_insns += lanes;
    r->env.clock += insns;
    r->env.globaltimer_ns += insns;
    if (options->interrupt && *options->interrupt)
        return error_set(SONDE_EINTERRUPTED, "interrupted");
    if (options->max_warp_insns && options->warp_insns >= options->max_warp_insns)
        return error_set(SONDE_EFAULT,
                         "kernel '%s' was stopped after %" PRIu64 " warp instructions",
                         warp->state->program->functions[0]->func->name, options->warp_insns);
    return SONDE_OK;
}

/* Counts of bits without the processor's instruction, which not every build has. */
static uint32_t count_lanes(uint32_t mask)
{
    if (mask == UINT32_MAX)
        return WARP_LANES;
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
}

/* Issue, and commit what there is to commit. DONE or what the issue said. */
static inline enum exec_event run_one(struct runner *r, struct exec_warp *warp, int *rc)
{
    const struct exec_state *state = warp->state;
    const struct uop *uop = &state->uops[warp->pc];
    uint32_t mask = warp->active & (state->preds[uop->guard] ^ uop->guard_flip);
    if (uop->run == run_memory && r->direct(warp, uop, mask))
        return EXEC_DONE;
    enum exec_event event = uop->run(warp, uop, mask, &r->access);
    if (event != EXEC_ACCESS)
        return event;
    *rc = exec_commit(warp, &r->access);
    return EXEC_DONE;
}

/* Run a warp for a slice. `*event` is the last one: DONE means that the slice is over. */
static int run_slice(struct runner *r, struct exec_warp *warp, enum exec_event *event)
{
    uint64_t start = r->env.clock, limit = SLICE_INSNS, lanes = 0, insns = 0;
    const struct exec_run_options *options = r->options;
    if (options->max_warp_insns && options->max_warp_insns - options->warp_insns < limit)
        limit = options->max_warp_insns - options->warp_insns;
    int rc = SONDE_OK;
    do {
        r->env.clock = start + insns++;
        lanes += count_lanes(warp->active);
        *event = run_one(r, warp, &rc);
    } while (*event == EXEC_DONE && rc == SONDE_OK && insns < limit);
    r->env.clock = start;
    if (rc != SONDE_OK)
        return rc;
    return *event == EXEC_FAULT ? SONDE_EFAULT : account(r, warp, insns, lanes);
}

static int deadlock(const struct runner *r)
{
    const struct exec_program *program = r->launch->program;
    uint32_t first = (uint32_t)__builtin_ctzll(r->barriers.alive);
    const struct exec_warp *warp = &r->warp[first];
    const struct ptx_insn *insn = warp->pc > 0 ? program->insns[warp->pc - 1] : NULL;
    const struct cta_barrier *barrier = &r->barriers.barrier[warp->barrier_id];
    struct ptx_loc loc = insn ? insn->loc : program->functions[0]->func->loc;
    return error_at(
        SONDE_EFAULT, fault_file(program, insn ? warp->pc - 1 : 0), loc.line, loc.column,
        "kernel '%s': deadlock in CTA (%u,%u,%u): all %d warps that have not exited wait "
        "at barriers; warp %u at barrier %u, to which %u of %u warps have come",
        program->functions[0]->func->name, r->cta.ctaid[0], r->cta.ctaid[1], r->cta.ctaid[2],
        __builtin_popcountll(r->barriers.alive), first, warp->barrier_id, barrier->arrived,
        barrier->expected ? barrier->expected : (uint32_t)__builtin_popcountll(r->barriers.alive));
}

/* A slice of each warp that can issue. */
static int run_turn(struct runner *r)
{
    if (!r->ready)
        return deadlock(r);
    for (uint64_t turn = r->ready; turn; turn &= turn - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(turn);
        uint64_t self = UINT64_C(1) << i;
        enum exec_event event;
        r->env.warpid = i;
        int rc = run_slice(r, &r->warp[i], &event);
        if (rc != SONDE_OK)
            return rc;
        if (event == EXEC_DONE)
            continue;
        r->ready &= ~self;
        r->ready |= event == EXEC_EXIT ? cta_barriers_exit(&r->barriers, r->warps, i)
                                       : cta_barriers_arrive(&r->barriers, r->warps, i);
    }
    return SONDE_OK;
}

static void runner_destroy(struct runner *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->warp_count; i++)
        exec_warp_free(&r->warp[i]);
    free(r->cta.shared);
    free(r);
}

static int runner_create(struct runner **out, const struct exec_launch *launch,
                         struct exec_run_options *options)
{
    const uint32_t *block = launch->block;
    struct runner *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return error_memory();
    r->launch = launch;
    r->options = options;
    r->direct = direct_access();
    r->warp_count = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
    r->env.nsmid = 1;
    r->env.nwarpid = r->warp_count;
    r->cta.launch = launch;
    r->cta.shared_bytes = launch->program->shared_bytes + launch->dynamic_shared_bytes;
    r->cta.shared = r->cta.shared_bytes ? malloc(r->cta.shared_bytes) : NULL;
    for (uint32_t i = 0; i < r->warp_count; i++)
        r->warps[i] = &r->warp[i];
    return r->cta.shared_bytes && !r->cta.shared ? error_memory() : SONDE_OK;
}

/*
 * A launch on its way. CTAs are in flight one at a time, or, of a cooperative launch, all; the
 * rest has not begun.
 */
struct exec_run {
    const struct exec_launch *launch;
    struct exec_run_options *options;
    uint64_t ctas, begun;
    struct runner **flight; /* of `places` */
    uint64_t places;
};

void exec_run_end(struct exec_run *run)
{
    if (!run)
        return;
    for (uint64_t i = 0; run->flight && i < run->places; i++)
        runner_destroy(run->flight[i]);
    free(run->flight);
    free(run);
}

int exec_run_begin(struct exec_run **out, const struct exec_launch *launch,
                   struct exec_run_options *options)
{
    const uint32_t *grid = launch->grid;
    *out = NULL;
    int rc = check_launch(launch);
    if (rc != SONDE_OK)
        return rc;
    uint64_t ctas = (uint64_t)grid[0] * grid[1];
    if (ctas > UINT32_MAX || ctas * grid[2] > UINT32_MAX)
        return error_set(SONDE_EINPUT, "a grid of (%u,%u,%u) CTAs is too large", grid[0], grid[1],
                         grid[2]);
    struct exec_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_memory();
    run->launch = launch;
    run->options = options;
    run->ctas = ctas * grid[2];
    run->places = launch->cooperative ? run->ctas : 1;
    run->flight = calloc(run->places, sizeof(*run->flight));
    rc = run->flight ? SONDE_OK : error_memory();
    for (uint64_t i = 0; rc == SONDE_OK && i < run->places; i++)
        rc = runner_create(&run->flight[i], launch, options);
    if (rc != SONDE_OK) {
        exec_run_end(run);
        return rc;
    }
    *out = run;
    return SONDE_OK;
}

/* A turn of each CTA in flight, and the next ones where one has ended. */
static int run_round(struct exec_run *run, bool *alive)
{
    int rc = SONDE_OK;
    *alive = false;
    for (uint64_t i = 0; rc == SONDE_OK && i < run->places; i++) {
        struct runner *r = run->flight[i];
        if (!r->barriers.alive && run->begun < run->ctas)
            rc = start_cta(r, run->begun++);
        if (rc == SONDE_OK && r->barriers.alive) {
            *alive = true;
            rc = run_turn(r);
        }
    }
    return rc;
}

int exec_run_some(struct exec_run *run, uint64_t warp_insns)
{
    uint64_t start = run->options->warp_insns;
    bool alive = true;
    while (run->options->warp_insns - start < warp_insns) {
        int rc = run_round(run, &alive);
        if (rc != SONDE_OK || !alive)
            return rc;
    }
    return EXEC_RUN_MORE;
}

int exec_run_launch_with(const struct exec_launch *launch, struct exec_run_options *options)
{
    struct exec_run *run;
    int rc = exec_run_begin(&run, launch, options);
    if (rc == SONDE_OK)
        rc = exec_run_some(run, UINT64_MAX);
    exec_run_end(run);
    return rc;
}

int exec_run_launch(const struct exec_launch *launch)
{
    struct exec_run_options options = {0};
    return exec_run_launch_with(launch, &options);
}
