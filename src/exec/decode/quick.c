/*
 * Which uops a launch without timing may execute in a row (exec/run/quick.c), and whether a warp's
 * registers must begin as zeros, decided once. Like decode.c this file lies above the operations.
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

static bool is_among(uop_run *run, uop_run *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (run == list[i])
            return true;
    return false;
}

bool decode_changes_registers(uop_run *run)
{
    static uop_run *const list[] = {run_lanes,  run_select, run_pred_logic,  run_compare,
                                    run_set,    run_float,  run_convert,     run_pack,
                                    run_unpack, run_carry,  run_move_vector, run_move_wide};
    return is_among(run, list, sizeof list / sizeof *list);
}

static bool is_guarded(const struct uop *uop)
{
    return uop->guard != PRED_TRUE || uop->guard_flip;
}

/* A load or store that the direct way may take. */
static enum uop_quick quick_access(const struct uop *uop)
{
    const struct uop_memory *memory = uop->memory;
    if (is_guarded(uop) || !direct_ways())
        return QUICK_ACCESS;
    if (memory->shape == DIRECT_SHARED_WORD)
        return QUICK_SHARED;
    if (memory->shape == DIRECT_DEVICE_WORD)
        return QUICK_DEVICE;
    bool parameter = memory->shape == DIRECT_FIXED && memory->space == SPACE_PARAM;
    return parameter && memory->kind == ACCESS_LOAD && memory->vec == 1 ? QUICK_PARAMETER
                                                                        : QUICK_ACCESS;
}

/* A lane loop. */
static enum uop_quick quick_loop(const struct uop *uop)
{
    if (is_guarded(uop) || uop->sources == 0 || uop->sources > 3)
        return QUICK_LANES;
    return uop->sources == 3 ? QUICK_LANES_3 : QUICK_LANES_2;
}

static enum uop_quick quick_of(const struct uop *uop)
{
    uop_run *run = uop->specials ? uop->inner : uop->run;
    if (!uop->specials && compare_is_plain(uop))
        return QUICK_COMPARE;
    if (run == run_branch)
        return uop->specials ? QUICK_NO : QUICK_BRANCH;
    if (run == run_memory)
        return !uop->specials && uop->memory->shape != DIRECT_NEVER ? quick_access(uop) : QUICK_NO;
    if (run == run_lanes && !uop->specials)
        return quick_loop(uop);
    return decode_changes_registers(run) && !reads_time(uop) ? QUICK_REGISTERS : QUICK_NO;
}

void decode_quick(struct exec_program *program)
{
    for (uint32_t pc = 0; pc < program->length; pc++)
        program->uops[pc].quick = (uint8_t)quick_of(&program->uops[pc]);
}

/* No lane reads what another has in its registers, which may never have come to write them. */
static bool reads_own_lanes(const struct uop *uop)
{
    static uop_run *const list[] = {run_memory, run_branch, run_exit,
                                    run_nop,    run_fence,  run_barrier};
    uop_run *run = uop->specials || uop->whole ? uop->inner : uop->run;
    return decode_changes_registers(run) || is_among(run, list, sizeof list / sizeof *list);
}

bool decode_needs_zero(const struct exec_program *program)
{
    bool needs = program->function_count > 1 || program->functions[0]->func->reads_unwritten;
    for (uint32_t pc = 0; pc < program->length && !needs; pc++)
        needs = !reads_own_lanes(&program->uops[pc]);
    return needs;
}
