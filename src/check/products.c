/*
 * Asynchronous matrix products that are not over (wgmma): the registers of their sums may be
 * neither read nor written, and shared memory that they read not be written, before the warp has
 * waited for the group that they are in (PTX ISA 9.0, 9.7.15.7). Other products may add to the same
 * sums. Registers of sums or of a that other instructions access are ordered before a product that
 * accesses them by wgmma.fence (9.7.15.7.1), as is what a warp's first product does. Without timing
 * the sums are there at once, so that nothing else would tell. Left out: products in functions that
 * the kernel calls; registers that `mov` alone accesses without a fence, since compilers write such
 * where machine code has none; registers of a that are written while a product reads them; of
 * several warps that read a place all but the last, and who of the others knows that it has waited.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"
#include "exec/ops.h"
#include "exec/program.h"

#define UNDER_WAY 64 /* of a warp; of more the oldest are forgotten */

struct products {
    struct under_way {
        uint32_t made, waited, count; /* groups; those that it waits for; products under way */
        uint32_t over;     /* those of them that are over in all warps of the warpgroup */
        bool begun;        /* a wgmma.fence has been */
        uint32_t *touched; /* by register: pc + 1 of an access since the last one */
        struct {
            uint32_t pc, group;
        } product[UNDER_WAY];
    } warp[CHECK_WARPS];
    /* The last product that reads a granule of shared memory: its group + 1 (0: none), warp, pc. */
    uint32_t *groups, *pcs;
    uint8_t *warps;
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

static void mark_vector(bool *marks, const struct ptx_operand *operand)
{
    for (uint32_t i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++)
        if (operand->elems[i].kind == OPERAND_REG)
            marks[operand->elems[i].reg] = true;
}

/* Marks the registers of sums and of a; false: there is no product in the kernel itself. */
static bool mark(bool *sums, const struct exec_program *program)
{
    const struct exec_function *kernel = program->functions[0];
    bool any = false;
    for (uint32_t pc = kernel->first_pc; pc < kernel->exit_pc; pc++) {
        if (program->infos[pc].product_columns == 0)
            continue;
        any = true;
        mark_vector(sums, &program->insns[pc]->operands[0]);
        mark_vector(sums, &program->insns[pc]->operands[1]);
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
            program->insns[pc]->op == OP_WGMMA_FENCE || uses(program, pc, is_marked, sums)) {
            launch->watch[pc] = 1;
            launch->flags[pc] |= INSN_PRODUCT;
        }
    free(sums);
    return true;
}

void products_destroy(struct products *products)
{
    if (!products)
        return;
    for (uint32_t i = 0; i < CHECK_WARPS; i++)
        free(products->warp[i].touched);
    free(products->groups);
    free(products->pcs);
    free(products->warps);
    free(products);
}

bool products_begin(struct watched_cta *cta)
{
    const struct exec_program *program = cta->launch->launch->program;
    size_t granules = (size_t)cta->granules + 1;
    size_t registers = (size_t)program->functions[0]->func->reg_count + 1;
    products_destroy(cta->products);
    struct products *p = cta->products = calloc(1, sizeof *p);
    if (!p)
        return false;
    p->groups = calloc(granules, sizeof *p->groups);
    p->pcs = calloc(granules, sizeof *p->pcs);
    p->warps = calloc(granules, 1);
    bool all = p->groups && p->pcs && p->warps;
    for (uint32_t i = 0; all && i < cta->warp_count; i++)
        all = (p->warp[i].touched = calloc(registers, sizeof *p->warp[i].touched)) != NULL;
    return all;
}

void products_read(struct watched_cta *cta, const struct exec_warp *warp, uint64_t offset,
                   uint64_t bytes)
{
    struct products *p = cta->products;
    uint32_t end, index = warp->env->warpid;
    for (uint32_t i = shared_granules(cta, offset, bytes, &end); i < end; i++) {
        p->groups[i] = p->warp[index].made + 1;
        p->warps[i] = (uint8_t)index;
        p->pcs[i] = warp->pc;
    }
}

void products_written(struct watched_cta *cta, const struct exec_warp *warp, uint32_t pc,
                      uint32_t lane, uint64_t offset, uint32_t granule)
{
    struct products *p = cta->products;
    struct check *check = cta->launch->check;
    uint32_t group = p->groups[granule];
    if (group == 0 || group <= p->warp[p->warps[granule]].over)
        return;
    struct finding *f = finding_in_shared(check, FAULT_PRODUCT_NOT_OVER, warp, pc, lane, offset);
    if (!f)
        return;
    finding_text(check, &f->what, "'%s' to shared memory that an asynchronous product reads",
                 isa_row(warp->state->program->insns[pc]->op)->name);
    finding_text(check, &f->detail, "the product is at line %d, and has not been waited for",
                 insn_line(warp->state->program, p->pcs[granule]));
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
    u->waited = u->made > left ? u->made - left : 0;
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

static void report_fence(struct watched_cta *cta, const struct exec_warp *warp, uint32_t mask,
                         uint32_t touched)
{
    struct check *check = cta->launch->check;
    struct finding *f =
        finding_at(check, FAULT_PRODUCT_FENCE, warp, warp->pc, lowest_lane(mask), 0);
    if (!f || f->count > 1)
        return;
    finding_text(check, &f->what, "asynchronous product");
    if (touched)
        finding_text(check, &f->detail,
                     "a register of it is accessed at line %d, with no wgmma.fence between",
                     insn_line(cta->launch->launch->program, touched - 1));
    else
        finding_text(check, &f->detail, "the warp has come to no wgmma.fence before");
}

/* The first access since the last fence to a register of the operand; 0: none. */
static uint32_t first_touch(const struct under_way *u, const struct ptx_operand *operand)
{
    for (uint32_t i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++)
        if (operand->elems[i].kind == OPERAND_REG && u->touched[operand->elems[i].reg])
            return u->touched[operand->elems[i].reg];
    return 0;
}

static void touch(struct under_way *u, const struct ptx_operand *operand, uint32_t pc)
{
    if (operand->kind == OPERAND_REG || (operand->kind == OPERAND_ADDR && operand->has_reg))
        u->touched[operand->reg] = pc + 1;
    for (uint32_t i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++)
        touch(u, &operand->elems[i], pc);
}

/* What a product, a fence, and every other instruction are to fences. */
static void see_fences(struct watched_cta *cta, const struct exec_warp *warp, struct under_way *u,
                       uint32_t mask)
{
    const struct exec_program *program = cta->launch->launch->program;
    const struct ptx_insn *insn = program->insns[warp->pc];
    if (insn->op == OP_WGMMA_FENCE) {
        u->begun = true;
        memset(u->touched, 0,
               ((size_t)program->functions[0]->func->reg_count + 1) * sizeof *u->touched);
    } else if (program->infos[warp->pc].product_columns > 0) {
        uint32_t touched = first_touch(u, &insn->operands[0]);
        touched = touched ? touched : first_touch(u, &insn->operands[1]);
        if (touched || !u->begun)
            report_fence(cta, warp, mask, touched);
        u->begun = true;
    } else if (insn->op != OP_MOV) {
        for (uint32_t i = 0; i < insn->operand_count; i++)
            touch(u, &insn->operands[i], warp->pc);
    }
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
    see_fences(cta, warp, u, mask);
    if (info->product_columns > 0)
        begin(u, warp->pc);
    else if (info->products == GROUPS_COMMIT)
        u->made++;
    else if (info->products == GROUPS_WAIT)
        forget(u, info->products_left);
}

/* It has waited for its first `over` groups: what all warps of its warpgroup read for these may be
 * written. */
static void groups_are_over(struct watched_cta *cta, uint32_t index, uint32_t over)
{
    for (uint64_t rest = cta_warpgroup(index); cta->products && rest; rest &= rest - 1) {
        uint32_t *known = &cta->products->warp[__builtin_ctzll(rest)].over;
        *known = over > *known ? over : *known;
    }
}

uint64_t products_released(struct watched_cta *cta, uint64_t warps)
{
    uint64_t of_products = 0;
    for (uint64_t rest = warps; rest; rest &= rest - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(rest);
        enum exec_barrier_kind kind = cta->warps[index]->barrier_kind;
        of_products |= exec_barrier_is_of_products(kind) ? rest & -rest : 0;
        if (kind == BARRIER_PRODUCTS_WAIT)
            groups_are_over(cta, index, cta->products ? cta->products->warp[index].waited : 0);
    }
    return of_products;
}
