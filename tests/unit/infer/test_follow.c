/* A trace counts only if it visited what was asked for, in that order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/ask/follow.h"

enum { COUNT = 3, WINDOW = 4, WINDOWS = 2 };

static const uint32_t ring[COUNT] = {0, 512, 64};
static const struct walk_shape shape = {.ring = ring, .count = COUNT};

/* Windows that begin at elements 0 and 1 and go around the ring. */
struct recorded {
    uint32_t latency[WINDOW * WINDOWS], next[WINDOW * WINDOWS], start[WINDOWS];
};

static const struct recorded good = {.latency = {1, 1, 1, 1, 1, 1, 1, 1},
                                     .next = {512, 64, 0, 512, 64, 0, 512, 64},
                                     .start = {0, 512}};

static struct trace trace_of(const struct recorded *r, size_t nexts)
{
    struct trace trace = {0};
    assert_int_equal(trace_add_column(&trace, "latency", TRACE_U32, r->latency, 8), 0);
    assert_int_equal(trace_add_column(&trace, "next", TRACE_U32, r->next, nexts), 0);
    assert_int_equal(trace_add_column(&trace, "start", TRACE_U32, r->start, WINDOWS), 0);
    return trace;
}

static void windows_that_go_around_the_ring_follow_it(void **state)
{
    (void)state;
    struct trace trace = trace_of(&good, 8);
    struct chase_columns columns;
    assert_true(chase_columns(&columns, &trace, WINDOWS, WINDOW));
    assert_true(chase_follows(&columns, 0, &shape, 0));
    assert_true(chase_follows(&columns, 1, &shape, 1));
    assert_false(chase_follows(&columns, 1, &shape, 0));
    trace_clear(&trace);
}

static void one_record_elsewhere_is_another_walk(void **state)
{
    (void)state;
    for (size_t i = 0; i < WINDOW; i++) {
        struct recorded bad = good;
        bad.next[i] ^= 4;
        struct trace trace = trace_of(&bad, 8);
        struct chase_columns columns;
        assert_true(chase_columns(&columns, &trace, WINDOWS, WINDOW));
        assert_false(chase_follows(&columns, 0, &shape, 0));
        assert_true(chase_follows(&columns, 1, &shape, 1));
        trace_clear(&trace);
    }
}

static void a_column_too_short_is_refused(void **state)
{
    (void)state;
    struct trace trace = trace_of(&good, 7);
    struct chase_columns columns;
    assert_false(chase_columns(&columns, &trace, WINDOWS, WINDOW));
    trace_clear(&trace);
    trace = trace_of(&good, 8);
    assert_false(chase_columns(&columns, &trace, WINDOWS + 1, WINDOW));
    assert_false(chase_columns(&columns, &trace, 1, WINDOW * WINDOWS));
    trace_clear(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_that_go_around_the_ring_follow_it),
        cmocka_unit_test(one_record_elsewhere_is_another_walk),
        cmocka_unit_test(a_column_too_short_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
