/*
 * Statistics of timed launches: gathered kernel by kernel, written as JSON with the sum of all
 * (statistics.c says what).
 */
#ifndef SONDE_STATISTICS_STATISTICS_H
#define SONDE_STATISTICS_STATISTICS_H

#include "gpu/gpu.h"

struct placement {
    uint64_t cta, start_cycle, end_cycle;
    uint32_t sm;
};

/* CTAs of one launch in the order of their starts; filled by placements_note(), a gpu_placed. */
struct placements {
    struct placement *list;
    size_t count, capacity;
    bool failed; /* memory was out */
};

void placements_note(void *placements, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends);
void placements_free(struct placements *placements);

/* CTAs that SMs hold while kernels run; residents_note() is a gpu_placed. */
struct residents {
    uint32_t *ctas; /* of each SM */
    uint32_t most;  /* that an SM held at a time */
};

int residents_begin(struct residents *residents, uint32_t sms);
void residents_note(void *residents, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends);
void residents_free(struct residents *residents);

/* All launches of a kernel; kernels of one name are one. */
struct statistics_kernel {
    char *name;
    struct gpu_stats stats; /* with the number of launches */
};

/* Zeroed: nothing yet. */
struct statistics {
    struct statistics_kernel *kernels; /* in the order of their first launch */
    size_t count, capacity;
    bool failed;                   /* memory was out */
    uint32_t most_ctas;            /* that an SM held at a time; 0: nobody has counted */
    const struct sampler *sampler; /* not NULL: only some launches were timed (sample/sampler.h) */
};

/* What one launch has counted, as gpu_stats_since() gives it. `statistics` is a struct statistics:
 * the function is a workload_launched too. */
void statistics_add(void *statistics, const char *kernel, const struct gpu_stats *launch);
void statistics_total(struct gpu_stats *out, const struct statistics *statistics);
void statistics_free(struct statistics *statistics);

/* Writes a file. `placements` of the only launch, or NULL. */
int statistics_write(const char *path, const struct model *model,
                     const struct statistics *statistics, const struct placements *placements);

#endif
