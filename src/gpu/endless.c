/*
 * Tells kernels that will never end, because all their warps do the same again and again: they spin
 * on a flag or a lock that nobody is left to change, or simply branch to where they are. (Those in
 * which nothing is pending at all, gpu_deadlock() tells.)
 *
 * Now and then the SMs look at what their warps do for a while (core/repeat.h). The grids on the
 * GPU are endless when in one such time
 *
 *   - no CTA has begun or ended, or is about to, and no warp has come to a barrier or left one;
 *   - no store, atomic or other operation has changed a byte that another warp may read, and none
 *     that could is on its way;
 *   - no clock was read, and no driver was called;
 *   - each warp that does not wait at a barrier has come back to a state in which it was.
 *
 * Memory then is what it was, and what a warp does next depends on its own state and on memory
 * alone: however long each access takes, all do for ever what they did. Blocks that wait for room
 * on the GPU never get it. Nothing is told of a warp that counts in a register, or that looks at a
 * clock: it may end; nor of one that loads or stores fragments of matrices.
 *
 * Asked only where nobody else could change memory: for the one grid of gpu_launch(), and where
 * gpu_set_alone() says so. Left out: launches of which blocks are skipped.
 *
 * To look costs; so a look comes late, ends with the first thing that speaks against an endless
 * kernel, and the next one comes after twice the time, with twice the patience.
 */
#include <inttypes.h>

#include "exec/repeat.h"
#include "gpu/state.h"
#include "util/error.h"

static const struct {
    uint64_t first_cycles; /* to the first look: most launches have ended */
    uint32_t first_visits; /* branches of a warp in it: a loop of a few, some 0.1 % of the time */
    uint64_t step_cycles;  /* from one question to the SMs to the next, while they look */
} endless = {.first_cycles = UINT64_C(1) << 20, .first_visits = 16, .step_cycles = 4096};

void gpu_endless_begin(struct gpu *gpu, uint64_t start_ps)
{
    uint64_t first_ps = endless.first_cycles * gpu->clock.period_ps;
    gpu->endless = (struct gpu_endless){
        .wait_ps = first_ps, .visits = endless.first_visits, .next_ps = start_ps + first_ps};
}

static void look_ends(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->endless.looks && i < gpu->model->sms; i++) {
        sm_repeats_end(gpu->sm[i]);
    }
    gpu->endless.looks = false;
}

void gpu_endless_end(struct gpu *gpu)
{
    look_ends(gpu);
    gpu->endless.next_ps = ENGINE_NEVER;
}

/* Who knows what has happened since the last gpu_run(). */
void gpu_endless_again(struct gpu *gpu)
{
    if (gpu->endless.looks) {
        look_ends(gpu);
        gpu->endless.next_ps += gpu->endless.wait_ps;
    }
}

/* Nothing but warps on the GPU will change memory. To ask the host takes tens of microseconds. */
static bool is_alone(const struct gpu *gpu)
{
    return gpu->is_only_grid || (gpu->alone && gpu->alone(gpu->alone_ctx));
}

/* All CTAs that have a place are there, and there are some: what only drains ends. */
static bool all_are_resident(const struct gpu *gpu)
{
    uint64_t there = 0, placed = 0;
    bool known = true;
    for (const struct gpu_grid *grid = gpu->grids; grid; grid = grid->next) {
        known = known && !grid->skips;
        placed += (grid->cta_next - grid->cta_ended) * grid->sm.needs.warps;
    }
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        there += sm_resident_warps(gpu->sm[i]);
    }
    return known && there > 0 && there == placed;
}

static bool look(struct gpu *gpu)
{
    bool looks = all_are_resident(gpu) && is_alone(gpu);
    for (uint32_t i = 0; looks && i < gpu->model->sms; i++) {
        looks = sm_repeats_begin(gpu->sm[i], gpu->endless.visits);
    }
    return looks;
}

static enum sm_repeats_state ask(const struct gpu *gpu)
{
    enum sm_repeats_state all = all_are_resident(gpu) ? SM_REPEATS_ALL : SM_REPEATS_NOT;
    for (uint32_t i = 0; all != SM_REPEATS_NOT && i < gpu->model->sms; i++) {
        enum sm_repeats_state one = sm_repeats_state(gpu->sm[i]);
        all = one < all ? one : all;
    }
    return all != SM_REPEATS_ALL || is_alone(gpu) ? all : SM_REPEATS_NOT;
}

static int tell(const struct gpu *gpu)
{
    uint64_t blocks = 0, waiting = 0;
    for (const struct gpu_grid *grid = gpu->grids; grid; grid = grid->next) {
        blocks += grid->cta_count;
        waiting += grid->cta_count - grid->cta_next;
    }
    if (waiting > 0) {
        error_set(SONDE_EFAULT, REPEAT_NO_PROGRESS REPEAT_NO_ROOM, waiting, blocks);
    } else {
        error_set(SONDE_EFAULT, REPEAT_NO_PROGRESS);
    }
    return SONDE_EFAULT;
}

int gpu_endless_check(struct gpu *gpu, uint64_t now_ps)
{
    struct gpu_endless *state = &gpu->endless;
    if (!state->looks && look(gpu)) {
        state->looks = true;
    } else {
        switch (state->looks ? ask(gpu) : SM_REPEATS_NOT) {
        case SM_REPEATS_ALL:
            return tell(gpu);
        case SM_REPEATS_OPEN:
            break;
        case SM_REPEATS_NOT:
            look_ends(gpu);
            state->wait_ps *= 2;
            state->visits = state->visits < UINT32_MAX / 4 ? state->visits * 2 : state->visits;
            state->next_ps = now_ps + state->wait_ps;
            return 0;
        }
    }
    state->next_ps = now_ps + endless.step_cycles * gpu->clock.period_ps;
    return 0;
}
