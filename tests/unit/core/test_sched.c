/* The warp schedulers' choices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/sched/sched.h"

static uint32_t pick(enum sched_kind kind, uint32_t last, uint64_t ready)
{
    static const uint64_t start[SM_MAX_WARPS] = {[0] = 9, [1] = 8, [2] = 7, [3] = 20, [63] = 1};
    struct sched_state state = {.warps = UINT64_MAX, .last = last};
    return sched_ops(kind)->pick(&state, ready, start);
}

static void round_robin_takes_the_next_ready_slot_and_wraps(void **state)
{
    (void)state;
    assert_int_equal(pick(SCHED_LOOSE_ROUND_ROBIN, 0, 0xF), 1);
    assert_int_equal(pick(SCHED_LOOSE_ROUND_ROBIN, 1, 0x9), 3);
    assert_int_equal(pick(SCHED_LOOSE_ROUND_ROBIN, 3, 0xF), 0);
    assert_int_equal(pick(SCHED_LOOSE_ROUND_ROBIN, 2, 0x4), 2);
}

static void round_robin_knows_the_last_slot_of_all(void **state)
{
    (void)state;
    assert_int_equal(pick(SCHED_LOOSE_ROUND_ROBIN, 62, 1ull << 63 | 1), 63);
    assert_int_equal(pick(SCHED_LOOSE_ROUND_ROBIN, 63, 1ull << 63 | 1), 0);
}

static void round_robin_serves_every_warp_equally(void **state)
{
    (void)state;
    uint32_t served[5] = {0};
    uint32_t last = 0;
    for (int i = 0; i < 50; i++) {
        last = pick(SCHED_LOOSE_ROUND_ROBIN, last, 0x1F);
        served[last]++;
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(served[i], 10);
    }
}

static void greedy_stays_with_the_last_warp_while_it_is_ready(void **state)
{
    (void)state;
    assert_int_equal(pick(SCHED_GREEDY_THEN_OLDEST, 3, 0xF), 3);
}

static void greedy_falls_back_to_the_warp_that_started_first(void **state)
{
    (void)state;
    assert_int_equal(pick(SCHED_GREEDY_THEN_OLDEST, 3, 0x7), 2);
    assert_int_equal(pick(SCHED_GREEDY_THEN_OLDEST, 3, 0x7 | 1ull << 63), 63);
}

/* Groups of four slots: 0 to 3, 4 to 7, ... */
static uint32_t pick_in_groups(uint32_t last, uint64_t ready)
{
    static const uint64_t start[SM_MAX_WARPS] = {0};
    struct sched_state state = {.warps = UINT64_MAX, .last = last, .group_slots = 4};
    return sched_ops(SCHED_TWO_LEVEL)->pick(&state, ready, start);
}

static void two_levels_stay_in_a_group_while_it_has_a_ready_warp(void **state)
{
    (void)state;
    assert_int_equal(pick_in_groups(5, 0xff), 6);
    assert_int_equal(pick_in_groups(7, 0xff), 4);
    assert_int_equal(pick_in_groups(5, 0x30f), 8);
    assert_int_equal(pick_in_groups(9, 0x00f), 0);
    assert_int_equal(pick_in_groups(63, UINT64_C(1) << 63), 63);
    assert_int_equal(pick_in_groups(63, 1), 0);
    assert_int_equal(pick_in_groups(61, UINT64_C(3) << 60), 60);
}

static void every_scheduler_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < SCHED_KIND_COUNT; i++) {
        assert_non_null(sched_name((enum sched_kind)i));
        assert_non_null(sched_ops((enum sched_kind)i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_takes_the_next_ready_slot_and_wraps),
        cmocka_unit_test(round_robin_knows_the_last_slot_of_all),
        cmocka_unit_test(round_robin_serves_every_warp_equally),
        cmocka_unit_test(greedy_stays_with_the_last_warp_while_it_is_ready),
        cmocka_unit_test(greedy_falls_back_to_the_warp_that_started_first),
        cmocka_unit_test(two_levels_stay_in_a_group_while_it_has_a_ready_warp),
        cmocka_unit_test(every_scheduler_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
