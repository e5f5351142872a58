/* Instructions in a row whose timing is known: see row.h. */
#include "exec/run/row.h"

#include "exec/memory/one.h"
#include "exec/program.h"

static bool is_load(const struct uop *uop)
{
    if (uop->guard != PRED_TRUE || uop->guard_flip)
        return false;
    return uop->run == run_texture ||
           (uop->run == run_memory && uop->memory->kind == ACCESS_LOAD &&
            (uop->memory->space == SPACE_GLOBAL || uop->memory->space == SPACE_CONST ||
             uop->memory->space == SPACE_LOCAL));
}

static bool moves_clock(const struct uop *uop)
{
    return uop->specials == 1 && uop->special_ids[0] == SREG_CLOCK && uop->dst_bytes == 4 &&
           uop->lanes == lanes_find(lanes_timed_table(), OP_MOV, TYPE_u32, TYPE_u32, NULL);
}

enum exec_row_kind exec_row_kind(const struct exec_program *program, uint32_t pc)
{
    const struct uop *uop = &program->uops[pc];
    const struct uop_memory *memory = uop->memory;
    if (is_load(uop))
        return ROW_LOAD;
    switch ((enum uop_quick)uop->quick) {
    case QUICK_LANES:
    case QUICK_LANES_2:
    case QUICK_LANES_3:
        return ROW_LANES;
    case QUICK_COMPARE:
    case QUICK_REGISTERS:
        return ROW_REGISTERS;
    case QUICK_BRANCH:
        return ROW_BRANCH;
    case QUICK_ACCESS:
    case QUICK_SHARED:
    case QUICK_DEVICE:
    case QUICK_PARAMETER:
        return memory->space == SPACE_SHARED && uop->guard == PRED_TRUE && !uop->guard_flip
                   ? ROW_SHARED
                   : ROW_NO;
    default:
        if (uop->run != run_special || uop->inner != run_lanes)
            return ROW_NO;
        return moves_clock(uop) ? ROW_CLOCK : ROW_TIME;
    }
}

enum exec_row_way exec_row_way(const struct exec_warp *warp, uint32_t pc)
{
    uint32_t mask = guarded_lanes(warp, &warp->state->uops[pc]);
    return mask == warp->active ? ROW_TAKEN : mask ? ROW_SPLIT : ROW_ON;
}

bool exec_row_is_straight(const struct exec_warp *warp, uint32_t count)
{
    return warp->state->reconverge - warp->pc - 1 >= count;
}

static bool shared_one(struct exec_warp *warp, const struct uop *uop)
{
    uint64_t address;
    uint32_t lane = lowest_lane(warp->active);
    if (!shared_one_finds(&address, warp, uop->memory, lane))
        return false;
    shared_one_moves(warp, uop->memory, lane, address);
    return true;
}

static inline void put_word(const struct exec_state *state, const struct uop *uop, uint32_t mask,
                            uint32_t value)
{
    lane_word *lanes = lanes_at(state, uop->dst);
    for (; mask; mask &= mask - 1)
        lanes[lowest_lane(mask)] = value;
}

uint32_t exec_row_run(struct exec_warp *warp, const struct exec_row_item *items, uint32_t count,
                      struct exec_env *env, uint64_t clock, uint64_t period_ps)
{
    const struct exec_state *state = warp->state;
    const struct uop *uop = &state->uops[warp->pc];
    for (uint32_t i = 0; i < count; i++, uop++) {
        uint32_t mask = guarded_lanes(warp, uop);
        switch ((enum exec_row_kind)items[i].kind) {
        case ROW_LANES:
            if (mask)
                lanes_run(state, uop, mask);
            warp->pc++;
            break;
        case ROW_SHARED:
            if (!shared_one(warp, uop))
                return i;
            warp->pc++;
            break;
        case ROW_CLOCK:
            env->clock = clock + items[i].cycle;
            put_word(state, uop, mask, (uint32_t)env->clock);
            warp->pc++;
            break;
        case ROW_TIME:
            env->clock = clock + items[i].cycle;
            env->globaltimer_ns = env->clock * period_ps / 1000;
            uop->run(warp, uop, mask, NULL);
            break;
        default:
            uop->run(warp, uop, mask, NULL);
            break;
        }
    }
    return count;
}
