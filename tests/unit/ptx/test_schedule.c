/* The order that a compiler gives to instructions of a block: what passes what, and how far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ptx/lower.h"
#include "ptx/schedule.h"
#include "util/error.h"
#include "util/container/strbuf.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define REGISTERS                                                                                  \
    "{\n.reg .pred %%p<8>; .reg .b32 %%r<400>; .reg .b64 %%rd<16>; .reg .f32 %%f<400>;\n"          \
    ".shared .align 4 .b8 sh[4096];\nld.param.u64 %%rd1, [p];\n"

#define LINE 12 /* of what passes() is asked of */

/* The body's instructions in their new order: the nth is the line of its n-th place. */
static struct ptx_module *schedule(const char *body)
{
    struct ptx_module *module = NULL;
    struct strbuf text = {0};
    strbuf_printf(&text, HEADER ".entry k(.param .u64 p)\n" REGISTERS "%s\n}\n", body);
    if (ptx_parse(&module, "t.ptx", strbuf_text(&text), text.length) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(ptx_schedule(module, LOWERING_HOPPER), 0);
    strbuf_free(&text);
    return module;
}

/* Where the only instruction of a kind whose first register is this one stands. */
static uint32_t place(const struct ptx_module *m, enum isa_op op, const char *reg)
{
    const struct ptx_func *f = m->funcs[0];
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        const struct ptx_insn *insn = &f->insns[pc];
        for (uint32_t i = 0; insn->op == op && i < insn->operand_count; i++)
            if ((insn->operands[i].kind == OPERAND_REG && i == (op == OP_ST ? 1u : 0u)) &&
                strcmp(f->regs[insn->operands[i].reg].name, reg) == 0)
                return pc;
    }
    fail_msg("no such instruction for %s", reg);
    return 0;
}

static void loads_come_before_the_use_of_the_first(void **state)
{
    (void)state;
    struct ptx_module *m = schedule("ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f3, %f1, %f1, %f1;\n"
                                    "ld.global.f32 %f2, [%rd1+512];\nadd.f32 %f4, %f3, %f2;\n"
                                    "st.global.f32 [%rd1], %f4;\nret;\n");
    assert_true(place(m, OP_LD, "%f2") < place(m, OP_FMA_F32, "%f3"));
    assert_true(place(m, OP_ST, "%f4") > place(m, OP_ADD_F32, "%f4"));
    ptx_module_destroy(m);
}

/* Something that is late, then a load that is not: whether the load passes it. */
static bool passes(const char *store, const char *load)
{
    struct strbuf body = {0};
    strbuf_printf(&body,
                  "mov.u32 %%r9, sh;\nadd.u64 %%rd3, %%rd1, 8;\nsqrt.approx.f32 %%f1, %%f1;\n"
                  "%s\n%s\nadd.f32 %%f4, %%f2, %%f2;\nst.global.f32 [%%rd1+64], %%f4;\nret;\n",
                  store, load);
    struct ptx_module *m = schedule(strbuf_text(&body));
    const struct ptx_func *f = m->funcs[0];
    uint32_t stored = 0, loaded = 0;
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        const struct ptx_insn *insn = &f->insns[pc];
        if (insn->loc.line == LINE)
            stored = pc;
        if (insn->loc.line == LINE + 1)
            loaded = pc;
    }
    assert_true(stored > 0 && loaded > 0);
    strbuf_free(&body);
    ptx_module_destroy(m);
    return loaded < stored;
}

static void a_load_passes_only_stores_that_it_cannot_meet(void **state)
{
    (void)state;
    assert_true(passes("st.shared.f32 [%r9], %f1;", "ld.global.f32 %f2, [%rd1];"));
    assert_true(passes("st.global.f32 [%rd1], %f1;", "ld.global.f32 %f2, [%rd1+4];"));
    assert_true(passes("st.global.f32 [%rd1], %f1;", "ld.global.nc.f32 %f2, [%rd1];"));
    assert_true(passes("st.global.f32 [%rd1], %f1;", "ld.shared.f32 %f2, [%r9];"));
    assert_false(passes("st.global.f32 [%rd1], %f1;", "ld.global.f32 %f2, [%rd1];"));
    assert_false(passes("st.global.f32 [%rd1], %f1;", "ld.global.f32 %f2, [%rd3];"));
    assert_false(passes("st.global.v2.f32 [%rd1], {%f1, %f1};", "ld.global.f32 %f2, [%rd1+4];"));
    assert_false(passes("st.shared.f32 [%r9], %f1;", "ld.f32 %f2, [%rd1];"));
    assert_false(passes("st.f32 [%rd1], %f1;", "ld.global.f32 %f2, [%rd1+4];"));
    assert_false(passes("bar.sync 0;", "ld.global.f32 %f2, [%rd1];"));
    assert_false(passes("membar.gl;", "ld.global.f32 %f2, [%rd1];"));
    assert_false(passes("st.volatile.global.f32 [%rd1], %f1;", "ld.shared.f32 %f2, [%r9];"));
    assert_false(passes("ld.volatile.global.f32 %f1, [%rd1+8];", "ld.shared.f32 %f2, [%r9];"));
    assert_false(passes("red.global.add.u32 [%rd1], 1;", "ld.global.f32 %f2, [%rd1];"));
    assert_false(passes("mov.u32 %r5, %clock;", "ld.global.f32 %f2, [%rd1];"));
    assert_false(passes("@%p1 exit;", "ld.global.f32 %f2, [%rd1];"));
}

/* Whether a load passes what is made of the one before it. */
static bool loads_pass(const char *quotient)
{
    struct strbuf body = {0};
    strbuf_printf(&body,
                  "ld.global.f32 %%f1, [%%rd1];\n%s\nld.global.f32 %%f2, [%%rd1+512];\n"
                  "add.f32 %%f4, %%f3, %%f2;\nst.global.f32 [%%rd1], %%f4;\nret;\n",
                  quotient);
    struct ptx_module *m = schedule(strbuf_text(&body));
    const struct ptx_func *f = m->funcs[0];
    uint32_t at = 0;
    while (f->insns[at].operands[0].kind != OPERAND_REG ||
           strcmp(f->regs[f->insns[at].operands[0].reg].name, "%f3") != 0)
        at++;
    bool passed = place(m, OP_LD, "%f2") < at;
    strbuf_free(&body);
    ptx_module_destroy(m);
    return passed;
}

/* ptxas 13.0, of four quotients in a row: the loads of each behind the code of the one before. */
static void nothing_passes_a_division_that_branches(void **state)
{
    (void)state;
    assert_false(loads_pass("div.rn.f32 %f3, %f1, %f1;"));
    assert_false(loads_pass("rcp.rn.f32 %f3, %f1;"));
    assert_false(loads_pass("sqrt.rn.f32 %f3, %f1;"));
    assert_true(loads_pass("div.approx.f32 %f3, %f1, %f1;"));
    assert_true(loads_pass("div.full.f32 %f3, %f1, %f1;"));
}

static void the_carry_flag_keeps_its_order(void **state)
{
    (void)state;
    struct ptx_module *m =
        schedule("ld.global.u32 %r1, [%rd1];\nadd.cc.u32 %r2, %r1, %r1;\naddc.u32 %r3, %r1, %r2;\n"
                 "add.cc.u32 %r4, %r7, %r8;\naddc.u32 %r5, %r7, %r8;\nmul.lo.u32 %r6, %r5, %r3;\n"
                 "mul.lo.u32 %r6, %r6, %r4;\nst.global.u32 [%rd1], %r6;\nret;\n");
    assert_true(place(m, OP_ADDC, "%r3") < place(m, OP_ADD_CC, "%r4"));
    assert_true(place(m, OP_ADD_CC, "%r2") < place(m, OP_ADDC, "%r3"));
    ptx_module_destroy(m);
}

/* ptxas 13.0 issues 24 of 96 loads before the first use, ten of shared memory, six of four words,
 * and more where another block has so many `words` live at once that they cost no further register.
 */
static uint32_t loads_ahead(const char *load, int step, const char *use, int lanes, int words)
{
    struct strbuf body = {0};
    strbuf_printf(&body, "mov.u32 %%r9, sh;\n");
    for (int i = 0; i < words; i++)
        strbuf_printf(&body, "ld.volatile.global.u32 %%r%d, [%%rd1];\n", 100 + i);
    for (int i = 0; i < words; i++)
        strbuf_printf(&body, "st.volatile.global.u32 [%%rd1], %%r%d;\n", 100 + i);
    strbuf_printf(&body, "bra L;\nL:\n");
    for (int i = 0; i < 96; i++) {
        int f = 1 + lanes * i;
        if (lanes == 1)
            strbuf_printf(&body, "%s %%f%d, [%s+%d];\n", load, f, use, step * i);
        else
            strbuf_printf(&body, "%s {%%f%d, %%f%d, %%f%d, %%f%d}, [%s+%d];\n", load, f, f + 1,
                          f + 2, f + 3, use, step * i);
        for (int k = 0; k < lanes; k++)
            strbuf_printf(&body, "fma.rn.f32 %%f0, %%f%d, %%f%d, %%f0;\n", f + k, f + k);
    }
    strbuf_printf(&body, "st.global.f32 [%%rd1], %%f0;\nret;\n");
    struct ptx_module *m = schedule(strbuf_text(&body));
    const struct ptx_func *func = m->funcs[0];
    uint32_t count = 0;
    for (uint32_t pc = 0; func->insns[pc].op != OP_FMA_F32; pc++)
        count += func->insns[pc].op == OP_LD && func->insns[pc].space[0] != SPACE_PARAM;
    assert_in_range(func->register_count, 1, words > 28 ? words + 16 : 36);
    strbuf_free(&body);
    ptx_module_destroy(m);
    return count - (uint32_t)words;
}

static void registers_bound_how_far_loads_go(void **state)
{
    (void)state;
    assert_in_range(loads_ahead("ld.global.f32", 512, "%rd1", 1, 0), 24, 28);
    assert_in_range(loads_ahead("ld.global.v4.f32", 512, "%rd1", 4, 0), 5, 7);
    assert_in_range(loads_ahead("ld.shared.f32", 32, "%r9", 1, 0), 8, 12);
}

/* ptxas 13.0: 41, 63, 75 of 96. */
static void registers_that_another_block_needs_are_used_by_loads(void **state)
{
    (void)state;
    assert_in_range(loads_ahead("ld.global.f32", 512, "%rd1", 1, 20), 24, 28);
    assert_in_range(loads_ahead("ld.global.f32", 512, "%rd1", 1, 40), 38, 44);
    assert_in_range(loads_ahead("ld.global.f32", 512, "%rd1", 1, 60), 59, 67);
    assert_in_range(loads_ahead("ld.shared.f32", 32, "%r9", 1, 60), 8, 12);
}

/* ptxas 13.0 makes generic loads of them, of which it does not know where they lead: 25, 63. */
static void loads_from_a_cluster_are_issued_as_early_as_global_ones(void **state)
{
    (void)state;
    assert_in_range(loads_ahead("ld.shared::cluster.f32", 32, "%r9", 1, 0), 24, 28);
    assert_in_range(loads_ahead("ld.shared::cluster.f32", 32, "%r9", 1, 60), 59, 67);
}

/* Thirty values that a loop leaves alone; its own eight loads are under way together even so. */
static void what_a_block_does_not_touch_does_not_bound_it(void **state)
{
    (void)state;
    struct strbuf body = {0};
    for (int i = 0; i < 30; i++)
        strbuf_printf(&body, "ld.global.u32 %%r%d, [%%rd1+%d];\n", 100 + i, 4 * i);
    strbuf_append(&body, "mov.f32 %f0, 0f00000000;\nL:\n");
    for (int i = 1; i <= 8; i += 2)
        strbuf_printf(&body,
                      "ld.global.f32 %%f%d, [%%rd1+%d];\nld.global.f32 %%f%d, [%%rd1+%d];\n"
                      "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n",
                      i, 512 * i, i + 1, 512 * i + 512, i + 10, i, i + 1, i == 1 ? 0 : i + 8);
    strbuf_append(&body, "mov.f32 %f0, %f17;\nadd.s64 %rd1, %rd1, 4;\n"
                         "setp.lt.u64 %p1, %rd1, %rd2;\n@%p1 bra L;\n");
    for (int i = 0; i < 30; i++)
        strbuf_printf(&body, "st.global.u32 [%%rd1+%d], %%r%d;\n", 4 * i, 100 + i);
    strbuf_append(&body, "st.global.f32 [%rd1], %f0;\nret;");
    struct ptx_module *m = schedule(strbuf_text(&body));
    assert_true(place(m, OP_LD, "%f8") < place(m, OP_FMA_F32, "%f11"));
    ptx_module_destroy(m);
    strbuf_free(&body);
}

static enum isa_unit unit_of(const struct ptx_module *m, uint32_t pc)
{
    static struct lowered lowered[64];
    assert_int_equal(ptx_lower(lowered, m->funcs[0], LOWERING_HOPPER), 0);
    assert_true(lowered[pc].part_count > 0);
    return (enum isa_unit)lowered[pc].part[0].unit;
}

static void an_atomic_without_users_is_a_reduction(void **state)
{
    (void)state;
    struct ptx_module *m =
        schedule("atom.global.add.u32 %r1, [%rd1], 1;\n@%p1 atom.global.add.u32 %r2, [%rd1], 1;\n"
                 "atom.global.add.u32 %r3, [%rd1], 1;\natom.global.add.u32 %r4, [%rd1], %r4;\n"
                 "st.global.u32 [%rd1], %r3;\nret;\n");
    uint32_t sinks = 0;
    for (uint32_t pc = 0; pc < m->funcs[0]->insn_count; pc++)
        sinks += m->funcs[0]->insns[pc].operand_count > 0 &&
                 m->funcs[0]->insns[pc].operands[0].kind == OPERAND_SINK;
    assert_int_equal(sinks, 2);
    (void)place(m, OP_ATOM_ADD, "%r3");
    (void)place(m, OP_ATOM_ADD, "%r4");
    ptx_module_destroy(m);
}

/* Of the card's adds half go to the multiplier. */
static void adds_are_dealt_out_to_two_pipes(void **state)
{
    (void)state;
    struct ptx_module *m = schedule("ld.global.u32 %r1, [%rd1];\n"
                                    "add.s32 %r3, %r1, 3;\nadd.s32 %r4, %r1, 4;\n"
                                    "add.s32 %r5, %r1, 5;\nadd.s32 %r6, %r1, 6;\n"
                                    "st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};\nret;\n");
    static const char *const sums[] = {"%r3", "%r4", "%r5", "%r6"};
    uint32_t multiplier = 0;
    for (int i = 0; i < 4; i++)
        multiplier += unit_of(m, place(m, OP_ADD, sums[i])) == UNIT_IMUL;
    assert_int_equal(multiplier, 2);
    ptx_module_destroy(m);
}

/* Most loads of global memory that one block has before what first needs one. */
static uint32_t most_loads_ahead(const struct ptx_func *f)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        uint32_t count = 0;
        for (uint32_t pc = f->blocks[b].first;
             pc <= f->blocks[b].last && f->insns[pc].op != OP_FMA_F32; pc++)
            count += f->insns[pc].op == OP_LD && f->insns[pc].space[0] == SPACE_GLOBAL;
        most = count > most ? count : most;
    }
    return most;
}

/* A sum over a row, with something in its body, and how it counts. */
static uint32_t loads_of_a_loop(const char *body, const char *step, const char *test)
{
    struct strbuf text = {0};
    strbuf_printf(
        &text,
        "mov.u32 %%r2, %%tid.x;\nld.global.u32 %%r3, [%%rd1];\nmov.f32 %%f0, 0f00000000;\n"
        "L:\nmul.wide.u32 %%rd2, %%r2, 4;\nadd.s64 %%rd3, %%rd1, %%rd2;\n"
        "ld.global.f32 %%f1, [%%rd3];\n%sfma.rn.f32 %%f0, %%f1, %%f1, %%f0;\n%s\n%s\n"
        "@%%p1 bra L;\nst.global.f32 [%%rd1], %%f0;\nret;\n",
        body, step, test);
    struct ptx_module *m = schedule(strbuf_text(&text));
    uint32_t most = most_loads_ahead(m->funcs[0]);
    strbuf_free(&text);
    ptx_module_destroy(m);
    return most;
}

static void a_loop_that_counts_loads_for_four_turns(void **state)
{
    (void)state;
    const char *up = "add.s32 %r2, %r2, 32;", *less = "setp.lt.u32 %p1, %r2, %r3;";
    assert_int_equal(loads_of_a_loop("", up, less), 4);
    assert_int_equal(loads_of_a_loop("", "add.s32 %r2, %r2, -1;", "setp.ne.s32 %p1, %r2, 0;"), 4);
    assert_int_equal(loads_of_a_loop("", "shl.b32 %r2, %r2, 1;", less), 1); /* counts otherwise */
    assert_int_equal(loads_of_a_loop("", up, "setp.lt.u32 %p1, %r3, %r2;"), 1);
    assert_int_equal(loads_of_a_loop("bar.sync 0;\n", up, less), 1);
    assert_int_equal(loads_of_a_loop("@%p2 add.s32 %r4, %r4, 1;\n", up, less), 1);
    assert_int_equal(loads_of_a_loop("selp.s32 %r4, 1, 2, %p1;\n", up, less), 1);
    assert_int_equal(loads_of_a_loop("sqrt.rn.f32 %f1, %f1;\n", up, less), 1);
}

static const struct ptx_insn *at_line(const struct ptx_module *m, uint32_t line, uint32_t *pc)
{
    const struct ptx_func *f = m->funcs[0];
    for (*pc = 0; *pc < f->insn_count; ++*pc)
        if ((uint32_t)f->insns[*pc].loc.line == line)
            return &f->insns[*pc];
    return NULL;
}

#define BODY_LINE 9 /* of the first line of a body */

/* A branch over what is skipped, between loads and stores. */
static struct ptx_module *schedule_if(const char *skipped)
{
    struct strbuf body = {0};
    strbuf_printf(&body,
                  "ld.global.f32 %%f1, [%%rd1];\nmov.u32 %%r9, sh;\nsetp.eq.u32 %%p1, %%r1, 3;\n"
                  "st.shared.f32 [%%r9], %%f1;\n@%%p1 bra over;\n%s\nover:\nbar.sync 0;\n"
                  "ld.shared.f32 %%f8, [%%r9+8];\nst.global.f32 [%%rd1+64], %%f8;\nret;\n",
                  skipped);
    struct ptx_module *m = schedule(strbuf_text(&body));
    strbuf_free(&body);
    return m;
}

/* Whether nothing is left of that branch. */
static bool is_predicated(const char *skipped)
{
    struct ptx_module *m = schedule_if(skipped);
    uint32_t pc;
    bool gone = !at_line(m, BODY_LINE + 4, &pc);
    ptx_module_destroy(m);
    return gone;
}

/* As ptxas does: of a stencil that loads its border under conditions all loads come first. */
static void loads_behind_short_branches_are_issued_together(void **state)
{
    (void)state;
    struct ptx_module *m = schedule_if("add.u64 %rd2, %rd1, %rd3;\nld.global.nc.f32 %f2, [%rd2];\n"
                                       "st.shared.f32 [%r9+4], %f2;");
    uint32_t first, load, add, store;
    assert_non_null(at_line(m, BODY_LINE + 3, &first));
    const struct ptx_insn *insn = at_line(m, BODY_LINE + 5, &add);
    assert_int_equal(insn->guard, -1); /* nobody else reads the address */
    insn = at_line(m, BODY_LINE + 6, &load);
    assert_true(insn->guard >= 0 && insn->guard_negate && insn->own_result);
    insn = at_line(m, BODY_LINE + 7, &store);
    assert_true(insn->guard >= 0 && insn->guard_negate);
    assert_true(load < first && first < store);
    assert_int_equal(m->funcs[0]->block_count, 1);
    ptx_module_destroy(m);
    /* What another place reads keeps its old value where the branch is taken. */
    m = schedule_if("add.f32 %f2, %f1, %f1;\nst.shared.f32 [%r9+4], %f2;\nadd.f32 %f8, %f2, %f2;");
    assert_true(at_line(m, BODY_LINE + 5, &add)->guard == -1);
    insn = at_line(m, BODY_LINE + 7, &add);
    assert_true(insn->guard >= 0 && !insn->own_result);
    ptx_module_destroy(m);
}

static void sides_of_an_if_with_else_get_either_predicate(void **state)
{
    (void)state;
    struct ptx_module *m =
        schedule("ld.global.f32 %f1, [%rd1];\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra over;\n"
                 "st.shared.f32 [%r9+4], %f1;\nbra end;\nover:\nst.shared.f32 [%r9+8], %f1;\n"
                 "end:\nbar.sync 0;\nret;\n");
    uint32_t pc;
    assert_null(at_line(m, BODY_LINE + 2, &pc));
    assert_null(at_line(m, BODY_LINE + 4, &pc));
    const struct ptx_insn *one = at_line(m, BODY_LINE + 3, &pc);
    const struct ptx_insn *two = at_line(m, BODY_LINE + 6, &pc);
    assert_non_null(one);
    assert_non_null(two);
    assert_true(one->guard >= 0 && one->guard == two->guard);
    assert_true(one->guard_negate && !two->guard_negate && one->side != two->side);
    ptx_module_destroy(m);
}

static void what_is_not_predicated_keeps_its_branch(void **state)
{
    (void)state;
    assert_true(is_predicated("st.shared.f32 [%r9+4], %f1;"));
    assert_false(is_predicated("atom.shared.add.u32 %r4, [%r9+4], 1;")); /* is not for nothing */
    assert_false(is_predicated("setp.eq.u32 %p1, %r2, 3;\n@%p1 st.shared.f32 [%r9+4], %f1;"));
    assert_false(is_predicated("setp.eq.u32 %p1, %r2, 3;\nst.shared.f32 [%r9+4], %f1;"));
    assert_false(is_predicated("ex2.approx.f32 %f2, %f1;\nex2.approx.f32 %f2, %f2;\n"
                               "ex2.approx.f32 %f2, %f2;\nex2.approx.f32 %f2, %f2;\n"
                               "ex2.approx.f32 %f2, %f2;\nst.shared.f32 [%r9+4], %f2;")); /* long */
}

/* Parameters, constants in the bank, addresses that loads add up: none has a register. */
static void registers_are_those_of_the_machine(void **state)
{
    (void)state;
    struct strbuf body = {0};
    strbuf_printf(&body, "ld.global.f32 %%f1, [%%rd1];\n");
    for (int i = 0; i < 60; i++)
        strbuf_printf(&body, "mov.f32 %%f%d, 0f3F8%05X;\n", 100 + i, i + 1);
    for (int i = 0; i < 60; i++)
        strbuf_printf(&body, "fma.rn.f32 %%f1, %%f1, %%f%d, %%f1;\n", 100 + i);
    strbuf_printf(&body, "st.global.f32 [%%rd1], %%f1;\nret;\n");
    struct ptx_module *m = schedule(strbuf_text(&body));
    assert_in_range(m->funcs[0]->register_count, 1, 16);
    ptx_module_destroy(m);
    strbuf_clear(&body);
    for (int i = 0; i < 60; i++)
        strbuf_printf(&body, "ld.global.f32 %%f%d, [%%rd1+%d];\n", 100 + i, 4 * i);
    for (int i = 0; i < 60; i++)
        strbuf_printf(&body, "st.global.f32 [%%rd1+%d], %%f%d;\n", 4 * ((i + 7) % 60), 100 + i);
    strbuf_printf(&body, "ret;\n");
    m = schedule(strbuf_text(&body));
    assert_in_range(m->funcs[0]->register_count, 50, 70);
    ptx_module_destroy(m);
    strbuf_free(&body);
}

/* The processor's time, in seconds, that so many branches one after the other take to lower. */
static double seconds_of_branches(int branches)
{
    struct ptx_module *module = NULL;
    struct strbuf text = {0};
    strbuf_printf(&text, HEADER ".entry k(.param .u64 p)\n" REGISTERS "mov.u32 %%r2, %%tid.x;\n");
    for (int i = 0; i < branches; i++)
        strbuf_printf(&text,
                      "setp.eq.u32 %%p1, %%r2, %d;\n@%%p1 bra L%d;\nld.global.u32 %%r4, [%%rd1];\n"
                      "add.u32 %%r3, %%r3, %%r4;\nbar.sync 0;\nL%d:\n",
                      i, i, i);
    strbuf_printf(&text, "st.global.u32 [%%rd1], %%r3;\nret;\n}\n");
    if (ptx_parse(&module, "t.ptx", strbuf_text(&text), text.length) < 0)
        fail_msg("%s", error_text());
    clock_t begin = clock();
    assert_int_equal(ptx_schedule(module, LOWERING_HOPPER), 0);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ptx_module_destroy(module);
    strbuf_free(&text);
    return seconds;
}

/* Four times as many may take up to thirty times as long: sixteen would be quadratic, and what
 * walked from each branch to all before it took over forty. */
static void many_branches_are_lowered_in_time(void **state)
{
    (void)state;
    double few = seconds_of_branches(1500), many = seconds_of_branches(6000);
    if (many > 30 * (few > 0.005 ? few : 0.005))
        fail_msg("1500 branches take %.3f s, 6000 take %.3f s", few, many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_come_before_the_use_of_the_first),
        cmocka_unit_test(a_load_passes_only_stores_that_it_cannot_meet),
        cmocka_unit_test(nothing_passes_a_division_that_branches),
        cmocka_unit_test(the_carry_flag_keeps_its_order),
        cmocka_unit_test(registers_bound_how_far_loads_go),
        cmocka_unit_test(registers_that_another_block_needs_are_used_by_loads),
        cmocka_unit_test(loads_from_a_cluster_are_issued_as_early_as_global_ones),
        cmocka_unit_test(what_a_block_does_not_touch_does_not_bound_it),
        cmocka_unit_test(an_atomic_without_users_is_a_reduction),
        cmocka_unit_test(a_loop_that_counts_loads_for_four_turns),
        cmocka_unit_test(adds_are_dealt_out_to_two_pipes),
        cmocka_unit_test(loads_behind_short_branches_are_issued_together),
        cmocka_unit_test(sides_of_an_if_with_else_get_either_predicate),
        cmocka_unit_test(what_is_not_predicated_keeps_its_branch),
        cmocka_unit_test(registers_are_those_of_the_machine),
        cmocka_unit_test(many_branches_are_lowered_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
