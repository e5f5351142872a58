/*
 * checked [NAME...]: what the memory checker costs: of each workload at its full size (of all when
 * none is named), the processor's time within launches without timing, plain and checked, as the
 * medians of RUNS runs that take turns, and their ratio: a line "NAME PLAIN CHECKED RATIO" each, in
 * milliseconds, then the largest as "most RATIO". Where launches take less than TIME_MIN the ratio
 * is not told. A workload whose result is wrong ends the program with status 1.
 *
 * checked count NAME SIZE plain|checked: one run at a size, for a counter of instructions
 * (checked_counts.sh); it prints nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "model/model.h"
#include "rt/rt.h"
#include "util/error.h"
#include "util/glue/heap.h"
#include "workload.h"

#define RUNS 3
#define NARROW_BYTES (512u << 20)
#define TIME_MIN 5e6 /* nanoseconds: what the clock tells of less is noise */

/* `narrow`: with little address space, for a counter of instructions that has not much of it. */
static int run_once(double *ns, const struct workload *workload, uint32_t size, bool checked,
                    bool narrow)
{
    struct model *model = NULL;
    struct workbench counts;
    struct rt *rt = NULL;
    int rc = model_load(&model, workload_model(workload));
    if (rc == 0 && narrow)
        model->vm.memory_bytes = NARROW_BYTES;
    rc = rc < 0 ? rc : narrow ? rt_create_narrow(&rt, model) : rt_create(&rt, model);
    rc = rc < 0 || !checked ? rc : rt_check_enable(rt);
    rc = rc < 0 ? rc : workload_run(&counts, rt, workload, SONDE_WORKLOADS_DIR, size, true);
    *ns = rc < 0 ? 0 : (double)counts.launch_cpu_ns;
    rt_destroy(rt);
    model_destroy(model);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static int measure(double *ratio, const struct workload *workload)
{
    double ns[2][RUNS];
    for (int run = 0; run < RUNS; run++) {
        for (int checked = 0; checked < 2; checked++) {
            int rc = run_once(&ns[checked][run], workload, workload->full_size, checked, false);
            if (rc < 0) {
                return rc;
            }
        }
    }
    qsort(ns[0], RUNS, sizeof **ns, ascending);
    qsort(ns[1], RUNS, sizeof **ns, ascending);
    double plain = ns[0][RUNS / 2], checked = ns[1][RUNS / 2];
    printf("%s %.1f %.1f", workload->name, plain / 1e6, checked / 1e6);
    *ratio = plain < TIME_MIN ? 0 : checked / plain;
    if (*ratio > 0) {
        printf(" %.2f", *ratio);
    }
    printf("\n");
    fflush(stdout);
    return 0;
}

static int count_once(char **args)
{
    double ns;
    for (uint32_t i = 0; i < workload_count; i++) {
        if (strcmp(args[0], workloads[i].name) == 0) {
            return run_once(&ns, &workloads[i], (uint32_t)strtoul(args[1], NULL, 10),
                            strcmp(args[2], "checked") == 0, true);
        }
    }
    return error_set(SONDE_EINPUT, "there is no workload '%s'", args[0]);
}

int main(int argc, char **argv)
{
    heap_in_huge_pages();
    double most = 0, ratio;
    int rc = 0;
    bool counts = argc == 5 && strcmp(argv[1], "count") == 0;
    if (counts) {
        rc = count_once(argv + 2);
    }
    for (uint32_t i = 0; !counts && rc == 0 && i < workload_count; i++) {
        bool named = argc == 1;
        for (int k = 1; k < argc; k++) {
            named |= strcmp(argv[k], workloads[i].name) == 0;
        }
        if (named) {
            rc = measure(&ratio, &workloads[i]);
            most = rc == 0 && ratio > most ? ratio : most;
        }
    }
    if (rc < 0) {
        fprintf(stderr, "checked: %s\n", error_text());
        return 1;
    }
    if (!counts) {
        printf("most %.2f\n", most);
    }
    return 0;
}
