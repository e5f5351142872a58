/*
 * A time line in the Chrome trace format (JSON object form, the Trace Event Format document of the
 * Chromium project), which Perfetto and chrome://tracing open: kernels and copies as slices, a
 * track for each stream; resident warps, cache hit rates and DRAM's bandwidth as counters, sampled.
 *
 * The file is written as events come, and is valid JSON whenever the process ends: each write has
 * the document's end behind it, which the next one overwrites. What is kept in memory is one
 * buffer. Samples are taken ever more rarely, so that the file grows with the logarithm of the
 * time.
 */
#ifndef SONDE_PROFILE_TIMELINE_H
#define SONDE_PROFILE_TIMELINE_H

#include "gpu/gpu.h"

struct timeline;

/* The model is borrowed; so is the GPU, which is sampled until it is detached. SONDE_EIO. */
int timeline_open(struct timeline **out, const char *path, const struct model *model);
int timeline_close(struct timeline *timeline); /* NULL is allowed; SONDE_EIO: a write has failed */
void timeline_attach(struct timeline *timeline, struct gpu *gpu);
void timeline_flush(struct timeline *timeline);

struct timeline_slice {
    const char *name, *category; /* "kernel" or "copy" */
    uint64_t stream_id, begin_ps, end_ps;
    uint64_t cycles, bytes; /* 0: none are told */
    const char *status;     /* NULL: it went well */
};
void timeline_slice(struct timeline *timeline, const struct timeline_slice *slice);

#endif
