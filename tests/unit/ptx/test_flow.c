/* Control flow, post-dominators, reconvergence, liveness and slots of small functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ir.h"
#include "util/error.h"
#include "util/container/strbuf.h"

#define HEADER ".version 8.0\n.target sm_75\n.address_size 64\n"
#define REGISTERS                                                                                  \
    "{\n.reg .pred %%p<8>; .reg .b32 %%r<160>; .reg .b64 %%rd<16>; .reg .f64 %%fd<4>;\n"

static struct ptx_module *parse(const char *body)
{
    struct ptx_module *module = NULL;
    struct strbuf text = {0};
    strbuf_printf(&text, HEADER ".entry k(.param .u64 p)\n" REGISTERS "%s\n}\n", body);
    if (ptx_parse(&module, "t.ptx", strbuf_text(&text), text.length) < 0)
        fail_msg("%s", error_text());
    strbuf_free(&text);
    return module;
}

/* The function's register of this name. */
static const struct ptx_reg *reg(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->funcs[0]->reg_count; i++)
        if (strcmp(m->funcs[0]->regs[i].name, name) == 0)
            return &m->funcs[0]->regs[i];
    fail_msg("no register %s", name);
    return NULL;
}

static void if_and_else_meet_behind_both(void **state)
{
    (void)state;
    struct ptx_module *m = parse("@%p0 bra E;\n"                     /* 0 */
                                 "mov.u32 %r0, 1;\nbra.uni J;\n"     /* 1 2 */
                                 "E: mov.u32 %r0, 2;\n"              /* 3 */
                                 "J: add.s32 %r1, %r0, 1;\nret;\n"); /* 4 5 */
    const struct ptx_func *f = m->funcs[0];
    assert_int_equal(f->insn_count, 6);
    assert_int_equal(f->block_count, 4);
    assert_int_equal(f->insns[0].reconverge, 4);
    assert_int_equal(f->insns[0].operands[0].target, 3);
    assert_int_equal(f->insns[2].reconverge, 4);
    ptx_module_destroy(m);
}

static void a_loop_meets_behind_its_exit(void **state)
{
    (void)state;
    struct ptx_module *m = parse("mov.u32 %r0, 0;\n"
                                 "L: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 10;\n@%p0 bra L;\n"
                                 "mov.u32 %r1, %r0;\nret;\n");
    assert_int_equal(m->funcs[0]->insns[3].reconverge, 4);
    ptx_module_destroy(m);
}

static void an_early_return_meets_at_the_exit(void **state)
{
    (void)state;
    struct ptx_module *m = parse("@%p0 bra A;\nret;\nA: mov.u32 %r0, 1;\nret;\n");
    assert_int_equal(m->funcs[0]->insns[0].reconverge, PTX_NO_PC);
    ptx_module_destroy(m);
}

static void a_guarded_exit_does_not_move_reconvergence(void **state)
{
    (void)state;
    struct ptx_module *m = parse("@%p0 bra A;\n@%p1 exit;\nA: mov.u32 %r0, 1;\nret;\n");
    assert_int_equal(m->funcs[0]->block_count, 3);
    assert_int_equal(m->funcs[0]->insns[0].reconverge, 2);
    ptx_module_destroy(m);
}

static void a_trap_does_not_move_reconvergence(void **state)
{
    (void)state;
    struct ptx_module *m = parse("@%p0 bra A;\n@%p1 bra B;\ntrap;\nB: mov.u32 %r0, 2;\n"
                                 "A: mov.u32 %r1, 1;\nret;\n");
    assert_int_equal(m->funcs[0]->insns[0].reconverge, 4);
    assert_int_equal(m->funcs[0]->insns[1].reconverge, 3);
    ptx_module_destroy(m);
}

static void an_indexed_branch_meets_behind_all_its_targets(void **state)
{
    (void)state;
    struct ptx_module *m = parse("ts: .branchtargets A, B, C;\nbrx.idx %r0, ts;\n"
                                 "A: mov.u32 %r1, 1;\nbra D;\nB: mov.u32 %r1, 2;\nbra D;\n"
                                 "C: mov.u32 %r1, 3;\nD: mov.u32 %r2, %r1;\nret;\n");
    const struct ptx_func *f = m->funcs[0];
    assert_int_equal(f->insns[0].operands[1].targets->count, 3);
    assert_int_equal(f->insns[0].operands[1].targets->pc[2], 5);
    assert_int_equal(f->insns[0].reconverge, 6);
    ptx_module_destroy(m);
}

/* Two entries into a cycle: no natural loop, post-dominators exist all the same. */
static void an_irreducible_cycle_has_post_dominators(void **state)
{
    (void)state;
    struct ptx_module *m = parse("@%p0 bra B;\n"                /* 0 */
                                 "A: @%p1 bra X;\n"             /* 1 */
                                 "B: @%p2 bra A;\n"             /* 2 */
                                 "X: mov.u32 %r0, 1;\nret;\n"); /* 3 */
    const struct ptx_func *f = m->funcs[0];
    assert_int_equal(f->insns[0].reconverge, 3);
    assert_int_equal(f->insns[1].reconverge, 3);
    assert_int_equal(f->insns[2].reconverge, 3);
    ptx_module_destroy(m);
}

static void endless_loops_are_analysed(void **state)
{
    (void)state;
    struct ptx_module *m = parse("L: @%p0 bra M;\nmov.u32 %r0, 1;\nM: bra L;\n");
    assert_int_equal(m->funcs[0]->insns[0].reconverge, 2);
    ptx_module_destroy(m);
}

/*
 * Post-dominators by definition: b post-dominates a if no path from a to the exit avoids b; checked
 * by deleting b. Random graphs; the nearest one is the one that all others post-dominate.
 */
static bool reaches_exit(const struct ptx_func *f, uint32_t from, uint32_t without)
{
    uint8_t *seen = calloc(f->block_count, 1);
    uint32_t *stack = calloc(f->block_count + 1, sizeof *stack), depth = 0;
    bool found = false;
    if (from != without) {
        stack[depth++] = from;
        seen[from] = 1;
    }
    while (depth > 0 && !found) {
        const struct ptx_block *b = &f->blocks[stack[--depth]];
        found = b->succ_count == 0;
        for (uint32_t i = 0; i < b->succ_count; i++)
            if (b->succ[i] != without && !seen[b->succ[i]]) {
                seen[b->succ[i]] = 1;
                stack[depth++] = b->succ[i];
            }
    }
    free(seen);
    free(stack);
    return found;
}

static uint32_t slow_ipdom(const struct ptx_func *f, uint32_t block)
{
    for (uint32_t b = 0; b < f->block_count; b++) {
        if (b == block || reaches_exit(f, block, b))
            continue;
        bool nearest = true; /* no other post-dominator lies between */
        for (uint32_t c = 0; c < f->block_count && nearest; c++)
            if (c != block && c != b && !reaches_exit(f, block, c))
                nearest = !reaches_exit(f, b, c);
        if (nearest)
            return b;
    }
    return PTX_NO_PC;
}

static void random_graphs_have_the_post_dominators_of_the_definition(void **state)
{
    (void)state;
    uint32_t seed = 12345;
    int checked = 0;
    for (int round = 0; round < 600; round++) {
        struct strbuf body = {0};
        uint32_t count = 3 + round % 14;
        for (uint32_t i = 0; i < count; i++) {
            seed = seed * 1664525 + 1013904223;
            strbuf_printf(&body, "L%u: @%%p0 bra L%u;\n", i, (seed >> 16) % count);
            if ((seed >> 8) % 5 == 0)
                strbuf_printf(&body, "bra L%u;\n", (seed >> 4) % count);
        }
        struct ptx_module *m = parse(strbuf_text(&body));
        const struct ptx_func *f = m->funcs[0];
        bool ends =
            true; /* an endless loop counts as a way out, which the definition does not know */
        for (uint32_t b = 0; b < f->block_count; b++)
            ends = ends && reaches_exit(f, b, PTX_NO_PC);
        checked += ends;
        for (uint32_t b = 0; b < f->block_count && ends; b++)
            assert_int_equal(f->blocks[b].ipdom, slow_ipdom(f, b));
        ptx_module_destroy(m);
        strbuf_free(&body);
    }
    assert_true(checked > 60);
}

static void values_that_live_together_have_different_slots(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse("mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r0, %r1;\nret;\n");
    assert_int_not_equal(reg(m, "%r0")->slot, reg(m, "%r1")->slot);
    assert_int_equal(m->funcs[0]->register_count, 2);
    ptx_module_destroy(m);
}

static void a_dead_value_gives_its_slot_away(void **state)
{
    (void)state;
    struct ptx_module *m = parse("mov.u32 %r0, 1;\nst.global.u32 [%rd0], %r0;\n"
                                 "mov.u32 %r1, 2;\nst.global.u32 [%rd0], %r1;\nret;\n");
    assert_int_equal(reg(m, "%r0")->slot, reg(m, "%r1")->slot);
    assert_int_equal(m->funcs[0]->register_count, 3);
    ptx_module_destroy(m);
}

static void a_result_never_shares_a_slot_with_its_sources(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse("mov.u32 %r0, 1;\ncvt.u64.u32 %rd0, %r0;\nst.global.u64 [%rd0], %rd0;\nret;\n");
    assert_true(reg(m, "%r0")->slot != reg(m, "%rd0")->slot &&
                reg(m, "%r0")->slot != reg(m, "%rd0")->slot + 1);
    ptx_module_destroy(m);
}

static void wide_values_take_aligned_pairs(void **state)
{
    (void)state;
    struct ptx_module *m = parse(
        "mov.u32 %r0, 1;\nmov.u64 %rd0, 1;\nmov.u32 %r1, 1;\nmov.f64 %fd0, 0d0000000000000000;\n"
        "st.global.u32 [%rd0], %r0;\nst.global.u32 [%rd0], %r1;\n"
        "st.global.f64 [%rd0], %fd0;\nret;\n");
    assert_int_equal(reg(m, "%rd0")->slot % 2, 0);
    assert_int_equal(reg(m, "%fd0")->slot % 2, 0);
    assert_int_equal(m->funcs[0]->register_count, 6);
    assert_int_equal(m->funcs[0]->slot_count, 6);
    ptx_module_destroy(m);
}

static void a_loop_keeps_what_its_next_round_needs(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse("mov.u32 %r0, 5;\nmov.u32 %r1, 0;\n"
              "L: add.u32 %r2, %r1, 7;\nst.shared.u32 [%r2], %r2;\n"
              "add.u32 %r1, %r1, %r0;\nsetp.lt.u32 %p0, %r1, 100;\n@%p0 bra L;\nret;\n");
    assert_int_not_equal(reg(m, "%r0")->slot, reg(m, "%r1")->slot);
    assert_int_not_equal(reg(m, "%r0")->slot, reg(m, "%r2")->slot);
    assert_int_not_equal(reg(m, "%r1")->slot, reg(m, "%r2")->slot);
    assert_int_equal(m->funcs[0]->register_count, 3);
    ptx_module_destroy(m);
}

static void a_guarded_write_keeps_the_old_value_alive(void **state)
{
    (void)state;
    struct ptx_module *m = parse("mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nst.shared.u32 [%r1], %r1;\n"
                                 "@%p0 mov.u32 %r0, 3;\nst.shared.u32 [%r0], %r0;\nret;\n");
    assert_int_not_equal(reg(m, "%r0")->slot, reg(m, "%r1")->slot);
    ptx_module_destroy(m);
}

static void predicates_have_slots_of_their_own(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse("setp.eq.u32 %p0|%p1, %r0, 1;\nsetp.eq.u32 %p2, %r0, 2;\n"
              "and.pred %p3, %p0, %p1;\nor.pred %p4, %p3, %p2;\n@%p4 exit;\nret;\n");
    assert_int_equal(m->funcs[0]->pred_count, 4);
    assert_int_not_equal(reg(m, "%p0")->slot, reg(m, "%p1")->slot);
    assert_int_not_equal(reg(m, "%p0")->slot, reg(m, "%p3")->slot);
    ptx_module_destroy(m);
}

static void unused_registers_have_no_slot_and_ranges_cost_nothing(void **state)
{
    (void)state;
    struct ptx_module *m = parse(".reg .b32 unused;\n.reg .b64 %big<4000000000>;\n"
                                 "mov.u64 %big3999999999, 1;\nret;\n");
    assert_int_equal(reg(m, "unused")->slot, -1);
    assert_int_equal(m->funcs[0]->reg_count, 2);
    assert_int_equal(m->funcs[0]->slot_count, 2);
    ptx_module_destroy(m);
}

/* What an instruction of the programs below does with a register. */
static bool reads(const struct ptx_insn *insn, uint32_t r)
{
    for (int i = 1; i < insn->operand_count; i++)
        if (insn->operands[i].kind == OPERAND_REG && (uint32_t)insn->operands[i].reg == r)
            return true;
    return false;
}

static bool writes(const struct ptx_insn *insn, uint32_t r)
{
    return insn->op != OP_BRA && insn->operand_count > 0 && (uint32_t)insn->operands[0].reg == r;
}

/* Marks the pcs before which a register is live: some path leads from there to a read of it without
 * a write on the way. */
static void mark_live(uint8_t *live, const struct ptx_func *f, uint32_t r)
{
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t pc = f->insn_count; pc-- > 0;) {
            const struct ptx_insn *insn = &f->insns[pc];
            bool is_branch = insn->op == OP_BRA, ends = insn->op == OP_RET;
            bool behind = (!ends && live[pc + 1]) || (is_branch && live[insn->operands[0].target]);
            bool now = (!is_branch && reads(insn, r)) || (behind && !writes(insn, r));
            grew = grew || now != live[pc];
            live[pc] = now;
        }
    }
}

/* The most registers that are live at once, or written where others stay live. */
static uint32_t slow_pressure(const struct ptx_func *f)
{
    uint32_t *before = calloc(f->insn_count + 1, sizeof *before), most = 0;
    uint32_t *at = calloc(f->insn_count + 1, sizeof *at);
    uint8_t *live = malloc(f->insn_count + 1);
    for (uint32_t r = 0; r < f->reg_count; r++) {
        if (f->regs[r].type == TYPE_pred)
            continue;
        memset(live, 0, f->insn_count + 1);
        mark_live(live, f, r);
        for (uint32_t pc = 0; pc < f->insn_count; pc++) {
            const struct ptx_insn *insn = &f->insns[pc];
            bool is_branch = insn->op == OP_BRA;
            before[pc] += live[pc];
            at[pc] += (insn->op != OP_RET && live[pc + 1]) || writes(insn, r) ||
                      (is_branch && live[insn->operands[0].target]);
        }
    }
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        most = before[pc] > most ? before[pc] : most;
        most = at[pc] > most ? at[pc] : most;
    }
    free(before);
    free(at);
    free(live);
    return most;
}

/*
 * Slots against liveness by definition: run a random program by hand, once with registers and once
 * with slots, and compare what every instruction reads.
 */
static void slots_carry_the_same_values_as_registers(void **state)
{
    (void)state;
    uint32_t seed = 99;
    for (int round = 0; round < 100; round++) {
        /* Of many registers liveness has more than one word a block. */
        const uint32_t count = round % 4 == 0 ? 150 : 12;
        struct strbuf body = {0};
        for (uint32_t i = 0; i < count; i++)
            strbuf_printf(&body, "mov.u32 %%r%u, %u;\n", i, i);
        for (uint32_t i = 0; i < 40; i++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t d = (seed >> 8) % count, a = (seed >> 14) % count, b = (seed >> 20) % count;
            strbuf_printf(&body, "L%u: add.u32 %%r%u, %%r%u, %%r%u;\n", i, d, a, b);
            if (seed % 7 == 0)
                strbuf_printf(&body, "@%%p0 bra L%u;\n", (seed >> 10) % 40);
        }
        struct ptx_module *m = parse(strbuf_text(&body));
        const struct ptx_func *f = m->funcs[0];
        uint32_t regs[256] = {0}, slots[512] = {0}, pc = 0;
        for (int step = 0; step < 400 && pc < f->insn_count; step++) {
            const struct ptx_insn *insn = &f->insns[pc++];
            seed = seed * 1664525 + 1013904223;
            if (insn->op == OP_BRA && (seed >> 16) % 2)
                pc = insn->operands[0].target;
            if (insn->op == OP_MOV || insn->op == OP_ADD) {
                uint32_t by_reg = 0, by_slot = 0;
                for (int i = 1; i < insn->operand_count; i++) {
                    const struct ptx_operand *o = &insn->operands[i];
                    by_reg += o->kind == OPERAND_IMM ? (uint32_t)o->imm : regs[o->reg];
                    by_slot +=
                        o->kind == OPERAND_IMM ? (uint32_t)o->imm : slots[f->regs[o->reg].slot];
                }
                assert_int_equal(by_reg, by_slot);
                regs[insn->operands[0].reg] = by_reg;
                slots[f->regs[insn->operands[0].reg].slot] = by_slot;
            }
        }
        assert_true(f->register_count <= f->slot_count);
        assert_int_equal(f->register_count, slow_pressure(f));
        ptx_module_destroy(m);
        strbuf_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_and_else_meet_behind_both),
        cmocka_unit_test(a_loop_meets_behind_its_exit),
        cmocka_unit_test(an_early_return_meets_at_the_exit),
        cmocka_unit_test(a_guarded_exit_does_not_move_reconvergence),
        cmocka_unit_test(a_trap_does_not_move_reconvergence),
        cmocka_unit_test(an_indexed_branch_meets_behind_all_its_targets),
        cmocka_unit_test(an_irreducible_cycle_has_post_dominators),
        cmocka_unit_test(endless_loops_are_analysed),
        cmocka_unit_test(random_graphs_have_the_post_dominators_of_the_definition),
        cmocka_unit_test(values_that_live_together_have_different_slots),
        cmocka_unit_test(a_dead_value_gives_its_slot_away),
        cmocka_unit_test(a_result_never_shares_a_slot_with_its_sources),
        cmocka_unit_test(wide_values_take_aligned_pairs),
        cmocka_unit_test(a_loop_keeps_what_its_next_round_needs),
        cmocka_unit_test(a_guarded_write_keeps_the_old_value_alive),
        cmocka_unit_test(predicates_have_slots_of_their_own),
        cmocka_unit_test(unused_registers_have_no_slot_and_ranges_cost_nothing),
        cmocka_unit_test(slots_carry_the_same_values_as_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
