/* Lanes that part and meet: every thread must see the control flow of a thread that runs alone. */
#include "support/exec_device.h"

#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"

static void check(const char *text, uint32_t (*want)(uint32_t t))
{
    struct device dev;
    uint64_t *out = device_results(&dev, text, 96);
    for (uint32_t t = 0; t < 96; t++)
        if ((uint32_t)out[t] != want(t))
            fail_msg("thread %u: %x, not %x", t, (uint32_t)out[t], want(t));
    device_close(&dev);
}

static uint32_t want_if(uint32_t t)
{
    return (t % 3 == 0 ? t * 2 : t + 100) + 1;
}

static void both_sides_of_an_if_run_and_meet(void **state)
{
    (void)state;
    check(KERNEL("", "rem.u32 %r0, %t, 3; setp.ne.u32 %p0, %r0, 0; @%p0 bra ELSE;\n"
                     "mul.lo.u32 %r1, %t, 2; bra JOIN;\n"
                     "ELSE: add.u32 %r1, %t, 100;\n"
                     "JOIN: add.u32 %r1, %r1, 1;\n" STORE32("%r1")),
          want_if);
}

static uint32_t want_meet(uint32_t t)
{
    (void)t;
    return 0xffffffff;
}

static void all_lanes_are_active_again_after_an_if(void **state)
{
    (void)state;
    check(KERNEL("", "rem.u32 %r0, %t, 3; setp.ne.u32 %p0, %r0, 0; @%p0 bra ELSE;\n"
                     "setp.gt.u32 %p1, %t, 16; @%p1 bra IN; mov.u32 %r2, 1; IN: mov.u32 %r3, 1;\n"
                     "bra JOIN;\n"
                     "ELSE: mov.u32 %r2, 3;\n"
                     "JOIN: activemask.b32 %r1;\n" STORE32("%r1")),
          want_meet);
}

static uint32_t want_nested(uint32_t t)
{
    uint32_t r = 0;
    if (t & 1) {
        r += 1;
        if (t & 2)
            r += 2;
        else if (t & 4)
            r += 4;
        r += 8;
    } else if (t & 8) {
        r += 16;
    }
    return r;
}

static void nested_ifs_keep_their_lanes_apart(void **state)
{
    (void)state;
    check(KERNEL("",
                 "mov.u32 %r0, 0; and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra EVEN;\n"
                 "add.u32 %r0, %r0, 1; and.b32 %r1, %t, 2; setp.eq.u32 %p1, %r1, 0; @%p1 bra NO2;\n"
                 "add.u32 %r0, %r0, 2; bra DONE2;\n"
                 "NO2: and.b32 %r1, %t, 4; setp.eq.u32 %p2, %r1, 0; @%p2 bra DONE2;\n"
                 "add.u32 %r0, %r0, 4;\n"
                 "DONE2: add.u32 %r0, %r0, 8; bra JOIN;\n"
                 "EVEN: and.b32 %r1, %t, 8; setp.eq.u32 %p3, %r1, 0; @%p3 bra JOIN;\n"
                 "add.u32 %r0, %r0, 16;\n"
                 "JOIN:\n" STORE32("%r0")),
          want_nested);
}

static uint32_t want_collatz(uint32_t t)
{
    uint32_t steps = 0;
    for (uint32_t n = t + 1; n != 1; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

static void a_loop_runs_as_often_as_each_lane_needs(void **state)
{
    (void)state;
    check(KERNEL("", "mov.u32 %r0, 0; add.u32 %r1, %t, 1;\n"
                     "LOOP: setp.eq.u32 %p0, %r1, 1; @%p0 bra DONE;\n"
                     "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra HALF;\n"
                     "mad.lo.u32 %r1, %r1, 3, 1; bra NEXT;\n"
                     "HALF: shr.u32 %r1, %r1, 1;\n"
                     "NEXT: add.u32 %r0, %r0, 1; bra LOOP;\n"
                     "DONE:\n" STORE32("%r0")),
          want_collatz);
}

static uint32_t want_break(uint32_t t)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 50; i++) {
        for (uint32_t k = 0; k < 50; k++) {
            sum++;
            if (k == t % 7 + i)
                break;
        }
        if (i == t)
            return sum + 1000;
    }
    return sum;
}

static void breaks_out_of_nested_loops_and_early_stores_hold(void **state)
{
    (void)state;
    check(KERNEL("", "mov.u32 %r0, 0; mov.u32 %r1, 0; rem.u32 %r4, %t, 7;\n"
                     "OUTER: mov.u32 %r2, 0; add.u32 %r5, %r4, %r1;\n"
                     "INNER: add.u32 %r0, %r0, 1; setp.eq.u32 %p0, %r2, %r5; @%p0 bra BROKEN;\n"
                     "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 50; @%p1 bra INNER;\n"
                     "BROKEN: setp.eq.u32 %p2, %r1, %t; @%p2 bra EARLY;\n"
                     "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 50; @%p3 bra OUTER;\n" STORE32(
                         "%r0") "ret;\n"
                                "EARLY: add.u32 %r0, %r0, 1000;\n" STORE32("%r0")),
          want_break);
}

static uint32_t want_exit(uint32_t t)
{
    return t % 5 == 0 ? 11 : t % 2 ? 22 : 33;
}

static void lanes_that_exit_leave_the_others_running(void **state)
{
    (void)state;
    check(KERNEL("", "mov.u32 %r0, 11;\n" STORE32(
                         "%r0") "rem.u32 %r1, %t, 5; setp.eq.u32 %p0, %r1, 0; @%p0 exit;\n"
                                "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;\n"
                                "mov.u32 %r0, 22;\n" STORE32(
                                    "%r0") "exit;\n"
                                           "EVEN: mov.u32 %r0, 33;\n" STORE32("%r0")),
          want_exit);
}

static uint32_t want_switch(uint32_t t)
{
    return t % 4 == 3 ? 5 : 10 * (t % 4) + 7;
}

static void brx_idx_sends_every_lane_to_its_label(void **state)
{
    (void)state;
    check(KERNEL("", "rem.u32 %r0, %t, 4; mov.u32 %r1, 5; setp.eq.u32 %p0, %r0, 3;\n"
                     "TS: .branchtargets L0, L1, L2;\n"
                     "@!%p0 brx.idx %r0, TS; bra JOIN;\n"
                     "L0: mov.u32 %r1, 7; bra JOIN;\n"
                     "L1: mov.u32 %r1, 17; bra JOIN;\n"
                     "L2: mov.u32 %r1, 27;\n"
                     "JOIN:\n" STORE32("%r1")),
          want_switch);
}

static void brx_idx_past_its_list_is_a_fault(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(
        &dev, KERNEL("", "TS: .branchtargets L0, L0; brx.idx %t, TS; L0: mov.u32 %r0, 1;\n"), 32);
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
    assert_error_has("brx.idx with index 2 of a list of 2 labels");
    assert_error_has("thread (2,0,0)");
    device_close(&dev);
}

static void twenty_thousand_divergent_iterations_come_to_their_end(void **state)
{
    (void)state;
    struct device dev;
    /* each iteration splits and meets again; the last lane leaves after 20000 */
    uint64_t *out = device_results(
        &dev,
        KERNEL("", "mov.u32 %r0, 0; mad.lo.u32 %r3, %t, 600, 1400;\n"
                   "LOOP: and.b32 %r1, %r0, %t; setp.eq.u32 %p0, %r1, 0; @%p0 bra SKIP;\n"
                   "add.u32 %r2, %r2, 1; SKIP: add.u32 %r0, %r0, 1;\n"
                   "setp.lt.u32 %p1, %r0, %r3; @%p1 bra LOOP;\n" STORE32("%r0")),
        32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(out[t], t * 600 + 1400);
    device_close(&dev);
}

static void an_endless_loop_ends_at_the_instruction_budget(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev, KERNEL("", "LOOP: bra LOOP;\n"), 32);
    dev.options.max_warp_insns = 5000;
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
    assert_error_has("stopped after 5000 warp instructions");
    device_close(&dev);
}

static void an_endless_loop_can_be_interrupted(void **state)
{
    (void)state;
    struct device dev;
    volatile int interrupt = 1;
    device_kernel(&dev, KERNEL("", "LOOP: bra LOOP;\n"), 32);
    dev.options.max_warp_insns = 0;
    dev.options.interrupt = &interrupt;
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EINTERRUPTED);
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_an_if_run_and_meet),
        cmocka_unit_test(all_lanes_are_active_again_after_an_if),
        cmocka_unit_test(nested_ifs_keep_their_lanes_apart),
        cmocka_unit_test(a_loop_runs_as_often_as_each_lane_needs),
        cmocka_unit_test(breaks_out_of_nested_loops_and_early_stores_hold),
        cmocka_unit_test(lanes_that_exit_leave_the_others_running),
        cmocka_unit_test(brx_idx_sends_every_lane_to_its_label),
        cmocka_unit_test(brx_idx_past_its_list_is_a_fault),
        cmocka_unit_test(twenty_thousand_divergent_iterations_come_to_their_end),
        cmocka_unit_test(an_endless_loop_ends_at_the_instruction_budget),
        cmocka_unit_test(an_endless_loop_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
