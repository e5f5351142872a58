/*
 * timing [-m MODEL] [NAME[=SIZE]...]: warp instructions a second of the timed simulator, of each
 * workload of timing.def (all of them when none is named; of any workload at a size) on one host
 * thread, as the best of RUNS runs: a line "NAME RATE" each, then the geometric mean as "mean RATE"
 * and the rate of all instructions together as "weighted RATE". What was simulated is told on
 * standard error beside the speed - cycles, IPC, cache and DRAM counts -, so that a speed that
 * comes from timing left out shows. A workload whose result is wrong ends the program with
 * status 1.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "model/model.h"
#include "rt/rt.h"
#include "timed.h"
#include "util/error.h"
#include "util/glue/heap.h"
#include "workload.h"

#define RUNS 3

static void tell(const struct timed *what, const struct workbench *counts,
                 const struct gpu_stats *stats)
{
    fprintf(stderr,
            "%-12s %8.2f ms %10" PRIu64 " cycles %9" PRIu64 " warp insns, IPC %.2f, L1 %" PRIu64
            "/%" PRIu64 ", L2 %" PRIu64 "/%" PRIu64 ", DRAM %" PRIu64 " reads %" PRIu64 " writes\n",
            what->name, (double)counts->launch_ns / 1e6, stats->cycles, stats->warp_insns,
            (double)stats->thread_insns / (double)stats->cycles, stats->l1_hits, stats->l1_reads,
            stats->l2_hits, stats->l2_reads, stats->dram_reads, stats->dram_writes);
}

/* Every run has a device of its own, as a program that is started would. */
static int run_once(double *seconds, uint64_t *insns, const struct model *model,
                    const struct timed *what, bool first)
{
    struct workbench counts;
    struct gpu_stats stats;
    struct rt *rt = NULL;
    int rc = rt_create(&rt, model);
    if (rc == 0) {
        rc = workload_run(&counts, rt, workload_find(what->name), SONDE_WORKLOADS_DIR, what->size,
                          false);
    }
    if (rc == 0) {
        gpu_stats(rt_gpu(rt), &stats);
        *seconds = (double)counts.launch_ns / 1e9;
        *insns = stats.warp_insns;
        if (first) {
            tell(what, &counts, &stats);
        }
    }
    rt_destroy(rt);
    return rc;
}

struct bench {
    const struct model *model;
    double logs, seconds, insns; /* sums */
    int count;
};

static int measure(void *ctx, const struct timed *what)
{
    struct bench *bench = ctx;
    double best = 0;
    uint64_t insns = 0;
    for (int run = 0; run < RUNS; run++) {
        double seconds = 0;
        int rc = run_once(&seconds, &insns, bench->model, what, run == 0);
        if (rc < 0) {
            return rc;
        }
        best = run == 0 || seconds < best ? seconds : best;
    }
    printf("%s %.0f\n", what->name, (double)insns / best);
    bench->logs += log((double)insns / best);
    bench->seconds += best;
    bench->insns += (double)insns;
    bench->count++;
    return 0;
}

static int measure_all(const struct model *model, char **names, int count)
{
    struct bench bench = {.model = model};
    int rc = timed_each(measure, &bench, names, count);
    if (rc == 0) {
        printf("mean %.0f\nweighted %.0f\n", exp(bench.logs / bench.count),
               bench.insns / bench.seconds);
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
    int rc = model_load(&model, name);
    if (rc == 0) {
        rc = measure_all(model, argv + 1, argc - 1);
    }
    model_destroy(model);
    if (rc < 0) {
        fprintf(stderr, "timing: %s\n", error_text());
    }
    return rc < 0 ? 1 : 0;
}
