/*
 * The queues of accesses that wait for memory: the load/store unit's own, the texture unit's and
 * the constant caches' (enum pipe). Warp accesses wait in the order of their issue; the head is cut
 * into transactions (path.c), which go out one a cycle (send.c), those of a load by L1's banks one
 * a bank (tag_banks.h); the access is complete when every transaction has been answered.
 *
 * This file lets one access after the other send. Where the model has several at
 * a time, slower ones, or a bound on what is outstanding, the queue's head goes to lanes.c instead.
 *
 * Shared accesses do not come here (issue.c). Transactions of different warps may merge: merge.c.
 */
#include <stdlib.h>

#include "core/memory/tag_banks.h"
#include "core/state.h"
#include "util/error.h"

/* The spare is what the issue stage writes into; allocation stops at the high-water mark. */
static int spare_provide(struct sm *sm)
{
    sm->lsu.spare = access_take(&sm->lsu.pool);
    if (!sm->lsu.spare) {
        return error_memory();
    }
    sm->lsu.spare->sm = sm;
    return 0;
}

/* From issue to the first lookup. */
static uint32_t lookup_cycles(const struct sm *sm, const struct exec_access *access, enum pipe pipe)
{
    const struct sm_spec *spec = sm->spec;
    if (pipe == PIPE_LSU && access->space == SPACE_LOCAL && spec->lsu_local_cycles) {
        return spec->lsu_local_cycles;
    }
    if (pipe == PIPE_LSU && access->non_coherent && spec->lsu_readonly_cycles) {
        return spec->lsu_readonly_cycles;
    }
    return sm->lsu.queue[pipe].lookup_cycles;
}

int lsu_replace_spare(struct sm *sm)
{
    struct lsu_access *access = sm->lsu.spare;
    int rc = spare_provide(sm); /* before this one is anybody else's */
    if (rc < 0) {
        sm->lsu.spare = access;
    }
    return rc;
}

/* As long as it is not known to hit: see let_go(). One of several spaces, since its lanes in shared
 * memory, too, take effect when it is started, and what comes behind it does so at issue. */
static bool holds_warp(const struct sm *sm, const struct lsu_access *access)
{
    if (access->detail->access.space == SPACE_NONE) {
        return true;
    }
    if (has_result(access->info)) {
        return sm->spec->loads_hold_warp && access->pipe != PIPE_CONSTANT;
    }
    return sm->stores_wait.holds && path_store_waits(sm, access->pipe, &access->detail->access);
}

/* The head's turn comes when it is ready for its first lookup and nothing holds the queue. */
static void head_next(struct sm *sm, struct lsu_queue *queue)
{
    uint64_t lookup = queue->head->lookup_cycle;
    uint64_t next = lookup > queue->free_cycle ? lookup : queue->free_cycle;
    lsu_set_next(&sm->lsu, queue, next > sm->cycle ? next : sm->cycle + 1);
}

int lsu_enqueue_spare(struct sm *sm, enum pipe pipe)
{
    struct lsu_queue *queue = &sm->lsu.queue[pipe];
    struct lsu_access *access = sm->lsu.spare;
    int rc = lsu_replace_spare(sm);
    if (rc < 0) {
        return rc;
    }
    access->next = NULL;
    access->next_atomic = NULL;
    access->pipe = pipe;
    access->kind = access->detail->access.kind;
    access->issue_cycle = sm->cycle;
    access->lookup_cycle = sm->cycle + lookup_cycles(sm, &access->detail->access, pipe);
    access->count = access->sent = access->replies_left = 0;
    access->started = access->answered = access->performed = false;
    access->banked = false;
    access->stalled = false;
    access->written_ps = 0;
    struct sm_warp *warp = access->warp;
    warp->outstanding++;
    if (access->kind == ACCESS_COPY) {
        access->copy_epoch = warp->arrivals.epoch;
        access->copy_group = warp->copies.committed % ASYNC_GROUPS;
        warp->copies.out[access->copy_group]++;
    }
    warp->loads_out += has_result(access->info);
    warp->cta->outstanding++;
    warp->atomics_out += is_atomic(access);
    warp->acquires_out += access->info->acquires;
    access->holds_warp = holds_warp(sm, access);
    warp->holds += access->holds_warp;
    *queue->end = access;
    queue->end = &access->next;
    queue->count++;
    sm->lsu.queued += pipe == PIPE_LSU;
    if (queue->head == access) {
        head_next(sm, queue);
    }
    return 0;
}

static void head_pop(struct sm *sm, struct lsu_queue *queue)
{
    queue->head = queue->head->next;
    if (!queue->head) {
        queue->end = &queue->head;
        lsu_set_next(&sm->lsu, queue, CYCLE_NEVER);
        return;
    }
    head_next(sm, queue);
}

/* The head has sent all that it has to send. */
static void head_leave(struct sm *sm, struct lsu_queue *queue)
{
    struct lsu_access *head = queue->head;
    head_pop(sm, queue);
    access_sent(&sm->lsu.pool, head);
    if (head->pipe == PIPE_TEXTURE) {
        texture_enter(sm, head);
        return;
    }
    queue->count--;
    if (head->replies_left == 0 && !head->answered) {
        head->completion->answered(sm, head, sm->cycle + 1); /* nothing to send */
    }
}

/* A load that is served by L1's banks: a line of each in a cycle. Returns what lsu_send() does. */
static int send_banked(struct sm *sm, struct lsu_access *head)
{
    const uint32_t segment = sm->spec->coalesce.segment_bytes, banks = sm->spec->lsu_tag_banks;
    uint32_t asked = 0;
    int rc = 0;
    while (rc == 0 && head->sent < head->count) {
        uint32_t bank = tag_bank(&head->detail->transaction[head->sent], segment, banks);
        if (asked >> bank & 1) {
            break;
        }
        asked |= 1u << bank;
        rc = lsu_send(sm, head);
    }
    return rc;
}

static void queue_cycle(struct sm *sm, struct lsu_queue *queue)
{
    struct lsu_access *head = queue->head;
    int rc = 0;
    if (!head->started && (head->lookup_cycle > sm->cycle || queue->free_cycle > sm->cycle)) {
        head_next(sm, queue); /* lsu_nudge() and space_again() look at neither */
        return;
    }
    queue->next_cycle = CYCLE_NEVER;
    if (!head->started && !lsu_start(sm, head, &rc)) {
        lsu_set_next(&sm->lsu, queue, queue->next_cycle); /* atomics_perform() goes on */
        return;
    }
    if (rc == 0 && head->sent < head->count) {
        rc = head->banked ? send_banked(sm, head) : lsu_send(sm, head);
    }
    if (rc < 0) {
        sm_fault(sm, rc);
    }
    if (rc != 0) {
        lsu_set_next(&sm->lsu, queue, queue->next_cycle); /* space_again() goes on */
    } else if (head->sent < head->count) {
        lsu_set_next(&sm->lsu, queue, sm->cycle + queue->interval_cycles);
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
            access_release(&sm->lsu.pool, access);
        }
    }
    queue->end = &queue->head;
    queue->count = 0;
    queue->free_cycle = 0;
    lsu_set_next(&sm->lsu, queue, CYCLE_NEVER);
}

/* Forget what is queued. Accesses with requests under way are freed by the last reply. */
void lsu_reset(struct sm *sm)
{
    for (uint32_t i = 0; i < PIPE_COUNT; i++) {
        queue_reset(sm, &sm->lsu.queue[i]);
    }
    sm->lsu.begun = sm->lsu.queued;
    lanes_reset(sm);
    texture_reset(sm);
    translate_reset(sm);
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
    for (uint32_t i = 0; i < PIPE_COUNT; i++) {
        queue[i].interval_cycles = 1;
    }
    if (spec->constant.interval_cycles) {
        queue[PIPE_CONSTANT].interval_cycles = spec->constant.interval_cycles;
    }
    access_pool_init(&sm->lsu.pool);
    lanes_init(sm);
    lsu_reset(sm);
    int rc = merge_init(sm);
    return rc < 0 ? rc : spare_provide(sm);
}

void lsu_free(struct sm *sm)
{
    struct lsu *lsu = &sm->lsu;
    lsu_reset(sm);
    if (lsu->spare) {
        access_release(&lsu->pool, lsu->spare);
    }
    merge_free(sm);
    access_pool_free(&lsu->pool);
}
