/*
 * What instructions take when they are lowered (ptx/lower.h), and sub-cores with units of their
 * own: on a bench (tests/support/sm_bench.h), against sums derived from the specification. A
 * measured stretch is as in test_sm.c: clock, what is measured, a volatile store that waits for it,
 * clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "support/sm_bench.h"

#define STRETCH(what)                                                                              \
    "mov.u32 %r1, %clock;\n" what "st.volatile.shared.u32 [smem], %r2;\nmov.u32 %r3, %clock;\n"    \
    "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0], %r4;\n"
#define KEEP(a, b, c, d) "st.global.v4.u32 [%rd0+16], {" a ", " b ", " c ", " d "};\n"
#define KEEP_WIDE(a, b) "st.global.v2.u64 [%rd0+32], {" a ", " b "};\n"
#define FOUR_ADDS                                                                                  \
    STRETCH("add.s32 %r5, %r9, 1;\nadd.s32 %r6, %r9, 1;\n"                                         \
            "add.s32 %r7, %r9, 1;\nadd.s32 %r8, %r9, 1;\n")                                        \
    KEEP("%r5", "%r6", "%r7", "%r8")

static struct bench b;

/* A fresh bench of the specification that b.spec says. */
static bool run(const char *body, uint32_t threads)
{
    struct sm_spec spec = b.spec;
    bench_defaults(&b);
    b.spec = spec;
    return bench_run(&b, body, 1, threads);
}

static uint32_t measure(const char *body, enum lowering lowering, uint32_t threads)
{
    b.spec.lowering = lowering;
    assert_true(run(body, threads));
    uint32_t value = b.out[0];
    bench_free(&b);
    return value;
}

static void an_operation_on_64_bits_issues_twice(void **state)
{
    (void)state;
    static const char body[] =
        STRETCH("xor.b64 %rd5, %rd9, %rd1;\nxor.b64 %rd6, %rd9, %rd2;\n") KEEP_WIDE("%rd5", "%rd6");
    bench_defaults(&b);
    assert_int_equal(measure(body, LOWERING_NONE, 1), 4);
    /* clock 0, xors 1 and 3, store 5, clock 6 */
    assert_int_equal(measure(body, LOWERING_HOPPER, 1), 6);
}

static void a_wide_product_holds_its_scheduler(void **state)
{
    (void)state;
    static const char body[] =
        STRETCH("mul.wide.u32 %rd5, %r9, %r9;\nmul.wide.u32 %rd6, %r9, %r10;\n"
                "mul.wide.u32 %rd7, %r10, %r9;\nmul.wide.u32 %rd8, %r10, %r10;\n")
            KEEP_WIDE("%rd5", "%rd6") "st.global.v2.u64 [%rd0+48], {%rd7, %rd8};\n";
    bench_defaults(&b);
    assert_int_equal(measure(body, LOWERING_NONE, 1), 6);
    /* clock 0, products 1, 4, 8 and 11, two and a half cycles more than one apart, store 15 */
    assert_int_equal(measure(body, LOWERING_HOPPER, 1), 16);
}

/* ptxas makes FLO or POPC of 32 bits one instruction, and of 64 bits several. */
static void counts_of_bits_issue_as_often_as_ptxas_has_them(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure(STRETCH("bfind.u32 %r2, %r9;\n"), LOWERING_HOPPER, 1), 12);
    assert_int_equal(measure(STRETCH("clz.b32 %r2, %r9;\n"), LOWERING_HOPPER, 1), 13);
    assert_int_equal(measure(STRETCH("bfind.u64 %r2, %rd9;\n"), LOWERING_HOPPER, 1), 13);
    assert_int_equal(measure(STRETCH("popc.b64 %r2, %rd9;\n"), LOWERING_HOPPER, 1), 14);
}

/* From a barrier with a number of threads in a register, or without, to the clock behind it. */
static uint32_t barrier_cycles(const char *barrier)
{
    char body[256];
    snprintf(body, sizeof body,
             "mov.u32 %%r9, 32;\nmov.u32 %%r1, %%clock;\n%s\nmov.u32 %%r3, %%clock;\n"
             "sub.u32 %%r4, %%r3, %%r1;\nst.global.u32 [%%rd0], %%r4;\n",
             barrier);
    bench_defaults(&b);
    b.spec.unit[UNIT_BARRIER].latency_cycles = 30;
    return measure(body, LOWERING_HOPPER, 32);
}

static void a_barrier_of_no_register_is_over_earlier(void **state)
{
    (void)state;
    assert_int_equal(barrier_cycles("bar.sync 0;"), barrier_cycles("bar.sync 0, 32;"));
    assert_int_equal(barrier_cycles("bar.sync 0, %r9;") - barrier_cycles("bar.sync 0;"), 10);
}

static void barriers_let_warps_go_one_after_the_other(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u32 %r1, %tid.x;\nbar.sync 0;\nmov.u32 %r2, %clock;\nbar.sync 0;\n"
        "shr.u32 %r3, %r1, 5;\nmul.wide.u32 %rd1, %r3, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
        "st.global.u32 [%rd1], %r2;\n";
    bench_defaults(&b);
    b.spec.barrier_release_cycles = 7;
    assert_true(run(body, 128));
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(b.out[i] - b.out[i - 1], 7);
    }
    bench_free(&b);
}

static void what_folds_takes_no_time(void **state)
{
    (void)state;
    static const char body[] = STRETCH("mul.lo.s32 %r5, %r9, %r9;\nadd.s32 %r2, %r5, %r9;\n");
    bench_defaults(&b);
    assert_int_equal(measure(body, LOWERING_NONE, 1), 1 + 10 + 10 + 1);
    assert_int_equal(measure(body, LOWERING_HOPPER, 1), 1 + 10 + 1);
}

/* Of a chain that waits for memory, the machine issues the load and what uses it. */
static void a_folded_instruction_waits_for_a_load_without_a_slot(void **state)
{
    (void)state;
    static const char body[] = "ld.volatile.global.u32 %r5, [%rd0+64];\n"
                               "shl.b32 %r6, %r5, 2;\nadd.s32 %r7, %r6, 5;\n"
                               "st.global.u32 [%rd0], %r7;\n";
    bench_defaults(&b);
    b.spec.lowering = LOWERING_HOPPER;
    assert_true(bench_run(&b, body, 1, 1));
    assert_int_equal(b.out[0], 5);
    uint64_t folded = b.stats.machine_insns;
    bench_free(&b);
    static const char apart[] = "ld.volatile.global.u32 %r5, [%rd0+64];\n"
                                "shl.b32 %r6, %r5, 2;\nadd.s32 %r7, %r6, 5;\n"
                                "st.global.u32 [%rd0], %r7;\nst.global.u32 [%rd0+4], %r6;\n";
    assert_true(run(apart, 1));
    assert_int_equal(b.stats.machine_insns, folded + 2); /* the shift, and the second store */
    bench_free(&b);
}

/* The instructions that the machine issues for a body. */
static uint64_t issued(const char *body)
{
    bench_defaults(&b);
    b.spec.lowering = LOWERING_HOPPER;
    assert_true(bench_run(&b, body, 1, 1));
    uint64_t insns = b.stats.machine_insns;
    bench_free(&b);
    return insns;
}

static void an_address_takes_its_sum_unless_the_sum_is_stored_too(void **state)
{
    (void)state;
    uint64_t plain = issued("st.global.v2.u64 [%rd0+16], {%rd1, %rd2};\n");
    assert_int_equal(issued("add.s64 %rd5, %rd0, 16;\nst.global.v2.u64 [%rd5], {%rd1, %rd2};\n"),
                     plain);
    assert_true(issued("add.s64 %rd5, %rd0, 16;\nst.global.v2.u64 [%rd5], {%rd1, %rd5};\n") >
                plain);
    assert_true(issued("add.s64 %rd5, %rd0, 16;\nst.global.u64 [%rd5], %rd5;\n") > plain);
}

static void sequences_take_their_units(void **state)
{
    (void)state;
    static const char body[] = "div.u32 %r5, %r9, %r10;\nst.global.u32 [%rd0], %r5;\n";
    bench_defaults(&b);
    b.spec.lowering = LOWERING_HOPPER;
    assert_true(bench_run(&b, body, 1, 1));
    assert_int_equal(b.stats.unit_parts[UNIT_SFU], 3 * LOWER_ONE);
    assert_int_equal(b.stats.unit_parts[UNIT_IMUL], 7 * LOWER_ONE);
    assert_int_equal(b.stats.unit_insns[UNIT_IDIV], 1); /* PTX is counted as before */
    bench_free(&b);
}

/* Of two instructions on two numbers, given as bits, between two clocks. */
static uint32_t cycles_of_two(const char *insn, const char *x, const char *y)
{
    static const char two[] = "I %r5, %r9, %r10;\nI %r6, %r9, %r10;\n", before[] = STRETCH("");
    char text[1024], *end = text + sizeof text;
    const char *clock = strchr(before, '\n') + 1;
    char *at = text + snprintf(text, sizeof text, "mov.b32 %%r9, %s;\nmov.b32 %%r10, %s;\n", x, y);
    at += snprintf(at, (size_t)(end - at), "%.*s", (int)(clock - before), before);
    for (const char *c = two; *c; c++) {
        at += *c == 'I' ? snprintf(at, (size_t)(end - at), "%s", insn)
                        : snprintf(at, (size_t)(end - at), "%c", *c);
    }
    (void)snprintf(at, (size_t)(end - at), "%s%s", clock, KEEP("%r5", "%r6", "%r9", "%r10"));
    bench_defaults(&b);
    b.spec.unit[UNIT_FDIV].latency_cycles = 60;
    b.spec.unit[UNIT_BRANCH].latency_cycles = 20;
    return measure(text, LOWERING_HOPPER, 1);
}

/* Neither needs the other's result. */
static void a_division_lets_its_warp_issue_nothing_until_it_is_over(void **state)
{
    (void)state;
    /* clock 0, divisions 1 and 61, store 121, clock 122 */
    assert_int_equal(cycles_of_two("div.rn.f32", "0x40400000", "0x40000000"), 122);
    assert_true(cycles_of_two("div.approx.f32", "0x40400000", "0x40000000") < 122);
}

/* Integer divisions overlap as far as the compiler's code does; of 16 and 64 bits not at all. */
static void independent_integer_divisions_are_as_far_apart_as_their_code(void **state)
{
    (void)state;
    uint32_t two = cycles_of_two("div.u32", "1000003", "7");
    b.spec.lowering = LOWERING_HOPPER;
    /* clock 0, divisions 1 and 44 */
    assert_true(two >= 1 + 43 + b.spec.unit[UNIT_IDIV].latency_cycles);
    assert_true(two < 1 + 2 * (43 + b.spec.unit[UNIT_IDIV].latency_cycles));
    static const char wide[] =
        STRETCH("div.u64 %rd5, %rd9, %rd1;\ndiv.u64 %rd6, %rd9, %rd2;\n") KEEP_WIDE("%rd5", "%rd6");
    static const char one[] = STRETCH("div.u64 %rd5, %rd9, %rd1;\n") KEEP_WIDE("%rd5", "%rd5");
    bench_defaults(&b);
    uint32_t alone = measure(one, LOWERING_HOPPER, 1);
    bench_defaults(&b);
    assert_true(measure(wide, LOWERING_HOPPER, 1) >= 2 * alone - 10);
}

static void a_division_of_zero_calls_a_subroutine(void **state)
{
    (void)state;
    uint32_t usual = cycles_of_two("div.rn.f32", "0x40400000", "0x40000000");
    uint64_t issued = b.stats.machine_insns;
    uint32_t jumps = 4 * 20;
    assert_int_equal(cycles_of_two("div.rn.f32", "0", "0x40000000"), usual + 2 * (143 + jumps));
    assert_int_equal(b.stats.machine_insns, issued + 2 * 36);
    /* infinity below; a subnormal number above */
    assert_int_equal(cycles_of_two("div.rn.f32", "0x40400000", "0xff800000"),
                     usual + 2 * (143 + jumps));
    assert_int_equal(cycles_of_two("div.rn.f32", "0x00000001", "0x40000000"),
                     usual + 2 * (302 + jumps));
}

static void lanes_that_do_not_execute_call_no_subroutine(void **state)
{
    (void)state;
    static const char guarded[] = "setp.eq.u32 %p1, %r9, 1;\n@%p1 div.rn.f32";
    uint32_t usual = cycles_of_two(guarded, "0x40400000", "0x40000000");
    assert_int_equal(cycles_of_two(guarded, "0", "0x40000000"), usual);
}

/* The bounds that ptxas's code compares with: 2^-101 for roots, 2^126 for reciprocals. */
static void roots_and_reciprocals_are_scaled_beyond_their_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *insn, *of;
        uint64_t more;
    } cases[] = {
        {"sqrt", "0x3f800000", 0}, {"sqrt", "0x0d000000", 0},  {"sqrt", "0x0cffffff", 28},
        {"sqrt", "0", 10},         {"sqrt", "0xbf800000", 10}, {"rcp", "0x3f800000", 0},
        {"rcp", "0xfe7fffff", 0},  {"rcp", "0xfe800000", 21},  {"rcp", "0x007fffff", 21},
        {"rcp", "0x80000000", 14},
    };
    uint64_t usual = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "mov.b32 %%r9, %s;\n%s.rn.f32 %%r5, %%r9;\nst.global.u32 [%%rd0], %%r5;\n",
                       cases[i].of, cases[i].insn);
        bench_defaults(&b);
        b.spec.lowering = LOWERING_HOPPER;
        assert_true(bench_run(&b, text, 1, 1));
        bool first = i == 0 || strcmp(cases[i].insn, cases[i - 1].insn) != 0;
        usual = first ? b.stats.machine_insns : usual;
        assert_int_equal(b.stats.machine_insns, usual + cases[i].more);
        bench_free(&b);
    }
}

/* What 40 turns more of a loop issue, with texts before its label and in its block. */
static uint64_t issued_by_40_turns(const char *before, const char *in_block)
{
    uint64_t issued[2];
    for (uint32_t i = 0; i < 2; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "ld.volatile.global.u32 %%r10, [%%rd0+64];\nadd.s32 %%r10, %%r10, %u;\n"
                       "mov.u32 %%r5, 0;\nmov.u32 %%r6, 1;\n%s\n"
                       "L:\nmad.lo.s32 %%r6, %%r6, %%r6, %%r9;\n%s\nadd.s32 %%r5, %%r5, 1;\n"
                       "setp.lt.s32 %%p1, %%r5, %%r10;\n@%%p1 bra L;\n"
                       "st.global.u32 [%%rd0], %%r6;\n",
                       i ? 80u : 40u, before, in_block);
        bench_defaults(&b);
        b.spec.lowering = LOWERING_HOPPER;
        assert_true(bench_run(&b, text, 1, 1));
        issued[i] = b.stats.machine_insns;
        bench_free(&b);
    }
    return issued[1] - issued[0];
}

static void an_unrolled_loop_counts_once_in_four_turns(void **state)
{
    (void)state;
    assert_int_equal(issued_by_40_turns("", ""), 40 + 3 * 10);
}

/* ptxas 13.0 heeds the pragma anywhere in the block that the loop jumps to, and there alone. */
static void a_loop_with_the_pragma_is_not_unrolled(void **state)
{
    (void)state;
    static const char pragma[] = ".pragma \"nounroll\";";
    assert_int_equal(issued_by_40_turns("", pragma), 4 * 40);
    assert_int_equal(issued_by_40_turns(pragma, ""), 40 + 3 * 10);
    assert_int_equal(issued_by_40_turns("", ".pragma \"other\";"), 40 + 3 * 10);
}

static void a_sub_core_has_its_share_of_the_lanes(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.schedulers = 2;
    assert_int_equal(measure(FOUR_ADDS, LOWERING_NONE, 1), 6);
    b.spec.sub_cores = 2;
    /* clock 0, adds 1, 3, 5, 7, store 8, clock 9 */
    assert_int_equal(measure(FOUR_ADDS, LOWERING_NONE, 1), 9);
    b.spec.unit[UNIT_ALU].lanes_per_cycle = 64;
    assert_int_equal(measure(FOUR_ADDS, LOWERING_NONE, 1), 6);
}

static void sub_cores_do_not_compete_for_what_each_has(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.schedulers = 2;
    b.spec.unit[UNIT_ALU].lanes_per_cycle = 32;
    b.spec.sub_cores = 2;
    uint32_t alone = measure(FOUR_ADDS, LOWERING_NONE, 32);
    assert_int_equal(measure(FOUR_ADDS, LOWERING_NONE, 64), alone);
    /* The third warp shares the first one's sub-core. */
    assert_true(measure(FOUR_ADDS, LOWERING_NONE, 96) > alone);
}

static void more_sub_cores_than_schedulers_are_refused(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.sub_cores = 2;
    assert_false(bench_run(&b, FOUR_ADDS, 1, 1));
    assert_non_null(strstr(error_text(), "sub_cores is not in 1 to schedulers"));
    bench_free(&b);
}

static void register_ports_hold_a_scheduler_until_all_is_read(void **state)
{
    (void)state;
    static const char body[] =
        STRETCH("mad.lo.s32 %r5, %r9, %r10, %r11;\n"
                "mad.lo.s32 %r6, %r9, %r11, %r10;\n") KEEP("%r5", "%r6", "%r9", "%r9");
    bench_defaults(&b);
    assert_int_equal(measure(body, LOWERING_NONE, 1), 4);
    b.spec.register_ports = 2;
    /* clock 0, mads 1 and 3, store 5, clock 6 */
    assert_int_equal(measure(body, LOWERING_NONE, 1), 6);
    b.spec.register_ports = 3;
    assert_int_equal(measure(body, LOWERING_NONE, 1), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_on_64_bits_issues_twice),
        cmocka_unit_test(a_wide_product_holds_its_scheduler),
        cmocka_unit_test(counts_of_bits_issue_as_often_as_ptxas_has_them),
        cmocka_unit_test(a_barrier_of_no_register_is_over_earlier),
        cmocka_unit_test(barriers_let_warps_go_one_after_the_other),
        cmocka_unit_test(what_folds_takes_no_time),
        cmocka_unit_test(a_folded_instruction_waits_for_a_load_without_a_slot),
        cmocka_unit_test(an_address_takes_its_sum_unless_the_sum_is_stored_too),
        cmocka_unit_test(sequences_take_their_units),
        cmocka_unit_test(a_division_lets_its_warp_issue_nothing_until_it_is_over),
        cmocka_unit_test(independent_integer_divisions_are_as_far_apart_as_their_code),
        cmocka_unit_test(a_division_of_zero_calls_a_subroutine),
        cmocka_unit_test(lanes_that_do_not_execute_call_no_subroutine),
        cmocka_unit_test(roots_and_reciprocals_are_scaled_beyond_their_bounds),
        cmocka_unit_test(an_unrolled_loop_counts_once_in_four_turns),
        cmocka_unit_test(a_loop_with_the_pragma_is_not_unrolled),
        cmocka_unit_test(a_sub_core_has_its_share_of_the_lanes),
        cmocka_unit_test(sub_cores_do_not_compete_for_what_each_has),
        cmocka_unit_test(more_sub_cores_than_schedulers_are_refused),
        cmocka_unit_test(register_ports_hold_a_scheduler_until_all_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
