/*
 * Devices and what was measured on them. See bench.h.
 */
#include "study/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "probe/probe.h"
#include "report/report.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

struct bench_device {
    struct device *device;
    struct traceset *set;
    struct probe_live *live;
    json_t *dissection;
};

struct study_bench {
    const struct study *study;
    struct bench_device devices[STUDY_MAX_DEVICES];
    struct sonde_watch watch;
    struct program_runs *runs;
    program_runs_end *end_runs;
    struct kernel_runs *kernels;
    kernel_runs_end *end_kernels;
    uint64_t seed;
    double fraction;
    bool lists;
};

int study_bench_create(struct study_bench **out, const struct study *study, uint64_t seed,
                       const struct sonde_watch *watch)
{
    struct study_bench *bench = calloc(1, sizeof(*bench));
    if (!bench) {
        return error_memory();
    }
    bench->study = study;
    bench->watch = *watch;
    bench->seed = seed;
    *out = bench;
    return 0;
}

void study_bench_destroy(struct study_bench *bench)
{
    for (size_t i = 0; bench && i < STUDY_MAX_DEVICES; i++) {
        json_decref(bench->devices[i].dissection);
        probe_live_destroy(bench->devices[i].live);
        traceset_destroy(bench->devices[i].set);
        if (bench->devices[i].device) {
            device_close(bench->devices[i].device);
        }
    }
    if (bench && bench->runs) {
        bench->end_runs(bench->runs);
    }
    if (bench && bench->kernels) {
        bench->end_kernels(bench->kernels);
    }
    free(bench);
}

const struct study *study_bench_study(const struct study_bench *bench)
{
    return bench->study;
}

struct progress study_bench_watch(const struct study_bench *bench)
{
    return (struct progress){.report = bench->watch.progress, .context = bench->watch.ctx};
}

const volatile int *study_bench_cancel(const struct study_bench *bench)
{
    return bench->watch.cancel;
}

void study_bench_set_lists(struct study_bench *bench, bool lists)
{
    bench->lists = lists;
}

bool study_bench_lists(const struct study_bench *bench)
{
    return bench->lists;
}

struct program_runs **study_bench_runs(struct study_bench *bench, program_runs_end *end)
{
    bench->end_runs = end;
    return &bench->runs;
}

struct kernel_runs **study_bench_kernels(struct study_bench *bench, kernel_runs_end *end)
{
    bench->end_kernels = end;
    return &bench->kernels;
}

void study_bench_running(struct study_bench *bench, const char *role, const char *program)
{
    char what[128];
    snprintf(what, sizeof(what), "%s on %s", program, role);
    study_bench_progress(bench, bench->fraction, what);
}

void study_bench_progress(struct study_bench *bench, double fraction, const char *what)
{
    bench->fraction = fraction;
    if (bench->watch.progress) {
        bench->watch.progress(bench->watch.ctx, fraction, what);
    }
}

static int open_role(struct study_bench *bench, struct bench_device **out, size_t role)
{
    struct bench_device *slot = *out = &bench->devices[role];
    if (slot->live || slot->device) {
        return 0;
    }
    if (bench->study->devices[role].model) {
        return error_set(SONDE_EINPUT, "a model of the study's own runs programs, not probes");
    }
    int rc = device_open(&slot->device, bench->study->devices[role].spec);
    if (rc < 0) {
        return rc == SONDE_EIO ? SONDE_EINPUT : rc;
    }
    slot->device->cancel = bench->watch.cancel;
    if (slot->device->recording) {
        return 0;
    }
    rc = slot->set ? 0 : traceset_create(&slot->set);
    return rc < 0 ? rc : probe_live_create(&slot->live, slot->device, slot->set);
}

void study_bench_afresh(struct study_bench *bench, size_t role)
{
    struct bench_device *slot = &bench->devices[role];
    if (slot->live) {
        probe_live_destroy(slot->live);
        device_close(slot->device);
        slot->live = NULL;
        slot->device = NULL;
    }
}

static struct trace_source source_of(struct bench_device *slot)
{
    return slot->live ? probe_live_source(slot->live) : traceset_source(slot->device->recording);
}

static bool ends_the_work(int rc)
{
    return rc == SONDE_EINTERRUPTED || rc == SONDE_ENOMEM || rc == SONDE_EINTERNAL;
}

int study_bench_trace(struct study_bench *bench, const struct trace **out, size_t role,
                      const struct trace_request *request, struct study_value *why)
{
    struct bench_device *slot;
    *out = NULL;
    int rc = open_role(bench, &slot, role);
    if (rc < 0) {
        return rc;
    }
    struct trace_source source = source_of(slot);
    rc = trace_get(&source, out, request);
    if (rc < 0) {
        *out = NULL;
        value_nothing(why, "%s", error_text());
        return ends_the_work(rc) ? rc : 0;
    }
    if ((*out)->status < 0) {
        value_nothing(why, "%s", (*out)->reason);
        *out = NULL;
    }
    return 0;
}

/* The progress line of a dissection inside a study keeps the study's fraction. */
static void dissect_progress(void *ctx, double fraction, const char *what)
{
    struct study_bench *bench = ctx;
    (void)fraction;
    bench->watch.progress(bench->watch.ctx, bench->fraction, what);
}

static int dissect(struct study_bench *bench, struct bench_device *slot, size_t role,
                   struct dissection *result)
{
    struct trace_source source = source_of(slot);
    const struct device_info *info = &slot->device->info;
    struct infer_options options = {
        .only = bench->study->experiments,
        .seed = bench->seed,
        .max_window = probe_window_limit(info->shared_per_block_bytes),
        .max_footprint_bytes = probe_footprint_limit(info->memory_bytes),
        .max_mapped_bytes = probe_mapped_limit(info->memory_bytes),
        .progress = bench->watch.progress ? dissect_progress : NULL,
        .progress_ctx = bench,
        .cancel = bench->watch.cancel,
    };
    int rc = infer_dissect(result, &source, &options);
    if (rc < 0) {
        return rc;
    }
    struct trace_device description = {.sms = info->sms};
    struct report_subject subject = {.version = "",
                                     .device_spec = bench->study->devices[role].spec,
                                     .device = &description,
                                     .date = ""};
    char *text = NULL;
    rc = report_json(&text, result, &subject);
    rc = rc < 0 ? rc : json_from_text(&slot->dissection, text, strlen(text), "dissection");
    free(text);
    return rc;
}

int study_bench_dissection(struct study_bench *bench, json_t **out, size_t role)
{
    struct bench_device *slot;
    int rc = open_role(bench, &slot, role);
    if (rc == 0 && !slot->dissection) {
        struct dissection *result = calloc(1, sizeof(*result));
        rc = result ? dissect(bench, slot, role, result) : error_memory();
        free(result);
    }
    *out = slot->dissection;
    return rc;
}

static int make_request(struct trace_request *request, const struct study_chase *chase)
{
    trace_request_init(request, "chase");
    int rc = trace_request_set_text(request, "op", chase->op);
    if (chase->ring) {
        request->ring = chase->ring;
        request->ring_count = chase->count;
    } else {
        rc = rc < 0 ? rc : trace_request_set_u64(request, "bytes", chase->bytes);
        rc = rc < 0 ? rc : trace_request_set_u64(request, "stride", chase->stride);
    }
    rc = rc < 0 ? rc : trace_request_set_u64(request, "warm", chase->warm);
    rc = rc < 0 ? rc : trace_request_set_u64(request, "window", chase->window);
    return rc < 0 ? rc : trace_request_set_u64(request, "windows", chase->windows);
}

int study_bench_chase(struct study_bench *bench, const uint32_t **latency, size_t *count,
                      size_t role, const struct study_chase *chase, struct study_value *why)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    *latency = NULL;
    int rc = make_request(&request, chase);
    rc = rc < 0 ? rc : study_bench_trace(bench, &trace, role, &request, why);
    if (rc < 0 || !trace) {
        return rc;
    }
    *latency = trace_u32(trace, "latency", count);
    if (!*latency || *count == 0) {
        *latency = NULL;
        value_nothing(why, "the chase recorded nothing");
    }
    return 0;
}
