/*
 * What the live source's files share: the device with its loaded kernels and memory, and how a
 * probe is run. Nothing here is seen outside the room.
 */
#ifndef SONDE_PROBE_LIVE_H
#define SONDE_PROBE_LIVE_H

#include "probe/probe.h"
#include "util/vec.h"

/* Device memory that is asked for when first needed, kept, and replaced when it is too small. */
struct buffer {
    uint64_t address, bytes;
};

/* A kernel of a file in kernels/, in the variant for one cache operator. */
struct loaded_kernel {
    char name[40];                /* "chase.cg", "layout:flush" */
    struct device_module *module; /* NULL: belongs to the entry before */
    struct device_kernel *kernel;
};

/* What lies in the walk's buffer: see walk.c. */
struct layout {
    uint32_t width; /* bytes of an element: 4, 8, or 0 for none */
    uint64_t base, stride, built, wrap;
};

struct probe_live {
    struct device *device;
    struct traceset *set;
    VEC(struct loaded_kernel) kernels;
    struct buffer walk, out, staging, flush;
    struct layout layout;
};

/* ---- kernels.c ---- */

/* The kernel `entry` of kernels/<file>.ptx; op (or NULL) replaces the cache operator of its loads.
 */
int kernel_find(struct probe_live *live, struct device_kernel **out, const char *file,
                const char *entry, const char *op);
void kernels_unload(struct probe_live *live);

/* A launch whose arguments are put in one by one. */
struct call {
    struct device_launch launch;
    uint64_t values[DEVICE_MAX_ARGS];
};

struct call call_begin(uint32_t blocks, uint32_t threads, uint32_t dynamic_shared_bytes);
void call_u64(struct call *call, uint64_t value);
void call_u32(struct call *call, uint32_t value);
/* Launches, unless the device's cancel flag is up (SONDE_EINTERRUPTED). */
int call_run(struct probe_live *live, struct device_kernel *kernel, struct call *call);

/* ---- walk.c ---- */

/* At least `bytes`, preferably `roomy` bytes; what was in it is lost when it grows. */
int buffer_reserve(struct probe_live *live, struct buffer *buffer, uint64_t bytes, uint64_t roomy);

/* The elements that a walk visits: at i * stride, or at ring[i]. */
struct walk {
    uint32_t width; /* 4: offsets; 8: addresses */
    uint64_t base, stride, count;
    uint64_t bytes;       /* the footprint that a touch reads */
    const uint32_t *ring; /* NULL: none */
};

/* Reads op's common parameters of a completed request. SONDE_EUSAGE for what does not go together.
 */
int walk_read(struct walk *walk, const struct trace_request *request, uint32_t width);
/* The byte offset of the element at a position of the walk, modulo its length. */
uint64_t walk_offset(const struct walk *walk, uint64_t position);
/* Puts the elements into the walk's buffer. */
int walk_build(struct probe_live *live, const struct walk *walk);
/* Reads a large other buffer. */
int walk_flush(struct probe_live *live, uint64_t flush_bytes);

/* Sets the carve-out that a request asks for; `least` bytes when it says auto, and then a backend
 * without is fine. */
int walk_carveout(struct probe_live *live, struct device_kernel *kernel,
                  const struct trace_request *request, uint64_t least);
/* Threads of a block: enough to touch a footprint, or one warp. */
uint32_t walk_threads(const struct probe_live *live, bool touch);

/* A number of a completed request, or `otherwise` for auto. */
uint64_t request_number(const struct trace_request *request, const char *name, uint64_t otherwise);
bool request_flag(const struct trace_request *request, const char *name);

/* What chase.ptx and overhead.ptx share: shared memory a record, words of output in front of the
 * records, and the ordered loads that go through the recording loop before it counts, so that its
 * instructions are cached. */
enum { RECORD_BYTES = 12, RECORD_OUT_WORDS = 4, RECORD_PREROLL = 2 };

/* ---- one file a probe: adds columns to the trace ---- */

int chase_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int average_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int overhead_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int clock_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);

#endif
