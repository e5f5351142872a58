/*
 * Results that are later where they are needed than in the unit that has them (ptx/lower/late.c),
 * branches whose lanes may part, and branches that nobody takes: on a bench
 * (tests/support/sm_bench.h), by differences of two bodies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"

enum { GUARD_MORE = 9, OTHER_PIPE_MORE = 1, MEETING = 15, TAKEN = 20, FALLS = 5 };

/* %r9 and %r10 come from memory, %r11 is each lane's own. What is measured ends with %r2. */
#define STRETCH(what)                                                                              \
    "ld.volatile.global.u32 %r9, [%rd0+64];\nld.volatile.global.u32 %r10, [%rd0+68];\n"            \
    "mov.u32 %r11, %tid.x;\nadd.u32 %r8, %r9, %r10;\nst.volatile.shared.u32 [smem], %r8;\n"        \
    "mov.u32 %r1, %clock;\n" what "st.volatile.shared.u32 [smem], %r2;\nmov.u32 %r3, %clock;\n"    \
    "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0], %r4;\n"

static struct bench b;

static uint32_t branch_lanes; /* a cycle; 0: those of the bench */

static uint32_t measure(const char *body)
{
    bench_defaults(&b);
    if (branch_lanes) {
        b.spec.unit[UNIT_BRANCH].lanes_per_cycle = branch_lanes;
    }
    b.spec.lowering = LOWERING_HOPPER_LATE;
    b.spec.unit[UNIT_BRANCH].latency_cycles = TAKEN;
    b.spec.fall_through_cycles = FALLS;
    assert_true(bench_run(&b, body, 1, 1));
    uint32_t value = b.out[0];
    bench_free(&b);
    return value;
}

static void a_predicate_is_later_where_it_guards_than_where_it_selects(void **state)
{
    (void)state;
    uint32_t selects =
        measure(STRETCH("setp.gt.u32 %p1, %r9, %r10;\nselp.u32 %r2, %r9, %r10, %p1;\n"));
    uint32_t guards = measure(STRETCH("mov.u32 %r2, %r10;\nsetp.gt.u32 %p1, %r9, %r10;\n"
                                      "@%p1 mul.hi.u32 %r2, %r9, %r10;\n"));
    assert_int_equal(guards, selects + GUARD_MORE);
}

static void what_goes_to_the_other_pipe_is_later(void **state)
{
    (void)state;
    uint32_t stays = measure(STRETCH("xor.b32 %r5, %r9, %r10;\nshl.b32 %r6, %r5, %r10;\n"
                                     "xor.b32 %r2, %r6, %r9;\n"));
    uint32_t goes_and_comes = measure(
        STRETCH("xor.b32 %r5, %r9, %r10;\nmul.lo.u32 %r6, %r5, %r10;\nxor.b32 %r2, %r6, %r9;\n"));
    uint32_t latency = b.spec.unit[UNIT_IMUL].latency_cycles;
    assert_int_equal(latency, b.spec.unit[UNIT_SHIFT].latency_cycles);
    assert_int_equal(goes_and_comes, stays + 2 * OTHER_PIPE_MORE);
}

/* So many stores to shared memory are not predicated. */
#define STORE "st.volatile.shared.u32 [smem+4], %r9;\n"
#define STORES STORE STORE STORE STORE STORE STORE STORE STORE STORE STORE STORE STORE
#define OVER                                                                                       \
    STRETCH("setp.eq.u32 %p1, %r12, 0;\n@%p1 bra OVER;\n" STORES "OVER:\nadd.u32 %r2, %r9, "       \
            "%r10;\n")

static void lanes_that_may_part_say_where_they_meet_and_wait_there(void **state)
{
    (void)state;
    uint32_t together = measure("mov.u32 %r12, %ctaid.x;\n" OVER);
    uint32_t apart = measure("mov.u32 %r12, %tid.x;\n" OVER);
    assert_int_equal(apart, together + MEETING + 2); /* and two slots */
}

/* A unit that a branch holds for 16 cycles is free behind one that goes on to what follows. */
static void a_branch_that_nobody_takes_does_not_hold_its_unit(void **state)
{
    (void)state;
#define PAST(n) "@%p1 bra OVER" n ";\n" STORES "OVER" n ":\n"
#define PASSES(what)                                                                               \
    "mov.u32 %r12, %ctaid.x;\nsetp.ne.u32 %p1, %r12, 0;\n" STRETCH(what "add.u32 %r2, %r9, "       \
                                                                        "%r10;\n")
    static const char one[] = PASSES(PAST("1")), two[] = PASSES(PAST("1") PAST("2"));
    branch_lanes = 32;
    uint32_t more = measure(two) - measure(one);
    branch_lanes = 2;
    assert_int_equal(measure(two) - measure(one), more);
    branch_lanes = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_predicate_is_later_where_it_guards_than_where_it_selects),
        cmocka_unit_test(what_goes_to_the_other_pipe_is_later),
        cmocka_unit_test(lanes_that_may_part_say_where_they_meet_and_wait_there),
        cmocka_unit_test(a_branch_that_nobody_takes_does_not_hold_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
