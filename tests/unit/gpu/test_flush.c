/* L1s that keep what is written: it is in memory when the grid is over, and that takes its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

#define CTAS 8
#define LINES_OF_CTA 32

static struct gpu_bench g;

/* Lane i of a CTA stores a word into line i of its own. */
static const char stores[] = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
                             "mad.lo.u32 %r1, %r1, 32, %r2;\nmul.wide.u32 %rd1, %r1, 128;\n"
                             "add.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r1;\n";
static const char loads[] = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
                            "mad.lo.u32 %r1, %r1, 32, %r2;\nmul.wide.u32 %rd1, %r1, 128;\n"
                            "add.u64 %rd1, %rd1, %rd0;\nld.global.u32 %r3, [%rd1];\n";

static void build_with(enum write_policy policy, enum address_kind address)
{
    assert_true(gpu_bench_load(&g, "gtx560ti"));
    g.model->l1_data.write = policy;
    g.model->l1_data.address = address;
    assert_int_equal(g.model->l1_data.line_bytes, 128);
    assert_true(gpu_bench_build(&g));
}

static void build(enum write_policy policy)
{
    build_with(policy, ADDRESS_VIRTUAL);
}

/* Writes that L2 has seen of one more launch. */
static uint64_t writes_of_ctas(const char *body, uint32_t ctas)
{
    struct gpu_stats before, after;
    gpu_stats(g.gpu, &before);
    assert_true(gpu_bench_run(&g, body, ctas, LINES_OF_CTA));
    gpu_stats(g.gpu, &after);
    return after.l2_writes - before.l2_writes;
}

static uint64_t writes_of(const char *body)
{
    return writes_of_ctas(body, CTAS);
}

static void what_a_grid_has_written_is_in_memory_when_it_is_over(void **state)
{
    (void)state;
    build(WRITE_BACK_WHOLE);
    assert_int_equal(writes_of(stores), CTAS * LINES_OF_CTA);
    for (uint32_t i = 0; i < CTAS * LINES_OF_CTA; i++) {
        assert_int_equal(g.buffer[i * 32], i);
    }
    assert_int_equal(writes_of(loads), 0);
    gpu_bench_free(&g);
}

static void other_policies_write_nothing_at_the_end(void **state)
{
    (void)state;
    build(WRITE_BACK);
    assert_int_equal(writes_of(stores), 0);
    gpu_bench_free(&g);
}

static uint64_t cycles_of(enum write_policy policy, const char *body, uint32_t ctas)
{
    build(policy);
    assert_true(gpu_bench_run(&g, body, ctas, LINES_OF_CTA));
    uint64_t cycles = g.cycles;
    gpu_bench_free(&g);
    return cycles;
}

/* One CTA runs with memory as one group, several apart from it. */
static void the_grid_is_over_when_all_is_written(void **state)
{
    (void)state;
    for (uint32_t ctas = 1; ctas <= CTAS; ctas += CTAS - 1) {
        assert_true(cycles_of(WRITE_BACK_WHOLE, stores, ctas) >
                    cycles_of(WRITE_BACK, stores, ctas) + LINES_OF_CTA);
        assert_int_equal(cycles_of(WRITE_BACK_WHOLE, loads, ctas),
                         cycles_of(WRITE_BACK, loads, ctas));
    }
}

/* Cycles that two stores to one line hold their warp: the first misses, the second hits. */
static void only_a_store_that_misses_waits_for_its_line(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u32 %r1, %clock;\nst.global.u32 [%rd0+1024], %r1;\nmov.u32 %r2, %clock;\n"
        "st.global.u32 [%rd0+1028], %r1;\nmov.u32 %r3, %clock;\nsub.u32 %r1, %r2, %r1;\n"
        "sub.u32 %r2, %r3, %r2;\nst.global.u32 [%rd0], %r1;\nst.global.u32 [%rd0+4], %r2;\n";
    for (enum address_kind kind = ADDRESS_VIRTUAL; kind <= ADDRESS_PHYSICAL; kind++) {
        build_with(WRITE_BACK_WHOLE, kind);
        assert_true(gpu_bench_run(&g, body, 1, 1));
        assert_true(g.buffer[0] > 300 && g.buffer[1] > 0 && g.buffer[1] < 100);
        gpu_bench_free(&g);
    }
}

static void more_ctas_than_fit_and_a_launch_that_is_stopped(void **state)
{
    (void)state;
    build(WRITE_BACK_WHOLE);
    struct gpu_stats stats;
    assert_true(gpu_bench_run(&g, stores, 2000, LINES_OF_CTA));
    gpu_stats(g.gpu, &stats);
    assert_true(stats.l2_writes >= 2000 * LINES_OF_CTA);
    assert_false(gpu_bench_run(&g,
                               "st.global.u32 [%rd0], %r1;\nmov.u64 %rd1, 16;\n"
                               "ld.global.u32 %r1, [%rd1];\n",
                               CTAS, LINES_OF_CTA));
    assert_int_equal(writes_of(stores), CTAS * LINES_OF_CTA);
    gpu_bench_free(&g);
}

/* The first two CTAs go on until the third has ended, whose fifth line has replaced a dirty one: a
 * reply comes about when its L1 begins to be written, a little later each time. */
static void an_l1_is_written_while_replies_come_and_others_go_on(void **state)
{
    (void)state;
    static char text[4096];
    for (uint32_t extra = 0; extra < 12; extra++) {
        build(WRITE_BACK_WHOLE);
        int length = snprintf(
            text, sizeof text,
            "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, 0;\nmul.wide.u32 %%rd1, %%r1, 262144;\n"
            "add.u64 %%rd1, %%rd1, %%rd0;\nmov.u32 %%r3, 150;\nsetp.lt.u32 %%p1, %%r1, 2;\n"
            "@%%p1 bra COUNT;\nSTORE:\nst.global.u32 [%%rd1], %%r1;\nadd.u64 %%rd1, %%rd1, 4096;\n"
            "add.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p1, %%r2, 5;\n@%%p1 bra STORE;\n"
            "mov.u32 %%r2, 0;\nmov.u32 %%r3, 2;\nCOUNT:\nadd.u32 %%r2, %%r2, 1;\n"
            "setp.lt.u32 %%p1, %%r2, %%r3;\n@%%p1 bra COUNT;\n");
        for (uint32_t i = 0; i < extra; i++) {
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "add.u32 %%r%u, %%r%u, 1;\n", 8 + i % 2, 8 + i % 2);
        }
        for (int launch = 0; launch < 2; launch++) { /* L2 has the lines of the second one */
            assert_int_equal(writes_of_ctas(text, 3), 5);
        }
        gpu_bench_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_grid_has_written_is_in_memory_when_it_is_over),
        cmocka_unit_test(other_policies_write_nothing_at_the_end),
        cmocka_unit_test(the_grid_is_over_when_all_is_written),
        cmocka_unit_test(only_a_store_that_misses_waits_for_its_line),
        cmocka_unit_test(an_l1_is_written_while_replies_come_and_others_go_on),
        cmocka_unit_test(more_ctas_than_fit_and_a_launch_that_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
