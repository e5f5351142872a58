/*
 * How an access takes effect, and how its requests go out.
 *
 * When an access takes effect on the memory image:
 *   - loads and stores when they reach the head of the queue (lsu_start). The load/store unit's
 *     queue is in order, so a thread sees its own accesses in program order; the other two only
 *     read what a kernel may not write. While SMs run in parallel, other SMs see the stores when
 *     sm_publish_stores() is called.
 *   - atomics when L2 has performed them (complete.c), in its order; those of one warp in program
 *     order. A later load or store of the same warp to the same bytes waits for them: lanes meet
 *     without a barrier (bar.warp.sync), or in fact.
 *
 * A port that refuses a request calls space_again() when it has space.
 */
#include "core/state.h"
#include "util/error.h"

struct range {
    uint64_t begin, end;
};

static struct range range_of(const struct exec_access *access, uint32_t lane)
{
    uint64_t begin = access->address[lane];
    return (struct range){begin, begin + (uint64_t)access->bytes * access->vec};
}

static bool ranges_overlap(struct range a, struct range b)
{
    return a.begin < b.end && b.begin < a.end;
}

/* From the first byte of any lane to the last. */
static struct range all_lanes(const struct exec_access *access)
{
    struct range all = {UINT64_MAX, 0};
    for (uint32_t m = access->mask; m; m &= m - 1) {
        struct range one = range_of(access, (uint32_t)__builtin_ctz(m));
        all.begin = one.begin < all.begin ? one.begin : all.begin;
        all.end = one.end > all.end ? one.end : all.end;
    }
    return all;
}

static bool touches(const struct exec_access *access, struct range range)
{
    for (uint32_t m = access->mask; m; m &= m - 1) {
        if (ranges_overlap(range_of(access, (uint32_t)__builtin_ctz(m)), range)) {
            return true;
        }
    }
    return false;
}

/* Does a lane of `access` touch bytes that an unperformed atomic of its warp will change? */
static bool waits_for_atomic(const struct sm_warp *warp, const struct exec_access *access)
{
    if (is_fragment(access)) {
        return warp->atomics != NULL; /* its bytes are not looked at one by one */
    }
    struct range all = all_lanes(access);
    for (const struct lsu_access *atomic = warp->atomics; atomic; atomic = atomic->next_atomic) {
        const struct exec_access *other = &atomic->detail->access;
        for (uint32_t m = other->mask; m; m &= m - 1) {
            struct range one = range_of(other, (uint32_t)__builtin_ctz(m));
            if (ranges_overlap(all, one) && touches(access, one)) {
                return true;
            }
        }
    }
    return false;
}

static void atomics_append(struct sm_warp *warp, struct lsu_access *access)
{
    struct lsu_access **end = &warp->atomics;
    while (*end) {
        end = &(*end)->next_atomic;
    }
    *end = access;
}

/* The L1 has every byte, and can say so. */
static bool hits(struct sm *sm, const struct lsu_access *access)
{
    const struct sm_stores_wait *wait = &sm->stores_wait;
    if (!wait->holds || access->port != &sm->l1 || access->bypass) {
        return false;
    }
    for (uint32_t i = 0; i < access->count; i++) {
        const struct transaction *t = &access->detail->transaction[i];
        uint64_t address = t->address;
        if ((wait->physical && !translate(sm, t->address, &address)) ||
            !wait->holds(wait->l1, address, t->bytes)) {
            return false;
        }
    }
    return true;
}

/* An access that held its warp and turns out to hit. */
static void let_go(struct sm *sm, struct lsu_access *access)
{
    struct sm_warp *warp = access->warp;
    access->holds_warp = false;
    warp->holds--;
    if (warp->blocked && warp->state == WARP_RUNNING) {
        warp_refresh(sm, warp);
        sm_wake(sm, sm->cycle);
    }
}

bool lsu_start(struct sm *sm, struct lsu_access *access, int *rc)
{
    struct sm_warp *warp = access->warp;
    if (is_atomic(access)) {
        atomics_append(warp, access);
    } else if (warp->atomics && waits_for_atomic(warp, &access->detail->access)) {
        return false;
    } else {
        *rc = access_commit(sm, warp, &access->detail->access);
    }
    path_prepare(sm, access);
    access->unserved_left = access->count;
    access->started = true;
    sm->lsu.begun += access->pipe == PIPE_LSU;
    if (access->holds_warp && hits(sm, access)) {
        let_go(sm, access);
    }
    return true;
}

static enum mem_kind request_kind(const struct lsu_access *access)
{
    switch (access->kind) {
    case ACCESS_STORE:
    case ACCESS_FRAGMENT_STORE:
        return MEM_WRITE;
    case ACCESS_ATOMIC:
    case ACCESS_REDUCTION:
        return MEM_ATOMIC;
    case ACCESS_PREFETCH:
        return MEM_PREFETCH;
    default:
        return MEM_READ;
    }
}

static void space_again(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct lsu_queue *queue = &sm->lsu.queue[arg];
    sm->lsu.lanes.refused &= arg != PIPE_LSU;
    if (sm->aborted || (!queue->head && (arg != PIPE_LSU || sm->lsu.lanes.busy == 0))) {
        return;
    }
    uint64_t cycle = sm_sync(sm);
    lsu_set_next(&sm->lsu, queue, cycle > sm->cycle ? cycle : sm->cycle + 1);
    sm_wake(sm, queue->next_cycle);
}

void lsu_nudge(struct sm *sm, uint64_t cycle)
{
    struct lsu_queue *queue = &sm->lsu.queue[PIPE_LSU];
    uint64_t next = cycle > sm->cycle ? cycle : sm->cycle + 1;
    if (queue->next_cycle > next && !sm->lsu.lanes.refused) {
        lsu_set_next(&sm->lsu, queue, next);
        sm_wake(sm, next);
    }
}

/* See coalesce_written(). Of the accesses that a fragment is, the transaction is that one's which
 * has a lane at its first byte. */
static void written_by(uint64_t written[2], const struct transaction *t,
                       const struct exec_access *access)
{
    if (!is_fragment(access)) {
        coalesce_written(written, t, access);
        return;
    }
    struct exec_access piece;
    for (uint32_t k = 0; k < access->pieces; k++) {
        exec_access_piece(&piece, access, k);
        for (uint32_t m = piece.mask; m; m &= m - 1) {
            if (piece.address[__builtin_ctz(m)] == t->address) {
                coalesce_written(written, t, &piece);
                return;
            }
        }
    }
}

int lsu_send(struct sm *sm, struct lsu_access *access)
{
    const struct transaction *t = &access->detail->transaction[access->sent];
    uint64_t paddr;
    if (!translate(sm, t->address, &paddr)) {
        return error_set(SONDE_EFAULT, "no page is mapped at address 0x%llx",
                         (unsigned long long)t->address);
    }
    struct lsu_request *request = request_take(&sm->lsu.pool);
    if (!request) {
        return error_memory();
    }
    *request = (struct lsu_request){.owner = access,
                                    .mem = {.vaddr = t->address,
                                            .paddr = paddr,
                                            .bytes = t->bytes,
                                            .lanes = (uint8_t)t->lanes,
                                            .sectors = (uint16_t)bit_count(t->sectors),
                                            .passes = (uint16_t)t->passes,
                                            .sm = (uint16_t)sm->id,
                                            .kind = request_kind(access),
                                            .bypass = access->bypass,
                                            .reply = access->completion->reply,
                                            .ctx = access}};
    const struct exec_access *described = &access->detail->access;
    bool global = described->space == SPACE_GLOBAL || described->space == SPACE_NONE;
    if (request->mem.kind == MEM_WRITE && global) {
        written_by(request->mem.written, t, described);
    }
    const struct mem_port *port = access->port;
    fence_sees(sm, paddr);
    access->sent++;
    access->replies_left++;
    sm->lsu.requests_out++;
    if (sm->lsu.merge.entries && merge_join(sm, request)) {
        return 0;
    }
    if (port->send(port->self, &request->mem)) {
        sm->stats.transactions++;
        access->warp->cta->counts.reaches_memory |= described->space != SPACE_CONST;
        sm->stats.l1_bypasses += port == &sm->network || access->bypass;
        return 0;
    }
    access->sent--;
    access->replies_left--;
    sm->lsu.requests_out--;
    merge_forget(sm, request);
    request_release(&sm->lsu.pool, request);
    port->when_space(port->self, space_again, sm, access->pipe);
    return 1;
}
