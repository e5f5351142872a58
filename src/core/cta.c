/*
 * CTA slots: resources are taken when a CTA starts and freed when the whole CTA has ended, that is
 * when all its warps have exited and all their accesses are complete. Starting takes no time here;
 * what lies between an end and a start is the GPU's business.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "util/error.h"

/* Predicate slots are numbered in a byte. */
#define PRED_SLOTS 256
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

int sm_launch(struct sm *sm, const struct exec_launch *launch, const struct cta_needs *needs)
{
    assert(sm->cta_count == 0 && sm->lsu.requests_out == 0);
    const char *limit = "";
    uint64_t fit = occupancy_ctas(sm->spec, needs, sm->shared_bytes, &limit);
    if (fit == 0) {
        return error_set(SONDE_EINPUT, "a block wants more %s than a multiprocessor has", limit);
    }
    uint64_t slots = exec_program_slot_count(launch->program) + PRED_SLOTS;
    uint64_t scoreboard_bytes = slots * sizeof(uint64_t) * sm->max_warps;
    int rc = reserve((void **)&sm->scoreboard, &sm->scoreboard_capacity, scoreboard_bytes);
    if (rc == 0) {
        rc = reserve((void **)&sm->shared, &sm->shared_capacity, fit * shared_stride(needs) + 1);
    }
    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        sm->warp[i].slot_ready = sm->scoreboard + i * slots;
        sm->warp[i].pred_ready = sm->warp[i].slot_ready + slots - PRED_SLOTS;
    }
    lsu_reset(sm);
    sm->aborted = sm->reset = false;
    sm->first_scheduler = 0;
    sm->slots = slots;
    sm->launch = launch;
    sm->needs = *needs;
    sm->program = exec_uop_info(launch->program, 0);
    return 0;
}

uint32_t sm_cta_count(const struct sm *sm)
{
    return sm->cta_count;
}

bool sm_cta_fits(const struct sm *sm)
{
    const struct cta_needs *needs = &sm->needs;
    uint32_t warps_used = (uint32_t)__builtin_popcountll(sm->warps_used);
    return sm->cta_count < sm->spec->max_ctas &&
           sm->threads_used + needs->threads <= sm->spec->max_threads &&
           warps_used + needs->warps <= sm->max_warps &&
           sm->registers_used + needs->registers <= sm->spec->registers &&
           sm->shared_used + needs->shared_bytes <= sm->shared_bytes;
}

static int warp_start(struct sm *sm, struct sm_cta *cta, uint32_t slot, uint32_t index)
{
    struct sm_warp *warp = &sm->warp[slot];
    warp->env = (struct exec_env){.smid = sm->id,
                                  .nsmid = sm->sm_count,
                                  .warpid = slot,
                                  .nwarpid = sm->max_warps,
                                  .stores = sm->keeps_stores ? sm->stores : NULL};
    int rc = exec_warp_init(&warp->exec, &cta->exec, index * WARP_LANES, &warp->env);
    if (rc < 0) {
        return rc;
    }
    /* The warp here before may have left results that were still to come. */
    memset(warp->slot_ready, 0, sm->slots * sizeof(uint64_t));
    warp->cta = cta;
    warp->slot = slot;
    warp->index = index;
    cta->by_index[index] = &warp->exec;
    cta->slot_of[index] = (uint8_t)slot;
    warp->state = WARP_RUNNING;
    warp->next_issue = sm->cycle + 1;
    warp->outstanding = warp->loads_out = warp->atomics_out = warp->acquires_out = 0;
    warp->atomics = NULL;
    sm->warp_start[slot] = sm->warps_started++;
    sm->warps_used |= 1ull << slot;
    cta->warps |= 1ull << slot;
    cta->live_warps++;
    warp_refresh(sm, warp);
    return 0;
}

static struct sm_cta *cta_take(struct sm *sm, uint64_t linear_id)
{
    uint32_t index = 0;
    while (sm->cta[index].used) {
        index++;
    }
    struct sm_cta *cta = &sm->cta[index];
    const struct exec_launch *launch = sm->launch;
    uint64_t row = linear_id / launch->grid[0];
    memset(cta, 0, sizeof *cta);
    cta->used = true;
    cta->exec = (struct exec_cta){.shared = sm->shared + index * shared_stride(&sm->needs),
                                  .shared_bytes = (uint32_t)sm->needs.shared_bytes,
                                  .ctaid = {(uint32_t)(linear_id % launch->grid[0]),
                                            (uint32_t)(row % launch->grid[1]),
                                            (uint32_t)(row / launch->grid[1])},
                                  .linear_id = (uint32_t)linear_id,
                                  .launch = launch};
    cta_barriers_init(&cta->barriers, sm->needs.warps);
    /* Real shared memory keeps what was there; zero makes runs repeat. */
    memset(cta->exec.shared, 0, sm->needs.shared_bytes);
    return cta;
}

int sm_cta_start(struct sm *sm, uint64_t linear_id)
{
    assert(sm_cta_fits(sm));
    sm_sync(sm);
    if (sm->cta_count == 0) {
        sm->issued_cycle = sm->cycle;
    }
    struct sm_cta *cta = cta_take(sm, linear_id);
    sm->cta_count++;
    sm->threads_used += sm->needs.threads;
    sm->registers_used += sm->needs.registers;
    sm->shared_used += sm->needs.shared_bytes;
    sm->stats.ctas++;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < sm->needs.warps; i++, slot++) {
        while (sm->warps_used >> slot & 1) {
            slot++;
        }
        int rc = warp_start(sm, cta, slot, i);
        if (rc < 0) {
            return rc;
        }
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
    for (uint64_t warps = cta->warps; warps; warps &= warps - 1) {
        sm->warp[__builtin_ctzll(warps)].state = WARP_FREE;
    }
    sm->warps_used &= ~cta->warps;
    sm->threads_used -= sm->needs.threads;
    sm->registers_used -= sm->needs.registers;
    sm->shared_used -= sm->needs.shared_bytes;
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
        sm->host.cta_done(sm->host.ctx, sm->id, cta->exec.linear_id);
    }
}

static void warp_atomics_forget(struct sm *sm, struct sm_warp *warp)
{
    for (struct lsu_access *next, *access = warp->atomics; access; access = next) {
        next = access->next_atomic;
        if (access->answered) {
            lsu_release(sm, access);
        }
    }
    warp->atomics = NULL;
}

void sm_abort(struct sm *sm)
{
    sm->aborted = sm->reset = true;
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        warp_atomics_forget(sm, &sm->warp[i]);
        sm->warp[i].state = WARP_FREE;
    }
    lsu_reset(sm);
    for (uint32_t i = 0; i < sm->spec->max_ctas; i++) {
        sm->cta[i].used = false;
    }
    sm->warps_used = 0;
    sm->threads_used = sm->cta_count = 0;
    sm->registers_used = sm->shared_used = 0;
    sm->ready = sm->wheel_used = 0;
    memset(sm->wheel, 0, sizeof sm->wheel);
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        sm->unit[i].ready_warps = 0;
    }
    sm->scheduled_cycle = CYCLE_NEVER;
}
