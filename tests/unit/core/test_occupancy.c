/* CTAs that fit an SM, each limit in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/occupancy.h"

/* A Fermi SM (CUDA C Programming Guide, compute capability 2.x). */
static const struct sm_spec spec = {.max_threads = 1536,
                                    .max_warps = 48,
                                    .max_ctas = 8,
                                    .registers = 32768,
                                    .register_granule = 64};

static uint32_t fit(uint32_t threads, uint32_t registers, uint64_t shared, const char **why)
{
    struct cta_needs needs;
    occupancy_needs(&needs, &spec, threads, registers, shared);
    *why = "";
    return occupancy_ctas(&spec, &needs, 48 << 10, why);
}

static void small_ctas_are_limited_by_their_number(void **state)
{
    (void)state;
    const char *why;
    assert_int_equal(fit(32, 8, 0, &why), 8);
    assert_string_equal(why, "CTAs");
}

static void large_ctas_are_limited_by_threads(void **state)
{
    (void)state;
    const char *why;
    assert_int_equal(fit(512, 8, 0, &why), 3);
    assert_string_equal(why, "threads");
}

static void partial_warps_count_whole(void **state)
{
    (void)state;
    struct cta_needs needs;
    occupancy_needs(&needs, &spec, 33, 8, 0);
    assert_int_equal(needs.warps, 2);
}

static void registers_are_rounded_up_to_the_granule_for_each_warp(void **state)
{
    (void)state;
    struct cta_needs needs;
    occupancy_needs(&needs, &spec, 64, 21, 0); /* 21 * 32 = 672, in 64s: 704 */
    assert_int_equal(needs.registers, 1408);
    const char *why;
    assert_int_equal(fit(256, 21, 0, &why), 5); /* 32768 / (8 * 704) = 5.8 */
    assert_string_equal(why, "registers");
}

static void shared_memory_limits(void **state)
{
    (void)state;
    const char *why;
    assert_int_equal(fit(32, 8, 16 << 10, &why), 3);
    assert_int_equal(fit(32, 8, (16 << 10) + 1, &why), 2);
    assert_string_equal(why, "shared memory");
}

static void what_can_never_fit_says_why(void **state)
{
    (void)state;
    const char *why;
    assert_int_equal(fit(32, 8, (48 << 10) + 1, &why), 0);
    assert_string_equal(why, "shared memory");
    assert_int_equal(fit(1024, 63, 0, &why), 0);
    assert_string_equal(why, "registers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ctas_are_limited_by_their_number),
        cmocka_unit_test(large_ctas_are_limited_by_threads),
        cmocka_unit_test(partial_warps_count_whole),
        cmocka_unit_test(registers_are_rounded_up_to_the_granule_for_each_warp),
        cmocka_unit_test(shared_memory_limits),
        cmocka_unit_test(what_can_never_fit_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
