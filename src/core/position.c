/* Where the warps of an SM are when a launch is stopped. */
#include <stdio.h>

#include "core/state.h"
#include "exec/positions.h"

static void why_not(char *out, size_t size, const struct sm_warp *warp)
{
    char what[POSITION_WHY_MAX - 8];
    if (warp->state == WARP_AT_BARRIER) {
        exec_barrier_text(what, sizeof what, &warp->exec);
        snprintf(out, size, "waits %s", what);
    } else if (warp->blocked) {
        snprintf(out, size, "waits for memory");
    } else {
        snprintf(out, size, "is running");
    }
}

void sm_positions(const struct sm *sm, struct positions *positions)
{
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        const struct sm_warp *warp = &sm->warp[i];
        char why[POSITION_WHY_MAX];
        if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER) {
            continue;
        }
        bool waits = warp->state == WARP_AT_BARRIER && warp->exec.pc > 0;
        why_not(why, sizeof why, warp);
        positions_add(positions, &warp->exec, warp->index,
                      waits ? warp->exec.pc - 1 : warp->exec.pc, why);
    }
}
