/*
 * The probe `scope`: whether two SMs share what a walk leaves behind (kernels/scope.ptx). In three
 * launches
 *
 *     SM `sm`       walks the whole ring, twice: its last elements have displaced the first ones
 *     SM `other`    walks the first elements
 *     SM `sm`       walks these, and is timed
 *
 * What it finds quickly the other SM has put there, in something that serves both. With other=sm
 * it is its own: that is what sharing looks like. Without another SM it finds nothing. A launch
 * asks for some blocks on each SM, of which the one that is on the right SM works.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum { BLOCKS_AN_SM = 3, MOST_BLOCKS = 4096, WARM_PASSES = 2 };

struct scope {
    struct walk walk;
    uint64_t sm, again;
    uint64_t other; /* UINT64_MAX: nobody */
};

static int scope_read(struct scope *scope, const struct trace_request *request)
{
    *scope = (struct scope){.sm = request_number(request, "sm", 0),
                            .again = request_number(request, "again", 16),
                            .other = request_number(request, "other", UINT64_MAX)};
    int rc = walk_read(&scope->walk, request, 4);
    if (rc == 0 && scope->again > scope->walk.count) {
        rc = error_set(SONDE_EUSAGE, "probe scope: again=%llu is more than the ring has",
                       (unsigned long long)scope->again);
    }
    return rc;
}

/* One SM's walk from the ring's start. The record is read when there is one. */
static int visit(struct probe_live *live, struct device_kernel *kernel, const struct scope *scope,
                 uint64_t sm, uint64_t warm, uint32_t window, uint32_t *words)
{
    uint64_t blocks = (uint64_t)live->device->info.sms * BLOCKS_AN_SM;
    uint32_t head[RECORD_OUT_WORDS] = {0};
    int rc = device_copy_to(live->device, live->out.address, head, sizeof(head));
    if (rc < 0) {
        return rc;
    }
    struct call call = call_begin((uint32_t)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 32,
                                  (uint32_t)scope->again * RECORD_BYTES);
    call_u64(&call, walk_address(live, &scope->walk) + scope->walk.base);
    call_u64(&call, live->out.address);
    call_u32(&call, (uint32_t)sm);
    call_u32(&call, (uint32_t)walk_offset(&scope->walk, 0));
    call_u32(&call, (uint32_t)warm);
    call_u32(&call, window);
    call_u32(&call, (uint32_t)scope->walk.scale);
    rc = call_run(live, kernel, &call);
    rc = rc < 0 ? rc
                : device_copy_from(live->device, words, live->out.address,
                                   (RECORD_OUT_WORDS + 3 * (uint64_t)window) * 4);
    if (rc == 0 && words[0] == 0) {
        rc = error_set(SONDE_EDEVICE, "no block ran on SM %llu", (unsigned long long)sm);
    }
    return rc;
}

static int measure(struct probe_live *live, struct device_kernel *kernel, const struct scope *scope,
                   uint32_t *words)
{
    uint64_t count = scope->walk.count;
    int rc = visit(live, kernel, scope, scope->sm, WARM_PASSES * count, 0, words);
    if (rc == 0 && scope->other != UINT64_MAX) {
        rc = visit(live, kernel, scope, scope->other, scope->again, 0, words);
    }
    return rc < 0 ? rc : visit(live, kernel, scope, scope->sm, 0, (uint32_t)scope->again, words);
}

static int add_columns(struct trace *trace, const struct scope *scope, uint32_t *words)
{
    uint32_t *clocks = words + RECORD_OUT_WORDS, *next = clocks + 2 * scope->again, sms = words[2];
    uint32_t smid[2] = {words[1], (uint32_t)scope->other};
    for (uint64_t i = 0; i < scope->again; i++) {
        clocks[i] = clocks[2 * i + 1] - clocks[2 * i];
        if (next[i] != walk_offset(&scope->walk, i + 1)) {
            return error_set(SONDE_EDEVICE,
                             "record %llu: offset %u came back where %llu was stored",
                             (unsigned long long)i, next[i],
                             (unsigned long long)walk_offset(&scope->walk, i + 1));
        }
    }
    int rc = trace_add_column(trace, "latency", TRACE_U32, clocks, scope->again);
    rc = rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, smid, 2);
    return rc < 0 ? rc : trace_add_column(trace, "sms", TRACE_U32, &sms, 1);
}

int scope_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct scope scope;
    struct device_kernel *kernel;
    int rc = scope_read(&scope, request);
    if (rc < 0) {
        return rc;
    }
    uint64_t bytes = (RECORD_OUT_WORDS + 3 * scope.again) * 4;
    uint32_t *words = calloc(1, bytes);
    if (!words) {
        return error_memory();
    }
    rc = buffer_reserve(live, &live->out, bytes, 65536);
    rc = rc < 0 ? rc : kernel_find(live, &kernel, "scope", "visit", NULL);
    rc = rc < 0 ? rc : walk_carveout(live, kernel, request, scope.again * RECORD_BYTES);
    rc = rc < 0 ? rc : walk_build(live, &scope.walk, true);
    rc = rc < 0 ? rc : measure(live, kernel, &scope, words);
    rc = rc < 0 ? rc : add_columns(trace, &scope, words);
    free(words);
    return rc;
}
