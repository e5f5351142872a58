/*
 * threads [-m MODEL] THREADS [NAME[=SIZE]...]: how much faster the timed simulator is on so many
 * host threads than on one, for each workload of timing.def (all of them when none is named). The
 * two take turns, RUNS times, and the best of each counts: a line "NAME RATIO WORK" each, then the
 * geometric mean as "mean RATIO WORK" and, as "cpu RATIO", the time that the host's processors
 * worked in the runs on several threads over the time that passed. WORK is the processors' time of
 * a run on one thread over that of a run on several: above 1 where the same instructions take less
 * time when they are shared out, as they do where the simulated state does not fit one core's
 * caches. Statistics that differ in a single byte, from run to run or between thread counts, end
 * the program with status 1.
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
#include "util/glue/heap.h"
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
    double logs, work_logs, seconds, cpu_seconds; /* sums */
    int count;
};

/* The shorter time of each kind. */
static void keep_best(struct run *best, const struct run *run, bool first)
{
    if (first || run->launch_seconds < best->launch_seconds) {
        best->launch_seconds = run->launch_seconds;
    }
    if (first || run->cpu_seconds < best->cpu_seconds) {
        best->cpu_seconds = run->cpu_seconds;
    }
}

/* `one`, `many`: the best of each, the latter's times added up in `bench`. */
static int take_turns(struct bench *bench, struct run *one, struct run *many,
                      const struct timed *what)
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
        keep_best(one, &alone, i == 0);
        keep_best(many, &team, i == 0);
        bench->seconds += team.seconds;
        bench->cpu_seconds += team.cpu_seconds;
    }
    return 0;
}

static int measure(void *ctx, const struct timed *what)
{
    struct bench *bench = ctx;
    struct run one = {0}, many = {0};
    int rc = take_turns(bench, &one, &many, what);
    if (rc == 0) {
        double ratio = one.launch_seconds / many.launch_seconds;
        double work = one.cpu_seconds / many.cpu_seconds;
        printf("%s %.3f %.3f\n", what->name, ratio, work);
        bench->logs += log(ratio);
        bench->work_logs += log(work);
        bench->count++;
    }
    return rc;
}

static int measure_all(const struct model *model, uint32_t threads, char **names, int count)
{
    struct bench bench = {.model = model, .threads = threads};
    int rc = timed_each(measure, &bench, names, count);
    if (rc == 0) {
        printf("mean %.3f %.3f\ncpu %.2f\n", exp(bench.logs / bench.count),
               exp(bench.work_logs / bench.count), bench.cpu_seconds / bench.seconds);
    }
    return rc;
}

int main(int argc, char **argv)
{
    heap_in_huge_pages();
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
