/*
 * How many CTAs of a kernel fit an SM: the limits on threads, warps, CTAs, registers and shared
 * memory, each with its allocation granule. CUDA C Programming Guide, "Hardware Multithreading".
 */
#ifndef SONDE_CORE_OCCUPANCY_H
#define SONDE_CORE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/spec.h"

/* What one CTA takes of an SM. */
struct cta_needs {
    uint32_t threads;
    uint32_t warps;
    uint64_t registers;    /* of all its warps, rounded up to the granule warp by warp */
    uint64_t shared_bytes; /* static and dynamic */
};

/* What CTAs have taken of an SM together, of one kernel or of several. */
struct sm_room {
    uint32_t ctas, threads, warps;
    uint64_t registers, shared_bytes;
};
bool occupancy_fits(const struct sm_spec *spec, const struct sm_room *taken,
                    const struct cta_needs *needs, uint64_t sm_shared_bytes);
void occupancy_take(struct sm_room *taken, const struct cta_needs *needs);
void occupancy_give(struct sm_room *taken, const struct cta_needs *needs);

/* `register_count`: 32-bit registers a thread. */
void occupancy_needs(struct cta_needs *out, const struct sm_spec *spec, uint32_t threads,
                     uint32_t register_count, uint64_t shared_bytes);

/* CTAs that fit an empty SM with this much shared memory; 0: never, and *why names the limit. */
uint32_t occupancy_ctas(const struct sm_spec *spec, const struct cta_needs *needs,
                        uint64_t sm_shared_bytes, const char **why);

#endif
