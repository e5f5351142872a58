/*
 * Which uops a launch without timing may execute in a row (exec/run/quick.c), decided once. Like
 * decode.c this file lies above the operations.
 */
#include "exec/decode/decode.h"

/* Values that change while a warp runs. */
static bool reads_time(const struct uop *uop)
{
    bool reads = false;
    for (uint32_t rest = uop->specials; rest; rest &= rest - 1) {
        uint16_t id = uop->special_ids[__builtin_ctz(rest)];
        reads |= id == SREG_CLOCK || id == SREG_CLOCK_HI || id == SREG_CLOCK64 ||
                 id == SREG_GLOBALTIMER || id == SREG_GLOBALTIMER_LO || id == SREG_GLOBALTIMER_HI;
    }
    return reads;
}

static enum uop_quick quick_of(const struct uop *uop)
{
    static uop_run *const registers[] = {run_lanes,  run_select, run_pred_logic,  run_compare,
                                         run_set,    run_float,  run_convert,     run_pack,
                                         run_unpack, run_carry,  run_move_vector, run_move_wide};
    uop_run *run = uop->specials ? uop->inner : uop->run;
    if (run == run_branch)
        return uop->specials ? QUICK_NO : QUICK_BRANCH;
    if (run == run_memory)
        return !uop->specials && uop->memory->shape != DIRECT_NEVER ? QUICK_ACCESS : QUICK_NO;
    if (run == run_lanes && !uop->specials)
        return QUICK_LANES;
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        if (run == registers[i])
            return reads_time(uop) ? QUICK_NO : QUICK_REGISTERS;
    return QUICK_NO;
}

void decode_quick(struct exec_program *program)
{
    for (uint32_t pc = 0; pc < program->length; pc++)
        program->uops[pc].quick = (uint8_t)quick_of(&program->uops[pc]);
}
