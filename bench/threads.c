/*
 * threads [-m MODEL] THREADS [NAME[=SIZE]...]: how much faster the timed simulator is on so many
 * host threads than on one, for each workload of timing.def (all of them when none is named). The
 * two take turns, RUNS times, and the best of each counts: a line "NAME RATIO" each, then the
 * geometric mean as "mean RATIO" and, as "cpu RATIO", the time that the host's processors worked in
 * the runs on several threads over the time that passed. Statistics that differ in a single byte,
 * from run to run or between thread counts, end the program with status 1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/gpu.h"
#include "model/model.h"
#include "rt/rt.h"
#include "timed.h"
#include "util/error.h"
#include "workload.h"

#define RUNS 5

struct run {
    double launch_seconds, seconds, cpu_seconds;
    struct gpu_stats stats;
};

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* On a device of its own, as a program that is started would. */
static int run_once(struct run *run, const struct model *model, const struct timed *what,
                    uint32_t threads)
{
    struct workbench counts;
    struct rt *rt = NULL;
    int rc = rt_create(&rt, model);
    if (rc == 0) {
        rc = rt_set_threads(rt, threads);
    }
    double begin = seconds_of(CLOCK_MONOTONIC), cpu_begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (rc == 0) {
        rc = workload_run(&counts, rt, workload_find(what->name), SONDE_WORKLOADS_DIR, what->size,
                          false);
    }
    if (rc == 0) {
        run->seconds = seconds_of(CLOCK_MONOTONIC) - begin;
        run->cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
        run->launch_seconds = (double)counts.launch_ns / 1e9;
        gpu_stats(rt_gpu(rt), &run->stats);
    }
    rt_destroy(rt);
    return rc;
}

struct bench {
    const struct model *model;
    uint32_t threads;
    double logs, seconds, cpu_seconds; /* sums */
    int count;
};

/* `one`, `many`: the best of each, the latter's times added up in `bench`. */
static int take_turns(struct bench *bench, double *one, double *many, const struct timed *what)
{
    struct run first = {0}, alone = {0}, team = {0};
    for (int i = 0; i < RUNS; i++) {
        int rc = run_once(&alone, bench->model, what, 1);
        rc = rc < 0 ? rc : run_once(&team, bench->model, what, bench->threads);
        if (rc < 0) {
            return rc;
        }
        first = i == 0 ? alone : first;
        if (memcmp(&first.stats, &alone.stats, sizeof first.stats) != 0 ||
            memcmp(&first.stats, &team.stats, sizeof first.stats) != 0) {
            return error_set(SONDE_EINTERNAL, "%s: runs differ in what they simulated", what->name);
        }
        *one = i == 0 || alone.launch_seconds < *one ? alone.launch_seconds : *one;
        *many = i == 0 || team.launch_seconds < *many ? team.launch_seconds : *many;
        bench->seconds += team.seconds;
        bench->cpu_seconds += team.cpu_seconds;
    }
    return 0;
}

static int measure(void *ctx, const struct timed *what)
{
    struct bench *bench = ctx;
    double one = 0, many = 0;
    int rc = take_turns(bench, &one, &many, what);
    if (rc == 0) {
        printf("%s %.3f\n", what->name, one / many);
        bench->logs += log(one / many);
        bench->count++;
    }
    return rc;
}

static int measure_all(const struct model *model, uint32_t threads, char **names, int count)
{
    struct bench bench = {.model = model, .threads = threads};
    int rc = timed_each(measure, &bench, names, count);
    if (rc == 0) {
        printf("mean %.3f\ncpu %.2f\n", exp(bench.logs / bench.count),
               bench.cpu_seconds / bench.seconds);
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct model *model = NULL;
    const char *name = "gtx780";
    if (argc > 2 && strcmp(argv[1], "-m") == 0) {
        name = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: threads [-m MODEL] THREADS [NAME[=SIZE]...]\n");
        return 2;
    }
    int rc = model_load(&model, name);
    if (rc == 0) {
        rc = measure_all(model, (uint32_t)strtoul(argv[1], NULL, 10), argv + 2, argc - 2);
    }
    model_destroy(model);
    if (rc < 0) {
        fprintf(stderr, "threads: %s\n", error_text());
    }
    return rc < 0 ? 1 : 0;
}
