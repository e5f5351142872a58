/*
 * The queues of accesses that wait for memory: the load/store unit's own, the texture unit's and
 * the constant caches' (enum pipe). Warp accesses wait in the order of their issue; the head is cut
 * into transactions (path.c), which go out one a cycle; the access is complete when every
 * transaction has been answered.
 *
 * When an access takes effect on the memory image:
 *   - loads and stores when they reach the head of the queue (lsu_start). The load/store unit's
 *     queue is in order, so a thread sees its own accesses in program order; the other two only
 *     read what a kernel may not write. While SMs run in parallel, other SMs see the stores when
 *     sm_publish_stores() is called.
 *   - atomics when L2 has performed them (complete.c), in its order; those of one warp in program
 *     order. A later load or store of the same lane to the same bytes waits for them.
 *
 * This file lets one access after the other send a request a cycle. Where the model has several at
 * a time, slower ones, or a bound on what is outstanding, the queue's head goes to lanes.c instead.
 *
 * Shared accesses do not come here (issue.c). Transactions of different warps may merge: merge.c.
 */
#include <stdlib.h>

#include "core/state.h"
#include "exec/memory/stores.h"
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

int lsu_enqueue_spare(struct sm *sm, enum pipe pipe)
{
    struct lsu_queue *queue = &sm->lsu.queue[pipe];
    struct lsu_access *access = sm->lsu.spare;
    int rc = spare_provide(sm); /* before this one is anybody else's */
    if (rc < 0) {
        return rc;
    }
    access->next = NULL;
    access->next_atomic = NULL;
    access->pipe = pipe;
    access->lookup_cycle = sm->cycle + queue->lookup_cycles;
    access->count = access->sent = access->replies_left = 0;
    access->started = access->answered = access->performed = false;
    access->stalled = false;
    access->written_ps = 0;
    struct sm_warp *warp = access->warp;
    warp->outstanding++;
    warp->loads_out += has_result(access->info);
    warp->cta->outstanding++;
    warp->atomics_out += is_atomic(access);
    warp->acquires_out += access->info->acquires;
    *queue->end = access;
    queue->end = &access->next;
    queue->count++;
    if (queue->head == access) {
        lsu_set_next(&sm->lsu, queue,
                     access->lookup_cycle > sm->cycle ? access->lookup_cycle : sm->cycle + 1);
    }
    return 0;
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

bool lsu_translate(struct sm *sm, uint64_t vaddr, uint64_t *paddr)
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

static void atomics_append(struct sm_warp *warp, struct lsu_access *access)
{
    struct lsu_access **end = &warp->atomics;
    while (*end) {
        end = &(*end)->next_atomic;
    }
    *end = access;
}

bool lsu_start(struct sm *sm, struct lsu_access *access, int *rc)
{
    struct sm_warp *warp = access->warp;
    if (is_atomic(access)) {
        atomics_append(warp, access);
    } else if (warp->atomics && waits_for_atomic(warp, &access->access)) {
        return false;
    } else {
        *rc = exec_commit(&warp->exec, &access->access);
    }
    path_prepare(sm, access);
    access->unserved_left = access->count;
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

int lsu_send(struct sm *sm, struct lsu_access *access)
{
    const struct transaction *t = &access->transaction[access->sent];
    uint64_t paddr;
    if (!lsu_translate(sm, t->address, &paddr)) {
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
                                            .lanes = t->lanes,
                                            .sm = sm->id,
                                            .kind = request_kind(access),
                                            .bypass = access->bypass,
                                            .issued_ps = engine_now_ps(sm->engine),
                                            .reply = lsu_reply,
                                            .ctx = sm,
                                            .arg = (uintptr_t)request}};
    const struct mem_port *port = access->port;
    access->sent++;
    access->replies_left++;
    sm->lsu.requests_out++;
    if (sm->lsu.merge.entries && merge_join(sm, request)) {
        return 0;
    }
    if (port->send(port->self, &request->mem)) {
        sm->stats.transactions++;
        sm->stats.l1_bypasses += port == &sm->network || access->bypass;
        return 0;
    }
    access->sent--;
    access->replies_left--;
    sm->lsu.requests_out--;
    merge_forget(sm, request);
    request->next_free = sm->lsu.free_requests;
    sm->lsu.free_requests = request;
    port->when_space(port->self, space_again, sm, access->pipe);
    return 1;
}

static void head_pop(struct sm *sm, struct lsu_queue *queue)
{
    queue->head = queue->head->next;
    lsu_set_next(&sm->lsu, queue, sm->cycle + 1);
    if (!queue->head) {
        queue->end = &queue->head;
        lsu_set_next(&sm->lsu, queue, CYCLE_NEVER);
    } else if (queue->head->lookup_cycle > queue->next_cycle) {
        lsu_set_next(&sm->lsu, queue, queue->head->lookup_cycle);
    }
}

/* The head has sent all that it has to send. */
static void head_leave(struct sm *sm, struct lsu_queue *queue)
{
    struct lsu_access *head = queue->head;
    head_pop(sm, queue);
    if (head->pipe == PIPE_TEXTURE) {
        texture_enter(sm, head);
        return;
    }
    queue->count--;
    if (head->replies_left == 0 && !head->answered) {
        lsu_answered(sm, head, sm->cycle + 1); /* nothing to send */
    }
}

static void queue_cycle(struct sm *sm, struct lsu_queue *queue)
{
    struct lsu_access *head = queue->head;
    int rc = 0;
    lsu_set_next(&sm->lsu, queue, CYCLE_NEVER);
    if (!head->started && !lsu_start(sm, head, &rc)) {
        return; /* atomics_perform() goes on */
    }
    if (rc == 0 && head->sent < head->count) {
        rc = lsu_send(sm, head);
    }
    if (rc < 0) {
        sm_fault(sm, rc);
    } else if (rc > 0) {
        return; /* space_again() goes on */
    } else if (head->sent < head->count) {
        lsu_set_next(&sm->lsu, queue, sm->cycle + 1);
    } else {
        head_leave(sm, queue);
    }
}

void lsu_cycle(struct sm *sm)
{
    if (sm->lsu.next_cycle > sm->cycle) {
        return;
    }
    for (uint32_t i = 0; i < PIPE_COUNT && !sm->aborted; i++) {
        if (sm->lsu.queue[i].next_cycle > sm->cycle) {
            continue;
        }
        if (i == PIPE_LSU && !sm->lsu.simple) {
            lanes_cycle(sm);
        } else {
            queue_cycle(sm, &sm->lsu.queue[i]);
        }
    }
}

static void queue_reset(struct sm *sm, struct lsu_queue *queue)
{
    while (queue->head) {
        struct lsu_access *access = queue->head;
        queue->head = access->next;
        access->count = access->sent;
        if (access->replies_left == 0) {
            lsu_release(sm, access);
        }
    }
    queue->end = &queue->head;
    queue->count = 0;
    lsu_set_next(&sm->lsu, queue, CYCLE_NEVER);
}

int sm_keep_stores(struct sm *sm, bool keep)
{
    sm->keeps_stores = keep;
    return keep && !sm->stores ? exec_stores_create(&sm->stores) : 0;
}

bool sm_has_stores(const struct sm *sm)
{
    return sm->keeps_stores && !exec_stores_empty(sm->stores);
}

void sm_publish_stores(struct sm *sm)
{
    if (sm_has_stores(sm)) {
        exec_stores_publish(sm->stores);
    }
}

/* Forget what is queued. Accesses with requests under way are freed by the last reply. */
void lsu_reset(struct sm *sm)
{
    for (uint32_t i = 0; i < PIPE_COUNT; i++) {
        queue_reset(sm, &sm->lsu.queue[i]);
    }
    lanes_reset(sm);
    texture_reset(sm);
    for (uint32_t i = 0; i < TRANSLATION_ENTRIES; i++) {
        sm->translation[i].page = UINT64_MAX;
    }
}

int lsu_init(struct sm *sm)
{
    const struct sm_spec *spec = sm->spec;
    struct lsu_queue *queue = sm->lsu.queue;
    queue[PIPE_LSU].entries = spec->lsu_queue_entries;
    queue[PIPE_LSU].lookup_cycles = spec->lsu_cycles;
    queue[PIPE_TEXTURE].entries = spec->texture.queue_entries;
    queue[PIPE_TEXTURE].lookup_cycles = spec->texture.address_cycles;
    queue[PIPE_CONSTANT].entries = spec->constant.queue_entries;
    queue[PIPE_CONSTANT].lookup_cycles = spec->constant.address_cycles;
    lanes_init(sm);
    lsu_reset(sm);
    int rc = merge_init(sm);
    return rc < 0 ? rc : spare_provide(sm);
}

void lsu_free(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    lsu_reset(sm);
    exec_stores_destroy(sm->stores);
    free(lsu->spare);
    merge_free(sm);
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
