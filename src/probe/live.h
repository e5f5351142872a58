/*
 * What the live source's files share: the device with its loaded kernels and memory, and how a
 * probe is run. Only this room includes it.
 *
 *   walk     loads, in a given order, of elements in a buffer
 *   ground   the buffer of walks, and which elements lie in it now
 *   touch    a read of the whole footprint by all threads of a block: a fast warm-up
 *   variant  a kernel's text with another opcode (variants.c)
 *   work     what a device counts of what it has done (device->work), in microseconds of a core
 */
#ifndef SONDE_PROBE_LIVE_H
#define SONDE_PROBE_LIVE_H

#include "probe/probe.h"
#include "util/container/vec.h"

/* Device memory. It is allocated when first needed, and replaced when it is too small. */
struct buffer {
    uint64_t address, bytes;
    bool is_mapped;      /* of pages that are mapped one by one */
    uint64_t page_bytes; /* their size */
};

/* A kernel of a file in kernels/, in one of its variants. */
struct loaded_kernel {
    char name[64];                /* "chase.cg", "layout:flush" */
    struct device_module *module; /* NULL: belongs to the entry before */
    struct device_kernel *kernel;
};

/* What lies in a walk's buffer: see walk.c. */
struct layout {
    uint32_t width; /* bytes of an element: 4, 8, or 0 for none */
    uint64_t base, stride, scale, built, wrap;
};

/* A buffer that is walked, and what lies in it. */
struct ground {
    struct buffer buffer;
    struct layout layout;
};
enum { GROUND_PLAIN, GROUND_MAPPED, GROUND_COUNT };

struct probe_live {
    struct device *device;
    struct traceset *set;
    VEC(struct loaded_kernel) kernels;
    struct ground grounds[GROUND_COUNT];
    struct buffer out, staging, flush, cold;
    uint64_t cold_at;                /* where in `cold` lines begin that were read longest ago */
    uint64_t work_begin, work_limit; /* work when the limit was set; at most; 0: no limit */
    double allowed;                  /* share of the work in between that may be done by now */
    double kept;                     /* share of it that requests of few loads have to themselves */
    uint32_t touch_threads;          /* a block of so many threads was too large; 0: none was */
    double line_work;  /* of a line of a copy or a stream, when one was last measured */
    double touch_work; /* of a line of a touch, likewise */
    double order_work; /* of an ordered load, likewise, where there were many */
};

/* ---- kernels.c ---- */

/* The kernel `entry` of kernels/<file>.ptx in a variant (NULL: as the file is). */
int kernel_find(struct probe_live *live, struct device_kernel **out, const char *file,
                const char *entry, const char *variant);
/* Where the module of that variant has a variable. */
int kernel_variable(struct probe_live *live, struct buffer *where, const char *file,
                    const char *variant, const char *name);
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
/* Several at once, which may wait for each other (device_launch_together()). */
int call_run_together(struct probe_live *live, struct device_kernel *const *kernels,
                      struct call *calls, uint32_t count);
/* The same as call_run() with fewer threads where so many want more registers than an SM has: for
 * kernels whose threads share out what a block touches. */
int call_run_touching(struct probe_live *live, struct device_kernel *kernel, struct call *call);

/*
 * The same, of a kernel that leaves three words in live->out: the cycle counter before and after
 * the timed stretch, and how many bytes from its word the walk ended, which must be none. *cycles:
 * the stretch.
 */
int call_stretch(double *cycles, struct probe_live *live, struct device_kernel *kernel,
                 struct call *call);

/* ---- variants.c ---- */

/* The text of kernels/<file>.ptx in a variant, for a GPU of that generation; free() it. */
int variant_text(char **out, const char *file, const char *variant, uint32_t compute_major);

/* ---- walk/: buffer.c, place.c, walk.c, turns.c ---- */

/* At least `bytes`, preferably `roomy` bytes; what was in it is lost when it grows. */
int buffer_reserve(struct probe_live *live, struct buffer *buffer, uint64_t bytes, uint64_t roomy);

/* Gives it back, when there is one. */
void buffer_release(struct probe_live *live, struct buffer *buffer);

/* The elements that a walk visits: at i * stride, or at ring[i] * scale. */
struct walk {
    uint32_t width; /* 4: offsets, which count `scale` bytes; 8: addresses */
    uint64_t base, stride, scale, count;
    uint64_t bytes;       /* the footprint that a touch reads */
    const uint32_t *ring; /* NULL: none */
    unsigned turns;       /* how often an offset comes in it, once in each part: 1 or 2 (turns.c) */
    int ground;           /* where it lies */
};

/* Reads op's common parameters of a completed request. SONDE_EUSAGE for what does not go together.
 */
int walk_read(struct walk *walk, const struct trace_request *request, uint32_t width);
/* The offset of the element at a position of the walk (modulo its length), in units of `scale`. */
uint64_t walk_offset(const struct walk *walk, uint64_t position);
/* How far elements and touch reach, from the buffer's start, in bytes. */
uint64_t walk_extent(const struct walk *walk);
/*
 * Puts the elements into the walk's buffer. `rewarmed`: what is measured visits all of them first,
 * or empties the caches; then it does not matter where the set-up leaves their lines, and a
 * simulator need not take the time.
 */
int walk_build(struct probe_live *live, const struct walk *walk, bool rewarmed);
/* The same as a list of offsets in the staging buffer, for a kernel that lays them out itself. */
int walk_stage(struct probe_live *live, const struct walk *walk);
/*
 * turns.c: a ring of two turns. Whether each of its halves has each offset once; its words in the
 * staging buffer, behind one that says where the walk begins; how the kernel is told of a position
 * to start at; and what a word that was read at a position says where the walk goes on.
 */
int turns_check(const struct walk *walk);
int turns_stage(struct probe_live *live, const struct walk *walk);
uint32_t turns_start(const struct walk *walk, uint64_t position);
uint32_t turns_next(const struct walk *walk, uint64_t position, uint32_t word);
/* The constants of kernels/<file>.ptx in a variant: the elements, and 0 between them. */
enum { CONSTANT_BYTES = 65536 };
int walk_fill_constants(struct probe_live *live, const struct walk *walk, const char *file,
                        const char *variant);
/* At least so many bytes of the buffer that is walked; what lies there stays, or nobody counts on
 * it any more. */
int walk_memory(struct probe_live *live, uint64_t *address, uint64_t bytes);
/* Where the walk's buffer begins. */
uint64_t walk_address(const struct probe_live *live, const struct walk *walk);
/* Reads a large other buffer. */
int walk_flush(struct probe_live *live, uint64_t flush_bytes);

/* SONDE_EUNSUPPORTED for a path that the device is too old for. */
int walk_check_path(const struct probe_live *live, const char *op);
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
enum { RECORD_BYTES = 12, RECORD_OUT_WORDS = 8, RECORD_PREROLL = 2 };

/* ---- one file a probe: adds columns to the trace ---- */

int chase_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int average_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int overhead_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int clock_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int peers_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int beside_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int scope_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int held_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int evict_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int residents_run(struct probe_live *live, struct trace *trace,
                  const struct trace_request *request);
int constant_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int shared_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int threads_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int flight_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int copy_run(struct probe_live *live, struct trace *trace, const struct trace_request *request);
int instruction_run(struct probe_live *live, struct trace *trace,
                    const struct trace_request *request);

#endif
