/* Timelines against a calendar that marks each picosecond; pools against the objects handed out. */
#include "support/memory_rig.h"

#include "mem/pool.h"
#include "mem/timeline.h"

enum { CALENDAR = 20000 };

static void a_reservation_takes_the_first_gap_that_holds_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct engine *engine;
        struct timeline timeline;
        static bool taken[CALENDAR];
        struct rng rng;
        rng_seed(&rng, seed);
        memset(taken, 0, sizeof taken);
        assert_int_equal(engine_create(&engine), 0);
        timeline_init(&timeline, engine);
        for (uint64_t now_ps = 0; now_ps < CALENDAR / 2; now_ps += rng_below(&rng, 12)) {
            engine_advance(engine, now_ps);
            uint64_t earliest_ps = now_ps + rng_below(&rng, 200);
            uint64_t duration_ps = rng_below(&rng, 9), expected_ps = earliest_ps, run = 0;
            for (uint64_t i = earliest_ps; run < duration_ps; i++) {
                assert_true(i < CALENDAR);
                run = taken[i] ? 0 : run + 1;
                expected_ps = taken[i] ? i + 1 : expected_ps;
            }
            assert_int_equal(timeline_reserve(&timeline, earliest_ps, duration_ps), expected_ps);
            memset(taken + expected_ps, true, duration_ps);
        }
        timeline_free(&timeline);
        engine_destroy(engine);
    }
}

static void a_saturated_timeline_is_one_interval(void **state)
{
    (void)state;
    struct engine *engine;
    struct timeline timeline;
    assert_int_equal(engine_create(&engine), 0);
    timeline_init(&timeline, engine);
    for (uint64_t i = 0; i < 1000; i += 2) {
        assert_int_equal(timeline_reserve(&timeline, 10 * i, 10), 10 * i);
    }
    assert_int_equal(timeline.count, 500);
    for (uint64_t i = 1; i < 1000; i += 2) {
        assert_int_equal(timeline_reserve(&timeline, 0, 10), 10 * i);
    }
    assert_int_equal(timeline.count, 1);
    engine_advance(engine, 10000);
    assert_int_equal(timeline_reserve(&timeline, 10000, 10), 10000);
    assert_int_equal(timeline.count, 1);
    assert_int_equal(timeline.busy[0].start_ps, 10000);
    timeline_free(&timeline);
    engine_destroy(engine);
}

static void a_pool_hands_out_each_object_once_until_it_is_back(void **state)
{
    (void)state;
    enum { OBJECTS = 5000, BYTES = 40 };
    struct pool pool;
    static unsigned char *object[OBJECTS];
    pool_init(&pool, BYTES);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        object[i] = pool_take(&pool);
        assert_non_null(object[i]);
        memset(object[i], (int)(i % 251), BYTES);
    }
    for (uint32_t i = 0; i < OBJECTS; i++) {
        for (uint32_t j = 0; j < BYTES; j++) {
            assert_int_equal(object[i][j], i % 251);
        }
    }
    pool_put(&pool, object[7]);
    assert_ptr_equal(pool_take(&pool), object[7]);
    pool_free_all(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_takes_the_first_gap_that_holds_it),
        cmocka_unit_test(a_saturated_timeline_is_one_interval),
        cmocka_unit_test(a_pool_hands_out_each_object_once_until_it_is_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
