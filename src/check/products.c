/*
 * Asynchronous matrix products that are not over (wgmma): the registers of their sums may be
 * neither read nor written before the warp has waited for the group that they are in (PTX
 * ISA 9.0, 9.7.15.7). Other products may add to the same sums. Without timing the sums are there at
 * once, so that nothing else would tell. Left out: products in functions that the kernel calls;
 * registers of a; shared memory that is written while a product reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "exec/ops.h"
#include "exec/program.h"

#define UNDER_WAY 64 /* of a warp; of more the oldest are forgotten */

struct products {
    struct under_way {
        uint32_t made, count; /* groups; products under way */
        struct {
            uint32_t pc, group;
        } product[UNDER_WAY];
    } warp[CHECK_WARPS];
};

typedef bool register_test(const void *ctx, int32_t reg);

/* Whether a register of an operand passes. */
static bool any_register(const struct ptx_operand *operand, register_test *test, const void *ctx)
{
    switch (operand->kind) {
    case OPERAND_REG:
        return test(ctx, operand->reg);
    case OPERAND_ADDR:
        return operand->has_reg && test(ctx, operand->reg);
    case OPERAND_VECTOR:
        for (uint32_t i = 0; i < operand->count; i++)
            if (any_register(&operand->elems[i], test, ctx))
                return true;
        return false;
    default:
        return false;
    }
}

/* Of a product all operands but its sums. */
static bool uses(const struct exec_program *program, uint32_t pc, register_test *test,
                 const void *ctx)
{
    const struct ptx_insn *insn = program->insns[pc];
    for (uint32_t i = program->infos[pc].product_columns > 0; i < insn->operand_count; i++)
        if (any_register(&insn->operands[i], test, ctx))
            return true;
    return false;
}

static bool is_marked(const void *ctx, int32_t reg)
{
    const bool *sums = ctx;
    return sums[reg];
}

static bool is_same(const void *ctx, int32_t reg)
{
    const int32_t *other = ctx;
    return *other == reg;
}

static bool is_of_product(const void *ctx, int32_t reg)
{
    return any_register(ctx, is_same, &reg);
}

/* Marks the registers of sums; false: there is no product in the kernel itself. */
static bool mark(bool *sums, const struct exec_program *program)
{
    const struct exec_function *kernel = program->functions[0];
    bool any = false;
    for (uint32_t pc = kernel->first_pc; pc < kernel->exit_pc; pc++) {
        const struct ptx_operand *d = &program->insns[pc]->operands[0];
        if (program->infos[pc].product_columns == 0 || d->kind != OPERAND_VECTOR)
            continue;
        any = true;
        for (uint32_t i = 0; i < d->count; i++)
            if (d->elems[i].kind == OPERAND_REG)
                sums[d->elems[i].reg] = true;
    }
    return any;
}

bool products_watch(struct check_launch *launch)
{
    const struct exec_program *program = launch->launch->program;
    const struct exec_function *kernel = program->functions[0];
    bool *sums = calloc((size_t)kernel->func->reg_count + 1, sizeof *sums);
    if (!sums)
        return false;
    launch->products = mark(sums, program);
    for (uint32_t pc = kernel->first_pc; launch->products && pc < kernel->exit_pc; pc++)
        if (program->infos[pc].product_columns > 0 || program->infos[pc].products ||
            uses(program, pc, is_marked, sums)) {
            launch->watch[pc] = 1;
            launch->flags[pc] |= INSN_PRODUCT;
        }
    free(sums);
    return true;
}

bool products_begin(struct watched_cta *cta)
{
    free(cta->products);
    cta->products = calloc(1, sizeof *cta->products);
    return cta->products != NULL;
}

static void report(struct watched_cta *cta, const struct exec_warp *warp, uint32_t mask,
                   uint32_t product_pc)
{
    struct check *check = cta->launch->check;
    uint32_t lane = lowest_lane(mask);
    struct finding *f = finding_at(check, FAULT_PRODUCT_NOT_OVER, warp, warp->pc, lane, 0);
    if (!f || f->count > 1)
        return;
    const struct exec_program *program = cta->launch->launch->program;
    finding_text(check, &f->what, "'%s' on a register of an asynchronous product's sums",
                 isa_row(program->insns[warp->pc]->op)->name);
    finding_text(check, &f->detail, "the product is at line %d, and has not been waited for",
                 program->insns[product_pc]->loc.line);
}

/* All but the youngest groups are over. */
static void forget(struct under_way *u, uint32_t left)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->count; i++)
        if (u->product[i].group + left >= u->made)
            u->product[kept++] = u->product[i];
    u->count = kept;
}

static void begin(struct under_way *u, uint32_t pc)
{
    if (u->count == UNDER_WAY) {
        memmove(u->product, u->product + 1, (UNDER_WAY - 1) * sizeof *u->product);
        u->count--;
    }
    u->product[u->count].pc = pc;
    u->product[u->count++].group = u->made;
}

void products_issue(struct watched_cta *cta, const struct exec_warp *warp, uint32_t mask)
{
    const struct exec_program *program = cta->launch->launch->program;
    const struct exec_uop_info *info = exec_uop_info(program, warp->pc);
    struct under_way *u = &cta->products->warp[warp->env->warpid];
    if (!mask)
        return; /* guarded off: it multiplies, commits and waits for nothing */
    for (uint32_t i = 0; i < u->count; i++) {
        const struct ptx_insn *product = program->insns[u->product[i].pc];
        if (uses(program, warp->pc, is_of_product, &product->operands[0])) {
            report(cta, warp, mask, u->product[i].pc);
            break;
        }
    }
    if (info->product_columns > 0)
        begin(u, warp->pc);
    else if (info->products == GROUPS_COMMIT)
        u->made++;
    else if (info->products == GROUPS_WAIT)
        forget(u, info->products_left);
}
