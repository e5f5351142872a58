/*
 * The live source: answers a request from the set when it was measured before, else checks it, runs
 * its probe on the device and keeps the trace. What the device refuses becomes a trace with a
 * status, so that a dissection goes on and says why something is missing, live and from the
 * recording alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

typedef int probe_run_fn(struct probe_live *live, struct trace *trace,
                         const struct trace_request *request);

/* In the order of probes.def; each probe NAME has its NAME_run. */
static probe_run_fn *const runners[] = {
#define PROBE(name, doc) name##_run,
#include "probe/probes.def"
};

/* A recording says what its requests left out. */
static int note_defaults(struct traceset *set)
{
    for (size_t i = 0; i < probe_count(); i++) {
        struct trace_request request;
        char name[64], key[TRACE_KEY_MAX];
        trace_request_init(&request, probe_at(i)->name);
        int rc = probe_request_complete(&request);
        if (rc < 0) {
            return rc;
        }
        trace_request_key(&request, key);
        snprintf(name, sizeof(name), "defaults.%s", probe_at(i)->name);
        rc = traceset_add_note(set, name, key);
        if (rc < 0) {
            return rc;
        }
    }
    return SONDE_OK;
}

int probe_live_create(struct probe_live **out, struct device *device, struct traceset *set)
{
    *out = NULL;
    if (!device->ops || !device->ops->launch) {
        return error_set(SONDE_EUNSUPPORTED, "%s runs no probes", device->info.name);
    }
    int rc = note_defaults(set);
    if (rc < 0) {
        return rc;
    }
    *out = calloc(1, sizeof(**out));
    if (!*out) {
        return error_memory();
    }
    (*out)->device = device;
    (*out)->set = set;
    (*out)->grounds[GROUND_MAPPED].buffer.is_mapped = true;
    return SONDE_OK;
}

void probe_live_destroy(struct probe_live *live)
{
    if (!live) {
        return;
    }
    for (size_t i = 0; i < GROUND_COUNT; i++) {
        buffer_release(live, &live->grounds[i].buffer);
    }
    buffer_release(live, &live->out);
    buffer_release(live, &live->staging);
    buffer_release(live, &live->flush);
    buffer_release(live, &live->cold);
    kernels_unload(live);
    free(live);
}

/* Errors that are not the device's answer. */
static bool ends_measuring(int rc)
{
    return rc == SONDE_EUSAGE || rc == SONDE_ENOMEM || rc == SONDE_EINTERRUPTED ||
           rc == SONDE_EINTERNAL;
}

static double spent(const struct probe_live *live)
{
    double all = (double)(live->work_limit - live->work_begin);
    return live->work_limit ? (double)(live->device->work - live->work_begin) / all : 0;
}

/* Requests of few loads have a part to themselves: of all, or of what is left if that is little. */
static void allow(struct probe_live *live, double share)
{
    static const double of_all = 1.0 / 8, of_left = 1.0 / 4;
    double left = share - spent(live);
    live->allowed = share;
    live->kept = left < of_all / of_left ? (left > 0 ? of_left * left : 0) : of_all;
}

void probe_live_limit(struct probe_live *live, uint64_t work)
{
    live->work_begin = live->device->work;
    live->work_limit = work ? live->device->work + work : 0;
    allow(live, 1);
}

/* Windows that come after a warm-up of their own: with persist=1 the first alone. */
static double warmed_windows(const struct trace_request *complete)
{
    return request_flag(complete, "persist") ? 1 : (double)request_number(complete, "windows", 1);
}

/*
 * Places that all threads read beforehand: what makes a request dear. The first one in a line takes
 * as long as three of the others, and one of a pool, which are lines apart, was held as half of
 * that.
 */
static double touches_of(const struct trace_request *complete)
{
    static const double line_bytes = 128, more_a_line = 2, a_place = 1.5;
    double stride = (double)request_number(complete, "touch_stride", 32);
    double apart = stride > line_bytes ? stride : line_bytes;
    double launches = warmed_windows(complete) * (double)request_number(complete, "repeats", 1);
    double bytes = (double)request_number(complete, "bytes", 0);
    double pool = (double)request_number(complete, "pool", 0) + /* of evict, residents */
                  (double)request_number(complete, "before", 0);
    return pool > 0                          ? 2 * launches * pool * a_place
           : request_flag(complete, "touch") ? launches * bytes * (1 / stride + more_a_line / apart)
                                             : 0;
}

/* Lines that a copy, a stream or what goes before a cold walk reads or writes: each launch all of
 * them. */
static double lines_of(const struct probe_live *live, const struct trace_request *complete)
{
    enum { LINE = 128, WARP = 32 };
    uint64_t sms = live->device->info.sms;
    if (strcmp(complete->probe, "copy") == 0) {
        return 2.0 * (double)request_number(complete, "runs", 1) *
               (double)request_number(complete, "bytes", 0) / LINE;
    }
    if (request_flag(complete, "cold")) {
        return (double)request_number(complete, "windows", 1) *
               (double)request_number(complete, "flush_bytes", 0) / LINE;
    }
    if (strcmp(complete->probe, "flight") != 0) {
        return 0;
    }
    double warps = (double)request_number(complete, "blocks", sms ? sms : 1) *
                   (double)request_number(complete, "threads", WARP) / WARP;
    return (double)request_number(complete, "repeats", 1) *
           (warps * (double)request_number(complete, "loads", 1) *
                (double)request_number(complete, "turns", 1) +
            (double)request_number(complete, "flush_bytes", 0) / LINE);
}

/* Ordered loads, at least: the window may be the probe's to choose. */
static double ordered_of(const struct trace_request *complete)
{
    static const double of_held = 3; /* loads of a line, and more of those that are held */
    if (strcmp(complete->probe, "held") == 0) {
        return of_held * (double)request_number(complete, "count", 0);
    }
    double each = (double)request_number(complete, "window", 1024) +
                  (double)request_number(complete, "loads", 0);
    return (double)request_number(complete, "windows", 1) * each +
           warmed_windows(complete) * (double)request_number(complete, "warm", 0);
}

/* What few loads cost may still be asked when most of the work is done: latencies, banks. */
static int check_work(const struct probe_live *live, const struct trace_request *complete)
{
    enum { FEW_LOADS = 20000, POOLS = 500 }; /* so many pools are asked for */
    double touches = touches_of(complete), expected = (double)live->device->work;
    double ordered = ordered_of(complete);
    double dear = touches * live->touch_work + lines_of(live, complete) * live->line_work +
                  (ordered > FEW_LOADS ? ordered * live->order_work : 0);
    double all = (double)(live->work_limit - live->work_begin);
    double limit = (double)live->work_begin + live->allowed * all;
    expected += dear;
    bool is_dear =
        request_number(complete, "pool", 0) > 0 && touches * live->touch_work > all / POOLS;
    limit -= touches + ordered > FEW_LOADS ? live->kept * all : 0;
    if (live->work_limit == 0 || (expected < limit && !is_dear)) {
        return SONDE_OK;
    }
    double left = limit - (double)live->device->work, us = 1e6;
    return dear > 0
               ? error_set(SONDE_EUNSUPPORTED,
                           "simulating this takes too long: about %.1f s, of %.1f that are left",
                           dear / us, left > 0 ? left / us : 0)
               : error_set(SONDE_EUNSUPPORTED, "the dissection has been simulated for long enough");
}

/* Runs the request's probe, and learns what it cost. */
static int run_probe(struct probe_live *live, struct trace *trace,
                     const struct trace_request *complete)
{
    enum { MANY_LINES = 4096 }; /* of fewer, launches cost more than the lines */
    double touches = touches_of(complete), lines = lines_of(live, complete);
    double ordered = ordered_of(complete);
    uint64_t before = live->device->work;
    int rc = check_work(live, complete);
    if (rc < 0) {
        return rc;
    }
    if (strcmp(complete->probe, "threads") != 0) { /* others may want as much memory */
        buffer_release(live, &live->cold);
    }
    rc = runners[probe_find(complete->probe) - probe_at(0)](live, trace, complete);
    if (touches > 4 * ordered && live->device->work > before) {
        live->touch_work = (double)(live->device->work - before) / touches;
    }
    if (ordered > MANY_LINES && ordered > 4 * touches && live->device->work > before) {
        live->order_work = (double)(live->device->work - before) / ordered;
    }
    if (lines > MANY_LINES && live->device->work > before) {
        live->line_work = (double)(live->device->work - before) / lines;
    }
    return rc;
}

static int measure(struct probe_live *live, struct trace *trace,
                   const struct trace_request *request)
{
    struct trace_request complete = *request;
    int rc = probe_request_complete(&complete);
    if (rc < 0) {
        return rc;
    }
    rc = run_probe(live, trace, &complete);
    if (rc == 0 || ends_measuring(rc)) {
        return rc;
    }
    trace->status = rc;
    snprintf(trace->reason, sizeof(trace->reason), "%.*s", (int)sizeof(trace->reason) - 1,
             error_text());
    return SONDE_OK;
}

static int live_get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct probe_live *live = ctx;
    char key[TRACE_KEY_MAX];
    trace_request_key(request, key);
    *out = traceset_find(live->set, key);
    if (*out) {
        return SONDE_OK;
    }
    struct trace trace;
    int rc = trace_init(&trace, request);
    if (rc < 0) {
        return rc;
    }
    rc = measure(live, &trace, request);
    if (rc < 0) {
        trace_clear(&trace);
        return rc;
    }
    return traceset_add(live->set, &trace, out);
}

static void live_allow(void *ctx, double share)
{
    allow(ctx, share);
}

static double live_spent(void *ctx)
{
    return spent(ctx);
}

struct trace_source probe_live_source(struct probe_live *live)
{
    return (struct trace_source){
        .get = live_get, .ctx = live, .allow = live_allow, .spent = live_spent};
}
