/* The event engine against a sorted list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "util/error.h"
#include "util/rng.h"

enum { MANY = 100000 };

struct expected {
    uint64_t time_ps;
    uint32_t source;
    uint32_t sequence;
};

struct log {
    struct engine *engine;
    uint32_t count;
    uint64_t *arg;
    uint64_t *time_ps;
};

static void note(void *ctx, uint64_t arg)
{
    struct log *log = ctx;
    log->arg[log->count] = arg;
    log->time_ps[log->count] = engine_now_ps(log->engine);
    log->count++;
}

static int compare_expected(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
    if (x->time_ps != y->time_ps) {
        return x->time_ps < y->time_ps ? -1 : 1;
    }
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    return x->sequence < y->sequence ? -1 : 1;
}

static struct log log_create(uint32_t capacity)
{
    struct log log = {.arg = calloc(capacity, sizeof *log.arg),
                      .time_ps = calloc(capacity, sizeof *log.time_ps)};
    assert_non_null(log.arg);
    assert_non_null(log.time_ps);
    assert_int_equal(engine_create(&log.engine), 0);
    return log;
}

static void log_destroy(struct log *log)
{
    engine_destroy(log->engine);
    free(log->arg);
    free(log->time_ps);
}

static void events_run_by_time_then_source_then_sequence(void **state)
{
    (void)state;
    struct log log = log_create(MANY);
    struct expected *expected = calloc(MANY, sizeof *expected);
    assert_non_null(expected);
    struct rng rng;
    rng_seed(&rng, 7);
    for (uint32_t i = 0; i < MANY; i++) {
        expected[i] = (struct expected){.time_ps = rng_below(&rng, 5000),
                                        .source = (uint32_t)rng_below(&rng, 5),
                                        .sequence = i};
        engine_at(log.engine, expected[i].time_ps, expected[i].source, note, &log, i);
    }
    assert_int_equal(engine_pending(log.engine), MANY);
    qsort(expected, MANY, sizeof *expected, compare_expected);
    engine_run(log.engine, ENGINE_NEVER);
    assert_int_equal(log.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(log.arg[i], expected[i].sequence);
        assert_int_equal(log.time_ps[i], expected[i].time_ps);
    }
    assert_int_equal(engine_next_ps(log.engine), ENGINE_NEVER);
    assert_false(engine_step(log.engine));
    free(expected);
    log_destroy(&log);
}

static void run_includes_its_last_time_and_leaves_later_events(void **state)
{
    (void)state;
    struct log log = log_create(4);
    engine_at(log.engine, 10, 0, note, &log, 1);
    engine_at(log.engine, 20, 0, note, &log, 2);
    engine_at(log.engine, 21, 0, note, &log, 3);
    engine_run(log.engine, 20);
    assert_int_equal(log.count, 2);
    assert_int_equal(engine_now_ps(log.engine), 20);
    assert_int_equal(engine_next_ps(log.engine), 21);
    engine_run(log.engine, 20);
    assert_int_equal(log.count, 2);
    log_destroy(&log);
}

static void a_component_may_move_the_clock_up_to_the_next_event(void **state)
{
    (void)state;
    struct log log = log_create(4);
    engine_at(log.engine, 50, 0, note, &log, 1);
    engine_advance(log.engine, 30);
    assert_int_equal(engine_now_ps(log.engine), 30);
    engine_advance(log.engine, 50);
    engine_at(log.engine, 50, 1, note, &log, 2);
    engine_run(log.engine, ENGINE_NEVER);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.arg[0], 1);
    assert_int_equal(engine_now_ps(log.engine), 50);
    log_destroy(&log);
}

/* A chain: each event schedules the next one, and one at its own time. */
struct chain {
    struct engine *engine;
    uint32_t links, same_time;
};

static void count_same_time(void *ctx, uint64_t arg)
{
    struct chain *chain = ctx;
    assert_int_equal(engine_now_ps(chain->engine), arg);
    chain->same_time++;
}

static void schedule_next(void *ctx, uint64_t left)
{
    struct chain *chain = ctx;
    uint64_t now_ps = engine_now_ps(chain->engine);
    chain->links++;
    engine_at(chain->engine, now_ps, 9, count_same_time, chain, now_ps);
    if (left > 0) {
        engine_at(chain->engine, now_ps + 3, 0, schedule_next, chain, left - 1);
    }
}

static void handlers_may_schedule_at_their_own_time_and_later(void **state)
{
    (void)state;
    struct chain chain = {0};
    assert_int_equal(engine_create(&chain.engine), 0);
    engine_at(chain.engine, 0, 0, schedule_next, &chain, 1000);
    engine_run(chain.engine, ENGINE_NEVER);
    assert_int_equal(chain.links, 1001);
    assert_int_equal(chain.same_time, 1001);
    assert_int_equal(engine_now_ps(chain.engine), 3000);
    engine_destroy(chain.engine);
}

/* Random scheduling and running mixed, so that slots are reused in every order. */
static void nothing_is_lost_when_scheduling_and_running_alternate(void **state)
{
    (void)state;
    struct log log = log_create(MANY);
    struct rng rng;
    rng_seed(&rng, 11);
    uint32_t scheduled = 0;
    while (scheduled < MANY) {
        uint32_t burst = (uint32_t)rng_below(&rng, 200);
        for (uint32_t i = 0; i < burst && scheduled < MANY; i++) {
            engine_at(log.engine, engine_now_ps(log.engine) + rng_below(&rng, 1000), 0, note, &log,
                      scheduled++);
        }
        for (uint64_t i = rng_below(&rng, 200); i > 0; i--) {
            engine_step(log.engine);
        }
    }
    engine_run(log.engine, ENGINE_NEVER);
    assert_int_equal(log.count, MANY);
    unsigned char *seen = calloc(MANY, 1);
    assert_non_null(seen);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_false(seen[log.arg[i]]);
        seen[log.arg[i]] = 1;
        assert_true(i == 0 || log.time_ps[i] >= log.time_ps[i - 1]);
    }
    free(seen);
    log_destroy(&log);
}

static void a_failed_engine_runs_nothing_and_keeps_the_first_code(void **state)
{
    (void)state;
    struct log log = log_create(4);
    engine_at(log.engine, 10, 0, note, &log, 1);
    assert_int_equal(engine_error(log.engine), 0);
    engine_fail(log.engine, SONDE_ENOMEM);
    engine_fail(log.engine, SONDE_EINTERNAL);
    assert_int_equal(engine_error(log.engine), SONDE_ENOMEM);
    assert_false(engine_step(log.engine));
    engine_run(log.engine, ENGINE_NEVER);
    assert_int_equal(log.count, 0);
    log_destroy(&log);
}

static void note_and_pause(void *ctx, uint64_t arg)
{
    note(ctx, arg);
    engine_pause(((struct log *)ctx)->engine);
}

static void a_paused_engine_runs_nothing_more_until_it_goes_on(void **state)
{
    (void)state;
    struct log log = log_create(4);
    engine_at(log.engine, 10, 0, note_and_pause, &log, 1);
    engine_at(log.engine, 10, 1, note, &log, 2);
    engine_at(log.engine, 30, 0, note, &log, 3);
    engine_run_before(log.engine, 100);
    assert_int_equal(log.count, 1);
    assert_int_equal(engine_now_ps(log.engine), 10);
    assert_false(engine_step(log.engine));
    engine_run(log.engine, ENGINE_NEVER);
    assert_int_equal(log.count, 1);
    engine_go_on(log.engine);
    engine_run_before(log.engine, 30);
    assert_int_equal(log.count, 2);
    engine_pause(log.engine);
    engine_fail(log.engine, SONDE_ENOMEM);
    engine_go_on(log.engine); /* it has failed */
    assert_false(engine_step(log.engine));
    assert_int_equal(log.count, 2);
    log_destroy(&log);
}

static void a_clock_edge_is_at_or_after_the_time(void **state)
{
    (void)state;
    const struct engine_clock clock = {.period_ps = 608};
    assert_int_equal(clock_align(&clock, 0), 0);
    assert_int_equal(clock_align(&clock, 1), 608);
    assert_int_equal(clock_align(&clock, 608), 608);
    assert_int_equal(clock_align(&clock, 609), 1216);
    assert_int_equal(clock_cycles_to_ps(&clock, 3), 1824);
}

/* Hundreds of events pending, near, far and very far, each a cause of others: against a list. */
#define PENDING_MAX 600

struct crowd {
    struct engine *engine;
    struct rng rng;
    struct expected pending[PENDING_MAX];
    uint32_t count, ran;
    uint64_t sequence;
};

static void crowd_run(void *ctx, uint64_t sequence);

static void crowd_add(struct crowd *crowd)
{
    static const uint64_t reach_ps[] = {1, 3000, 100000, 300000, 50000000};
    uint64_t now_ps = engine_now_ps(crowd->engine);
    struct expected event = {.time_ps = now_ps +
                                        rng_below(&crowd->rng, reach_ps[rng_below(&crowd->rng, 5)]),
                             .source = (uint32_t)rng_below(&crowd->rng, 3),
                             .sequence = crowd->sequence++};
    crowd->pending[crowd->count++] = event;
    engine_at(crowd->engine, event.time_ps, event.source, crowd_run, crowd, event.sequence);
}

static void crowd_run(void *ctx, uint64_t sequence)
{
    struct crowd *crowd = ctx;
    uint32_t first = 0;
    for (uint32_t i = 1; i < crowd->count; i++) {
        if (compare_expected(&crowd->pending[i], &crowd->pending[first]) < 0) {
            first = i;
        }
    }
    assert_int_equal(sequence, crowd->pending[first].sequence);
    assert_int_equal(engine_now_ps(crowd->engine), crowd->pending[first].time_ps);
    crowd->pending[first] = crowd->pending[--crowd->count];
    crowd->ran++;
    /* The crowd grows and shrinks, down to none. */
    uint32_t wanted = crowd->ran / 2000 % 2 ? 2 : PENDING_MAX - 10;
    for (int i = 0; i < 4 && crowd->count < wanted && crowd->ran < 40000; i++) {
        crowd_add(crowd);
    }
}

static void a_crowd_of_events_runs_in_order(void **state)
{
    (void)state;
    static struct crowd crowd;
    memset(&crowd, 0, sizeof crowd);
    rng_seed(&crowd.rng, 11);
    assert_int_equal(engine_create(&crowd.engine), 0);
    crowd_add(&crowd);
    engine_run(crowd.engine, ENGINE_NEVER);
    assert_int_equal(crowd.count, 0);
    assert_true(crowd.ran >= 40000);
    assert_int_equal(engine_pending(crowd.engine), 0);
    engine_destroy(crowd.engine);
}

enum { FAR = 10, LATER = 600 };

static void note_and_add_many(void *ctx, uint64_t arg)
{
    struct log *log = ctx;
    note(log, arg);
    for (uint64_t i = 0; i < LATER; i++) {
        engine_at(log->engine, engine_now_ps(log->engine) + 3000 + i * 300, 0, note, log, 100 + i);
    }
}

/* What is due at about one time is under way when room is made for many that come later. */
static void many_more_do_not_disturb_what_is_due(void **state)
{
    (void)state;
    for (uint32_t due = 2; due <= 20; due++) {
        struct log log = log_create(1 + due + LATER + FAR);
        engine_at(log.engine, 1, 0, note, &log, 0);
        for (uint64_t i = 0; i < FAR; i++) {
            engine_at(log.engine, 1u << 30, 0, note, &log, 10000 + i);
        }
        for (uint64_t i = 0; i < due; i++) {
            engine_at(log.engine, 6000 + i, 0, i == 0 ? note_and_add_many : note, &log, 1 + i);
        }
        engine_run(log.engine, ENGINE_NEVER);
        assert_int_equal(log.count, 1 + due + LATER + FAR);
        for (uint32_t i = 0; i <= due; i++) {
            assert_int_equal(log.arg[i], i);
        }
        for (uint32_t i = 0; i < LATER; i++) {
            assert_int_equal(log.arg[1 + due + i], 100 + i);
        }
        for (uint32_t i = 0; i < FAR; i++) {
            assert_int_equal(log.arg[1 + due + LATER + i], 10000 + i);
        }
        log_destroy(&log);
    }
}

static void up_to_a_limit_nothing_runs_at_it_or_past_it(void **state)
{
    (void)state;
    struct log log = log_create(4);
    engine_at(log.engine, 10, 0, note, &log, 1);
    engine_at(log.engine, 20, 0, note, &log, 2);
    engine_run_before(log.engine, 20);
    assert_int_equal(log.count, 1);
    assert_int_equal(engine_now_ps(log.engine), 10);
    engine_run_before(log.engine, 21);
    assert_int_equal(log.count, 2);
    log_destroy(&log);
}

static void look_ahead(void *ctx, uint64_t arg)
{
    (void)arg;
    struct log *log = ctx;
    note(log, engine_next_ps(log->engine));
}

static void inside_a_limit_components_see_it_as_the_next_event(void **state)
{
    (void)state;
    struct log log = log_create(4);
    engine_at(log.engine, 10, 0, look_ahead, &log, 0);
    engine_at(log.engine, 15, 0, look_ahead, &log, 0);
    engine_at(log.engine, 90, 0, note, &log, 0);
    engine_run_before(log.engine, 40);
    assert_int_equal(log.arg[0], 15);
    assert_int_equal(log.arg[1], 40);
    assert_int_equal(engine_next_ps(log.engine), 90);
    log_destroy(&log);
}

/* Joined, two engines run their events in the order that one would have had. */
static void joined_engines_are_one_and_part_with_its_clock(void **state)
{
    (void)state;
    struct log log = log_create(8);
    struct engine *other;
    assert_int_equal(engine_create(&other), 0);
    engine_at(other, 30, 2, note, &log, 5);
    engine_at(other, 30, 2, note, &log, 6);
    engine_at(other, 20, 1, note, &log, 2);
    engine_at(log.engine, 20, 0, note, &log, 1);
    engine_at(log.engine, 30, 1, note, &log, 4);
    engine_at(log.engine, 25, 1, note, &log, 3);
    engine_join(other, log.engine);
    assert_int_equal(engine_pending(other), 6);
    engine_at(other, 30, 2, note, &log, 7);
    engine_run(other, ENGINE_NEVER);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(log.arg[i], i + 1);
    }
    assert_int_equal(engine_now_ps(other), 30);
    engine_part(other);
    engine_at(log.engine, 50, 0, note, &log, 8);
    assert_int_equal(engine_next_ps(other), ENGINE_NEVER);
    assert_int_equal(engine_now_ps(other), 30);
    engine_fail(other, SONDE_ENOMEM);
    assert_int_equal(engine_error(log.engine), 0);
    engine_join(other, log.engine);
    assert_int_equal(engine_error(log.engine), SONDE_ENOMEM);
    engine_destroy(other);
    log_destroy(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_run_by_time_then_source_then_sequence),
        cmocka_unit_test(run_includes_its_last_time_and_leaves_later_events),
        cmocka_unit_test(a_crowd_of_events_runs_in_order),
        cmocka_unit_test(many_more_do_not_disturb_what_is_due),
        cmocka_unit_test(up_to_a_limit_nothing_runs_at_it_or_past_it),
        cmocka_unit_test(inside_a_limit_components_see_it_as_the_next_event),
        cmocka_unit_test(joined_engines_are_one_and_part_with_its_clock),
        cmocka_unit_test(a_component_may_move_the_clock_up_to_the_next_event),
        cmocka_unit_test(handlers_may_schedule_at_their_own_time_and_later),
        cmocka_unit_test(nothing_is_lost_when_scheduling_and_running_alternate),
        cmocka_unit_test(a_failed_engine_runs_nothing_and_keeps_the_first_code),
        cmocka_unit_test(a_paused_engine_runs_nothing_more_until_it_goes_on),
        cmocka_unit_test(a_clock_edge_is_at_or_after_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
