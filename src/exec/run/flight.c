/*
 * CTAs on one host thread, without timing: struct flight. The warps of a CTA take turns, each until
 * it waits at a barrier, exits, or has used up its slice (so that a warp that spins on a value that
 * another warp writes does not spin for ever). Memory is accessed at once. %clock goes on with the
 * instructions that the runner has executed.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/barrier.h"
#include "exec/cluster.h"
#include "exec/memory/direct.h"
#include "exec/fault.h"
#include "exec/observe.h"
#include "exec/ops.h"
#include "exec/program.h"
#include "exec/run/run.h"
#include "util/error.h"

#define SLICE_INSNS 4096
/* Where CTAs wait for each other most of those in flight do nothing else in their slices. */
#define CROWDED_SLICE_INSNS 128

/* Its state goes to the next that begins. */
static void end_warp(struct runner *r, uint32_t index)
{
    r->spare[r->spares++] = r->warp[index].state;
    r->warp[index].state = NULL;
}

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
    r->turn = r->begun = 0;
    int rc = SONDE_OK;
    if (r->observer || r->flight->clusters)
        rc = runner_begin_warps(r);
    if (rc == SONDE_OK && r->flight->clusters) {
        r->cta.cluster = r->flight->clusters[place / r->flight->run->cluster_size];
        r->cta.cluster_rank = (uint32_t)(place % r->flight->run->cluster_size);
        if (r->cta.cluster_rank == 0)
            cluster_reset(r->cta.cluster);
        cluster_enter(r->cta.cluster, &r->cta, r->warps, r->warp_count);
    }
    if (rc == SONDE_OK && r->observer)
        rc = r->observer->cta_begins(r->flight->run->observed, &r->cta, r->warps, r->warp_count);
    return rc;
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
    const struct uop *uop = &warp->state->uops[warp->pc];
    uint32_t mask = guarded_lanes(warp, uop);
    if (uop->run == run_memory && r->direct(warp, uop, mask))
        return EXEC_DONE;
    enum exec_event event = uop->run(warp, uop, mask, &r->access);
    if (event != EXEC_ACCESS)
        return event;
    *rc = commit_now(r, warp);
    return EXEC_DONE;
}

/* An access that the observer is not told of: true if it was that, and is done. */
static bool pass_over(const struct runner *r, struct exec_warp *warp, const struct uop *uop,
                      uint32_t mask)
{
    if (!r->counts || uop->run != run_memory)
        return false;
    enum isa_space space = uop->memory->space;
    uint32_t *left = &r->counts->shared_left[warp->pc];
    bool shared = space == SPACE_SHARED;
    if (!(shared && *left) && space != SPACE_PARAM && space != SPACE_CONST)
        return false;
    if (!r->direct(warp, uop, mask))
        return false;
    *left -= shared && mask;
    return true;
}

/* A load that the direct way takes: it changes nothing but registers, so that it may be made before
 * it is told. False: nothing has happened. */
static bool load_now(struct runner *r, struct exec_warp *warp, const struct uop *uop, uint32_t mask)
{
    if (uop->run != run_memory || !mask)
        return false;
    const struct uop_memory *memory = uop->memory;
    if (memory->shape == DIRECT_NEVER || memory->kind != ACCESS_LOAD || memory->space == SPACE_NONE)
        return false; /* of generic addresses the space is to be found first */
    memory_access_begin(warp, memory, mask, &r->access);
    return r->direct(warp, uop, mask);
}

/* The same with everything told before it happens. */
static enum exec_event observe_one(struct runner *r, struct exec_warp *warp, int *rc)
{
    const struct uop *uop = &warp->state->uops[warp->pc];
    uint32_t mask = guarded_lanes(warp, uop);
    runner_tell_issue(r, warp, mask);
    if (pass_over(r, warp, uop, mask))
        return EXEC_DONE;
    if (load_now(r, warp, uop, mask)) {
        r->observer->accesses(warp, &r->access);
        return EXEC_DONE;
    }
    enum exec_event event = uop->run(warp, uop, mask, &r->access);
    if (event != EXEC_ACCESS)
        return event;
    r->observer->accesses(warp, &r->access);
    *rc = commit_now(r, warp);
    return EXEC_DONE;
}

/* Lane loops in a row that the observer does not watch. Nothing else moves a warp in between. */
static inline void run_straight(const struct runner *r, struct exec_warp *warp, uint64_t most,
                                struct executed *executed)
{
    const struct exec_state *state = warp->state;
    const struct uop *uop = &state->uops[warp->pc];
    uint32_t pc = warp->pc, active = warp->active;
    uint64_t lanes = count_lanes(active);
    for (; uop->run == run_lanes && executed->insns < most && !r->watch[pc]; uop++) {
        uint32_t mask = active & (state->preds[uop->guard] ^ uop->guard_flip);
        if (mask)
            lanes_run(state, uop, mask);
        executed->insns++;
        executed->lanes += lanes;
        if (++pc == state->reconverge) {
            warp->pc = pc;
            state->diverge_ops->arrive(warp);
            return;
        }
    }
    warp->pc = pc;
}

/* Nobody observes the launch; its observer has counts; it is told of all. */
enum watching { UNWATCHED, COUNTED, TOLD };

/* Instructions in a row, by the way for them; false: the next one is to be executed by itself. */
static inline bool run_row(struct runner *r, struct exec_warp *warp, uint64_t most,
                           struct executed *executed, enum watching watching)
{
    uint64_t before = executed->insns;
    if (watching == TOLD)
        run_straight(r, warp, most, executed);
    else if (watching == COUNTED)
        quick_run_counted(r, warp, most, executed);
    else
        quick_run(r, warp, most, executed);
    /* Where all is told the lanes may have become others. */
    return executed->insns == most || (watching == TOLD && executed->insns > before);
}

/* Run a warp for a slice. `*event` is the last one: DONE means that the slice is over. */
static inline int run_slice(struct runner *r, struct exec_warp *warp, enum exec_event *event,
                            enum watching watching)
{
    bool crowded = r->flight->places > r->flight->run->cluster_size;
    uint64_t start = r->env.clock, limit = crowded ? CROWDED_SLICE_INSNS : SLICE_INSNS;
    struct executed executed = {0};
    const struct exec_run_options *options = r->flight->options;
    if (options->max_warp_insns && options->max_warp_insns - options->warp_insns < limit)
        limit = options->max_warp_insns - options->warp_insns;
    int rc = SONDE_OK;
    *event = EXEC_DONE;
    do {
        if (run_row(r, warp, limit, &executed, watching))
            continue;
        r->env.clock = start + INSN_CYCLES * executed.insns++;
        executed.lanes += count_lanes(warp->active);
        *event = watching == UNWATCHED ? run_one(r, warp, &rc) : observe_one(r, warp, &rc);
    } while (*event == EXEC_DONE && rc == SONDE_OK && executed.insns < limit && !warp->slept_ns);
    r->env.clock = start;
    if (rc != SONDE_OK)
        return rc;
    return *event == EXEC_FAULT ? SONDE_EFAULT
                                : flight_account(r, warp, executed.insns, executed.lanes);
}

static int deadlock(const struct runner *r)
{
    const struct exec_program *program = r->launch->program;
    uint32_t first = (uint32_t)__builtin_ctzll(r->barriers.alive);
    const struct exec_warp *warp = &r->warp[first];
    const struct ptx_insn *insn = warp->pc > 0 ? program->insns[warp->pc - 1] : NULL;
    const struct cta_barrier *barrier = &r->barriers.barrier[warp->barrier_id];
    struct ptx_loc loc = insn ? insn->loc : program->functions[0]->func->loc;
    char where[96], what[64];
    exec_barrier_text(what, sizeof what, warp);
    if (warp->barrier_kind == BARRIER_CLUSTER_WAIT || warp->barrier_kind == BARRIER_PRODUCTS_WAIT)
        snprintf(where, sizeof where, "warp %u %s", first, what);
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
    return flights_tell_positions(&r->flight, 1, SONDE_EFAULT);
}

/* A phase of the cluster's barrier is over: warps of all its CTAs go on. */
static void release_cluster(const struct runner *r)
{
    struct exec_cluster *cluster = r->cta.cluster;
    for (uint64_t i = 0; i < r->flight->places; i++) {
        struct runner *other = r->flight->runner[i];
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
        r->observer->cta_ends(r->flight->run->observed, &r->cta);
    if (!r->observer && !r->flight->clusters)
        end_warp(r, index);
    if (!r->cta.cluster)
        return;
    if (!r->barriers.alive)
        cluster_leave(r->cta.cluster, &r->cta);
    if (cluster_exit(r->cta.cluster))
        release_cluster(r);
}

/* A slice of each warp that can issue. CTAs that take turns with others do not pause within. */
static int run_turn(struct runner *r)
{
    bool alone = r->flight->places == 1;
    for (r->turn = r->turn ? r->turn : r->ready; r->turn; r->turn &= r->turn - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(r->turn);
        if (alone && flight_pauses(r->flight))
            return SONDE_OK;
        enum exec_event event;
        r->env.warpid = i;
        int rc = r->begun >> i & 1 ? SONDE_OK : runner_begin_warp(r, i);
        if (rc != SONDE_OK)
            return rc;
        rc = !r->observer ? run_slice(r, &r->warp[i], &event, UNWATCHED)
             : r->counts  ? run_slice(r, &r->warp[i], &event, COUNTED)
                          : run_slice(r, &r->warp[i], &event, TOLD);
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
    while (r->spares)
        exec_warp_free(&(struct exec_warp){.state = r->spare[--r->spares]});
    free(r->cta.shared);
    free(r);
}

static int runner_create(struct runner **out, struct flight *flight)
{
    const struct exec_launch *launch = flight->run->launch;
    const uint32_t *block = launch->block;
    struct runner *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return error_memory();
    r->flight = flight;
    r->launch = launch;
    r->direct = direct_access();
    r->reach = direct_reach();
    r->ways = direct_ways() ? *direct_ways() : (struct direct_ways){NULL, NULL, NULL};
    r->observer = launch->observer;
    r->warp_count = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
    r->env.untimed = true;
    r->env.nsmid = 1;
    r->env.nwarpid = r->warp_count;
    r->cta.launch = launch;
    r->cta.shared_bytes = launch->program->shared_bytes + launch->dynamic_shared_bytes;
    r->cta.shared = r->cta.shared_bytes ? malloc(r->cta.shared_bytes) : NULL;
    for (uint32_t i = 0; i < r->warp_count; i++)
        r->warps[i] = &r->warp[i];
    return r->cta.shared_bytes && !r->cta.shared ? error_memory() : SONDE_OK;
}

/* Of the places that have none yet. */
static int make_clusters(struct flight *flight)
{
    uint32_t size = flight->run->cluster_size;
    assert(size > 0 && flight->places > 0);
    uint64_t count = flight->places / size;
    if (size == 1 && !flight->run->launch->program->uses_clusters)
        return SONDE_OK;
    struct exec_cluster **clusters = realloc(flight->clusters, count * sizeof(*clusters));
    if (!clusters)
        return error_memory();
    flight->clusters = clusters;
    for (; flight->cluster_count < count; flight->cluster_count++)
        if (!(clusters[flight->cluster_count] = cluster_create(size)))
            return SONDE_ENOMEM;
    return SONDE_OK;
}

/* So many CTAs may be in flight from now on; those that are go on. */
static int widen(struct flight *flight, uint64_t places)
{
    uint64_t first = flight->places;
    struct runner **runners = realloc(flight->runner, places * sizeof(*runners));
    if (!runners)
        return error_memory();
    flight->runner = runners;
    for (uint64_t i = first; i < places; i++)
        runners[i] = NULL;
    int rc = SONDE_OK;
    for (uint64_t i = first; rc == SONDE_OK && i < places; i++) {
        rc = runner_create(&runners[i], flight);
        if (rc == SONDE_OK && first > 0) {
            runners[i]->watch = runners[0]->watch;
            runners[i]->counts = runners[0]->counts;
        }
        flight->places = i + 1;
    }
    return rc == SONDE_OK ? make_clusters(flight) : rc;
}

void flight_destroy(struct flight *flight)
{
    if (!flight)
        return;
    for (uint64_t i = 0; flight->runner && i < flight->places; i++)
        runner_destroy(flight->runner[i]);
    for (uint64_t i = 0; i < flight->cluster_count; i++)
        cluster_destroy(flight->clusters[i]);
    free(flight->runner);
    free(flight->clusters);
    crowd_destroy(flight->crowd);
    free(flight);
}

int flight_create(struct flight **out, struct exec_run *run, struct exec_run_options *options)
{
    struct flight *flight = calloc(1, sizeof *flight);
    *out = flight;
    if (!flight)
        return error_memory();
    flight->run = run;
    flight->options = options;
    endless_begin(flight);
    if (crowd_may_come(run) && crowd_create(&flight->crowd) != SONDE_OK)
        return SONDE_ENOMEM;
    return widen(flight, run->launch->cooperative ? run->ctas : run->cluster_size);
}

void flight_give_up(struct flight *flight, struct exec_run_options *options)
{
    flight->options = options;
    flight->pauses = NULL;
    for (uint64_t i = 0; i < flight->places; i++) {
        struct runner *r = flight->runner[i];
        r->barriers.alive = r->ready = r->turn = r->begun = 0;
        r->env.marks = NULL;
    }
}

/* Other CTAs may let it go on. */
static bool waits_for_cluster(const struct runner *r)
{
    const struct exec_cluster *cluster = r->cta.cluster;
    return cluster && cluster->member[r->cta.cluster_rank].waiting;
}

/* The next CTAs at the places from `at` on; `*alive`: there were some. */
static int start_next(struct flight *flight, uint64_t at, uint64_t count, bool *alive)
{
    struct exec_run *run = flight->run;
    int rc = SONDE_OK;
    uint64_t first = atomic_fetch_add_explicit(&run->begun, count, memory_order_relaxed);
    *alive = first < run->ctas;
    if (*alive && at == 0)
        flight->first = first;
    for (uint64_t i = 0; *alive && rc == SONDE_OK && i < count; i++)
        rc = start_cta(flight->runner[at + i], first + i, at + i);
    crowd_begins(flight);
    return rc;
}

/* A turn of the CTAs of one cluster, or of all; !*last: they have ended. */
static int run_places(struct flight *flight, uint64_t at, uint64_t count,
                      const struct runner **last, bool *moves)
{
    int rc = SONDE_OK;
    for (uint64_t i = at; rc == SONDE_OK && i < at + count; i++) {
        struct runner *r = flight->runner[i];
        if (!r->barriers.alive)
            continue;
        *last = r;
        *moves |= r->ready != 0;
        rc = r->ready || waits_for_cluster(r) ? run_turn(r) : deadlock(r);
    }
    return rc;
}

int flight_round(struct flight *flight, bool *alive)
{
    const uint64_t group =
        flight->run->launch->cooperative ? flight->places : flight->run->cluster_size;
    int rc = SONDE_OK;
    *alive = false;
    for (uint64_t at = 0; rc == SONDE_OK && at < flight->places; at += group) {
        const struct runner *last = NULL;
        bool moves = false, begun = true;
        rc = run_places(flight, at, group, &last, &moves);
        if (rc == SONDE_OK && last && !moves)
            rc = deadlock(last);
        if (rc == SONDE_OK && !last)
            rc = start_next(flight, at, group, &begun);
        *alive |= begun;
    }
    if (rc == SONDE_OK && *alive && flight->crowd && crowd_is_wanted(flight)) {
        crowd_destroy(flight->crowd);
        flight->crowd = NULL;
        rc = widen(flight, crowd_places(flight));
    }
    return rc == SONDE_OK && *alive ? endless_check(flight) : rc;
}
