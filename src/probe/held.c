/*
 * The probe `held`: which of a row of lines a cache still holds when they are read from the first
 * to the last, then back, and then there again (kernels/held.ptx). A window of a chase keeps twelve
 * bytes of a load and is written through the cache; here a bit is kept, so that some hundred
 * thousand lines are one launch.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

/* WORD_LATER: of the kernel's output, lines within `most`, but late, a word of each way. */
enum { WORD_BITS = 32, WORD_LATER = 1, WAYS = 2 };

struct held {
    uint64_t base, stride, count, most, slack;
};

static int held_read(struct held *held, const struct trace_request *request)
{
    *held = (struct held){.base = request_number(request, "base", 0),
                          .stride = request_number(request, "stride", 128),
                          .count = request_number(request, "count", 1),
                          .most = request_number(request, "most", 0),
                          .slack = request_number(request, "slack", 0)};
    if (held->base % 4 != 0 || held->stride % 4 != 0) {
        return error_set(SONDE_EUSAGE, "probe held: base and stride must be multiples of 4");
    }
    return SONDE_OK;
}

static uint64_t words_of(const struct held *held)
{
    return (held->count + WORD_BITS - 1) / WORD_BITS;
}

static int launch(struct probe_live *live, struct device_kernel *kernel, const struct held *held,
                  uint64_t elements)
{
    struct call call =
        call_begin(1, walk_threads(live, false), (uint32_t)(4 * WAYS * words_of(held)));
    call_u64(&call, elements + held->base);
    call_u64(&call, live->out.address);
    call_u32(&call, (uint32_t)held->count);
    call_u32(&call, (uint32_t)held->stride);
    call_u32(&call, (uint32_t)held->most);
    call_u32(&call, (uint32_t)held->slack);
    return call_run(live, kernel, &call);
}

static int measure(struct probe_live *live, struct device_kernel *kernel, struct trace *trace,
                   const struct held *held)
{
    uint64_t elements = 0, bytes = (RECORD_OUT_WORDS + WAYS * words_of(held)) * 4;
    uint32_t *words = malloc(bytes);
    if (!words) {
        return error_memory();
    }
    int rc = buffer_reserve(live, &live->out, bytes, 65536);
    rc = rc < 0 ? rc : walk_memory(live, &elements, held->base + held->count * held->stride);
    rc = rc < 0 ? rc : launch(live, kernel, held, elements);
    rc = rc < 0 ? rc : device_copy_from(live->device, words, live->out.address, bytes);
    rc = rc < 0 ? rc
                : trace_add_column(trace, "held", TRACE_U32, words + RECORD_OUT_WORDS,
                                   WAYS * words_of(held));
    rc = rc < 0 ? rc : trace_add_column(trace, "later", TRACE_U32, &words[WORD_LATER], WAYS);
    rc = rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, words, 1);
    free(words);
    return rc;
}

int held_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct held held;
    struct device_kernel *kernel;
    const char *op = trace_request_text(request, "op");
    int rc = held_read(&held, request);
    rc = rc < 0 ? rc : walk_check_path(live, op);
    rc = rc < 0 ? rc : kernel_find(live, &kernel, "held", "held", op);
    rc = rc < 0 ? rc : walk_carveout(live, kernel, request, 4 * WAYS * words_of(&held));
    return rc < 0 ? rc : measure(live, kernel, trace, &held);
}
