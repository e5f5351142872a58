/*
 * The probe `overhead`: what a record of the chase takes when nothing is loaded
 * (kernels/overhead.ptx).
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

static int measure(struct probe_live *live, const struct trace_request *request, uint32_t *words,
                   uint64_t window)
{
    struct device_kernel *kernel;
    int rc = kernel_find(live, &kernel, "overhead", "overhead", NULL);
    if (rc < 0 || (rc = walk_carveout(live, kernel, request, window * RECORD_BYTES)) < 0) {
        return rc;
    }
    struct call call = call_begin(1, walk_threads(live, false), (uint32_t)window * RECORD_BYTES);
    call_u64(&call, live->out.address);
    call_u32(&call, (uint32_t)(window < RECORD_PREROLL ? window : RECORD_PREROLL));
    call_u32(&call, (uint32_t)window);
    rc = call_run(live, kernel, &call);
    return rc < 0 ? rc
                  : device_copy_from(live->device, words, live->out.address,
                                     (RECORD_OUT_WORDS + 3 * window) * 4);
}

int overhead_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    uint64_t window = request_number(request, "window", 1);
    uint32_t *words = malloc((RECORD_OUT_WORDS + 3 * window) * 4);
    if (!words) {
        return error_memory();
    }
    int rc = buffer_reserve(live, &live->out, (RECORD_OUT_WORDS + 3 * window) * 4, 65536);
    if (rc == 0) {
        rc = measure(live, request, words, window);
    }
    if (rc == 0) {
        /* In place: the difference of pair i goes where pair i / 2 was read before. */
        uint32_t *clocks = words + RECORD_OUT_WORDS;
        for (uint64_t i = 0; i < window; i++) {
            clocks[i] = clocks[2 * i + 1] - clocks[2 * i];
        }
        rc = trace_add_column(trace, "latency", TRACE_U32, clocks, window);
    }
    free(words);
    return rc;
}
