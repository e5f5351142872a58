/*
 * functional [-t THREADS] [NAME...]: thread instructions a second of functional mode, of each
 * workload at its full size (those of timing.def when none is named, so that the mean stays one of
 * the same programs), as the best of RUNS runs, since what else the host does only takes time away:
 * a line "NAME RATE" each, then the geometric mean as "mean RATE". Only the host's time within
 * launches counts, on one host thread if nothing else is said. A workload whose result is wrong
 * ends the program with status 1.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "rt/rt.h"
#include "util/error.h"
#include "util/glue/heap.h"
#include "workload.h"

#define RUNS 5

static const char *const benchmarks[] = {
#define TIMED(name, size) #name,
#include "timing.def"
#undef TIMED
};

#define BENCHMARK_COUNT ((int)(sizeof benchmarks / sizeof benchmarks[0]))

/* Every run has a device of its own, as a program that is started would. */
static int run_once(double *rate, const struct model *model, uint32_t threads,
                    const struct workload *workload)
{
    struct workbench counts;
    struct rt *rt = NULL;
    int rc = rt_create(&rt, model);
    if (rc == 0) {
        rc = rt_set_threads(rt, threads);
    }
    if (rc == 0) {
        rc = workload_run(&counts, rt, workload, SONDE_WORKLOADS_DIR, workload->full_size, true);
    }
    if (rc == 0) {
        *rate = (double)counts.thread_insns * 1e9 / (double)counts.launch_ns;
        fprintf(stderr, "%-14s %4" PRIu64 " launches %6.0f M thread instructions %7.1f ms\n",
                workload->name, counts.launches, (double)counts.thread_insns / 1e6,
                (double)counts.launch_ns / 1e6);
    }
    rt_destroy(rt);
    return rc;
}

static int measure(double *best, const struct model *model, uint32_t threads,
                   const struct workload *workload)
{
    *best = 0;
    for (int run = 0; run < RUNS; run++) {
        double rate = 0;
        int rc = run_once(&rate, model, threads, workload);
        if (rc < 0) {
            return rc;
        }
        *best = rate > *best ? rate : *best;
    }
    printf("%s %.0f\n", workload->name, *best);
    return 0;
}

static int measure_all(const struct model *model, uint32_t threads, const char *const *names,
                       int count)
{
    double logs = 0, rate;
    for (int i = 0; i < count; i++) {
        const struct workload *workload = workload_find(names[i]);
        if (!workload) {
            return error_set(SONDE_EUSAGE, "there is no workload '%s'", names[i]);
        }
        int rc = measure(&rate, model, threads, workload);
        if (rc < 0) {
            return rc;
        }
        logs += log(rate);
    }
    printf("mean %.0f\n", exp(logs / count));
    return 0;
}

int main(int argc, char **argv)
{
    heap_in_huge_pages();
    struct model *model = NULL;
    bool shared = argc > 2 && strcmp(argv[1], "-t") == 0;
    uint32_t threads = shared ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    int named = shared ? 3 : 1;
    int rc = model_load(&model, "gtx780");
    if (rc == 0) {
        rc = argc > named
                 ? measure_all(model, threads, (const char *const *)(argv + named), argc - named)
                 : measure_all(model, threads, benchmarks, BENCHMARK_COUNT);
    }
    model_destroy(model);
    if (rc < 0) {
        fprintf(stderr, "functional: %s\n", error_text());
    }
    return rc < 0 ? 1 : 0;
}
