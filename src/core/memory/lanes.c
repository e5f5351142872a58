/*
 * How warp memory instructions leave the load/store unit where the model says more of it than "a
 * request a cycle". Each takes one of `parallel` lanes, from which its requests go out one after
 * the other, a request in request_cycles; the lane is free again after instruction_cycles at the
 * earliest. So requests of one instruction are serialized, and those of as many instructions as
 * there are lanes are not (Lashgar et al., HEART 2015, section 3.2: on a Tesla M2070 up to 96
 * requests are processed in parallel, three warps of 32). Answers: complete.c.
 *
 *     queue:  [ ][ ][ ][head] -+-> lane 0: . . R . . R . . R      oldest
 *                              +-> lane 1: . R . . R . . R
 *                              +-> lane 2: R . . R
 *
 * What is outstanding may be bounded (pending/). An instruction that finds no place waits at the
 * head of the queue, a request that finds none waits in its lane; either way those behind it wait
 * too, in order of age, but what is in the lanes goes on where it can. They ask again as soon as a
 * place is free, or after retry_cycles each time, which stands for the replay of an instruction by
 * the issue stage. Leaves out: the issue slots that a replay takes.
 */
#include "core/state.h"

/* NO_SPACE: a port's. NO_PLACE: for a request. HEAD_WAITS: for a place, or for an atomic. */
enum part_step { GO_ON, NO_SPACE, NO_PLACE, HEAD_WAITS, FAILED };

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint32_t or_one(uint32_t n)
{
    return n ? n : 1;
}

void lanes_init(struct sm *sm)
{
    const struct lanes_spec *spec = &sm->spec->lanes;
    struct lsu *lsu = &sm->lsu;
    lsu->lanes.most = or_one(spec->parallel);
    lsu->lanes.request_cycles = or_one(spec->request_cycles);
    lsu->lanes.instruction_cycles = or_one(spec->instruction_cycles);
    lsu->queue[PIPE_LSU].entries += lsu->lanes.most - 1;
    pending_init(&lsu->pending, &sm->spec->pending);
    lsu->simple = lsu->lanes.most == 1 && lsu->lanes.request_cycles == 1 &&
                  lsu->lanes.instruction_cycles == 1 && !lsu->pending.ops;
    sm->loads_per_warp = sm->spec->loads_per_warp ? sm->spec->loads_per_warp : UINT32_MAX;
}

/* Accesses with requests under way are freed by the last reply, as those in the queues. */
void lanes_reset(struct sm *sm)
{
    struct lsu_lanes *lanes = &sm->lsu.lanes;
    for (uint32_t i = 0; i < lanes->busy; i++) {
        struct lsu_access *access = lanes->lane[i].access;
        if (access) {
            access->count = access->sent;
        }
        if (access && access->replies_left == 0) {
            access_release(&sm->lsu.pool, access);
        }
    }
    lanes->busy = 0;
    lanes->refused = lanes->waits = false;
    sm->lsu.pending.used = 0;
}

/* Places are free again. */
static void tell_waiting(struct sm *sm, uint64_t cycle)
{
    if (sm->lsu.lanes.waits && sm->spec->pending.retry_cycles == 0) {
        lsu_nudge(sm, cycle);
    }
}

void lanes_answered(struct sm *sm, uint64_t cycle)
{
    sm->lsu.pending.ops->answered(&sm->lsu.pending);
    tell_waiting(sm, cycle);
}

void lanes_end(struct sm *sm, const struct lsu_access *access, uint64_t cycle)
{
    sm->lsu.pending.ops->end(&sm->lsu.pending, access->count);
    tell_waiting(sm, cycle);
}

static enum part_step no_place(struct sm *sm, struct lsu_access *access, enum part_step progress)
{
    sm->stats.pending_stalls += !access->stalled;
    access->stalled = true;
    return progress;
}

/* Lanes whose access has sent all and whose time is over are free again. */
static void lanes_retire(struct lsu_lanes *lanes, uint64_t cycle)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lanes->busy; i++) {
        if (lanes->lane[i].access || lanes->lane[i].next_cycle > cycle) {
            lanes->lane[kept++] = lanes->lane[i];
        }
    }
    lanes->busy = kept;
}

/* The access has sent all: the lane is free in a while, the place in the queue at once. */
static void lane_leave(struct sm *sm, struct lsu_lane *lane)
{
    const struct lsu_lanes *lanes = &sm->lsu.lanes;
    struct lsu_access *access = lane->access;
    lane->access = NULL;
    access_sent(&sm->lsu.pool, access);
    lane->next_cycle = later(lane->next_cycle, lane->start_cycle + lanes->instruction_cycles);
    sm->lsu.queue[PIPE_LSU].count--;
    if (access->replies_left == 0 && !access->answered) {
        access->completion->answered(sm, access, sm->cycle + 1); /* nothing to send */
    }
}

static enum part_step lane_send(struct sm *sm, struct lsu_lane *lane)
{
    struct pending *pending = &sm->lsu.pending;
    struct lsu_access *access = lane->access;
    if (access->sent < access->count) {
        if (pending->ops && !pending->ops->leave(pending)) {
            return no_place(sm, access, NO_PLACE);
        }
        int rc = lsu_send(sm, access);
        if (rc != 0 && pending->ops) {
            pending->ops->answered(pending);
        }
        if (rc < 0) {
            sm_fault(sm, rc);
            return FAILED;
        }
        if (rc > 0) {
            sm->lsu.lanes.refused = true;
            return NO_SPACE;
        }
        lane->next_cycle = sm->cycle + sm->lsu.lanes.request_cycles;
    }
    if (access->sent == access->count) {
        lane_leave(sm, lane);
    }
    return GO_ON;
}

/* The head takes effect and moves into a free lane. */
static enum part_step lane_start(struct sm *sm, struct lsu_queue *queue)
{
    struct lsu_lanes *lanes = &sm->lsu.lanes;
    struct pending *pending = &sm->lsu.pending;
    struct lsu_access *head = queue->head;
    int rc = 0;
    if (!head->started && !lsu_start(sm, head, &rc)) {
        return HEAD_WAITS; /* atomics_perform() goes on */
    }
    if (rc < 0) {
        sm_fault(sm, rc);
        return FAILED;
    }
    if (pending->ops && head->count > 0 && !pending->ops->begin(pending, head->count)) {
        return no_place(sm, head, HEAD_WAITS);
    }
    queue->head = head->next;
    if (!queue->head) {
        queue->end = &queue->head;
    }
    struct lsu_lane *lane = &lanes->lane[lanes->busy++];
    *lane = (struct lsu_lane){.access = head, .start_cycle = sm->cycle, .next_cycle = sm->cycle};
    return lane_send(sm, lane);
}

static enum part_step lanes_go_on(struct sm *sm)
{
    struct lsu_lanes *lanes = &sm->lsu.lanes;
    enum part_step progress = GO_ON;
    for (uint32_t i = 0; i < lanes->busy && progress == GO_ON; i++) {
        if (lanes->lane[i].access && lanes->lane[i].next_cycle <= sm->cycle) {
            progress = lane_send(sm, &lanes->lane[i]);
        }
    }
    return progress;
}

/* The next cycle with work that no reply announces. */
static uint64_t lanes_next_cycle(const struct sm *sm, const struct lsu_queue *queue,
                                 enum part_step progress)
{
    const struct lsu_lanes *lanes = &sm->lsu.lanes;
    uint32_t retry = sm->spec->pending.retry_cycles;
    uint64_t next = CYCLE_NEVER;
    if (retry && (progress == NO_PLACE || progress == HEAD_WAITS)) {
        next = sm->cycle + retry;
    }
    if (progress != GO_ON && progress != HEAD_WAITS) {
        return next; /* nobody goes on */
    }
    for (uint32_t i = 0; i < lanes->busy; i++) {
        next = earlier(next, lanes->lane[i].next_cycle);
    }
    if (progress == GO_ON && queue->head && lanes->busy < lanes->most) {
        next = earlier(next, queue->head->lookup_cycle);
    }
    return later(next, sm->cycle + 1);
}

void lanes_cycle(struct sm *sm)
{
    struct lsu_queue *queue = &sm->lsu.queue[PIPE_LSU];
    struct lsu_lanes *lanes = &sm->lsu.lanes;
    lanes_retire(lanes, sm->cycle);
    enum part_step progress = lanes_go_on(sm);
    while (progress == GO_ON && queue->head && lanes->busy < lanes->most &&
           queue->head->lookup_cycle <= sm->cycle) {
        progress = lane_start(sm, queue);
    }
    lanes->waits = progress == NO_PLACE || progress == HEAD_WAITS;
    lsu_set_next(&sm->lsu, queue, lanes_next_cycle(sm, queue, progress));
}
