/*
 * counts [-m MODEL] [-t THREADS] [NAME[=SIZE]...]: what every timed launch of workloads has
 * counted, for comparing two builds (same.sh): a line "WORKLOAD KERNEL CYCLES DIGEST" a launch,
 * where the digest is of all bytes of its struct gpu_stats (FNV-1a, 64 bits). All workloads at
 * their quick sizes when none is named. A workload that the model cannot run has a line with the
 * reason.
 */
#include <inttypes.h>
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

struct counts {
    const struct model *model;
    uint32_t threads;
    const char *workload;
};

static uint64_t digest(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void launched(void *ctx, const char *kernel, const struct gpu_stats *stats)
{
    const struct counts *counts = ctx;
    printf("%s %s %" PRIu64 " %016" PRIx64 "\n", counts->workload, kernel, stats->cycles,
           digest(stats, sizeof *stats));
}

static int count(void *ctx, const struct timed *what)
{
    struct counts *counts = ctx;
    struct workload_settings settings = {
        .folder = SONDE_WORKLOADS_DIR, .size = what->size, .launched = launched, .ctx = counts};
    struct workbench bench;
    struct rt *rt = NULL;
    counts->workload = what->name;
    int rc = rt_create(&rt, counts->model);
    rc = rc < 0 ? rc : rt_set_threads(rt, counts->threads);
    if (rc < 0) {
        return rc;
    }
    if (workload_run_with(&bench, rt, workload_find(what->name), &settings) < 0) {
        printf("%s: %s\n", what->name, error_text());
    }
    fflush(stdout);
    rt_destroy(rt);
    return 0;
}

static int count_all(struct counts *counts, char **names, int named)
{
    int rc = named ? timed_each(count, counts, names, named) : 0;
    for (uint32_t i = 0; rc == 0 && named == 0 && i < workload_count; i++) {
        rc = count(counts, &(struct timed){workloads[i].name, workloads[i].small_size});
    }
    return rc;
}

int main(int argc, char **argv)
{
    heap_in_huge_pages();
    struct model *model = NULL;
    struct counts counts = {.threads = 1};
    const char *name = "gtx780";
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-m") == 0) {
            name = argv[at + 1];
        } else {
            counts.threads = (uint32_t)strtoul(argv[at + 1], NULL, 10);
        }
    }
    int rc = model_load(&model, name);
    counts.model = model;
    rc = rc < 0 ? rc : count_all(&counts, argv + at, argc - at);
    model_destroy(model);
    if (rc < 0) {
        fprintf(stderr, "counts: %s\n", error_text());
    }
    return rc < 0 ? 1 : 0;
}
