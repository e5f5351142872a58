/*
 * The probe `threads`: blocks of more and more threads, each with some independent loads, timed
 * from barrier to barrier (kernels/threads.ptx; Lashgar et al. 2015, Listing 1). One launch is one
 * run of one point. Nothing of a launch's lines is in L1 when the GPU empties that between
 * launches, as they do; all of them are in L2 if that has room, or with cold=1 none: each launch
 * reads lines that were not read for longest, of more memory than any L2 holds. With hit=N another
 * warp comes on top, and its load, of a line that L1 has, is what is timed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

/* The place that the first, untimed round reads; lines of the timed one lie behind it. */
enum { APART_BYTES = 65536, ROOMY_BYTES = 4 << 20, WARP = 32 };
/* A block of the touching kernel, and the bytes that its threads read. */
enum { TOUCH_THREADS = 256, TOUCH_BYTES = 16 * TOUCH_THREADS };
/* Memory of lines that L2 does not hold; of a small device one part in so many. */
enum { COLD_BYTES = 256 << 20, COLD_PART = 8, COLD_STEP = 4096 };

struct threads {
    uint64_t from, to, step, loads, lanes, common, merge, stride, runs, more, hit;
    uint32_t merge_shift, share_shift, points;
    bool cold;
    const char *op;
};

/* Of a power of two. */
static uint32_t shift_of(uint64_t power)
{
    uint32_t shift = 0;
    while (UINT64_C(1) << shift < power) {
        shift++;
    }
    return shift;
}

static int threads_read(struct threads *t, const struct trace_request *request)
{
    *t = (struct threads){.from = request_number(request, "from", 2),
                          .step = request_number(request, "step", 2),
                          .loads = request_number(request, "loads", 1),
                          .lanes = request_number(request, "lanes", WARP),
                          .common = request_number(request, "common", WARP),
                          .merge = request_number(request, "merge", 1),
                          .stride = request_number(request, "stride", 128),
                          .runs = request_number(request, "runs", 3),
                          .more = request_number(request, "more", 0),
                          .hit = request_number(request, "hit", 0),
                          .cold = request_flag(request, "cold"),
                          .op = trace_request_text(request, "op")};
    t->to = request_number(request, "to", t->from);
    if (t->to < t->from) {
        return error_set(SONDE_EUSAGE, "probe threads: from=%llu is above to=%llu",
                         (unsigned long long)t->from, (unsigned long long)t->to);
    }
    if (t->stride % (t->cold ? 8 : 4) != 0) {
        return error_set(SONDE_EUSAGE, "probe threads: stride must be a multiple of %d",
                         t->cold ? 8 : 4);
    }
    if (t->cold && t->hit) {
        return error_set(SONDE_EUSAGE, "probe threads: cold=1 and hit=N do not go together");
    }
    t->merge_shift = shift_of(t->merge);
    t->share_shift = shift_of(request_number(request, "share", 1));
    t->points = (uint32_t)((t->to - t->from) / t->step + 1);
    return SONDE_OK;
}

/* Lines of a thread, or of those that share them. */
static uint64_t lines_each(const struct threads *t)
{
    return t->loads + (t->more > 0);
}

static uint64_t all_bytes(const struct threads *t)
{
    return (t->to / t->merge + 1) * lines_each(t) * t->stride;
}

/* Where the next launch's lines begin. */
static uint64_t next_lines(struct probe_live *live, const struct threads *t)
{
    if (!t->cold) {
        return live->staging.address + APART_BYTES;
    }
    uint64_t bytes = (all_bytes(t) + COLD_STEP - 1) / COLD_STEP * COLD_STEP;
    uint64_t at = live->cold_at + bytes <= live->cold.bytes ? live->cold_at : 0;
    live->cold_at = at + bytes;
    return live->cold.address + at;
}

static int measure_once(struct probe_live *live, struct device_kernel *kernel,
                        const struct threads *t, uint32_t threads, double *cycles)
{
    uint32_t warps = (threads + WARP - 1) / WARP + (t->hit > 0), clocks[2 * WARP], most = 0;
    uint64_t start = live->staging.address;
    struct call call = call_begin(1, t->hit ? warps * WARP : threads, 0);
    call_u64(&call, next_lines(live, t));
    call_u64(&call, start);
    call_u64(&call, live->out.address);
    call_u64(&call, live->out.address + sizeof(clocks));
    call_u32(&call, (uint32_t)t->lanes);
    call_u32(&call, t->merge_shift);
    call_u32(&call, t->share_shift);
    call_u32(&call, (uint32_t)t->common);
    call_u32(&call, (uint32_t)(lines_each(t) * t->stride));
    if (t->hit) {
        call_u32(&call, (uint32_t)t->hit);
        call_u32(&call, threads);
    }
    call_u32(&call, (uint32_t)t->more);
    if (t->cold) {
        call_u64(&call, t->stride / 2);
    }
    int rc = call_run(live, kernel, &call);
    rc = rc < 0 ? rc
                : device_copy_from(live->device, clocks, live->out.address,
                                   warps * 2 * sizeof(clocks[0]));
    for (uint32_t i = t->hit ? warps - 1 : 0; i < warps && rc == 0; i++) {
        uint32_t taken = clocks[2 * i + 1] - clocks[2 * i]; /* modulo 2^32: the counter may wrap */
        most = taken > most ? taken : most;
    }
    *cycles = most;
    return rc;
}

static int prepare(struct probe_live *live, struct device_kernel **kernel, const struct threads *t,
                   const struct trace_request *request)
{
    char variant[32];
    uint64_t part = live->device->info.memory_bytes / COLD_PART;
    uint64_t threads = t->hit ? (t->to + WARP - 1) / WARP * WARP + WARP : t->to;
    uint32_t most = live->device->info.max_threads_per_block;
    if ((most > 0 && threads > most) || threads > WARP * WARP) {
        return error_set(SONDE_EUNSUPPORTED, "blocks of %llu threads, where %u is the most",
                         (unsigned long long)threads, most ? most : WARP * WARP);
    }
    snprintf(variant, sizeof(variant), "%s.%u.%u%s%s", t->op, (unsigned)t->loads,
             (unsigned)t->stride,
             t->cold  ? ".cold"
             : t->hit ? ".hit"
                      : "",
             t->more ? ".more" : "");
    int rc = buffer_reserve(live, &live->staging, APART_BYTES + (t->cold ? 0 : all_bytes(t)),
                            ROOMY_BYTES);
    if (rc == 0 && t->cold) {
        uint64_t roomy = part && part < COLD_BYTES ? part : COLD_BYTES;
        rc = buffer_reserve(live, &live->cold, 2 * all_bytes(t), roomy);
    }
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, 4096, 65536);
    rc = rc < 0 ? rc : kernel_find(live, kernel, "threads", "threads", variant);
    return rc < 0 ? rc : walk_carveout(live, *kernel, request, 8);
}

/* All of the lines into L2, whatever part of a line a load fetches. */
static int touch(struct probe_live *live, const struct threads *t)
{
    struct device_kernel *kernel;
    uint64_t bytes = all_bytes(t);
    int rc = kernel_find(live, &kernel, "layout", "flush", NULL);
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin((uint32_t)(bytes / TOUCH_BYTES + 1), TOUCH_THREADS, 0);
    call_u64(&call, live->staging.address + APART_BYTES);
    call_u64(&call, bytes & ~UINT64_C(15));
    call_u32(&call, 0x5bd1e995); /* see walk_flush(): harmless */
    return call_run(live, kernel, &call);
}

static int add_columns(struct trace *trace, const struct threads *t, const double *cycles)
{
    uint32_t *threads = malloc(t->points * sizeof(*threads));
    if (!threads) {
        return error_memory();
    }
    for (uint32_t i = 0; i < t->points; i++) {
        threads[i] = (uint32_t)(t->from + i * t->step);
    }
    int rc = trace_add_column(trace, "threads", TRACE_U32, threads, t->points);
    free(threads);
    return rc < 0 ? rc : trace_add_column(trace, "cycles", TRACE_F64, cycles, t->points * t->runs);
}

int threads_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct threads t;
    struct device_kernel *kernel = NULL;
    int rc = threads_read(&t, request);
    rc = rc < 0 ? rc : prepare(live, &kernel, &t, request);
    rc = rc < 0 || t.cold ? rc : touch(live, &t);
    if (rc < 0) {
        return rc;
    }
    uint64_t launches = t.points * t.runs; /* both are at least 1 */
    double *cycles = calloc(launches + 1, sizeof(*cycles));
    if (!cycles) {
        return error_memory();
    }
    for (uint64_t i = 0; i < launches && rc == 0; i++) {
        uint32_t threads = (uint32_t)(t.from + i / t.runs * t.step);
        rc = measure_once(live, kernel, &t, threads, &cycles[i]);
    }
    rc = rc < 0 ? rc : add_columns(trace, &t, cycles);
    free(cycles);
    return rc;
}
