/* Where the warps of an SM are when a launch is stopped. */
#include "core/state.h"
#include "exec/positions.h"

void sm_positions(const struct sm *sm, struct positions *positions)
{
    for (uint32_t i = 0; i < sm->max_warps; i++) {
        const struct sm_warp *warp = &sm->warp[i];
        if (warp->state == WARP_AT_BARRIER) {
            positions_add_waiting(positions, &warp->exec, warp->index);
        } else if (warp->state == WARP_RUNNING) {
            positions_add(positions, &warp->exec, warp->index, warp->exec.pc,
                          warp->blocked ? "waits for memory" : "is running");
        }
    }
}
