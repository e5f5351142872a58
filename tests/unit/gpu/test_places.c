/* How fast CTAs come and go: cta_starts, cta_ends, grid_end_latency. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

enum { CTAS = 96 };

static const char nothing[] = "";
static const char loads[] = "ld.global.u32 %r1, [%rd0];\n";
static const char stores[] = "st.global.u32 [%rd0], %r1;\n";
/* Each CTA leaves its clock at its begin. */
static const char clocks[] = "mov.u32 %r2, %clock;\nmov.u32 %r1, %ctaid.x;\n"
                             "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                             "st.global.u32 [%rd1], %r2;\n";

static struct gpu_bench g;

struct pace {
    struct cta_rate starts, ends;
    uint32_t end_cycles, grid_end_cycles;
};

/* The bench stays, for what the kernel left; to be freed. */
static uint64_t cycles_of(const char *body, uint32_t ctas, uint32_t threads,
                          const struct pace *pace)
{
    assert_true(gpu_bench_load(&g, "gtx780"));
    g.model->cta_starts = pace->starts;
    g.model->cta_ends = pace->ends;
    g.model->cta_end_cycles = pace->end_cycles;
    g.model->grid_end_cycles = pace->grid_end_cycles;
    assert_true(gpu_bench_build(&g));
    assert_true(gpu_bench_run(&g, body, ctas, threads));
    return g.cycles;
}

static uint64_t only_cycles_of(const char *body, uint32_t ctas, uint32_t threads,
                               const struct pace *pace)
{
    uint64_t cycles = cycles_of(body, ctas, threads, pace);
    gpu_bench_free(&g);
    return cycles;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void no_more_start_in_an_interval_than_may(void **state)
{
    (void)state;
    const struct pace pace = {.starts = {.ctas = 3, .interval_cycles = 50}};
    cycles_of(clocks, CTAS, 32, &pace);
    qsort(g.buffer, CTAS, sizeof *g.buffer, by_value);
    for (uint32_t i = 0; i < CTAS; i++) {
        /* An instruction may wait a cycle or two for its turn. */
        assert_in_range(g.buffer[i] + 2 - g.buffer[0], i / 3 * 50, i / 3 * 50 + 4);
    }
    gpu_bench_free(&g);
}

static void ends_are_noted_one_after_the_other(void **state)
{
    (void)state;
    const struct pace pace = {.ends = {.ctas = 2, .interval_cycles = 90}};
    uint64_t few = only_cycles_of(nothing, CTAS, 32, &pace);
    uint64_t many = only_cycles_of(nothing, 3 * CTAS, 32, &pace);
    uint64_t at_once = only_cycles_of(nothing, CTAS, 32, &(struct pace){0});
    assert_int_equal(many - few, 2 * CTAS / 2 * 90);
    assert_in_range(few, (CTAS / 2 - 1) * 90, (CTAS / 2 - 1) * 90 + at_once);
}

static void a_place_is_taken_again_after_its_end_is_noted(void **state)
{
    (void)state;
    const uint32_t sms = 12, turns = 5;
    const struct pace slow = {.end_cycles = 700}, slower = {.end_cycles = 1700};
    /* Two CTAs of 1024 threads fill an SM. */
    uint64_t first = only_cycles_of(nothing, 2 * sms * (turns + 1), 1024, &slow);
    uint64_t second = only_cycles_of(nothing, 2 * sms * (turns + 1), 1024, &slower);
    assert_int_equal(second - first, turns * 1000);
}

static void a_grid_that_has_reached_memory_is_over_later(void **state)
{
    (void)state;
    const struct pace none = {0}, late = {.grid_end_cycles = 5000}, early = {.grid_end_cycles = 60};
    const char *touching[] = {loads, stores};
    assert_int_equal(only_cycles_of(nothing, 1, 32, &late), only_cycles_of(nothing, 1, 32, &none));
    for (size_t i = 0; i < 2; i++) {
        uint64_t before = only_cycles_of(touching[i], 1, 32, &none);
        uint64_t after = only_cycles_of(touching[i], 1, 32, &late);
        /* From the exit on: a store is answered meanwhile. */
        assert_in_range(after, 5000, 5000 + before);
        assert_true(i == 0 || after < before + 5000);
    }
    /* Nor is it over before a store is answered. */
    assert_int_equal(only_cycles_of(stores, 1, 32, &early), only_cycles_of(stores, 1, 32, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_start_in_an_interval_than_may),
        cmocka_unit_test(ends_are_noted_one_after_the_other),
        cmocka_unit_test(a_place_is_taken_again_after_its_end_is_noted),
        cmocka_unit_test(a_grid_that_has_reached_memory_is_over_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
