/*
 * Statistics of timed launches: gathered kernel by kernel, written as JSON with the sum of all
 * (statistics.c says what).
 */
#ifndef SONDE_STATISTICS_STATISTICS_H
#define SONDE_STATISTICS_STATISTICS_H

#include "gpu/gpu.h"
#include "util/container/map.h"

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
    uint64_t late;  /* that did not begin with their grid */
};

int residents_begin(struct residents *residents, uint32_t sms);
void residents_note(void *residents, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends);
void residents_free(struct residents *residents);

/* Launches of one grid and block. */
struct statistics_size {
    uint32_t grid[3], block[3];
    uint64_t launches;
    size_t alike; /* place plus 1 of the one before with the same hash; 0: none */
};

/* All launches of a kernel. Kernels of one name are told apart by their code. */
struct statistics_kernel {
    char *name;
    uint64_t code;
    uint32_t variant;              /* 1; 2 ..: other code of the same name */
    struct gpu_stats stats;        /* with the number of launches */
    struct statistics_size *sizes; /* in the order of their first launch */
    size_t size_count, size_capacity;
    struct u64_map size_places; /* by hash, the place of the last plus 1 */
    uint64_t overlapping; /* launches beside others: what these did meanwhile is counted, too */
};

/* Zeroed: nothing yet. */
struct statistics {
    struct statistics_kernel *kernels; /* in the order of their first launch */
    size_t count, capacity;
    bool failed;                   /* memory was out */
    uint32_t most_ctas;            /* that an SM held at a time; 0: nobody has counted */
    uint64_t late_ctas;            /* that found no room when their grid began; likewise counted */
    const struct sampler *sampler; /* not NULL: only some launches were timed (sample/sampler.h) */
};

/* A launch, with what it has counted, as gpu_stats_since() gives it; `grid` and `block` may be
 * NULL: not known. */
struct statistics_launch {
    const char *kernel;
    uint64_t code; /* exec_program_code(), or 0 where names are enough */
    const uint32_t *grid, *block;
    bool overlaps; /* another ran beside it */
    const struct gpu_stats *stats;
};
void statistics_launched(struct statistics *statistics, const struct statistics_launch *launch);
/* Its place among the kernels; SIZE_MAX: it has had no launch. */
size_t statistics_find(const struct statistics *statistics, const char *kernel, uint64_t code);
/* The same of a struct statistics, where nothing else is known of the launch: a workload_launched.
 */
void statistics_add(void *statistics, const char *kernel, const struct gpu_stats *launch);
void statistics_total(struct gpu_stats *out, const struct statistics *statistics);
void statistics_free(struct statistics *statistics);

/* Writes a file. `placements` of the only launch, or NULL. */
int statistics_write(const char *path, const struct model *model,
                     const struct statistics *statistics, const struct placements *placements);

#endif
