/* What a timed launch is reported with: see statistics.c. */
#ifndef SONDE_API_STATISTICS_H
#define SONDE_API_STATISTICS_H

#include "gpu/gpu.h"

struct placement {
    uint64_t cta, start_cycle, end_cycle;
    uint32_t sm;
};

/* CTAs in the order of their starts; filled by placements_note(), a gpu_placed. */
struct placements {
    struct placement *list;
    size_t count, capacity;
    bool failed; /* memory was out */
};

void placements_note(void *placements, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends);

/* Writes `stats` of one launch to a file ("-": standard output) as JSON. */
int statistics_write(const char *path, const struct model *model, const struct gpu_stats *stats,
                     const struct placements *placements);

#endif
