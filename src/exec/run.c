/*
 * Functional mode: a launch without timing. CTAs run one after the other; the warps of a CTA take
 * turns, each until it waits at a barrier, exits, or has used up its slice (so that a warp that
 * spins on a value that another warp writes does not spin for ever). The CTAs of a cluster, and all
 * of a cooperative launch, may wait for each other: they are in flight together and take turns too.
 * Memory is accessed at once. %clock goes on with the instructions that the CTA has executed. Left
 * out: CTAs of other launches that wait for each other.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/barrier.h"
#include "exec/cluster.h"
#include "exec/memory/direct.h"
#include "exec/fault.h"
#include "exec/observe.h"
#include "exec/ops.h"
#include "exec/positions.h"
#include "exec/program.h"
#include "util/error.h"
#include "util/progress.h"

#define SLICE_INSNS 4096
/* What %clock and %globaltimer count an instruction of a warp as: about what one takes that waits
 * for the last, so that programs that wait by a clock wait no longer than on a GPU. */
#define INSN_CYCLES 16
#define INSN_NS 8
#define BLOCK_MAX_THREADS 1024
#define ROUNDS_PER_REPORT 64
#define SHARED_LIMIT_BYTES (4u << 20)

struct exec_run;

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
    const struct exec_observer *observer; /* NULL: nobody observes */
    uint32_t shared_accesses;             /* of which it sees some */
    const uint8_t *watch;                 /* what it wants to see, by pc */
    const struct exec_run *run;
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
    if (cluster_size(launch) > EXEC_CLUSTER_MAX || grid[0] % cluster_extent(launch, 0) ||
        grid[1] % cluster_extent(launch, 1) || grid[2] % cluster_extent(launch, 2))
        return error_set(SONDE_EINPUT, "clusters of %u CTAs do not divide the grid (%u,%u,%u)",
                         cluster_size(launch), grid[0], grid[1], grid[2]);
    if (launch->param_bytes < launch->program->functions[0]->func->param_bytes)
        return error_set(SONDE_EINPUT, "%u bytes of parameters where the kernel has %u",
                         launch->param_bytes, launch->program->functions[0]->func->param_bytes);
    return SONDE_OK;
}

/*
 * A launch on its way. CTAs are in flight one at a time, or those of a cluster, or, of a
 * cooperative launch, all; the rest has not begun.
 */
struct exec_run {
    const struct exec_launch *launch;
    struct exec_run_options *options;
    uint64_t ctas, begun, rounds;
    struct runner **flight; /* of `places` */
    uint64_t places;
    uint32_t cluster_size;
    struct exec_cluster *
        *clusters;  /* of the CTAs in flight; NULL: the program has no use for them */
    void *observed; /* the observer's, of the launch */
};

/* The CTA of this number in the order of the clusters; `place` is its place among those in flight.
 */
static int start_cta(struct runner *r, uint64_t order, uint64_t place)
{
    const uint32_t *grid = r->launch->grid;
    uint64_t linear = cluster_linear_cta(r->launch, order);
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
    if (rc == SONDE_OK && r->run->clusters) {
        r->cta.cluster = r->run->clusters[place / r->run->cluster_size];
        r->cta.cluster_rank = (uint32_t)(place % r->run->cluster_size);
        if (r->cta.cluster_rank == 0)
            cluster_reset(r->cta.cluster);
        cluster_enter(r->cta.cluster, &r->cta, r->warps, r->warp_count);
    }
    if (rc == SONDE_OK && r->observer)
        rc = r->observer->cta_begins(r->run->observed, &r->cta, r->warps, r->warp_count);
    return rc;
}

/* Where the warps of all CTAs in flight are, behind the error. */
static int tell_positions(const struct exec_run *run, int code)
{
    struct positions *positions = calloc(1, sizeof *positions);
    for (uint64_t i = 0; positions && i < run->places; i++) {
        const struct runner *r = run->flight[i];
        for (uint64_t rest = r->barriers.alive; rest; rest &= rest - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(rest);
            const struct exec_warp *warp = &r->warp[w];
            bool waits = !(r->ready >> w & 1);
            char why[POSITION_WHY_MAX] = "is running";
            if (waits && warp->barrier_kind == BARRIER_CLUSTER_WAIT)
                snprintf(why, sizeof why, "waits at the barrier of its cluster");
            else if (waits)
                snprintf(why, sizeof why, "waits at barrier %u", warp->barrier_id);
            positions_add(positions, warp, w, waits && warp->pc > 0 ? warp->pc - 1 : warp->pc, why);
        }
    }
    code = positions ? positions_tell(positions, code) : code;
    free(positions);
    return code;
}

/* Account for a finished slice; an error when a limit is reached. */
static int account(struct runner *r, struct exec_warp *warp, uint64_t insns, uint64_t lanes)
{
    struct exec_run_options *options = r->options;
    options->warp_insns += insns;
    options->thread_insns += lanes;
    r->env.clock += insns * INSN_CYCLES + warp->slept_ns;
    r->env.globaltimer_ns += insns * INSN_NS + warp->slept_ns;
    warp->slept_ns = 0;
    options->stopped = true;
    if (options->interrupt && *options->interrupt) {
        int rc = error_set(SONDE_EINTERRUPTED, "interrupted");
        return options->tells ? tell_positions(r->run, rc) : rc;
    }
    if (options->max_warp_insns && options->warp_insns >= options->max_warp_insns)
        return error_set(SONDE_EFAULT,
                         "kernel '%s' was stopped after %" PRIu64 " warp instructions",
                         warp->state->program->functions[0]->func->name, options->warp_insns);
    options->stopped = false;
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

/* The access has happened. A wait whose phase is not over gives the other warps their turn. */
static int commit_now(struct runner *r, struct exec_warp *warp)
{
    if (r->access.kind == ACCESS_WAIT && !exec_wait_is_over(&r->access))
        warp->slept_ns = INSN_NS;
    return exec_commit(warp, &r->access);
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
    *rc = commit_now(r, warp);
    return EXEC_DONE;
}

/* Whether the observer passes over this access. */
static bool is_passed_over(struct runner *r, const struct uop *uop)
{
    if (!r->observer->shared_seen_of || uop->run != run_memory)
        return false;
    enum isa_space space = uop->memory->space;
    if (space == SPACE_SHARED)
        return ++r->shared_accesses % r->observer->shared_seen_of != 0;
    return space == SPACE_PARAM || space == SPACE_CONST;
}

/* The same with everything told before it happens. */
static enum exec_event observe_one(struct runner *r, struct exec_warp *warp, int *rc)
{
    const struct exec_state *state = warp->state;
    const struct uop *uop = &state->uops[warp->pc];
    uint32_t mask = warp->active & (state->preds[uop->guard] ^ uop->guard_flip);
    if (r->watch[warp->pc])
        r->observer->issues(warp, mask);
    if (is_passed_over(r, uop) && r->direct(warp, uop, mask))
        return EXEC_DONE;
    enum exec_event event = uop->run(warp, uop, mask, &r->access);
    if (event != EXEC_ACCESS)
        return event;
    r->observer->accesses(warp, &r->access);
    *rc = commit_now(r, warp);
    return EXEC_DONE;
}

/* Run a warp for a slice. `*event` is the last one: DONE means that the slice is over. */
static inline int run_slice(struct runner *r, struct exec_warp *warp, enum exec_event *event,
                            bool observed)
{
    uint64_t start = r->env.clock, limit = SLICE_INSNS, lanes = 0, insns = 0;
    const struct exec_run_options *options = r->options;
    if (options->max_warp_insns && options->max_warp_insns - options->warp_insns < limit)
        limit = options->max_warp_insns - options->warp_insns;
    int rc = SONDE_OK;
    do {
        r->env.clock = start + INSN_CYCLES * insns++;
        lanes += count_lanes(warp->active);
        *event = observed ? observe_one(r, warp, &rc) : run_one(r, warp, &rc);
    } while (*event == EXEC_DONE && rc == SONDE_OK && insns < limit && !warp->slept_ns);
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
    char where[96];
    if (warp->barrier_kind == BARRIER_CLUSTER_WAIT)
        snprintf(where, sizeof where, "warp %u at the barrier of its cluster", first);
    else
        snprintf(where, sizeof where, "warp %u at barrier %u, to which %u of %u warps have come",
                 first, warp->barrier_id, barrier->arrived,
                 barrier->expected ? barrier->expected
                                   : (uint32_t)__builtin_popcountll(r->barriers.alive));
    error_at(SONDE_EFAULT, fault_file(program, insn ? warp->pc - 1 : 0), loc.line, loc.column,
             "kernel '%s': deadlock in CTA (%u,%u,%u): all %d warps that have not exited wait "
             "at barriers; %s",
             program->functions[0]->func->name, r->cta.ctaid[0], r->cta.ctaid[1], r->cta.ctaid[2],
             __builtin_popcountll(r->barriers.alive), where);
    return tell_positions(r->run, SONDE_EFAULT);
}

/* A phase of the cluster's barrier is over: warps of all its CTAs go on. */
static void release_cluster(const struct runner *r)
{
    struct exec_cluster *cluster = r->cta.cluster;
    for (uint64_t i = 0; i < r->run->places; i++) {
        struct runner *other = r->run->flight[i];
        if (other->cta.cluster != cluster || !other->barriers.alive)
            continue;
        uint64_t released = cluster_take(cluster, other->cta.cluster_rank);
        other->ready |= released;
        if (other->observer && released)
            other->observer->released(&other->warp[__builtin_ctzll(released)], released, false);
    }
}

static void at_cluster_barrier(struct runner *r, uint32_t index)
{
    const struct exec_warp *warp = &r->warp[index];
    uint64_t self = UINT64_C(1) << index;
    if (warp->barrier_kind == BARRIER_CLUSTER_ARRIVE) {
        if (cluster_arrive(r->cta.cluster, warp, index))
            release_cluster(r);
    } else if (cluster_waits(r->cta.cluster, warp, index)) {
        r->ready &= ~self;
    }
}

static void at_barrier(struct runner *r, uint32_t index)
{
    if (r->observer)
        r->observer->arrives(&r->warp[index]);
    if (r->warp[index].barrier_kind >= BARRIER_CLUSTER_ARRIVE) {
        at_cluster_barrier(r, index);
        return;
    }
    r->ready &= ~(UINT64_C(1) << index);
    uint64_t released = cta_barriers_arrive(&r->barriers, r->warps, index);
    r->ready |= released;
    if (r->observer && released)
        r->observer->released(&r->warp[index], released, false);
}

static void at_exit(struct runner *r, uint32_t index)
{
    r->ready &= ~(UINT64_C(1) << index);
    uint64_t released = cta_barriers_exit(&r->barriers, r->warps, index);
    r->ready |= released;
    if (r->observer)
        r->observer->released(&r->warp[index], released, true);
    if (r->observer && !r->barriers.alive)
        r->observer->cta_ends(r->run->observed, &r->cta);
    if (!r->cta.cluster)
        return;
    if (!r->barriers.alive)
        cluster_leave(r->cta.cluster, &r->cta);
    if (cluster_exit(r->cta.cluster))
        release_cluster(r);
}

/* A slice of each warp that can issue. */
static int run_turn(struct runner *r)
{
    for (uint64_t turn = r->ready; turn; turn &= turn - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(turn);
        enum exec_event event;
        r->env.warpid = i;
        int rc = r->observer ? run_slice(r, &r->warp[i], &event, true)
                             : run_slice(r, &r->warp[i], &event, false);
        if (rc != SONDE_OK)
            return rc;
        if (event == EXEC_EXIT)
            at_exit(r, i);
        else if (event != EXEC_DONE)
            at_barrier(r, i);
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
    r->observer = launch->observer;
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

void exec_run_end(struct exec_run *run)
{
    if (!run)
        return;
    for (uint64_t i = 0; run->flight && i < run->places; i++)
        runner_destroy(run->flight[i]);
    for (uint64_t i = 0; run->clusters && i < run->places / run->cluster_size; i++)
        cluster_destroy(run->clusters[i]);
    if (run->observed)
        run->launch->observer->ends(run->observed);
    free(run->flight);
    free(run->clusters);
    free(run);
}

static int make_clusters(struct exec_run *run)
{
    assert(run->cluster_size > 0 && run->places > 0);
    uint64_t count = run->places / run->cluster_size;
    if (run->cluster_size == 1 && !run->launch->program->uses_clusters)
        return SONDE_OK;
    run->clusters = calloc(count, sizeof(*run->clusters));
    if (!run->clusters)
        return error_memory();
    for (uint64_t i = 0; i < count; i++)
        if (!(run->clusters[i] = cluster_create(run->cluster_size)))
            return SONDE_ENOMEM;
    return SONDE_OK;
}

static int observe(struct exec_run *run)
{
    const struct exec_observer *observer = run->launch->observer;
    const uint8_t *watch;
    if (!observer)
        return SONDE_OK;
    run->observed = observer->begins(observer->ctx, run->launch, &watch);
    if (!run->observed)
        return error_memory();
    for (uint64_t i = 0; i < run->places; i++) {
        assert(run->flight[i]); /* made before */
        run->flight[i]->watch = watch;
    }
    return SONDE_OK;
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
    run->ctas = options->count ? options->first + options->count : ctas * grid[2];
    run->begun = options->first;
    run->cluster_size = cluster_size(launch);
    run->places = launch->cooperative ? run->ctas : run->cluster_size;
    assert(run->places > 0);
    run->flight = calloc(run->places, sizeof(*run->flight));
    if (!run->flight) {
        exec_run_end(run);
        return error_memory();
    }
    rc = make_clusters(run);
    for (uint64_t i = 0; rc == SONDE_OK && i < run->places; i++) {
        rc = runner_create(&run->flight[i], launch, options);
        if (run->flight[i])
            run->flight[i]->run = run;
    }
    rc = rc == SONDE_OK ? observe(run) : rc;
    if (rc != SONDE_OK) {
        exec_run_end(run);
        return rc;
    }
    *out = run;
    return SONDE_OK;
}

/* Other CTAs may let it go on. */
static bool waits_for_cluster(const struct runner *r)
{
    const struct exec_cluster *cluster = r->cta.cluster;
    return cluster && cluster->member[r->cta.cluster_rank].waiting;
}

static int start_next(struct exec_run *run)
{
    int rc = SONDE_OK;
    for (uint64_t i = 0; rc == SONDE_OK && i < run->places; i++)
        rc = start_cta(run->flight[i], run->begun++, i);
    return rc;
}

static void tell_progress(const struct exec_run *run)
{
    char what[128];
    uint64_t ended = run->begun > run->places ? run->begun - run->places : 0;
    snprintf(what, sizeof what, "%" PRIu64 " of %" PRIu64 " blocks, %" PRIu64 " warp instructions",
             ended, run->ctas, run->options->warp_insns);
    progress_report(run->options->progress, (double)ended / (double)run->ctas, what);
}

/* A turn of each CTA in flight, or the next ones when all have ended. */
static int run_round(struct exec_run *run, bool *alive)
{
    const struct runner *last = NULL;
    bool moves = false;
    int rc = SONDE_OK;
    if (run->options->progress && ++run->rounds % ROUNDS_PER_REPORT == 0)
        tell_progress(run);
    for (uint64_t i = 0; rc == SONDE_OK && i < run->places; i++) {
        struct runner *r = run->flight[i];
        if (!r->barriers.alive)
            continue;
        last = r;
        moves |= r->ready != 0;
        rc = r->ready || waits_for_cluster(r) ? run_turn(r) : deadlock(r);
    }
    if (rc == SONDE_OK && last && !moves)
        rc = deadlock(last);
    *alive = last || run->begun < run->ctas;
    return rc == SONDE_OK && !last && *alive ? start_next(run) : rc;
}

int exec_run_some(struct exec_run *run, uint64_t warp_insns)
{
    uint64_t start = run->options->warp_insns;
    bool alive = true;
    while (run->options->warp_insns - start < warp_insns) {
        int rc = run_round(run, &alive);
        if (rc == SONDE_EFAULT && run->options->stopped)
            return tell_positions(run, rc);
        if (rc != SONDE_OK || !alive)
            return rc;
    }
    return EXEC_RUN_MORE;
}

int exec_run_launch_with(const struct exec_launch *launch, struct exec_run_options *options)
{
    struct exec_run *run;
    int rc = exec_run_begin(&run, launch, options);
    if (run)
        rc = exec_run_some(run, UINT64_MAX);
    exec_run_end(run);
    return rc;
}

int exec_run_launch(const struct exec_launch *launch)
{
    struct exec_run_options options = {0};
    return exec_run_launch_with(launch, &options);
}
