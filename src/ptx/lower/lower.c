/* The pass from end to end; see ptx/lower.h. */
#include "ptx/lower/lower.h"

#include <string.h>

#include "util/container/arena.h"
#include "util/error.h"

static void each_is_one(struct lowered *out, const struct ptx_func *func)
{
    for (uint32_t pc = 0; pc < func->insn_count; pc++) {
        out[pc] = (struct lowered){.slots = LOWER_ONE, .part_count = 1};
        out[pc].part[0].unit = (uint8_t)isa_row(func->insns[pc].op)->unit;
        out[pc].part[0].slots = LOWER_ONE;
    }
}

/* Passes over a function take time in proportion to its branches times its length. */
#define INSNS_MAX 65536

int ptx_lower(struct lowered *out, const struct ptx_func *func, enum lowering generation)
{
    if (generation == LOWERING_NONE || func->insn_count == 0 || func->insn_count > INSNS_MAX) {
        each_is_one(out, func);
        return 0;
    }
    memset(out, 0, func->insn_count * sizeof *out);
    struct lower l = {.func = func, .generation = generation, .out = out};
    l.arena = arena_create();
    if (!l.arena)
        return error_memory();
    int rc = lower_facts(&l);
    rc = rc < 0 ? rc : lower_graph(&l);
    if (rc == 0) {
        lower_fold(&l);
        rc = lower_merge(&l);
    }
    if (rc == 0) {
        lower_table(&l);
        rc = lower_place(&l);
    }
    rc = rc < 0 ? rc : lower_flow(&l);
    if (rc == 0) {
        lower_balance(&l);
        lower_unroll(&l);
    }
    for (uint32_t pc = 0; rc == 0 && pc < func->insn_count; pc++) {
        out[pc].folded = out[pc].slots == 0 && (l.folded[pc] || l.dead[pc]);
        if (out[pc].slots < LOWER_ONE)
            out[pc].held = 0; /* it issues beside another */
        out[pc].early_cycles = lower_early(&l, pc);
        out[pc].late_cycles = lower_late(&l, pc);
    }
    arena_destroy(l.arena);
    return rc;
}
