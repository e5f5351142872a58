/*
 * Control flow: branches, exits, traps. What happens to lanes that part is the business of
 * exec/divergence/diverge.h; here is only who goes where. Source: PTX ISA 9.0, 9.7.12.
 */
#include "exec/fault.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

static enum exec_event go(struct exec_warp *warp, uint32_t pc)
{
    bool backwards = pc <= warp->pc;
    warp->pc = pc;
    if (pc == warp->state->reconverge)
        warp->state->diverge_ops->arrive(warp);
    else if (backwards && warp->state->diverge_ops->back)
        warp->state->diverge_ops->back(warp);
    return EXEC_DONE;
}

static enum exec_event split(struct exec_warp *warp, uint32_t taken, uint32_t target,
                             uint32_t fallthrough, uint32_t reconverge)
{
    uint32_t pc = warp->pc;
    int rc = warp->state->diverge_ops->branch(warp, taken, target, fallthrough, reconverge);
    if (rc == SONDE_OK) {
        if (warp->pc <= pc && warp->state->diverge_ops->back)
            warp->state->diverge_ops->back(warp);
        return EXEC_DONE;
    }
    fault_wrap(warp, pc, rc);
    return EXEC_FAULT;
}

enum exec_event run_branch(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    (void)access;
    if (mask == warp->active)
        return go(warp, uop->target);
    if (!mask)
        return advance(warp);
    return split(warp, mask, uop->target, warp->pc + 1, uop->reconverge);
}

/*
 * brx.idx: the lanes of the lowest lane's target leave together, the others stay at this
 * instruction and find theirs when they run again.
 */
enum exec_event run_switch(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    (void)access;
    if (!mask)
        return advance(warp);
    if (mask != warp->active)
        return split(warp, mask, warp->pc, warp->pc + 1, uop->reconverge);
    const struct uop_switch *table = uop->table;
    const lane_word *index = lanes_at(warp->state, uop->source[0]);
    uint32_t first = lowest_lane(mask), same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        same |= (uint32_t)(index[lowest_lane(rest)] == index[first]) << lowest_lane(rest);
    if (index[first] >= table->count) {
        fault_set(warp, warp->pc, first, 0, "brx.idx with index %u of a list of %u labels",
                  index[first], table->count);
        return EXEC_FAULT;
    }
    if (same == mask)
        return go(warp, table->targets[index[first]]);
    return split(warp, same, table->targets[index[first]], warp->pc, uop->reconverge);
}

enum exec_event run_exit(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)uop, (void)access;
    uint32_t left = warp->active & ~mask;
    if (!mask)
        return advance(warp);
    if (left) {
        /* Those whose guard does not hold go on behind the instruction. */
        uint32_t pc = warp->pc;
        warp->state->diverge_ops->exit(warp, mask);
        return warp->pc == pc ? advance(warp) : EXEC_DONE;
    }
    warp->state->diverge_ops->exit(warp, mask);
    return warp->done ? EXEC_EXIT : EXEC_DONE;
}

enum exec_event run_trap(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)uop, (void)access;
    if (!mask)
        return advance(warp);
    fault_set(warp, warp->pc, lowest_lane(mask), 0, "trap");
    return EXEC_FAULT;
}

enum exec_event run_nop(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                        struct exec_access *access)
{
    (void)uop, (void)mask, (void)access;
    return advance(warp);
}

#define SLEEP_MAX_NS 1000000 /* PTX ISA, nanosleep */

/* The longest of the lanes' times. Whoever issues lets it pass. */
static uint32_t sleep_ns(const struct exec_warp *warp, const struct uop *uop, uint32_t mask)
{
    const lane_word *time = lanes_at(warp->state, uop->source[0]);
    uint32_t longest = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t ns = time[lowest_lane(rest)];
        longest = ns > longest ? ns : longest;
    }
    return longest < SLEEP_MAX_NS ? longest : SLEEP_MAX_NS;
}

enum exec_event run_sleep(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    const struct diverge_ops *ops = warp->state->diverge_ops;
    struct diverge_sleep sleep = {.sleeps = true};
    uint32_t ns = sleep_ns(warp, uop, mask);
    (void)access;
    if (ops->sleep && mask)
        sleep = ops->sleep(warp);
    if (sleep.sleeps && ns > warp->slept_ns)
        warp->slept_ns = ns;
    return sleep.comes_again ? EXEC_DONE : advance(warp);
}

static uint32_t reconvergence(const struct decoder *d)
{
    uint32_t pc = d->insn->reconverge;
    return pc == PTX_NO_PC || pc >= d->function->func->insn_count ? d->function->exit_pc
                                                                  : d->function->first_pc + pc;
}

static int target_pc(const struct decoder *d, uint32_t *out, uint32_t target)
{
    /* A label may stand behind the last instruction. */
    if (target > d->function->func->insn_count)
        return decode_refuse(d, "branch target %u is out of range", target);
    *out = d->function->first_pc + target;
    return SONDE_OK;
}

int decode_branch(struct decoder *d)
{
    d->uop->run = run_branch;
    d->uop->reconverge = reconvergence(d);
    return target_pc(d, &d->uop->target, d->insn->operands[0].target);
}

int decode_switch(struct decoder *d)
{
    const struct ptx_targets *list = d->insn->operands[1].targets;
    struct uop_switch *table = arena_alloc(d->arena, sizeof *table);
    uint32_t *targets = arena_array(d->arena, list->count, sizeof *targets);
    if (!table || !targets)
        return error_memory();
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < list->count; i++)
        rc = target_pc(d, &targets[i], list->pc[i]);
    table->count = list->count;
    table->targets = targets;
    d->uop->run = run_switch;
    d->uop->table = table;
    d->uop->reconverge = reconvergence(d);
    return rc == SONDE_OK ? decode_source(d, 0, &d->insn->operands[0], 4) : rc;
}

int decode_ret(struct decoder *d)
{
    bool entry = d->function->func->is_entry;
    d->info->is_exit = entry;
    d->uop->run = entry ? run_exit : run_branch;
    d->uop->target = d->uop->reconverge = d->function->exit_pc;
    return SONDE_OK;
}

int decode_exit(struct decoder *d)
{
    d->uop->run = run_exit;
    return SONDE_OK;
}

/* The uop behind a function's last instruction. */
int decode_leave(struct decoder *d)
{
    bool entry = d->function->func->is_entry;
    d->uop->run = entry ? run_exit : run_return;
    d->uop->guard = PRED_TRUE;
    d->info->unit = UNIT_BRANCH;
    d->info->is_branch = true;
    d->info->is_exit = entry;
    d->info->is_return = !entry;
    return SONDE_OK;
}

int decode_trap(struct decoder *d)
{
    d->uop->run = run_trap;
    return SONDE_OK;
}

int decode_sleep(struct decoder *d)
{
    d->uop->run = run_sleep;
    return decode_source(d, 0, &d->insn->operands[0], 4);
}

/* Instructions without an effect on values: brkpt without a debugger, warp barriers. */
int decode_nop(struct decoder *d)
{
    d->uop->run = run_nop;
    return SONDE_OK;
}
