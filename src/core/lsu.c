/*
 * The load/store unit's global side. Warp accesses wait in a queue in the order of their issue; the
 * head is cut into transactions, which go out one a cycle to L1 or straight to the network; the
 * access is complete when every transaction has been answered.
 *
 * When an access takes effect on the memory image:
 *   - loads and stores when they reach the head of the queue (access_start). The queue is in order,
 *     so a thread sees its own accesses in program order. This is the one place where stores become
 *     visible; groups of SMs that run in parallel would put them into a buffer here and publish it
 *     at the horizon.
 *   - atomics when their replies are in (complete.c), which is the order in which L2 performed
 *     them; those of one warp in program order. A later load or store of the same lane to the same
 *     bytes waits for them.
 *
 * Constant, local and shared accesses do not come here (issue.c). Leaves out: merging of
 * transactions of different warps, and a limit on the accesses in flight beyond what L1's and L2's
 * MSHRs give.
 */
#include <stdlib.h>

#include "core/state.h"
#include "util/error.h"

void lsu_release(struct sm *sm, struct lsu_access *access)
{
    access->next = sm->lsu.free_accesses;
    sm->lsu.free_accesses = access;
}

/* The spare is what the issue stage writes into; allocation stops at the high-water mark. */
static int spare_provide(struct sm *sm)
{
    struct lsu_access *access = sm->lsu.free_accesses;
    if (access) {
        sm->lsu.free_accesses = access->next;
    } else if (!(access = malloc(sizeof *access))) {
        return error_memory();
    }
    sm->lsu.spare = access;
    return 0;
}

int lsu_enqueue_spare(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    struct lsu_access *access = lsu->spare;
    access->next = NULL;
    access->next_atomic = NULL;
    access->lookup_cycle = sm->cycle + sm->spec->lsu_cycles;
    access->count = access->sent = access->replies_left = 0;
    access->started = access->answered = false;
    struct sm_warp *warp = access->warp;
    warp->outstanding++;
    warp->cta->outstanding++;
    warp->atomics_out += is_atomic(access);
    warp->acquires_out += access->info->acquires;
    *lsu->end = access;
    lsu->end = &access->next;
    if (lsu->count++ == 0) {
        lsu->next_cycle = access->lookup_cycle > sm->cycle ? access->lookup_cycle : sm->cycle + 1;
    }
    return spare_provide(sm);
}

static bool ranges_overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* Does a lane of `access` touch bytes that an unperformed atomic of the same lane will change? */
static bool waits_for_atomic(const struct sm_warp *warp, const struct exec_access *access)
{
    for (const struct lsu_access *atomic = warp->atomics; atomic; atomic = atomic->next_atomic) {
        const struct exec_access *other = &atomic->access;
        for (uint32_t m = access->mask & other->mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            if (ranges_overlap(access->address[lane], (uint64_t)access->bytes * access->vec,
                               other->address[lane], (uint64_t)other->bytes * other->vec)) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Which accesses L1 serves: loads and stores of the default and the .ca operators, where the model
 * caches global data in L1 at all. Others pass it: .cg and .cv, volatile accesses and those that
 * synchronise beyond the CTA, and atomics, which L2 performs. PTX ISA 9.0, 9.7.9.1.
 */
static void choose_path(const struct sm *sm, struct lsu_access *access)
{
    const struct exec_access *a = &access->access;
    access->by_l1 = sm->has_l1 && sm->spec->l1_caches_global;
    access->bypass = a->cache_op == MOD_COP_cg || a->cache_op == MOD_COP_cv || a->is_volatile ||
                     is_atomic(access);
}

static bool translate(struct sm *sm, uint64_t vaddr, uint64_t *paddr)
{
    uint64_t page = vaddr >> sm->page_shift, offset = vaddr & (sm->host.page_bytes - 1);
    uint32_t entry = (uint32_t)(page % TRANSLATION_ENTRIES);
    if (sm->translation[entry].page != page) {
        uint64_t frame;
        if (!sm->host.physical(sm->host.ctx, vaddr - offset, &frame)) {
            return false;
        }
        sm->translation[entry].page = page;
        sm->translation[entry].frame = frame;
    }
    *paddr = sm->translation[entry].frame + offset;
    return true;
}

/*
 * The lanes whose bytes lie in device memory: a generic access may mix spaces, and a prefetch may
 * name any address.
 */
static uint32_t global_lanes(struct sm *sm, const struct exec_access *access)
{
    uint32_t lanes = access->mask;
    for (uint32_t m = access->kind == ACCESS_PREFETCH ? lanes : 0; m; m &= m - 1) {
        uint64_t paddr;
        if (!translate(sm, access->address[__builtin_ctz(m)], &paddr)) {
            lanes &= ~(m & -m);
        }
    }
    for (uint32_t lane = 0; access->space == SPACE_NONE && lane < WARP_LANES; lane++) {
        if (access->lane_space[lane] != SPACE_GLOBAL && access->lane_space[lane] != SPACE_CONST) {
            lanes &= ~(1u << lane);
        }
    }
    return lanes;
}

static void atomics_append(struct sm_warp *warp, struct lsu_access *access)
{
    struct lsu_access **end = &warp->atomics;
    while (*end) {
        end = &(*end)->next_atomic;
    }
    *end = access;
}

/* The head of the queue takes effect and becomes transactions. False: it must wait. */
static bool access_start(struct sm *sm, struct lsu_access *access, int *rc)
{
    struct sm_warp *warp = access->warp;
    if (is_atomic(access)) {
        atomics_append(warp, access);
    } else if (warp->atomics && waits_for_atomic(warp, &access->access)) {
        return false;
    } else {
        *rc = exec_commit(&warp->exec, &access->access);
    }
    choose_path(sm, access);
    uint32_t mask = access->access.mask;
    access->access.mask = global_lanes(sm, &access->access);
    access->count = coalesce(access->transaction, &access->access, sm->spec->coalesce.segment_bytes,
                             sm->spec->coalesce.lanes_per_pass);
    access->access.mask = mask;
    access->started = true;
    return true;
}

static struct lsu_request *request_take(struct sm *sm)
{
    struct lsu_request *request = sm->lsu.free_requests;
    if (request) {
        sm->lsu.free_requests = request->next_free;
        return request;
    }
    return malloc(sizeof *request);
}

static enum mem_kind request_kind(const struct lsu_access *access)
{
    switch (access->access.kind) {
    case ACCESS_STORE:
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
    (void)arg;
    struct sm *sm = ctx;
    if (sm->aborted || !sm->lsu.head) {
        return;
    }
    uint64_t cycle = sm_sync(sm);
    sm->lsu.next_cycle = cycle > sm->cycle ? cycle : sm->cycle + 1;
    sm_wake(sm, sm->lsu.next_cycle);
}

/* Send the access's next transaction. 0: sent; 1: refused, space_again() will be called. */
static int transaction_send(struct sm *sm, struct lsu_access *access)
{
    const struct transaction *t = &access->transaction[access->sent];
    uint64_t paddr;
    if (!translate(sm, t->address, &paddr)) {
        return error_set(SONDE_EFAULT, "no page is mapped at address 0x%llx",
                         (unsigned long long)t->address);
    }
    struct lsu_request *request = request_take(sm);
    if (!request) {
        return error_memory();
    }
    *request = (struct lsu_request){.owner = access,
                                    .mem = {.vaddr = t->address,
                                            .paddr = paddr,
                                            .bytes = t->bytes,
                                            .sm = sm->id,
                                            .kind = request_kind(access),
                                            .bypass = access->bypass,
                                            .issued_ps = engine_now_ps(sm->engine),
                                            .reply = lsu_reply,
                                            .ctx = sm,
                                            .arg = (uintptr_t)request}};
    struct mem_port *port = access->by_l1 ? &sm->l1 : &sm->network;
    access->sent++;
    access->replies_left++;
    sm->lsu.requests_out++;
    if (port->send(port->self, &request->mem)) {
        sm->stats.transactions++;
        sm->stats.l1_bypasses += !access->by_l1 || access->bypass;
        return 0;
    }
    access->sent--;
    access->replies_left--;
    sm->lsu.requests_out--;
    request->next_free = sm->lsu.free_requests;
    sm->lsu.free_requests = request;
    port->when_space(port->self, space_again, sm, 0);
    return 1;
}

static void head_pop(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    lsu->head = lsu->head->next;
    lsu->count--;
    lsu->next_cycle = sm->cycle + 1;
    if (!lsu->head) {
        lsu->end = &lsu->head;
        lsu->next_cycle = CYCLE_NEVER;
    } else if (lsu->head->lookup_cycle > lsu->next_cycle) {
        lsu->next_cycle = lsu->head->lookup_cycle;
    }
}

void lsu_cycle(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    if (lsu->next_cycle > sm->cycle) {
        return;
    }
    struct lsu_access *head = lsu->head;
    int rc = 0;
    lsu->next_cycle = CYCLE_NEVER;
    if (!head->started && !access_start(sm, head, &rc)) {
        return; /* atomics_perform() goes on */
    }
    if (rc == 0 && head->sent < head->count) {
        rc = transaction_send(sm, head);
    }
    if (rc < 0) {
        sm_fault(sm, rc);
    } else if (rc > 0) {
        return; /* space_again() goes on */
    } else if (head->sent < head->count) {
        lsu->next_cycle = sm->cycle + 1;
    } else {
        head_pop(sm);
        if (head->replies_left == 0 && !head->answered) {
            lsu_answered(sm, head, sm->cycle + 1); /* nothing to send */
        }
    }
}

/* Forget what is queued. Accesses with requests under way are freed by the last reply. */
void lsu_reset(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    while (lsu->head) {
        struct lsu_access *access = lsu->head;
        lsu->head = access->next;
        access->count = access->sent;
        if (access->replies_left == 0) {
            lsu_release(sm, access);
        }
    }
    lsu->end = &lsu->head;
    lsu->count = 0;
    lsu->next_cycle = CYCLE_NEVER;
    for (uint32_t i = 0; i < TRANSLATION_ENTRIES; i++) {
        sm->translation[i].page = UINT64_MAX;
    }
}

int lsu_init(struct sm *sm)
{
    lsu_reset(sm);
    return spare_provide(sm);
}

void lsu_free(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    lsu_reset(sm);
    free(lsu->spare);
    while (lsu->free_accesses) {
        struct lsu_access *next = lsu->free_accesses->next;
        free(lsu->free_accesses);
        lsu->free_accesses = next;
    }
    while (lsu->free_requests) {
        struct lsu_request *next = lsu->free_requests->next_free;
        free(lsu->free_requests);
        lsu->free_requests = next;
    }
}
