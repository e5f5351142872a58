/*
 * Kernels measured on a card (studies/h200/recorded.tsv) beside the same launches on a simulated
 * GPU.
 */
#ifndef SONDE_STUDY_KERNELS_COMPARE_H
#define SONDE_STUDY_KERNELS_COMPARE_H

#include "study/bench.h"
#include "util/container/strbuf.h"
#include "study/kernels/kernels.h"

/* What a launch took, on either side. */
struct kernel_counts {
    double cycles, warp_insns, l2_sectors, dram_bytes;
    double l1_loads, l1_hits;
    struct kernel_result result;
};

/* The row of a recording; SONDE_EINPUT with the line. */
int kernel_recorded(struct kernel_counts *out, const char *kernel, uint64_t size);
/* The same from a text. */
int kernel_recorded_in(struct kernel_counts *out, const char *text, const char *kernel,
                       uint64_t size);

/* Where cycles of SMs went that had a CTA, as shares of all. */
enum kernel_share { SHARE_ISSUE, SHARE_UNIT, SHARE_RESULT, SHARE_MEMORY, SHARE_BARRIER, SHARES };

/*
 * A launch on the simulator, with empty caches before. `cycles` without what launching takes.
 * `max_cycles`: it is given up after so many.
 */
struct kernel_prediction {
    struct kernel_counts counts;
    double launches;
    double shares[SHARES];
};
struct model;
struct rt;
/* The workloads (programs.def): rows without a plan. */
extern const struct kernel_row kernel_programs[];
extern const size_t kernel_program_count;
/* A workload, timed; the cycles of all its launches. An error where its results are wrong. */
int kernel_run_program(uint64_t *cycles, uint64_t *launches, struct rt *rt, const char *name,
                       uint64_t size);
int kernel_predict(struct kernel_prediction *out, const struct model *model,
                   const struct kernel_row *row, uint64_t size, uint64_t max_cycles,
                   const volatile int *cancel);

/* A launch's two sides. `why`: it was not run to its end; all predicted is 0 then. */
struct kernel_pair {
    const struct kernel_row *row;
    uint64_t size;
    bool quick, set_aside; /* its kernel's first size; of those set aside */
    struct kernel_counts measured;
    struct kernel_prediction predicted; /* cycles with what launching takes */
    char *why;
};

/* Numbers of several pairs. NAN: there is none to make it of. */
struct kernel_selection {
    int class; /* or -1: all but the workloads */
    bool set_aside;
};
enum kernel_value {
    KERNEL_MAPE,
    KERNEL_MEDIAN, /* of the errors of cycles */
    KERNEL_MOST,   /* the largest */
    KERNEL_CORRELATION,
    KERNEL_INSTRUCTIONS,
    KERNEL_INSTRUCTIONS_MOST,
    KERNEL_L2_SECTORS,
    KERNEL_DRAM_BYTES,
    KERNEL_WRONG_RESULTS,
    KERNEL_VALUES
};
double kernel_value(const struct kernel_pair *pairs, size_t count, enum kernel_value value,
                    const struct kernel_selection *selection);
/* |predicted - measured| / measured; 1 of what was not run to its end. */
double kernel_error(double predicted, double measured);

/* Whether the card moved more than L2 holds. */
bool kernel_is_large(const struct kernel_counts *measured);

/* All that has been compared so far. */
size_t kernel_pairs(const struct kernel_pair **out, struct study_bench *bench);
/* Launches that were compared elsewhere, in place of any simulated here; they have no `why`. */
int kernel_give(struct study_bench *bench, const struct kernel_pair *pairs, size_t count);
/* The same as a table, without the kernels that are set aside; "" if nothing. */
int kernel_table(struct strbuf *out, struct study_bench *bench);

#endif
