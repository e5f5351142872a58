/* A launch for people: sonde exec --summary. */
#ifndef SONDE_API_EXEC_SUMMARY_H
#define SONDE_API_EXEC_SUMMARY_H

#include "gpu/gpu.h"
#include "util/container/strbuf.h"

/* Cycles for which warps were resident; warp_time_note() is a gpu_placed, which tells another. */
struct warp_time {
    uint64_t cycles;
    uint32_t warps; /* of a CTA */
    gpu_placed *next;
    void *next_ctx;
};
void warp_time_note(void *time, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends);

/* `blocks`: that an SM can hold. */
void exec_summary(struct strbuf *out, const struct model *model, const struct gpu_stats *stats,
                  const struct warp_time *time, uint64_t cycles, uint32_t blocks);

#endif
