/*
 * What is left of a round is one word, so that taking a task is one compare-and-swap:
 *
 *     | 24: end | 24: first |      tasks first to end - 1 are left
 *
 * A helper that comes late finds nothing or takes a task of the next round. Both are right: it
 * reads what to run only when it has taken the task, and `done` waits for it. So the word need not
 * name its round.
 */
#define _GNU_SOURCE
#include "util/team.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"
#include "util/hostthread.h"

#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
/* How often a thread looks for work before it sleeps, or lets others run: some 0.1 ms and 0.01 ms.
 * Where threads outnumber processors, looking keeps those away that have work. */
#define LOOKS_AWAKE 4096
#define LOOKS_PER_YIELD 256
#define LOOKS_CROWDED 4

struct team {
    _Alignas(64) atomic_uint_fast64_t left;
    _Alignas(64) atomic_uint done;
    _Alignas(64) team_task *task;
    void *ctx;
    atomic_uint asleep;
    atomic_bool over;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    uint32_t helpers;
    uint32_t looks_awake, looks_per_yield;
    pthread_t thread[TEAM_THREADS_MAX];
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static uint64_t first_of(uint64_t left)
{
    return left & PLACE_MASK;
}

static uint64_t end_of(uint64_t left)
{
    return left >> PLACE_BITS & PLACE_MASK;
}

static bool any_left(struct team *team)
{
    uint64_t left = atomic_load(&team->left);
    return first_of(left) < end_of(left);
}

/* Takes a task from the front or the back and runs it; false: none was left. */
static bool run_one(struct team *team, bool front)
{
    uint64_t left = atomic_load_explicit(&team->left, memory_order_acquire), taken;
    do {
        if (first_of(left) >= end_of(left)) {
            return false;
        }
        taken = front ? left + 1 : left - (UINT64_C(1) << PLACE_BITS);
    } while (!atomic_compare_exchange_weak_explicit(&team->left, &left, taken, memory_order_acq_rel,
                                                    memory_order_acquire));
    team->task(team->ctx, (uint32_t)(front ? first_of(left) : end_of(left) - 1));
    return true;
}

/* Runs what is left, and tells so once; false: nothing was. */
static bool run_some(struct team *team)
{
    uint32_t ran = 0;
    while (run_one(team, false)) {
        ran++;
    }
    if (ran > 0) {
        atomic_fetch_add_explicit(&team->done, ran, memory_order_release);
    }
    return ran > 0;
}

static void sleep_until_called(struct team *team)
{
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->asleep, 1);
    while (!any_left(team) && !atomic_load(&team->over)) {
        pthread_cond_wait(&team->wake, &team->mutex);
    }
    atomic_fetch_sub(&team->asleep, 1);
    pthread_mutex_unlock(&team->mutex);
}

static void *help(void *arg)
{
    struct team *team = arg;
    uint32_t looks = 0;
    hostthread_is_ours();
    fesetenv(FE_DFL_ENV); /* not that of the thread that has started it */
    while (!atomic_load_explicit(&team->over, memory_order_relaxed)) {
        if (run_some(team)) {
            looks = 0;
        } else if (++looks < team->looks_awake) {
            relax();
        } else {
            sleep_until_called(team);
            looks = 0;
        }
    }
    return NULL;
}

static void wake_all(struct team *team)
{
    if (atomic_load(&team->asleep) > 0) {
        pthread_mutex_lock(&team->mutex);
        pthread_cond_broadcast(&team->wake);
        pthread_mutex_unlock(&team->mutex);
    }
}

/* Signals are for the thread that called. */
static int helpers_start(struct team *team, uint32_t helpers)
{
    sigset_t all, before;
    int rc = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (rc == 0 && team->helpers < helpers) {
        rc = pthread_create(&team->thread[team->helpers], NULL, help, team);
        team->helpers += rc == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0
                   : error_set(SONDE_EIO, "cannot start host thread %u of %u: %s",
                               team->helpers + 2, helpers + 1, strerror(rc));
}

int team_create(struct team **out, uint32_t threads)
{
    *out = NULL;
    if (threads == 0 || threads > TEAM_THREADS_MAX) {
        return error_set(SONDE_EINPUT, "%u host threads: must be 1 to %d", threads,
                         TEAM_THREADS_MAX);
    }
    struct team *team = aligned_alloc(64, sizeof *team);
    if (!team) {
        return error_memory();
    }
    memset(team, 0, sizeof *team);
    bool crowded = threads > team_processors();
    team->looks_awake = crowded ? LOOKS_CROWDED : LOOKS_AWAKE;
    team->looks_per_yield = crowded ? LOOKS_CROWDED : LOOKS_PER_YIELD;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wake, NULL);
    int rc = helpers_start(team, threads - 1);
    if (rc < 0) {
        team_destroy(team);
        return rc;
    }
    *out = team;
    return 0;
}

void team_destroy(struct team *team)
{
    if (!team) {
        return;
    }
    atomic_store(&team->over, true);
    wake_all(team);
    for (uint32_t i = 0; i < team->helpers; i++) {
        pthread_join(team->thread[i], NULL);
    }
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->mutex);
    free(team);
}

uint32_t team_threads(const struct team *team)
{
    return team->helpers + 1;
}

void team_run(struct team *team, team_task *task, void *ctx, uint32_t count)
{
    team->task = task;
    team->ctx = ctx;
    atomic_store_explicit(&team->done, 0, memory_order_relaxed);
    atomic_store(&team->left, (uint64_t)count << PLACE_BITS);
    wake_all(team);
    uint32_t mine = 0;
    while (run_one(team, true)) {
        mine++;
    }
    for (uint32_t looks = 1; atomic_load_explicit(&team->done, memory_order_acquire) + mine < count;
         looks++) {
        relax();
        if (looks % team->looks_per_yield == 0) {
            sched_yield();
        }
    }
}

uint32_t team_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return (uint32_t)CPU_COUNT(&set);
    }
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}
