/*
 * Each thread has a share of a round's tasks, and takes those of others when its own are done. What
 * is left of a share is one word in a line of its own, so that taking a task is one
 * compare-and-swap, which while nobody comes for it takes no line of another processor:
 *
 *     | 24: end | 24: first |      tasks first to end - 1 are left
 *
 * The caller has the first tasks and goes forwards, helpers go backwards from the ends of theirs,
 * and who takes of another's share begins at its other end. So with two threads those taken lie
 * side by side, and which they are changes little from round to round.
 *
 * A helper that comes late finds nothing or takes a task of the next round. Both are right: it
 * reads what to run only when it has taken the task, and `done` waits for it. So the word need not
 * name its round. What the rounds of a launch have in common is not written again, nor is `done`
 * set back: a line that changes has to come from the other processor.
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

/* Two lines, since a processor may fetch them together. */
struct share {
    _Alignas(128) atomic_uint_fast64_t left;
    atomic_bool asleep; /* its helper is; written under the mutex */
    struct team *team;
};

struct team {
    struct share share[TEAM_THREADS_MAX]; /* the caller's, then the helpers' */
    _Alignas(128) atomic_uint done;       /* by helpers, in all rounds */
    _Alignas(128) team_task *task;
    void *ctx;
    uint32_t helpers;
    uint32_t looks_awake, looks_per_yield;
    atomic_bool over;
    _Alignas(128) uint32_t done_before; /* by helpers, up to the last round; the caller's */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
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

static bool any_left(const struct share *share)
{
    uint64_t left = atomic_load(&share->left);
    return first_of(left) < end_of(left);
}

/* Takes a task from the front or the back of a share and runs it; false: none was left. */
static bool run_one(struct team *team, struct share *share, bool front)
{
    uint64_t left = atomic_load_explicit(&share->left, memory_order_acquire), taken;
    do {
        if (first_of(left) >= end_of(left)) {
            return false;
        }
        taken = front ? left + 1 : left - (UINT64_C(1) << PLACE_BITS);
    } while (!atomic_compare_exchange_weak_explicit(&share->left, &left, taken,
                                                    memory_order_acq_rel, memory_order_acquire));
    team->task(team->ctx, (uint32_t)(front ? first_of(left) : end_of(left) - 1));
    return true;
}

/* Runs what is left of a share, the thread's own or another's; how many tasks that was. */
static uint32_t run_share(struct team *team, uint32_t of, bool own)
{
    uint32_t ran = 0;
    while (run_one(team, &team->share[of], (of == 0) == own)) {
        ran++;
    }
    return ran;
}

static uint32_t run_others(struct team *team, uint32_t thread)
{
    uint32_t ran = 0, threads = team->helpers + 1;
    for (uint32_t i = 1; i < threads; i++) {
        ran += run_share(team, thread + i < threads ? thread + i : thread + i - threads, false);
    }
    return ran;
}

static void tell(struct team *team, uint32_t ran)
{
    if (ran > 0) {
        atomic_fetch_add_explicit(&team->done, ran, memory_order_release);
    }
}

/* Its own share is told of before it looks for more: often that was the last of the round. */
static void run_helpers_part(struct team *team, uint32_t thread)
{
    tell(team, run_share(team, thread, true));
    tell(team, run_others(team, thread));
}

static void sleep_until_called(struct team *team, struct share *share)
{
    pthread_mutex_lock(&team->mutex);
    atomic_store(&share->asleep, true);
    while (!any_left(share) && !atomic_load(&team->over)) {
        pthread_cond_wait(&team->wake, &team->mutex);
    }
    atomic_store(&share->asleep, false);
    pthread_mutex_unlock(&team->mutex);
}

static void *help(void *arg)
{
    struct share *share = arg;
    struct team *team = share->team;
    uint32_t looks = 0;
    hostthread_is_ours();
    fesetenv(FE_DFL_ENV); /* not that of the thread that has started it */
    while (!atomic_load_explicit(&team->over, memory_order_relaxed)) {
        if (any_left(share)) {
            run_helpers_part(team, (uint32_t)(share - team->share));
            looks = 0;
        } else if (++looks < team->looks_awake) {
            relax();
        } else {
            sleep_until_called(team, share);
            looks = 0;
        }
    }
    return NULL;
}

static void wake_all(struct team *team)
{
    pthread_mutex_lock(&team->mutex);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
}

/* Signals are for the thread that called. */
static int helpers_start(struct team *team, uint32_t helpers)
{
    sigset_t all, before;
    int rc = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (rc == 0 && team->helpers < helpers) {
        struct share *share = &team->share[team->helpers + 1];
        share->team = team;
        rc = pthread_create(&team->thread[team->helpers], NULL, help, share);
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
    struct team *team = aligned_alloc(_Alignof(struct team), sizeof *team);
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

/* The first tasks for the caller, whose share is there before anybody can look for it. */
static void share_out(struct team *team, uint32_t count)
{
    uint64_t threads = team->helpers + 1, first = 0;
    bool asleep = false;
    for (uint64_t i = 0; i < threads; i++) {
        uint64_t end = (count * (i + 1) + threads - 1) / threads;
        if (first < end) {
            atomic_store(&team->share[i].left, end << PLACE_BITS | first);
            asleep |= atomic_load(&team->share[i].asleep);
        }
        first = end;
    }
    if (asleep) {
        wake_all(team);
    }
}

/* In this round. */
static uint32_t done_by_helpers(struct team *team)
{
    return atomic_load_explicit(&team->done, memory_order_acquire) - team->done_before;
}

void team_run(struct team *team, team_task *task, void *ctx, uint32_t count)
{
    if (team->task != task || team->ctx != ctx) {
        team->task = task;
        team->ctx = ctx;
    }
    share_out(team, count);
    uint32_t mine = run_share(team, 0, true);
    if (done_by_helpers(team) + mine < count) {
        mine += run_others(team, 0);
    }
    for (uint32_t looks = 1; done_by_helpers(team) + mine < count; looks++) {
        relax();
        if (looks % team->looks_per_yield == 0) {
            sched_yield();
        }
    }
    team->done_before += count - mine;
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
