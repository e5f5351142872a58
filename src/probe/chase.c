/*
 * The probe `chase`: fine-grained pointer chase in windows (kernels/chase.ptx). Each window is a
 * launch of one block, which warms, records, and hands the record back. Positions are counted along
 * the walk: a window's records begin at its start, the warm-up as many loads before it.
 *
 *     ... | warm (not recorded) | preroll (recorded over) | window ... |        -> along the ring
 *                                                         ^ start
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum { WARM_AFTER_TOUCH = 4, AUTO_WINDOW_MAX = 1024 };

/* A trace in memory: 64 Mi records. */
#define RECORDS_MAX (UINT64_C(1) << 26)

#define FLUSH_LEAST (UINT64_C(8) << 20)
#define FLUSH_MOST (UINT64_C(1) << 30)

struct chase {
    struct walk walk;
    const char *op;
    uint64_t warm, window, windows, touch_stride, flush_bytes;
    bool touch, spread, persist, cold;
};

/* The window's record as it comes back, and the columns that it goes to. */
struct chase_record {
    uint32_t *words;
    uint32_t *latency, *next, *start, *smid;
};

static int chase_check(const struct chase *chase, const struct trace_request *request)
{
    if (chase->cold && (request_number(request, "warm", 0) > 0 || chase->touch || chase->persist)) {
        return error_set(SONDE_EUSAGE,
                         "probe chase: cold=1 goes only with warm=0, touch=0, persist=0");
    }
    if (chase->persist && chase->spread) {
        return error_set(SONDE_EUSAGE, "probe chase: persist=1 needs spread=0");
    }
    if (chase->window * chase->windows > RECORDS_MAX) {
        return error_set(SONDE_EUSAGE, "probe chase: more than %llu records in all",
                         (unsigned long long)RECORDS_MAX);
    }
    return SONDE_OK;
}

static int chase_read(struct chase *chase, const struct probe_live *live,
                      const struct trace_request *request)
{
    *chase = (struct chase){.op = trace_request_text(request, "op"),
                            .windows = request_number(request, "windows", 1),
                            .touch_stride = request_number(request, "touch_stride", 32),
                            .touch = request_flag(request, "touch"),
                            .spread = request_flag(request, "spread"),
                            .persist = request_flag(request, "persist"),
                            .cold = request_flag(request, "cold")};
    int rc = walk_read(&chase->walk, request, 4);
    if (rc < 0) {
        return rc;
    }
    uint64_t count = chase->walk.count, longest = probe_live_max_window(live);
    uint64_t window = count < AUTO_WINDOW_MAX ? count : AUTO_WINDOW_MAX;
    uint64_t flush = 4 * live->device->info.l2_bytes_reported;
    chase->warm = request_number(request, "warm",
                                 chase->cold    ? 0
                                 : chase->touch ? WARM_AFTER_TOUCH
                                                : count);
    chase->window = request_number(request, "window", window < longest ? window : longest);
    flush = flush < FLUSH_LEAST ? FLUSH_LEAST : flush > FLUSH_MOST ? FLUSH_MOST : flush;
    chase->flush_bytes = request_number(request, "flush_bytes", flush);
    return chase_check(chase, request);
}

/* The position of a window's first record. */
static uint64_t window_start(const struct chase *chase, uint64_t w)
{
    return (chase->spread ? w * chase->walk.count / chase->windows : w * chase->window) %
           chase->walk.count;
}

static int launch_window(struct probe_live *live, struct device_kernel *kernel,
                         const struct chase *chase, uint64_t w)
{
    const struct walk *walk = &chase->walk;
    bool warms = w == 0 || !chase->persist, touches = chase->touch && warms;
    uint64_t warm = warms ? chase->warm : 0;
    uint64_t preroll = warm < RECORD_PREROLL ? warm : RECORD_PREROLL;
    preroll = preroll < chase->window ? preroll : chase->window;
    uint64_t from = window_start(chase, w) + walk->count - warm % walk->count;
    if (chase->cold) {
        int rc = walk_flush(live, chase->flush_bytes);
        if (rc < 0) {
            return rc;
        }
    }
    struct call call =
        call_begin(1, walk_threads(live, touches), (uint32_t)chase->window * RECORD_BYTES);
    call_u64(&call, live->walk.address + walk->base);
    call_u64(&call, live->out.address);
    call_u64(&call, touches ? walk->bytes : 0);
    call_u32(&call, (uint32_t)chase->touch_stride);
    call_u32(&call, (uint32_t)walk_offset(walk, from));
    call_u32(&call, (uint32_t)(warm - preroll));
    call_u32(&call, (uint32_t)preroll);
    call_u32(&call, (uint32_t)chase->window);
    return call_run(live, kernel, &call);
}

/* Takes a window apart and holds what was loaded against what was laid out. */
static int keep_window(const struct chase *chase, const struct chase_record *record, uint64_t w)
{
    const uint32_t *clocks = record->words + RECORD_OUT_WORDS, *next = clocks + 2 * chase->window;
    uint64_t start = window_start(chase, w), at = w * chase->window;
    record->start[w] = (uint32_t)walk_offset(&chase->walk, start);
    record->smid[w] = record->words[0];
    for (uint64_t i = 0; i < chase->window; i++) {
        record->latency[at + i] = clocks[2 * i + 1] - clocks[2 * i];
        record->next[at + i] = next[i];
        uint64_t expected = walk_offset(&chase->walk, start + i + 1);
        if (next[i] != expected) {
            return error_set(SONDE_EDEVICE,
                             "window %llu, record %llu: offset %u came back where %llu was stored",
                             (unsigned long long)w, (unsigned long long)i, next[i],
                             (unsigned long long)expected);
        }
    }
    return SONDE_OK;
}

static int measure(struct probe_live *live, struct device_kernel *kernel, const struct chase *chase,
                   const struct chase_record *record)
{
    uint64_t words = RECORD_OUT_WORDS + 3 * chase->window;
    for (uint64_t w = 0; w < chase->windows; w++) {
        int rc = launch_window(live, kernel, chase, w);
        if (rc == 0) {
            rc = device_copy_from(live->device, record->words, live->out.address, words * 4);
        }
        if (rc == 0) {
            rc = keep_window(chase, record, w);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return SONDE_OK;
}

static int add_columns(struct trace *trace, const struct chase *chase,
                       const struct chase_record *record)
{
    size_t records = (size_t)(chase->window * chase->windows), windows = (size_t)chase->windows;
    int rc = trace_add_column(trace, "latency", TRACE_U32, record->latency, records);
    rc = rc < 0 ? rc : trace_add_column(trace, "next", TRACE_U32, record->next, records);
    rc = rc < 0 ? rc : trace_add_column(trace, "start", TRACE_U32, record->start, windows);
    return rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, record->smid, windows);
}

int chase_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct chase chase;
    struct device_kernel *kernel;
    int rc = chase_read(&chase, live, request);
    if (rc < 0) {
        return rc;
    }
    uint64_t records = chase.window * chase.windows, words = RECORD_OUT_WORDS + 3 * chase.window;
    struct chase_record record = {.words = malloc(words * 4),
                                  .latency = malloc(records * 4),
                                  .next = malloc(records * 4),
                                  .start = malloc(chase.windows * 4),
                                  .smid = malloc(chase.windows * 4)};
    if (!record.words || !record.latency || !record.next || !record.start || !record.smid) {
        rc = error_memory();
        goto out;
    }
    if ((rc = walk_build(live, &chase.walk)) < 0 ||
        (rc = buffer_reserve(live, &live->out, words * 4, 65536)) < 0 ||
        (rc = kernel_find(live, &kernel, "chase", "chase", chase.op)) < 0 ||
        (rc = walk_carveout(live, kernel, request, chase.window * RECORD_BYTES)) < 0 ||
        (rc = measure(live, kernel, &chase, &record)) < 0) {
        goto out;
    }
    rc = add_columns(trace, &chase, &record);
out:
    free(record.words);
    free(record.latency);
    free(record.next);
    free(record.start);
    free(record.smid);
    return rc;
}
