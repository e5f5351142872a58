/*
 * The probe `copy`: a kernel that copies, 8 bytes a thread, timed when its data were just copied by
 * the same kernel, and when a copy from the host to another buffer came between (kernels/copy.ptx;
 * Lashgar et al. 2015, Figure 2). As long as the caches hold all of the data, the latter takes
 * longer.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum { THREADS = 256, ELEMENT = 8, RUNS_MAX = 64 };
#define PIECE (UINT64_C(4) << 20) /* bytes that the host copies at a time */

struct copy {
    uint64_t count, blocks, flush_bytes, runs;
    uint64_t to; /* of the second half, from the buffer's start */
    struct device_kernel *kernel;
};

static int prepare(struct probe_live *live, struct copy *copy)
{
    struct ground *ground = &live->grounds[GROUND_PLAIN];
    uint64_t extent = copy->to + copy->count * ELEMENT;
    ground->layout.width = 0; /* overwritten */
    int rc = extent > ground->buffer.bytes ? buffer_reserve(live, &ground->buffer, extent, 0) : 0;
    rc = rc < 0 || !copy->flush_bytes ? rc
                                      : buffer_reserve(live, &live->flush, copy->flush_bytes, 0);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, copy->blocks * 4, 65536);
    return rc < 0 ? rc : kernel_find(live, &copy->kernel, "copy", "copy", NULL);
}

static int launch(struct probe_live *live, const struct copy *copy)
{
    uint64_t start = live->grounds[GROUND_PLAIN].buffer.address;
    struct call call = call_begin((uint32_t)copy->blocks, THREADS, 0);
    call_u64(&call, start);
    call_u64(&call, start + copy->to);
    call_u64(&call, live->out.address);
    call_u64(&call, copy->count);
    return call_run(live, copy->kernel, &call);
}

static int flush(struct probe_live *live, const struct copy *copy, const void *dummy)
{
    int rc = 0;
    for (uint64_t at = 0; at < copy->flush_bytes && rc == 0; at += PIECE) {
        uint64_t left = copy->flush_bytes - at;
        rc = device_copy_to(live->device, live->flush.address + at, dummy,
                            left < PIECE ? left : PIECE);
    }
    return rc;
}

/* The mean over the blocks, of the second of two launches. */
static int measure_once(struct probe_live *live, const struct copy *copy, const void *dummy,
                        uint32_t *words, double *cycles)
{
    double sum = 0;
    int rc = launch(live, copy);
    rc = rc < 0 ? rc : flush(live, copy, dummy);
    rc = rc < 0 ? rc : launch(live, copy);
    rc = rc < 0 ? rc : device_copy_from(live->device, words, live->out.address, copy->blocks * 4);
    for (uint64_t i = 0; i < copy->blocks && rc == 0; i++) {
        sum += words[i];
    }
    *cycles = sum / (double)copy->blocks;
    return rc;
}

int copy_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    double cycles[RUNS_MAX];
    uint64_t half = request_number(request, "bytes", 2 * ELEMENT) / 2;
    struct copy copy = {.count = half / ELEMENT,
                        .to = (half + 255) / 256 * 256,
                        .flush_bytes = request_number(request, "flush_bytes", 0) & ~UINT64_C(15),
                        .runs = request_number(request, "runs", 1)};
    copy.blocks = (copy.count + THREADS - 1) / THREADS;
    int rc = prepare(live, &copy);
    if (rc < 0) {
        return rc;
    }
    uint32_t *words = malloc(copy.blocks * 4);
    void *dummy = calloc(1, copy.flush_bytes < PIECE ? copy.flush_bytes + 1 : PIECE);
    rc = words && dummy ? SONDE_OK : error_memory();
    for (uint64_t i = 0; words && dummy && i < copy.runs && rc == 0; i++) {
        rc = measure_once(live, &copy, dummy, words, &cycles[i]);
    }
    free(dummy);
    free(words);
    return rc < 0 ? rc : trace_add_column(trace, "cycles", TRACE_F64, cycles, copy.runs);
}
