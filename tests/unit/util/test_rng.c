/* util/rng.h against published numbers of the algorithms, and its ranges; util/clock.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/clock.h"
#include "util/rng.h"

/* The first outputs of splitmix64 for the seed 1234567, as published with the algorithm's ports. */
static void splitmix64_gives_the_published_sequence(void **state)
{
    (void)state;
    uint64_t seed = 1234567;
    assert_true(rng_splitmix64(&seed) == UINT64_C(6457827717110365317));
    assert_true(rng_splitmix64(&seed) == UINT64_C(3203168211198807973));
    assert_true(rng_splitmix64(&seed) == UINT64_C(9817491932198370423));
}

/* xoshiro256** from the state 1, 2, 3, 4: the sequence known from other libraries' tests. */
static void xoshiro_gives_the_published_sequence(void **state)
{
    (void)state;
    struct rng rng = {{1, 2, 3, 4}};
    assert_true(rng_u64(&rng) == UINT64_C(11520));
    assert_true(rng_u64(&rng) == UINT64_C(0));
    assert_true(rng_u64(&rng) == UINT64_C(1509978240));
    assert_true(rng_u64(&rng) == UINT64_C(1215971899390074240));
}

static void equal_seeds_give_equal_sequences(void **state)
{
    (void)state;
    struct rng a, b, c;
    rng_seed(&a, 0);
    rng_seed(&b, 0);
    rng_seed(&c, 1);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t draw = rng_u64(&a);
        assert_true(draw == rng_u64(&b));
        differs |= draw != rng_u64(&c);
    }
    assert_true(differs);
}

static void below_stays_below_and_is_even(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 42);
    int seen[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t draw = rng_below(&rng, 7);
        assert_true(draw < 7);
        seen[draw]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_in_range(seen[i], 9600, 10400); /* about four standard deviations */
    }
    assert_int_equal(rng_below(&rng, 1), 0);
    assert_int_equal(rng_below(&rng, 0), 0);
    uint64_t bound = UINT64_C(3) << 62;
    for (int i = 0; i < 1000; i++) {
        assert_true(rng_below(&rng, bound) < bound);
    }
}

static void doubles_lie_in_the_unit_interval(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 7);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double draw = rng_double(&rng);
        assert_true(draw >= 0 && draw < 1);
        sum += draw;
    }
    assert_true(sum > 4850 && sum < 5150);
}

static void a_permutation_has_every_number_once(void **state)
{
    (void)state;
    struct rng rng;
    uint32_t order[257];
    bool seen[257] = {false};
    rng_seed(&rng, 3);
    rng_permutation(order, &rng, 257);
    int fixed = 0;
    for (uint32_t i = 0; i < 257; i++) {
        assert_true(order[i] < 257);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
        fixed += order[i] == i;
    }
    assert_true(fixed < 10);
    rng_permutation(order, &rng, 0);
}

static void the_clock_does_not_go_back(void **state)
{
    (void)state;
    uint64_t last = time_monotonic_ns();
    assert_true(last > 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = time_monotonic_ns();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splitmix64_gives_the_published_sequence),
        cmocka_unit_test(xoshiro_gives_the_published_sequence),
        cmocka_unit_test(equal_seeds_give_equal_sequences),
        cmocka_unit_test(below_stays_below_and_is_even),
        cmocka_unit_test(doubles_lie_in_the_unit_interval),
        cmocka_unit_test(a_permutation_has_every_number_once),
        cmocka_unit_test(the_clock_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
