/* What launches did, for people: sonde exec --summary, sonde run --summary. */
#ifndef SONDE_STATISTICS_SUMMARY_H
#define SONDE_STATISTICS_SUMMARY_H

#include "gpu/gpu.h"
#include "util/container/strbuf.h"

/* `cycles` that the launches took; `possible_warps` that an SM can hold of them, 0: not said. */
void statistics_summary(struct strbuf *out, const struct model *model,
                        const struct gpu_stats *stats, uint64_t cycles, uint32_t possible_warps);

#endif
