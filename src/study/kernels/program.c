/*
 * Workloads as kernels of the study h200: the same host program ran on the card under the profiler
 * (studies/h200/workloads.sh) and runs here, and each holds its results against its own. Its
 * launches count together, with empty caches before the first.
 */
#include "rt/rt.h"
#include "study/kernels/compare.h"
#include "util/error.h"
#include "workloads/workload.h"

#define LIST(...) __VA_ARGS__
#define PROGRAM(name, sizes)                                                                       \
    {"workload_" #name, NULL, #name, KERNEL_ASYNCHRONOUS, {LIST sizes}, NULL},
const struct kernel_row kernel_programs[] = {
#include "study/kernels/programs.def"
};
#undef PROGRAM
const size_t kernel_program_count = sizeof(kernel_programs) / sizeof(kernel_programs[0]);

int kernel_run_program(uint64_t *cycles, uint64_t *launches, struct rt *rt, const char *name,
                       uint64_t size)
{
    const struct workload *workload = workload_find(name);
    const struct workload_settings settings = {.size = (uint32_t)size};
    struct workbench counts = {0};
    int rc = workload ? workload_run_with(&counts, rt, workload, &settings)
                      : error_set(SONDE_EINTERNAL, "there is no workload '%s'", name);
    if (rc == 0) {
        *cycles = counts.cycles;
        *launches = counts.launches;
    }
    return rc;
}
