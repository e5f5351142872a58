/* A team of threads: every task of every round once, whatever the counts; sleep and wake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "util/error.h"
#include "util/team.h"

#define TASKS_MAX 1000

struct work {
    atomic_uint runs[TASKS_MAX];
    uint32_t plain[TASKS_MAX]; /* without atomics: each task's own, read by the caller afterwards */
};

static void work_once(void *ctx, uint32_t index)
{
    struct work *work = ctx;
    atomic_fetch_add(&work->runs[index], 1);
    work->plain[index] += index;
}

static void run_rounds(uint32_t threads, uint32_t rounds)
{
    static struct work work;
    static const uint32_t counts[] = {1, 2, 3, 7, 13, 64, 1000};
    memset(&work, 0, sizeof work);
    struct team *team;
    assert_int_equal(team_create(&team, threads), 0);
    uint32_t expected[TASKS_MAX] = {0};
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t count = counts[round % 7];
        team_run(team, work_once, &work, count);
        for (uint32_t i = 0; i < count; i++) {
            expected[i]++;
            assert_int_equal(atomic_load(&work.runs[i]), expected[i]);
            assert_int_equal(work.plain[i], expected[i] * i);
        }
    }
    team_run(team, work_once, &work, 0); /* nothing to do */
    team_destroy(team);
    for (uint32_t i = 0; i < TASKS_MAX; i++) {
        assert_int_equal(atomic_load(&work.runs[i]), expected[i]);
    }
}

static void every_task_runs_once_a_round(void **state)
{
    (void)state;
    run_rounds(1, 70);
    run_rounds(2, 700);
    run_rounds(5, 140);
}

static void helpers_that_fell_asleep_come_back(void **state)
{
    (void)state;
    static struct work work;
    memset(&work, 0, sizeof work);
    struct team *team;
    assert_int_equal(team_create(&team, 3), 0);
    for (uint32_t round = 1; round <= 5; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        team_run(team, work_once, &work, 100);
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(atomic_load(&work.runs[i]), round);
        }
    }
    team_destroy(team);
}

/* A task that is never taken by anybody but a helper: the caller waits in the other. */
static void wait_for_the_other(void *ctx, uint32_t index)
{
    atomic_uint *here = ctx;
    (void)index;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < 2) {
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
}

static void tasks_of_a_round_run_at_the_same_time(void **state)
{
    (void)state;
    struct team *team;
    assert_int_equal(team_create(&team, 2), 0);
    for (uint32_t round = 0; round < 20; round++) {
        atomic_uint here = 0;
        team_run(team, wait_for_the_other, &here, 2);
        assert_int_equal(atomic_load(&here), 2);
    }
    team_destroy(team);
}

/* The first task ends when all others have: those of its thread's share, too. */
static void outlast_the_others(void *ctx, uint32_t index)
{
    atomic_uint *ended = ctx;
    while (index == 0 && atomic_load(ended) < 7) {
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
    atomic_fetch_add(ended, 1);
}

static void a_thread_takes_what_another_has_not_come_to(void **state)
{
    (void)state;
    struct team *team;
    assert_int_equal(team_create(&team, 2), 0);
    for (uint32_t round = 0; round < 20; round++) {
        atomic_uint ended = 0;
        team_run(team, outlast_the_others, &ended, 8);
        assert_int_equal(atomic_load(&ended), 8);
    }
    team_destroy(team);
}

static void a_team_has_its_bounds(void **state)
{
    (void)state;
    struct team *team;
    assert_int_equal(team_create(&team, 0), SONDE_EINPUT);
    assert_null(team);
    assert_int_equal(team_create(&team, TEAM_THREADS_MAX + 1), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "threads"));
    assert_true(team_processors() >= 1);
    team_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once_a_round),
        cmocka_unit_test(helpers_that_fell_asleep_come_back),
        cmocka_unit_test(tasks_of_a_round_run_at_the_same_time),
        cmocka_unit_test(a_thread_takes_what_another_has_not_come_to),
        cmocka_unit_test(a_team_has_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
