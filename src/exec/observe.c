/* What an observer asks of an instruction that is about to be issued. */
#include "exec/observe.h"

#include "exec/ops.h"

const uint32_t *exec_member_masks(const struct exec_warp *warp)
{
    const struct uop *uop = &warp->state->uops[warp->pc];
    uop_run *run = uop->run;
    bool named = uop->target != WITH_ACTIVE_LANES;
    if (run == run_warp_sync || (run == run_vote && named))
        return lanes_at(warp->state, uop->source[0]);
    if (run == run_match || run == run_redux)
        return lanes_at(warp->state, uop->source[1]);
    return run == run_shfl && named ? lanes_at(warp->state, uop->source[3]) : NULL;
}
