/*
 * The probe `evict`: whether a line stays in a large cache while others are read
 * (kernels/evict.ptx). What is read is a pool of lines drawn at random, of which a request names
 * only seed and number, and a list, the request's ring. All threads of one block read: so a few
 * hundred thousand lines take a fraction of a millisecond, where a chase would take a tenth of a
 * second.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum { REPEATS_MAX = 64, NEAR = 2048 }; /* NEAR: flips to another line of the same page */

struct evict {
    uint64_t target, pool, seed, units, unit, bytes, repeats, passes;
    const uint32_t *list;
    uint64_t list_count;
};

static int evict_read(struct evict *evict, const struct trace_request *request)
{
    *evict = (struct evict){.target = request_number(request, "target", 0),
                            .pool = request_number(request, "pool", 0),
                            .seed = request_number(request, "seed", 0),
                            .unit = request_number(request, "unit", 128),
                            .bytes = request_number(request, "span", 0),
                            .repeats = request_number(request, "repeats", 5),
                            .passes = request_number(request, "passes", 2),
                            .list = request->ring,
                            .list_count = request->ring_count};
    if (evict->target % 4 != 0 || evict->unit % 4 != 0) {
        return error_set(SONDE_EUSAGE, "probe evict: target and unit must be multiples of 4");
    }
    evict->units = evict->bytes / evict->unit;
    if (evict->units == 0 || evict->units > UINT32_MAX || (evict->target | NEAR) >= evict->bytes) {
        return error_set(SONDE_EUSAGE, "probe evict: no unit, or the target, within %llu bytes",
                         (unsigned long long)evict->bytes);
    }
    for (uint64_t i = 0; i < evict->list_count; i++) {
        if (evict->list[i] % 4 != 0 || evict->list[i] >= evict->bytes) {
            return error_set(SONDE_EUSAGE,
                             "probe evict: ring: offset %u is no multiple of 4 below %llu",
                             evict->list[i], (unsigned long long)evict->bytes);
        }
    }
    return SONDE_OK;
}

static int launch(struct probe_live *live, struct device_kernel *kernel, const struct evict *evict,
                  uint64_t elements)
{
    struct call call = call_begin(1, walk_threads(live, true), 0);
    call_u64(&call, elements);
    call_u64(&call, live->out.address);
    call_u64(&call, live->staging.address);
    call_u32(&call, (uint32_t)evict->list_count);
    call_u32(&call, (uint32_t)evict->pool);
    call_u32(&call, (uint32_t)evict->seed);
    call_u32(&call, (uint32_t)evict->units);
    call_u32(&call, (uint32_t)evict->unit);
    call_u32(&call, (uint32_t)evict->target);
    call_u32(&call, (uint32_t)evict->target ^ NEAR);
    call_u32(&call, (uint32_t)evict->repeats);
    call_u32(&call, (uint32_t)evict->passes);
    return call_run_touching(live, kernel, &call);
}

int evict_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct evict evict;
    struct device_kernel *kernel;
    uint64_t elements = 0;
    uint32_t words[RECORD_OUT_WORDS + 2 * REPEATS_MAX], latency[REPEATS_MAX];
    int rc = evict_read(&evict, request);
    rc = rc < 0 ? rc : kernel_find(live, &kernel, "evict", "evict", NULL);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, sizeof(words), 65536);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->staging, evict.list_count * 4, 4096);
    rc = rc < 0 ? rc : walk_memory(live, &elements, evict.bytes);
    if (rc == 0 && evict.list_count > 0) {
        rc = device_copy_to(live->device, live->staging.address, evict.list, evict.list_count * 4);
    }
    rc = rc < 0 ? rc : launch(live, kernel, &evict, elements);
    rc = rc < 0 ? rc
                : device_copy_from(live->device, words, live->out.address,
                                   (RECORD_OUT_WORDS + 2 * evict.repeats) * 4);
    for (uint64_t i = 0; rc == 0 && i < evict.repeats; i++) {
        const uint32_t *clocks = words + RECORD_OUT_WORDS + 2 * i;
        latency[i] = clocks[1] - clocks[0];
    }
    return rc < 0 ? rc : trace_add_column(trace, "latency", TRACE_U32, latency, evict.repeats);
}
