/*
 * Bulk copies (cp.async.bulk, tensors too) and a block's shared memory. What one writes may be
 * accessed when somebody has seen the phase end of the barrier that counts its bytes; what threads
 * have written may be copied out when a fence.proxy.async came between (PTX ISA 9.0, 9.7.9.25.2 and
 * 9.7.13.4), and the same is so of what wgmma reads (9.7.15.4). Without timing the bytes are there
 * at once, so that nothing else would tell.
 *
 * For each granule of shared memory there are the last bulk copy into it and the last store, each
 * with a time that every event counts on. Left out: who has waited, or fenced, and whether the
 * others know of it: anybody counts for all; a test_wait counts as a wait for every barrier; phases
 * of one parity are one; copies into other blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "exec/program.h"

#define PHASES 128 /* two of each barrier of a block; waits for more count for all of them */

struct bulk {
    uint32_t granules; /* that there is room for */
    uint32_t now, fenced, all_waited;
    uint32_t *begun, *phases, *pcs; /* of copies, by granule: time (0: none), key of the phase */
    uint32_t *stored, *store_pcs;
    uint8_t *ready; /* barriers that are initialised, by the granule where they begin */
    uint32_t count;
    struct {
        uint32_t phase, time;
    } waited[PHASES];
};

/* Shared memory has fewer than 2^31 bytes. */
static uint32_t key_of(const struct exec_phase *phase)
{
    return (uint32_t)phase->place << 1 | (phase->parity & 1);
}

void bulk_destroy(struct bulk *b)
{
    if (!b)
        return;
    free(b->begun);
    free(b->phases);
    free(b->pcs);
    free(b->stored);
    free(b->store_pcs);
    free(b->ready);
    free(b);
}

static struct bulk *bulk_create(uint32_t granules)
{
    struct bulk *b = calloc(1, sizeof *b);
    size_t count = (size_t)granules + 1;
    if (!b)
        return NULL;
    b->granules = granules;
    b->begun = calloc(count, sizeof *b->begun);
    b->phases = calloc(count, sizeof *b->phases);
    b->pcs = calloc(count, sizeof *b->pcs);
    b->stored = calloc(count, sizeof *b->stored);
    b->store_pcs = calloc(count, sizeof *b->store_pcs);
    b->ready = calloc(count, 1);
    if (b->begun && b->phases && b->pcs && b->stored && b->store_pcs && b->ready)
        return b;
    bulk_destroy(b);
    return NULL;
}

bool bulk_begin(struct watched_cta *cta)
{
    struct bulk *b = cta->bulk;
    if (!b || b->granules < cta->granules) {
        bulk_destroy(b);
        return (cta->bulk = bulk_create(cta->granules)) != NULL;
    }
    size_t count = (size_t)cta->granules + 1;
    b->now = b->fenced = b->all_waited = b->count = 0;
    memset(b->begun, 0, count * sizeof *b->begun);
    memset(b->stored, 0, count * sizeof *b->stored);
    memset(b->ready, 0, count);
    return true;
}

/* `what` reads by the asynchronous proxy what threads have stored. */
static void report_no_fence(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                            uint64_t offset, uint32_t granule, const char *what)
{
    struct check *check = cta->launch->check;
    struct finding *f = finding_in_shared(check, FAULT_PROXY_FENCE, warp, warp->pc, lane, offset);
    if (!f)
        return;
    finding_text(check, &f->what, "%s", what);
    finding_text(check, &f->detail, "it is written at line %d, with no fence.proxy.async between",
                 insn_line(warp->state->program, cta->bulk->store_pcs[granule]));
}

/* `what` is done to shared memory before a bulk copy to it is over. */
static void report_not_over(struct watched_cta *cta, const struct exec_warp *warp, uint32_t pc,
                            uint32_t lane, uint64_t offset, uint32_t granule, const char *what)
{
    struct check *check = cta->launch->check;
    struct finding *f = finding_in_shared(check, FAULT_COPY_NOT_OVER, warp, pc, lane, offset);
    if (!f)
        return;
    finding_text(check, &f->what, "%s shared memory", what);
    finding_text(check, &f->detail,
                 "a bulk copy to it begins at line %d, and nobody has waited at its barrier for "
                 "the end of its phase",
                 insn_line(warp->state->program, cta->bulk->pcs[granule]));
}

void bulk_barrier(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                  uint64_t offset, enum exec_barrier_use use)
{
    struct check *check = cta->launch->check;
    uint32_t end, first = shared_granules(cta, offset, 1, &end);
    if (first >= end)
        return;
    uint8_t *ready = &cta->bulk->ready[first];
    if (use != BARRIER_USE)
        *ready = use == BARRIER_INIT;
    if (use != BARRIER_USE || *ready)
        return;
    struct finding *f = finding_in_shared(check, FAULT_UNINITIALISED, warp, warp->pc, lane, offset);
    if (!f)
        return;
    finding_text(check, &f->what, "mbarrier in shared memory");
    finding_text(check, &f->detail, "there is no mbarrier.init before, or an mbarrier.inval");
}

void bulk_moves(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                uint64_t offset, uint64_t bytes, const struct exec_phase *barrier)
{
    struct bulk *b = cta->bulk;
    uint32_t end;
    b->now++;
    if (barrier && barrier->place < warp->cta->shared_bytes)
        bulk_barrier(cta, warp, lane, barrier->place, BARRIER_USE);
    for (uint32_t i = shared_granules(cta, offset, bytes, &end); i < end; i++) {
        if (!barrier && b->stored[i] > b->fenced) {
            report_no_fence(cta, warp, lane, offset, i, "bulk copy from shared memory");
            return;
        }
        if (barrier) {
            if (cta->products)
                products_written(cta, warp, warp->pc, lane, offset, i);
            b->begun[i] = b->now;
            b->phases[i] = key_of(barrier);
            b->pcs[i] = warp->pc;
            b->stored[i] = 0;
        }
    }
}

void bulk_waited(struct watched_cta *cta, const struct exec_phase *phase)
{
    struct bulk *b = cta->bulk;
    uint32_t i = 0, key = key_of(phase);
    b->now++;
    while (i < b->count && b->waited[i].phase != key)
        i++;
    if (i == PHASES) {
        b->all_waited = b->now;
        return;
    }
    b->count += i == b->count;
    b->waited[i].phase = key;
    b->waited[i].time = b->now;
}

void bulk_waited_for_all(struct watched_cta *cta)
{
    cta->bulk->all_waited = ++cta->bulk->now;
}

void bulk_fenced(struct watched_cta *cta)
{
    cta->bulk->fenced = ++cta->bulk->now;
}

/* What is over stays so, and is forgotten. */
static bool is_over(struct bulk *b, uint32_t granule)
{
    uint32_t begun = b->begun[granule];
    bool over = begun <= b->all_waited;
    for (uint32_t i = 0; !over && i < b->count; i++)
        over = b->waited[i].phase == b->phases[granule] && b->waited[i].time > begun;
    if (over)
        b->begun[granule] = 0;
    return over;
}

bool bulk_is_quiet(const struct watched_cta *cta, uint32_t first, uint32_t end)
{
    uint32_t begun = 0;
    for (uint32_t i = first; i < end; i++)
        begun |= cta->bulk->begun[i];
    return !begun;
}

void bulk_copied(struct watched_cta *cta, const struct exec_warp *warp, uint32_t pc, uint32_t lane,
                 uint64_t offset, uint32_t granule)
{
    if (cta->products)
        products_written(cta, warp, pc, lane, offset, granule);
    cta->bulk->stored[granule] = 0;
}

bool bulk_multiplies(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                     uint64_t offset, uint64_t bytes)
{
    struct bulk *b = cta->bulk;
    uint32_t end;
    for (uint32_t i = shared_granules(cta, offset, bytes, &end); i < end; i++) {
        bool over = is_over(b, i);
        if (over && b->stored[i] <= b->fenced)
            continue;
        if (over)
            report_no_fence(cta, warp, lane, offset, i, "product of shared memory");
        else
            report_not_over(cta, warp, warp->pc, lane, offset, i, "product of");
        return false;
    }
    return true;
}

bool bulk_access(struct watched_cta *cta, const struct exec_warp *warp,
                 const struct exec_access *access, uint32_t lane, uint32_t granule, bool stores)
{
    struct bulk *b = cta->bulk;
    if (!is_over(b, granule)) {
        report_not_over(cta, warp, access->pc, lane, access->address[lane], granule,
                        stores ? "store to" : "load from");
        return false;
    }
    if (stores) {
        if (cta->products)
            products_written(cta, warp, access->pc, lane, access->address[lane], granule);
        b->stored[granule] = ++b->now;
        b->store_pcs[granule] = access->pc;
    }
    return true;
}
