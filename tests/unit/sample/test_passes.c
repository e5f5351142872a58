/* Passes of shared memory's banks from samples: what goes by is counted down as exec does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "exec/ops.h"
#include "sample/passes.h"

#define PC 3

static struct passes all;
static uint64_t looks;

static int setup(void **state)
{
    (void)state;
    looks = 0;
    return passes_create(&all, 8);
}

static int teardown(void **state)
{
    (void)state;
    passes_free(&all);
    return 0;
}

/* So many accesses, of all lanes, whose words lie `stride` words apart. */
static void accesses(uint32_t count, uint64_t stride)
{
    static struct exec_access access;
    access.kind = ACCESS_LOAD;
    access.mask = UINT32_MAX;
    for (uint64_t lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] = lane * stride * 4;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (all.left[PC] > 0) {
            all.left[PC]--;
            continue;
        }
        looks++;
        assert_int_equal(passes_look(&all, PC, &access), 0);
    }
}

static void launches(uint32_t count, uint32_t of, uint64_t stride)
{
    for (uint32_t i = 0; i < count; i++) {
        passes_begin(&all);
        accesses(of, stride);
    }
}

static void what_does_not_vary_is_counted_exactly_by_few_looks(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        launches(1, 5003 + i, 4);
        assert_true(passes_sum(&all) == 4.0 * (5003 + i));
    }
    assert_in_range(looks, 20, 20 * 5003 / 64);
}

/* Launches too small for a look after a gap. */
static void a_change_is_seen_by_the_first_access_of_a_launch(void **state)
{
    (void)state;
    launches(100, 20, 1);
    assert_true(passes_sum(&all) == 20);
    launches(1, 20, 32);
    assert_true(passes_sum(&all) == 32.0 * 20);
}

/* More is looked at after it, and that has no more weight than what was before. */
static void a_change_within_a_launch_is_neither_missed_nor_overrated(void **state)
{
    double sum = 0;
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        launches(8, 3000, 1);
        passes_begin(&all);
        accesses(1500 + i, 1);
        accesses(1500, 32);
        double told = passes_sum(&all), is = 1500 + i + 32.0 * 1500;
        assert_true(fabs(told - is) <= 32 * 256);
        sum += told / is / 200;
    }
    assert_true(fabs(sum - 1) <= 0.05);
}

static void each_launch_begins_with_nothing(void **state)
{
    (void)state;
    launches(1, 1000, 2);
    passes_begin(&all);
    assert_true(passes_sum(&all) == 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_does_not_vary_is_counted_exactly_by_few_looks),
        TEST(a_change_is_seen_by_the_first_access_of_a_launch),
        TEST(a_change_within_a_launch_is_neither_missed_nor_overrated),
        TEST(each_launch_begins_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
