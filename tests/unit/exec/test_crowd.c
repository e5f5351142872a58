/*
 * CTAs without timing that wait for others of their launch: as many come in flight as the GPU
 * holds, once those that are have nothing new to do; and no others do.
 */
#include "support/exec_device.h"

#define CTAS 12u
#define LIMIT 40000000u /* warp instructions */

static uint64_t out;
static uint32_t ctas = CTAS, limit = LIMIT;

/* %c: the CTA, %a: its word of `p`, %q: the word behind all of them, a counter. */
static int run(struct device *dev, uint64_t resident, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text,
             PTX_HEAD
             ".visible .entry k(.param .u64 p) {\n"
             ".reg .u64 %%a, %%q, %%b;\n.reg .u32 %%c, %%n, %%r, %%s;\n.reg .pred %%g;\n"
             "ld.param.u64 %%b, [p];\nmov.u32 %%c, %%ctaid.x;\nmov.u32 %%n, %%nctaid.x;\n"
             "mad.wide.u32 %%a, %%c, 4, %%b;\nmad.wide.u32 %%q, %%n, 4, %%b;\n%s\nret;\n}\n",
             body);
    device_open(dev, text, "k");
    out = device_alloc(dev, 4096);
    device_arg_u64(dev, out);
    dev->launch.grid[0] = ctas;
    dev->launch.block[0] = 64;
    dev->launch.resident_ctas = resident;
    dev->options.max_warp_insns = limit;
    return exec_run_launch_with(&dev->launch, &dev->options);
}

static uint32_t word(uint32_t at)
{
    return ((const uint32_t *)device_pointer(out))[at];
}

/* All have come before one goes on. */
static const char *const all_meet = "bar.sync 0;\n"
                                    "mov.u32 %r, %tid.x;\nsetp.ne.u32 %g, %r, 0;\n@%g bra HELD;\n"
                                    "atom.global.add.u32 %r, [%q], 1;\n"
                                    "SPIN: ld.global.acquire.gpu.u32 %r, [%q];\n"
                                    "setp.lt.u32 %g, %r, %n;\n@%g bra SPIN;\n"
                                    "HELD: bar.sync 0;\nld.global.relaxed.gpu.u32 %r, [%q];\n"
                                    "st.global.u32 [%a], %r;";

static void ctas_that_meet_come_in_flight_together(void **state)
{
    (void)state;
    struct device dev;
    assert_int_equal(run(&dev, CTAS, all_meet), SONDE_OK);
    for (uint32_t i = 0; i < CTAS; i++)
        assert_int_equal(word(i), CTAS);
    device_close(&dev);
}

static void a_gpu_that_does_not_hold_them_all_spins_as_a_real_one_does(void **state)
{
    (void)state;
    struct device dev;
    limit = LIMIT / 20; /* enough for all that come, and to come together where all are held */
    assert_int_equal(run(&dev, CTAS - 1, all_meet), SONDE_EFAULT);
    limit = LIMIT;
    assert_int_equal(word(CTAS), CTAS - 1);
    device_close(&dev);
}

static void
a_cta_that_waits_for_one_behind_it_gets_it_though_the_gpu_does_not_hold_all(void **state)
{
    (void)state;
    struct device dev;
    /* An even CTA waits, by nanosleep, for what the next one leaves. */
    assert_int_equal(run(&dev, 4,
                         "and.b32 %r, %c, 1;\nsetp.eq.u32 %g, %r, 0;\n@%g bra WAIT;\n"
                         "add.u32 %r, %c, 100;\nst.global.release.gpu.u32 [%a], %r;\nret;\n"
                         "WAIT: nanosleep.u32 100;\nld.global.acquire.gpu.u32 %r, [%a+4];\n"
                         "setp.eq.u32 %g, %r, 0;\n@%g bra WAIT;\nst.global.u32 [%a], %r;"),
                     SONDE_OK);
    for (uint32_t i = 0; i < CTAS; i += 2)
        assert_int_equal(word(i), i + 101);
    device_close(&dev);
}

static void ctas_that_work_for_long_stay_alone(void **state)
{
    (void)state;
    struct device dev;
    /* Each tells how many had begun when it ended: those in front of it, and itself. */
    assert_int_equal(run(&dev, CTAS,
                         "mov.u32 %r, %tid.x;\nsetp.ne.u32 %g, %r, 0;\n@%g bra END;\n"
                         "atom.global.add.u32 %r, [%q], 1;\nmov.u32 %r, 0;\n"
                         "WORK: add.u32 %r, %r, 1;\nsetp.lt.u32 %g, %r, 300000;\n@%g bra WORK;\n"
                         "ld.global.relaxed.gpu.u32 %r, [%q];\nst.global.u32 [%a], %r;\nEND:"),
                     SONDE_OK);
    for (uint32_t i = 0; i < CTAS; i++)
        assert_int_equal(word(i), i + 1);
    device_close(&dev);
}

/* Each round but one CTA does nothing but wait, so that a round must be short: here 400 of them. */
static void ctas_each_of_which_waits_for_the_one_behind_it_do_not_spin_for_long(void **state)
{
    (void)state;
    struct device dev;
    ctas = 400;
    assert_int_equal(run(&dev, ctas,
                         "add.u32 %s, %c, 1;\nsetp.eq.u32 %g, %s, %n;\n@%g bra LAST;\n"
                         "WAIT: ld.global.acquire.gpu.u32 %r, [%a+4];\n"
                         "setp.eq.u32 %g, %r, 0;\n@%g bra WAIT;\n"
                         "LAST: st.global.release.gpu.u32 [%a], %s;"),
                     SONDE_OK);
    for (uint32_t i = 0; i < ctas; i++)
        assert_int_equal(word(i), i + 1);
    device_close(&dev);
    ctas = CTAS;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_that_meet_come_in_flight_together),
        cmocka_unit_test(a_gpu_that_does_not_hold_them_all_spins_as_a_real_one_does),
        cmocka_unit_test(
            a_cta_that_waits_for_one_behind_it_gets_it_though_the_gpu_does_not_hold_all),
        cmocka_unit_test(ctas_that_work_for_long_stay_alone),
        cmocka_unit_test(ctas_each_of_which_waits_for_the_one_behind_it_do_not_spin_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
