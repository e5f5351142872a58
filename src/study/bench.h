/*
 * What measures work with: the devices of a study's roles, each opened when first needed, with its
 * probes and its blind dissection. Identical requests are answered from memory, so rows and figures
 * that share measurements share their cost.
 */
#ifndef SONDE_STUDY_BENCH_H
#define SONDE_STUDY_BENCH_H

#include <jansson.h>

#include "study/study.h"
#include "trace/source.h"
#include "util/progress.h"

struct study_bench;

int study_bench_create(struct study_bench **out, const struct study *study, uint64_t seed,
                       const struct sonde_watch *watch);
void study_bench_destroy(struct study_bench *bench);
void study_bench_progress(struct study_bench *bench, double fraction, const char *what);

/*
 * A measurement's trace; NULL with *why filled in when the device could not. Negative: the work
 * cannot go on (interrupted, memory out, the device is not there).
 */
int study_bench_trace(struct study_bench *bench, const struct trace **out, size_t role,
                      const struct trace_request *request, struct study_value *why);

/*
 * What is measured next on the role's device is measured on one that nothing has run on, whichever
 * rows came before: DRAM keeps the phase in which the last one left it. What was measured stays.
 */
void study_bench_afresh(struct study_bench *bench, size_t role);

/* The dissection as JSON (docs/dissection.schema.json), borrowed. */
int study_bench_dissection(struct study_bench *bench, json_t **out, size_t role);

/* ---- what program.c needs of it ---- */

const struct study *study_bench_study(const struct study_bench *bench);
struct progress study_bench_watch(const struct study_bench *bench);
const volatile int *study_bench_cancel(const struct study_bench *bench);
/* While it lists, no program is run: what is asked for is noted (program.h). */
void study_bench_set_lists(struct study_bench *bench, bool lists);
bool study_bench_lists(const struct study_bench *bench);
struct program_runs;
typedef void program_runs_end(struct program_runs *runs);
/* Its place for the programs that have run, a list at first NULL; `end` frees the list with the
 * bench. */
struct program_runs **study_bench_runs(struct study_bench *bench, program_runs_end *end);
struct kernel_runs;
typedef void kernel_runs_end(struct kernel_runs *runs);
/* Likewise of kernels/measure.c. */
struct kernel_runs **study_bench_kernels(struct study_bench *bench, kernel_runs_end *end);
/* Tells that a program runs on a role's device. */
void study_bench_running(struct study_bench *bench, const char *role, const char *program);

/* ---- chases ---- */

struct study_chase {
    const char *op;
    uint64_t bytes, stride; /* or */
    const uint32_t *ring;   /* offsets in the order of the walk */
    size_t count;           /* of the ring */
    uint64_t warm;          /* ordered loads first */
    uint32_t window, windows;
};

/* Latencies of the recorded loads, borrowed; as study_bench_trace, with *latency NULL. */
int study_bench_chase(struct study_bench *bench, const uint32_t **latency, size_t *count,
                      size_t role, const struct study_chase *chase, struct study_value *why);

/* ---- measures: fill *value, or leave nothing with the reason ---- */

#define MEASURE(name, function, doc)                                                               \
    int function(struct study_bench *bench, struct study_value *value, size_t role,                \
                 const struct yaml_node *node);
#include "study/measures.def"
#undef MEASURE

/* A word of a measure's mapping, NULL when it is not there. */
const char *measure_word(const struct yaml_node *node, const char *key);

/* A value of the dissection by its path. */
int measure_path(struct study_bench *bench, struct study_value *value, size_t role,
                 const char *path);

/* What figures share with rows. */
int measure_pattern(struct study_bench *bench, struct study_value *value, const uint32_t **latency,
                    size_t *count, size_t role, const char *pattern, const char *op);
int measure_missed_pages(struct study_bench *bench, struct study_value *value, size_t role,
                         uint64_t mib);
/* Entries of the sets that begin to thrash when so many pages more are missed in a pass. */
double measure_new_entries(double more_pages);
int measure_missed_lines(struct study_bench *bench, struct study_value *value, size_t role,
                         uint64_t bytes);
int measure_shared_latency(struct study_bench *bench, struct study_value *value, size_t role,
                           uint64_t stride, const char *mode);
int measure_average(struct study_bench *bench, struct study_value *value, size_t role,
                    uint64_t bytes, uint64_t stride);

#endif
