/* Whether the warps of an SM repeat themselves: see repeat.h. */
#include "core/repeat.h"

#include <stdlib.h>

#include "core/state.h"
#include "exec/repeat.h"

struct sm_repeats {
    uint32_t visits_max;
    uint64_t found; /* warps that have come back to where they were, by slot */
    struct {
        uint64_t fingerprint;  /* that it is compared with */
        uint32_t visits, next; /* branches looked at; as of which one it is renewed */
    } warp[SM_MAX_WARPS];
};

/* Bulk copies count for their CTA, not for their warp. */
static bool has_bulk_copies(const struct sm *sm)
{
    uint64_t accesses = 0, outstanding = 0;
    for (uint64_t slots = sm->warps_used; slots; slots &= slots - 1) {
        accesses += sm->warp[__builtin_ctzll(slots)].outstanding;
    }
    for (uint32_t i = 0; i < sm->spec->max_ctas; i++) {
        outstanding += sm->cta[i].used ? sm->cta[i].outstanding : 0;
    }
    return accesses != outstanding;
}

bool sm_repeats_begin(struct sm *sm, uint32_t visits)
{
    if (has_bulk_copies(sm)) {
        return false;
    }
    if (!sm->repeats_room) {
        sm->repeats_room = malloc(sizeof *sm->repeats_room);
    }
    sm->repeats = sm->repeats_room;
    if (sm->repeats) {
        *sm->repeats = (struct sm_repeats){.visits_max = visits};
    }
    note_looked_at(sm);
    return sm->repeats != NULL;
}

void sm_repeats_end(struct sm *sm)
{
    sm->repeats = NULL;
    note_looked_at(sm);
}

void repeat_moved(struct sm *sm)
{
    sm_repeats_end(sm);
}

enum sm_repeats_state sm_repeats_state(const struct sm *sm)
{
    if (!sm->repeats) {
        return SM_REPEATS_NOT;
    }
    for (uint64_t slots = sm->warps_used; slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(slots);
        const struct sm_warp *warp = &sm->warp[slot];
        bool open =
            warp->state == WARP_RUNNING ? !(sm->repeats->found >> slot & 1) : warp->outstanding > 0;
        if (open) {
            return SM_REPEATS_OPEN;
        }
    }
    return SM_REPEATS_ALL;
}

static void visit(struct sm *sm, const struct sm_warp *warp)
{
    struct sm_repeats *repeats = sm->repeats;
    uint64_t fingerprint = exec_warp_fingerprint(&warp->exec);
    uint32_t slot = warp->slot, visits = repeats->warp[slot].visits++;
    if (visits > 0 && fingerprint == repeats->warp[slot].fingerprint) {
        repeats->found |= 1ull << slot;
    } else if (visits >= repeats->visits_max) {
        repeat_moved(sm);
    } else if (visits >= repeats->warp[slot].next) {
        repeats->warp[slot].fingerprint = fingerprint;
        repeats->warp[slot].next = 2 * visits + 1;
    }
}

void repeat_issued(struct sm *sm, const struct sm_warp *warp, const struct exec_uop_info *info,
                   enum exec_event event)
{
    bool acts = (info->is_async || info->is_outward) && !info->is_test;
    if (event == EXEC_BARRIER || event == EXEC_EXIT || info->reads_clock || acts) {
        repeat_moved(sm);
    } else if (info->is_branch && event == EXEC_DONE && warp->outstanding == 0 &&
               !(sm->repeats->found >> warp->slot & 1) && exec_warp_is_comparable(&warp->exec)) {
        visit(sm, warp);
    }
}

void repeat_commits(struct sm *sm, const struct sm_warp *warp, const struct exec_access *access)
{
    if (exec_access_changes(&warp->exec, access)) {
        repeat_moved(sm);
    }
}
