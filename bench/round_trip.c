/*
 * round_trip [CPU CPU]: nanoseconds that a word takes from one of the host's cores to another and
 * back, as the best of RUNS runs: two threads, each on one of the two processors (the first two
 * that the process may run on when none is named), take turns in changing one word. Host threads of
 * a launch hand windows over in this way, so what they gain depends on it. Status 1 where there are
 * no two processors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 2000
#define TRIPS                                                                                      \
    128 /* of a run: some ten microseconds, in which hardly anybody else gets the core             \
         */

struct ball {
    _Alignas(128) _Atomic uint32_t turn; /* even: the first thread's */
    int cpus[2];
    _Atomic int failed, there;
};

static int stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* Adds one whenever the word is of the parity, for run after run. */
static void play(struct ball *ball, uint32_t run, uint32_t parity)
{
    for (uint32_t i = 0; i < TRIPS; i++) {
        uint32_t mine = 2 * (run * TRIPS + i) + parity;
        while (atomic_load_explicit(&ball->turn, memory_order_acquire) != mine)
            ;
        atomic_store_explicit(&ball->turn, mine + 1, memory_order_release);
    }
}

static void *second(void *ctx)
{
    struct ball *ball = ctx;
    int failed = stay_on(ball->cpus[1]) < 0 ? errno : 0;
    atomic_store(&ball->failed, failed);
    atomic_store(&ball->there, 1);
    for (uint32_t run = 0; run < RUNS && !failed; run++)
        play(ball, run, 1);
    return NULL;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The shortest run's mean. Negative with errno when it failed. The first run begins when the other
 * thread is there. */
static double trip_ns(struct ball *ball)
{
    pthread_t thread;
    double best = 0;
    errno = pthread_create(&thread, NULL, second, ball);
    if (errno)
        return -1;
    while (!atomic_load(&ball->there))
        ;
    for (uint32_t run = 0; run < RUNS && !atomic_load(&ball->failed); run++) {
        double begin = now_ns();
        play(ball, run, 0);
        double ns = (now_ns() - begin) / TRIPS;
        best = run == 0 || ns < best ? ns : best;
    }
    pthread_join(thread, NULL);
    errno = atomic_load(&ball->failed);
    return errno ? -1 : best;
}

static int first_two(int cpus[2])
{
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET((unsigned)cpu, &set))
            cpus[found++] = cpu;
    cpus[1] = found < 2 ? cpus[0] : cpus[1];
    return 0;
}

int main(int argc, char **argv)
{
    static struct ball ball;
    if (argc != 1 && argc != 3) {
        fprintf(stderr, "usage: round_trip [CPU CPU]\n");
        return 2;
    }
    int rc = argc == 3 ? 0 : first_two(ball.cpus);
    for (int i = 0; argc == 3 && i < 2; i++)
        ball.cpus[i] = atoi(argv[i + 1]);
    if (rc == 0 && ball.cpus[0] == ball.cpus[1]) {
        fprintf(stderr, "round_trip: there is one processor, and two are needed\n");
        return 1;
    }
    rc = rc < 0 ? rc : stay_on(ball.cpus[0]);
    double ns = rc == 0 ? trip_ns(&ball) : -1;
    if (ns < 0) {
        fprintf(stderr, "round_trip: processors %d and %d: %s\n", ball.cpus[0], ball.cpus[1],
                strerror(errno));
        return 1;
    }
    printf("%.1f\n", ns);
    return 0;
}
