/*
 * Bulk copies (cp.async.bulk, tensors too) and a block's shared memory. What one writes may be
 * accessed when somebody has seen the phase end of the barrier that counts its bytes; what threads
 * have written may be copied out when a fence.proxy.async came between (PTX ISA 9.0, 9.7.9.25.2 and
 * 9.7.13.4). Without timing the bytes are there at once, so that nothing else would tell.
 *
 * For each granule of shared memory there are the last bulk copy into it and the last store, each
 * with a time that every event counts on. Left out: who has waited, or fenced, and whether the
 * others know of it: anybody counts for all; a test_wait counts as a wait for every barrier; copies
 * into other blocks; wgmma, which reads shared memory in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "exec/program.h"

#define BARRIERS 64 /* of a block; waits for more count for all of them */

struct bulk {
    uint32_t now, fenced, all_waited;
    uint32_t *begun, *barriers,
        *pcs; /* of copies, by granule: time (0: none), place of the barrier */
    uint32_t *stored, *store_pcs;
    uint32_t count;
    struct {
        uint64_t place;
        uint32_t time;
    } waited[BARRIERS];
};

void bulk_destroy(struct bulk *b)
{
    if (!b)
        return;
    free(b->begun);
    free(b->barriers);
    free(b->pcs);
    free(b->stored);
    free(b->store_pcs);
    free(b);
}

bool bulk_begin(struct watched_cta *cta)
{
    bulk_destroy(cta->bulk);
    struct bulk *b = cta->bulk = calloc(1, sizeof *b);
    if (!b)
        return false;
    size_t count = (size_t)cta->granules + 1;
    b->begun = calloc(count, sizeof *b->begun);
    b->barriers = calloc(count, sizeof *b->barriers);
    b->pcs = calloc(count, sizeof *b->pcs);
    b->stored = calloc(count, sizeof *b->stored);
    b->store_pcs = calloc(count, sizeof *b->store_pcs);
    return b->begun && b->barriers && b->pcs && b->stored && b->store_pcs;
}

static void report_copy_out(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                            uint64_t offset, uint32_t granule)
{
    struct check *check = cta->launch->check;
    struct finding *f = finding_at(check, FAULT_PROXY_FENCE, warp, warp->pc, lane, 0);
    if (!f || f->count > 1)
        return;
    f->has_address = true;
    f->address = offset;
    finding_text(check, &f->what, "bulk copy from shared memory");
    finding_text(check, &f->detail, "it is written at line %d, with no fence.proxy.async between",
                 insn_line(warp->state->program, cta->bulk->store_pcs[granule]));
}

void bulk_moves(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                uint64_t offset, uint64_t bytes, const uint64_t *barrier)
{
    struct bulk *b = cta->bulk;
    uint32_t end;
    b->now++;
    for (uint32_t i = shared_granules(cta, offset, bytes, &end); i < end; i++) {
        if (!barrier && b->stored[i] > b->fenced) {
            report_copy_out(cta, warp, lane, offset, i);
            return;
        }
        if (barrier) {
            b->begun[i] = b->now;
            b->barriers[i] = (uint32_t)*barrier;
            b->pcs[i] = warp->pc;
            b->stored[i] = 0;
        }
    }
}

void bulk_waited(struct watched_cta *cta, uint64_t place)
{
    struct bulk *b = cta->bulk;
    uint32_t i = 0;
    b->now++;
    while (i < b->count && b->waited[i].place != place)
        i++;
    if (i == BARRIERS) {
        b->all_waited = b->now;
        return;
    }
    b->count += i == b->count;
    b->waited[i].place = place;
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

static bool is_over(const struct bulk *b, uint32_t granule)
{
    uint32_t begun = b->begun[granule];
    bool over = begun <= b->all_waited;
    for (uint32_t i = 0; !over && i < b->count; i++)
        over = b->waited[i].place == b->barriers[granule] && b->waited[i].time > begun;
    return over;
}

bool bulk_access(struct watched_cta *cta, const struct exec_warp *warp,
                 const struct exec_access *access, uint32_t lane, uint32_t granule, bool stores)
{
    struct bulk *b = cta->bulk;
    struct check *check = cta->launch->check;
    if (!is_over(b, granule)) {
        struct finding *f = finding_at(check, FAULT_COPY_NOT_OVER, warp, access->pc, lane, 0);
        if (!f || f->count > 1)
            return false;
        f->has_address = true;
        f->address = access->address[lane];
        finding_text(check, &f->what, "%s shared memory", stores ? "store to" : "load from");
        finding_text(check, &f->detail,
                     "a bulk copy to it begins at line %d, and nobody has waited at its barrier",
                     insn_line(warp->state->program, b->pcs[granule]));
        return false;
    }
    if (stores) {
        b->stored[granule] = ++b->now;
        b->store_pcs[granule] = access->pc;
    }
    return true;
}
