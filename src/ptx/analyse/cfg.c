/*
 * The control-flow graph of a function. A block ends at a branch, at an unguarded ret, exit or
 * trap, and before every branch target. A guarded exit does not end a block: its threads disappear,
 * the others go on, and no reconvergence has to wait for the dead.
 */
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "util/container/arena.h"
#include "util/error.h"

static bool ends_block(const struct ptx_insn *insn)
{
    return insn_is_branch(insn) || (insn_ends_thread(insn) && insn->guard < 0);
}

/* The pcs that a branch may go to; *count of them. */
static const uint32_t *branch_targets(uint32_t *count, const struct ptx_insn *insn)
{
    if (insn->op == OP_BRX_IDX) {
        *count = insn->operands[1].targets->count;
        return insn->operands[1].targets->pc;
    }
    *count = 1;
    return &insn->operands[0].target;
}

/* Marks the first instruction of every block. */
static void mark_leaders(uint8_t *leader, const struct ptx_func *f)
{
    leader[0] = 1;
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        const struct ptx_insn *insn = &f->insns[pc];
        uint32_t count = 0;
        const uint32_t *targets = insn_is_branch(insn) ? branch_targets(&count, insn) : NULL;
        for (uint32_t i = 0; i < count; i++)
            leader[targets[i]] = 1;
        if (ends_block(insn) && pc + 1 < f->insn_count)
            leader[pc + 1] = 1;
    }
}

static int add_successors(struct ptx_block *block, const struct ptx_func *f,
                          const uint32_t *block_of, struct arena *arena)
{
    const struct ptx_insn *last = &f->insns[block->last];
    uint32_t count = 0;
    const uint32_t *targets = insn_is_branch(last) ? branch_targets(&count, last) : NULL;
    bool falls = block->last + 1 < f->insn_count && (!ends_block(last) || last->guard >= 0);
    block->succ = arena_array(arena, (size_t)count + 1, sizeof *block->succ);
    if (block->succ == NULL)
        return SONDE_ENOMEM;
    if (falls)
        block->succ[block->succ_count++] = block_of[block->last + 1];
    for (uint32_t i = 0; i < count; i++)
        block->succ[block->succ_count++] = block_of[targets[i]];
    return 0;
}

int func_build_cfg(struct ptx_func *f, struct arena *arena)
{
    uint8_t *leader = arena_alloc(arena, f->insn_count);
    uint32_t *block_of = arena_array(arena, f->insn_count, sizeof *block_of);
    uint32_t count = 0;
    if (leader == NULL || block_of == NULL)
        return SONDE_ENOMEM;
    mark_leaders(leader, f);
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        count += leader[pc];
        block_of[pc] = count - 1;
    }
    f->block_count = count;
    f->blocks = arena_array(arena, count, sizeof *f->blocks);
    if (f->blocks == NULL)
        return SONDE_ENOMEM;
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        struct ptx_block *block = &f->blocks[block_of[pc]];
        if (leader[pc])
            block->first = pc;
        block->last = pc;
    }
    for (uint32_t i = 0; i < count; i++)
        if (add_successors(&f->blocks[i], f, block_of, arena) < 0)
            return SONDE_ENOMEM;
    return 0;
}

int func_analyse(struct ptx_func *func, struct arena *arena)
{
    int code = func_build_cfg(func, arena);
    if (code == 0)
        code = func_find_ipdoms(func);
    return code < 0 ? code : func_assign_slots(func);
}
