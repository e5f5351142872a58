/*
 * cp.async.mbarrier.arrive: the warp goes on, and its lanes arrive at their barriers when all
 * copies that the warp has issued before are over. Each such instruction ends an epoch of the
 * warp's copies and counts those of this epoch and earlier ones that are under way, so that
 * arrivals come in the order of their issue. Epochs are the warp's: a lane whose own copies are
 * over waits for those that other lanes have issued.
 */
#include "core/async/bulk.h"
#include "core/state.h"
#include "util/error.h"

static void arrivals_come(struct sm *sm, struct sm_warp *warp, struct bulk_copy *copies)
{
    if (sm->repeats) {
        repeat_moved(sm);
    }
    for (size_t i = 0; i < copies->arrivals.count; i++) {
        transfer_arrive(&copies->arrivals.data[i]);
    }
    warp->arrivals.head = copies->next;
    bulk_copy_release(&sm->async.bulk, copies);
}

static uint32_t under_way(const struct async_groups *groups)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ASYNC_GROUPS; i++) {
        count += groups->out[i];
    }
    return count;
}

int copies_arrive(struct sm *sm, struct sm_warp *warp)
{
    struct exec_transfers *issued = &sm->async.bulk.issued;
    struct bulk_copy *copies = bulk_copy_take(&sm->async.bulk);
    int rc = copies ? 0 : VEC_OUT_OF_MEMORY;
    for (size_t i = 0; rc == 0 && i < issued->arrivals.count; i++) {
        rc = vec_push(&copies->arrivals, issued->arrivals.data[i]);
    }
    transfers_clear(issued);
    if (rc < 0) {
        if (copies) {
            bulk_copy_release(&sm->async.bulk, copies);
        }
        return error_memory();
    }
    struct bulk_copy **last = &warp->arrivals.head;
    while (*last) {
        last = &(*last)->next;
    }
    *last = copies;
    copies->next = NULL;
    copies->epoch = warp->arrivals.epoch++;
    copies->replies_left = under_way(&warp->copies);
    if (copies->replies_left == 0) { /* then nobody is before it */
        arrivals_come(sm, warp, copies);
    }
    return 0;
}

void copies_over(struct sm *sm, struct sm_warp *warp, uint32_t epoch)
{
    struct bulk_copy *head = warp->arrivals.head;
    if (!head) {
        return;
    }
    for (struct bulk_copy *copies = head; copies; copies = copies->next) {
        copies->replies_left -= copies->epoch - epoch < UINT32_MAX / 2; /* epochs wrap around */
    }
    while (warp->arrivals.head && warp->arrivals.head->replies_left == 0) {
        arrivals_come(sm, warp, warp->arrivals.head);
    }
    if (warp->arrivals.head != head) {
        wait_look(sm);
    }
}

void copies_forget(struct sm *sm, struct sm_warp *warp)
{
    while (warp->arrivals.head) {
        struct bulk_copy *copies = warp->arrivals.head;
        warp->arrivals.head = copies->next;
        bulk_copy_release(&sm->async.bulk, copies);
    }
}
