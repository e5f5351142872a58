/*
 * The probe `residents`: how many of lines drawn at random a cache holds after all threads of a
 * block have read them (kernels/residents.ptx). None is drawn twice. Their number, where all sets
 * are as likely, tells how many sets there are.
 *
 * Where the cache has parts, each of which keeps copies of another one's lines, the pool may be
 * confined to lines whose place is in the part of the SM that reads: a helper, on an SM of another
 * part, reads the pool first, and the lines that the reader then does not find near are left out.
 * Other lines, read before all that, drive out what the reader has copies of from former launches.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum {
    ANY = UINT32_MAX,
    BLOCKS_AN_SM = 2,
    MOST_BLOCKS = 4096,
    CHUNK = 8192, /* candidates that the helper reads at a time: a cache's part holds far more */
    PATIENCE = 200000,
    WORD_VAIN = 4, /* words of the kernel's output: waited in vain, lines, samples, SM */
    WORD_LINES,
    WORD_TAKEN,
    WORD_SM
};

struct residents {
    uint64_t pool, before, seed, unit, bytes, passes, samples, owner, helper, near;
    uint32_t bits; /* of a line's number */
};

static int residents_read(struct residents *r, const struct trace_request *request)
{
    *r = (struct residents){.pool = request_number(request, "pool", 0),
                            .before = request_number(request, "before", 0),
                            .seed = request_number(request, "seed", 0),
                            .unit = request_number(request, "unit", 128),
                            .bytes = request_number(request, "span", 0),
                            .passes = request_number(request, "passes", 1),
                            .samples = request_number(request, "samples", 1),
                            .owner = request_number(request, "sm", ANY),
                            .helper = request_number(request, "helper", ANY),
                            .near = request_number(request, "near", 0)};
    if (r->unit % 4 != 0) {
        return error_set(SONDE_EUSAGE, "probe residents: unit must be a multiple of 4");
    }
    while (r->bits < 31 && (r->unit << (r->bits + 1)) <= r->bytes) {
        r->bits++;
    }
    unsigned long long lines = r->pool + r->before;
    if (r->bits < 2 || lines > UINT64_C(1) << r->bits) {
        return error_set(SONDE_EUSAGE,
                         "probe residents: %llu lines of %llu bytes, no power of two "
                         "of which lies in %llu bytes",
                         lines, (unsigned long long)r->unit, (unsigned long long)r->bytes);
    }
    if (r->samples > r->pool) {
        return error_set(SONDE_EUSAGE, "probe residents: more samples than lines");
    }
    if (r->helper != ANY && (r->owner == ANY || r->helper == r->owner || r->pool % 32 != 0)) {
        return error_set(SONDE_EUSAGE, "probe residents: a helper needs another sm and a pool that "
                                       "is a multiple of 32");
    }
    return SONDE_OK;
}

/* The samples' latencies, and with a helper a bit for each line. */
static uint32_t shared_bytes(const struct residents *r)
{
    uint64_t bits = r->helper == ANY ? 0 : (r->pool + 31) / 32;
    return (uint32_t)(4 * (r->samples + bits));
}

static int launch(struct probe_live *live, struct device_kernel *kernel, const struct residents *r,
                  uint64_t elements)
{
    uint64_t blocks = r->owner == ANY ? 1 : (uint64_t)live->device->info.sms * BLOCKS_AN_SM;
    struct call call = call_begin((uint32_t)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS),
                                  walk_threads(live, true), shared_bytes(r));
    call_u64(&call, elements);
    call_u64(&call, live->out.address);
    call_u32(&call, r->bits);
    call_u32(&call, (uint32_t)r->unit);
    call_u32(&call, (uint32_t)r->seed);
    call_u32(&call, (uint32_t)r->pool);
    call_u32(&call, (uint32_t)r->before);
    call_u32(&call, (uint32_t)r->passes);
    call_u32(&call, (uint32_t)r->samples);
    call_u32(&call, (uint32_t)r->owner);
    call_u32(&call, (uint32_t)r->helper);
    call_u32(&call, (uint32_t)r->near);
    call_u32(&call, CHUNK);
    call_u32(&call, PATIENCE);
    return call_run_touching(live, kernel, &call);
}

static int take_columns(struct trace *trace, const struct residents *r, const uint32_t *words)
{
    uint32_t taken = words[WORD_TAKEN];
    if (words[WORD_VAIN] != 0 || taken == 0 || taken > r->samples) {
        return error_set(SONDE_EDEVICE, "no block ran on SM %llu or on SM %llu, or no line is near",
                         (unsigned long long)r->owner, (unsigned long long)r->helper);
    }
    int rc = trace_add_column(trace, "latency", TRACE_U32, words + RECORD_OUT_WORDS, taken);
    rc = rc < 0 ? rc : trace_add_column(trace, "lines", TRACE_U32, &words[WORD_LINES], 1);
    return rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, &words[WORD_SM], 1);
}

static int measure(struct probe_live *live, struct device_kernel *kernel, struct trace *trace,
                   const struct residents *r)
{
    uint64_t elements = 0, bytes = (RECORD_OUT_WORDS + r->samples) * 4;
    uint32_t *words = calloc(RECORD_OUT_WORDS + r->samples, sizeof *words);
    if (!words) {
        return error_memory();
    }
    int rc = buffer_reserve(live, &live->out, bytes, 65536);
    rc = rc < 0 ? rc : walk_memory(live, &elements, r->unit << r->bits);
    rc = rc < 0 ? rc : device_copy_to(live->device, live->out.address, words, bytes);
    rc = rc < 0 ? rc : launch(live, kernel, r, elements);
    rc = rc < 0 ? rc : device_copy_from(live->device, words, live->out.address, bytes);
    rc = rc < 0 ? rc : take_columns(trace, r, words);
    free(words);
    return rc;
}

int residents_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct residents r;
    struct device_kernel *kernel;
    int rc = residents_read(&r, request);
    rc = rc < 0 ? rc : kernel_find(live, &kernel, "residents", "residents", NULL);
    return rc < 0 ? rc : measure(live, kernel, trace, &r);
}
