/*
 * Functional mode: a launch without timing. CTAs run one after the other (flight.c). The CTAs of a
 * cluster, and all of a cooperative launch, may wait for each other: they are in flight together
 * and take turns too, as do others that seem to wait (crowd.c). CTAs that have nothing to do with
 * each other run on several host threads (share.c). Left out: CTAs of different launches that wait
 * for each other.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/cluster.h"
#include "exec/observe.h"
#include "exec/program.h"
#include "exec/run/run.h"
#include "util/error.h"
#include "util/progress.h"

#define BLOCK_MAX_THREADS 1024
#define ROUNDS_PER_REPORT 64
#define SHARED_LIMIT_BYTES (4u << 20)

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

static int observe(struct exec_run *run)
{
    const struct exec_observer *observer = run->launch->observer;
    const uint8_t *watch;
    if (!observer)
        return SONDE_OK;
    run->observed = observer->begins(observer->ctx, run->launch, &watch);
    if (!run->observed)
        return error_memory();
    for (uint64_t i = 0; i < run->flight->places; i++) {
        assert(run->flight->runner[i]); /* made before */
        run->flight->runner[i]->watch = watch;
        run->flight->runner[i]->counts = observer->counts ? observer->counts(run->observed) : NULL;
    }
    return SONDE_OK;
}

void exec_run_end(struct exec_run *run)
{
    if (!run)
        return;
    shares_destroy(run->shares);
    flight_destroy(run->flight);
    if (run->observed)
        run->launch->observer->ends(run->observed);
    free(run);
}

/* Whether nothing that a CTA does, and nothing that the caller asked for, depends on what others
 * have done before. */
static bool may_share(const struct exec_run *run)
{
    const struct exec_launch *launch = run->launch;
    return run->options->team && !run->options->max_warp_insns && !launch->observer &&
           !launch->cooperative && launch->program->ctas_are_apart &&
           !atomic_load(launch->program->was_refused);
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
    atomic_init(&run->begun, options->first);
    run->cluster_size = cluster_size(launch);
    run->team = may_share(run) ? options->team : NULL;
    rc = flight_create(&run->flight, run, options);
    rc = rc == SONDE_OK ? observe(run) : rc;
    if (rc != SONDE_OK) {
        exec_run_end(run);
        return rc;
    }
    *out = run;
    return SONDE_OK;
}

static void tell_progress(const struct exec_run *run)
{
    char what[128];
    uint64_t begun = atomic_load_explicit(&run->begun, memory_order_relaxed);
    uint64_t ended = begun > run->flight->places ? begun - run->flight->places : 0;
    ended = ended < run->ctas ? ended : run->ctas;
    snprintf(what, sizeof what, "%" PRIu64 " of %" PRIu64 " blocks, %" PRIu64 " warp instructions",
             ended, run->ctas, run->options->warp_insns);
    progress_report(run->options->progress, (double)ended / (double)run->ctas, what);
}

/* Is what is left worth the other threads' while? Only when CTAs have ended may others begin. */
static bool is_to_share(const struct exec_run *run)
{
    uint64_t begun = atomic_load_explicit(&run->begun, memory_order_relaxed);
    bool ended = true;
    if (!run->team || run->options->warp_insns < sharing.alone_warp_insns || begun >= run->ctas)
        return false;
    for (uint64_t i = 0; i < run->flight->places; i++)
        ended = ended && !run->flight->runner[i]->barriers.alive;
    return ended;
}

static int some_alone(struct exec_run *run, uint64_t until, bool *alive)
{
    while (run->options->warp_insns < until && !is_to_share(run)) {
        if (run->options->progress && ++run->rounds % ROUNDS_PER_REPORT == 0)
            tell_progress(run);
        int rc = flight_round(run->flight, alive);
        if (rc == SONDE_EFAULT && run->options->stopped)
            return flights_tell_positions(&run->flight, 1, rc);
        if (rc != SONDE_OK || !*alive)
            return rc;
    }
    return SONDE_OK;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int some_shared(struct exec_run *run, uint64_t until, bool *alive)
{
    int rc = run->shares ? SONDE_OK : shares_create(run);
    while (rc == SONDE_OK && *alive && run->options->warp_insns < until) {
        uint64_t left = until - run->options->warp_insns;
        rc = run->shares ? shares_run(run, least(left, sharing.round_warp_insns), alive)
                         : some_alone(run, until, alive);
        if (rc == SONDE_OK && run->options->progress)
            tell_progress(run);
    }
    return rc;
}

int exec_run_some(struct exec_run *run, uint64_t warp_insns)
{
    uint64_t start = run->options->warp_insns;
    uint64_t until = warp_insns > UINT64_MAX - start ? UINT64_MAX : start + warp_insns;
    bool alive = true;
    int rc = run->shares ? SONDE_OK : some_alone(run, until, &alive);
    if (rc == SONDE_OK && alive && run->options->warp_insns < until)
        rc = some_shared(run, until, &alive);
    return rc == SONDE_OK && alive ? EXEC_RUN_MORE : rc;
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
