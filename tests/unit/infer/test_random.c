/*
 * Some hundred random hierarchies, dissected blind. Seeds are fixed; a failure prints its seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The toy and its generator are compiled into each test that uses them. */
#include "support/toy_gpu.c"
#include "support/random_toy.c"

static struct verdicts judge_seeds(uint64_t from, unsigned count, bool noisy, bool late)
{
    struct verdicts sum = {0};
    for (uint64_t seed = from; count > 0; seed++) {
        struct toy_config config;
        random_toy(&config, seed, noisy);
        if (!noisy || random_toy_settles_late(&config) == late) {
            random_toy_judge(&sum, &config, seed, true);
            count--;
        }
    }
    print_message("right %u, wrong %u, not measured %u; confident %u, of these wrong %u\n",
                  sum.right, sum.wrong, sum.missing, sum.sure, sum.surely_wrong);
    return sum;
}

static void assert_right_share(const struct verdicts *v, double least)
{
    assert_true(v->right >= least * (v->right + v->wrong + v->missing));
}

static void without_noise_nearly_everything_is_right(void **state)
{
    (void)state;
    struct verdicts v = judge_seeds(0, 36, false, false);
    assert_right_share(&v, 0.99);
    assert_int_equal(v.surely_wrong, 0);
}

static void with_noise_nearly_everything_is_right(void **state)
{
    (void)state;
    struct verdicts v = judge_seeds(1000, 20, true, false);
    assert_right_share(&v, 0.97);
    assert_int_equal(v.surely_wrong, 0);
}

static void noise_on_caches_that_settle_late_never_gives_confident_errors(void **state)
{
    (void)state;
    struct verdicts v = judge_seeds(2000, 4, true, true);
    assert_right_share(&v, 0.9);
    assert_int_equal(v.surely_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_nearly_everything_is_right),
        cmocka_unit_test(with_noise_nearly_everything_is_right),
        cmocka_unit_test(noise_on_caches_that_settle_late_never_gives_confident_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
