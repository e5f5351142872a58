/*
 * CTA slots: warps are taken when a CTA starts and freed when the whole CTA has ended, that is when
 * all its warps have exited and all their accesses are complete. Starting takes no time here; what
 * lies between an end and a start, and which grid's CTA fits beside others, is the GPU's business.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "util/error.h"

#define SHARED_ALIGN 64

static int reserve(void **data, uint64_t *capacity, uint64_t bytes)
{
    if (bytes > *capacity) {
        void *larger = realloc(*data, bytes);
        if (!larger) {
            return error_memory();
        }
        *data = larger;
        *capacity = bytes;
    }
    return 0;
}

static uint64_t shared_stride(const struct cta_needs *needs)
{
    return (needs->shared_bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
}

static void place_scoreboard(struct sm *sm, uint64_t slots)
{
    sm->slots = slots;
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        sm->warp[i].slot_ready = sm->scoreboard + i * slots;
    }
}

/* Wider rows, for a kernel with more registers than those whose warps are resident. */
static int widen_scoreboard(struct sm *sm, uint64_t slots)
{
    uint64_t *wider = calloc(slots * sm->max_warps, sizeof *wider);
    if (!wider) {
        return error_memory();
    }
    uint64_t *old = sm->scoreboard, old_slots = sm->slots;
    for (uint32_t i = 0; old_slots > 0 && i < sm->max_warps; i++) {
        memcpy(wider + i * slots, old + i * old_slots, old_slots * sizeof *wider);
    }
    sm->scoreboard = wider;
    sm->scoreboard_capacity = slots * sm->max_warps * sizeof *wider;
    place_scoreboard(sm, slots);
    free(old);
    return 0;
}

/* More shared memory a CTA slot than those that are resident have. These stay where they are: warps
 * that wait at barriers, and copies under way, know the place. */
static int widen_shared(struct sm *sm, uint64_t stride)
{
    uint64_t capacity = stride * sm->spec->max_ctas + 1;
    uint8_t *wider = malloc(capacity);
    if (!wider || vec_push(&sm->shared_before, sm->shared) < 0) {
        free(wider);
        return error_memory();
    }
    sm->shared = wider;
    sm->shared_stride = stride;
    sm->shared_capacity = capacity;
    return 0;
}

void shared_before_free(struct sm *sm)
{
    for (size_t i = 0; i < sm->shared_before.count; i++) {
        free(sm->shared_before.data[i]);
    }
    vec_free(&sm->shared_before);
}

/* CTA slots and warps that are in use keep what they have. */
static int launch_beside(struct sm *sm, const struct sm_grid *grid, uint64_t slots)
{
    uint64_t stride = shared_stride(&grid->needs);
    stride = stride > sm->shared_stride ? stride : sm->shared_stride;
    int rc = slots > sm->slots ? widen_scoreboard(sm, slots) : 0;
    bool wide = sm->shared_capacity > stride * sm->spec->max_ctas && stride == sm->shared_stride;
    return rc < 0 || wide ? rc : widen_shared(sm, stride);
}

static int launch_alone(struct sm *sm, const struct sm_grid *grid, uint64_t slots, uint64_t fit)
{
    assert(sm->cta_count == 0 && sm->lsu.requests_out == 0);
    shared_before_free(sm);
    uint64_t scoreboard_bytes = slots * sizeof(uint64_t) * sm->max_warps;
    uint64_t stride = shared_stride(&grid->needs);
    int rc = reserve((void **)&sm->scoreboard, &sm->scoreboard_capacity, scoreboard_bytes);
    if (rc == 0) {
        rc = reserve((void **)&sm->shared, &sm->shared_capacity, fit * stride + 1);
    }
    if (rc < 0) {
        return rc;
    }
    place_scoreboard(sm, slots);
    sm->shared_stride = stride;
    lsu_reset(sm);
    sm->aborted = sm->reset = false;
    sm->first_scheduler = 0;
    return 0;
}

int sm_launch_check(const struct sm *sm, const struct sm_grid *grid)
{
    const char *limit = "";
    return occupancy_ctas(sm->spec, &grid->needs, sm->shared_bytes, &limit) > 0
               ? 0
               : error_set(SONDE_EINPUT, "a block wants more %s than a multiprocessor has", limit);
}

int sm_launch(struct sm *sm, const struct sm_grid *grid, bool beside)
{
    const char *limit = "";
    uint64_t fit = occupancy_ctas(sm->spec, &grid->needs, sm->shared_bytes, &limit);
    uint64_t slots = program_slots(grid->launch->program);
    rote_close(sm);
    return beside ? launch_beside(sm, grid, slots) : launch_alone(sm, grid, slots, fit);
}

static int warp_start(struct sm *sm, struct sm_cta *cta, uint32_t slot, uint32_t index)
{
    struct sm_warp *warp = &sm->warp[slot];
    bool bulk = sm->spec->bulk.latency_cycles > 0, copies = sm->spec->copies.latency_cycles > 0;
    warp->env = (struct exec_env){.smid = sm->id,
                                  .nsmid = sm->sm_count,
                                  .warpid = slot,
                                  .nwarpid = sm->max_warps,
                                  .transfers = bulk ? &sm->async.bulk.issued : NULL,
                                  .copies = copies ? &sm->async.bulk.issued : NULL,
                                  .stores = sm->keeps_stores ? sm->stores : NULL};
    int rc = exec_warp_init(&warp->exec, &cta->exec, index * WARP_LANES, &warp->env);
    if (rc < 0) {
        return rc;
    }
    /* The warp here before may have left results that were still to come. */
    size_t slots = program_slots(cta->grid->launch->program);
    if (slots > 0) {
        memset(warp->slot_ready, 0, slots * sizeof(uint64_t));
    }
    warp->cta = cta;
    warp->program = exec_uop_info(cta->grid->launch->program, 0);
    warp->slot = slot;
    warp->index = index;
    cta->by_index[index] = &warp->exec;
    cta->slot_of[index] = (uint8_t)slot;
    warp->state = WARP_RUNNING;
    warp->next_issue = sm->cycle + 1;
    warp->latest_result = 0;
    warp->part = warp->held = 0;
    warp->products_ready = 0;
    memset(&warp->copies, 0, sizeof warp->copies);
    memset(&warp->bulk, 0, sizeof warp->bulk);
    warp->arrivals = (struct copies_arrivals){0};
    warp->outstanding = warp->loads_out = warp->atomics_out = warp->acquires_out = 0;
    warp->holds = 0;
    warp->fence_cycle = 0;
    warp->atomics = NULL;
    sm->warp_start[slot] = sm->warps_started++;
    sm->warps_used |= 1ull << slot;
    cta->warps |= 1ull << slot;
    cta->live_warps++;
    rc = sm->profile ? profile_warp_starts(sm, warp) : 0;
    warp_refresh(sm, warp);
    return rc;
}

static struct sm_cta *cta_take(struct sm *sm, const struct sm_grid *grid, uint64_t linear_id,
                               struct exec_cluster *cluster)
{
    uint32_t index = 0;
    while (sm->cta[index].used) {
        index++;
    }
    struct sm_cta *cta = &sm->cta[index];
    const struct exec_launch *launch = grid->launch;
    uint64_t row = linear_id / launch->grid[0];
    memset(cta, 0, sizeof *cta);
    cta->used = true;
    cta->grid = grid;
    cta->exec = (struct exec_cta){.shared = sm->shared + index * sm->shared_stride,
                                  .shared_bytes = (uint32_t)grid->needs.shared_bytes,
                                  .ctaid = {(uint32_t)(linear_id % launch->grid[0]),
                                            (uint32_t)(row % launch->grid[1]),
                                            (uint32_t)(row / launch->grid[1])},
                                  .linear_id = (uint32_t)linear_id,
                                  .launch = launch,
                                  .cluster = cluster};
    cta->exec.cluster_rank = cluster ? cluster_rank(launch, cta->exec.ctaid) : 0;
    cta_barriers_init(&cta->barriers, grid->needs.warps);
    /* Real shared memory keeps what was there; zero makes runs repeat. */
    memset(cta->exec.shared, 0, grid->needs.shared_bytes);
    return cta;
}

int sm_cta_start(struct sm *sm, const struct sm_grid *grid, uint64_t linear_id,
                 struct exec_cluster *cluster)
{
    const struct cta_needs *needs = &grid->needs;
    assert(sm->cta_count < sm->spec->max_ctas);
    repeat_moved(sm);
    sm_sync(sm);
    if (sm->cta_count == 0) {
        sm->issued_cycle = sm->cycle;
    }
    struct sm_cta *cta = cta_take(sm, grid, linear_id, cluster);
    sm->cta_count++;
    sm->stats.ctas++;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < needs->warps; i++, slot++) {
        while (sm->warps_used >> slot & 1) {
            slot++;
        }
        int rc = warp_start(sm, cta, slot, i);
        if (rc < 0) {
            return rc;
        }
    }
    if (cluster) {
        cluster_enter(cluster, &cta->exec, cta->by_index, needs->warps);
    }
    sm_wake(sm, sm->cycle + 1);
    return 0;
}

/* The last CTA has ended: what came since the last issue was waiting too. */
static void note_emptied(struct sm *sm)
{
    uint64_t now = sm_sync(sm);
    if (now > sm->issued_cycle + 1) {
        sm->stats.wait_cycles[sm->wait] += now - sm->issued_cycle - 1;
    }
}

static void cta_release(struct sm *sm, struct sm_cta *cta)
{
    if (sm->profile) {
        profile_cta_ends(sm, cta, sm_sync(sm));
    }
    for (uint64_t warps = cta->warps; warps; warps &= warps - 1) {
        sm->warp[__builtin_ctzll(warps)].state = WARP_FREE;
    }
    sm->warps_used &= ~cta->warps;
    sm->cta_count--;
    cta->used = false;
    if (sm->cta_count == 0) {
        note_emptied(sm);
    }
}

void cta_try_retire(struct sm *sm, struct sm_cta *cta)
{
    if (cta->used && cta->live_warps == 0 && cta->outstanding == 0) {
        cta_release(sm, cta);
        barrier_leave(sm, cta);
        sm->host.cta_done(sm->host.ctx, sm->id, cta->grid, cta->exec.linear_id, &cta->counts);
    }
}

static void warp_atomics_forget(struct sm *sm, struct sm_warp *warp)
{
    for (struct lsu_access *next, *access = warp->atomics; access; access = next) {
        next = access->next_atomic;
        if (access->answered) {
            access_release(&sm->lsu.pool, access);
        }
    }
    warp->atomics = NULL;
}

void sm_abort(struct sm *sm)
{
    sm->aborted = sm->reset = true;
    sm->turn.awaited = false;
    profile_stops(sm);
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        warp_atomics_forget(sm, &sm->warp[i]);
        copies_forget(sm, &sm->warp[i]);
        sm->warp[i].state = WARP_FREE;
    }
    lsu_reset(sm);
    bulk_reset(sm);
    wait_reset(sm);
    for (uint32_t i = 0; i < sm->spec->max_ctas; i++) {
        sm->cta[i].used = false;
    }
    sm->warps_used = 0;
    sm->cta_count = 0;
    sm->ready = sm->wheel_used = 0;
    memset(sm->wheel, 0, sizeof sm->wheel);
    for (uint32_t i = 0; i < SUB_CORES_MAX * ISA_UNIT_COUNT; i++) {
        sm->unit[i].ready_warps = 0;
    }
    sm->scheduled_cycle = CYCLE_NEVER;
}
