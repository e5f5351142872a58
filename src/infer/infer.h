/*
 * Inference: pure functions from traces to structure. It sees a trace source and nothing else: no
 * model, no device handle, no device name, no driver attribute (the layer check enforces it).
 * Experiments are rows of experiments.def, each with what it needs and yields; one that fails
 * leaves what it yields, and what needs it, "not measured" with the reason.
 */
#ifndef SONDE_INFER_INFER_H
#define SONDE_INFER_INFER_H

#include "infer/dissection.h"
#include "trace/source.h"

struct infer_options {
    const char *only,
        *skip; /* comma-separated experiment names, or NULL; unknown names are SONDE_EUSAGE */
    uint64_t seed;
    /* Hard limits of the device that shape requests (a block cannot have more shared memory). Not
     * evidence. */
    uint64_t max_footprint_bytes; /* largest array that may be asked for */
    uint64_t max_mapped_bytes;    /* the same with pages=mapped */
    uint32_t max_window;          /* records that fit one window */
    uint64_t max_cache_loads;     /* what the structure of all caches may take together, and the
                                     outermost half of it besides; 0: no limit */
    void (*progress)(void *ctx, double fraction, const char *what);
    void *progress_ctx;
    const volatile int *cancel; /* becomes non-zero: stop with SONDE_EINTERRUPTED */
};

int infer_dissect(struct dissection *out, struct trace_source *source,
                  const struct infer_options *options);

/* The experiments that `only` and `skip` name, in the order in which they run; name is NULL past
 * the last. */
struct infer_experiment {
    const char *name, *doc;
};
struct infer_experiment infer_experiment_at(size_t i);

#endif
