/*
 * A dissection from end to end: probes on a live device, or a recording, behind one trace source;
 * inference over it; the result with what reports say of the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/handles.h"
#include "infer/infer.h"
#include "probe/probe.h"
#include "report/report.h"
#include "trace/source.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/container/strbuf.h"

static void fill_date(char date[32])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* Fresh result, described; NULL when memory is out. */
static struct sonde_dissection *dissection_create(const char *spec,
                                                  const struct trace_device *device)
{
    struct sonde_dissection *dissection = calloc(1, sizeof(*dissection));
    if (dissection) {
        snprintf(dissection->spec, sizeof(dissection->spec), "%s", spec);
        dissection->device = *device;
        fill_date(dissection->date);
    }
    return dissection;
}

/* What an effort makes of an amount of work. */
static uint64_t by_effort(uint64_t work, enum sonde_effort effort)
{
    return effort == SONDE_EFFORT_QUICK      ? work / 4
           : effort == SONDE_EFFORT_THOROUGH ? work * 4
                                             : work;
}

/* Infer from `source` into a fresh dissection. */
static int dissect_source(struct sonde_dissection **out, struct trace_source *source,
                          const char *spec, const struct trace_device *device,
                          const struct sonde_dissect_options *options)
{
    struct sonde_dissection *dissection = dissection_create(spec, device);
    if (!dissection) {
        return error_memory();
    }
    struct infer_options infer = {
        .only = options->only,
        .skip = options->skip,
        .seed = options->seed,
        .max_window = probe_window_limit(device->shared_per_block_bytes),
        .max_footprint_bytes = probe_footprint_limit(device->memory_bytes),
        .max_mapped_bytes = probe_mapped_limit(device->memory_bytes),
        .max_cache_loads =
            strcmp(device->kind, "sim") == 0 ? by_effort(PROBE_CACHE_LOADS, options->effort) : 0,
        .progress = options->watch.progress,
        .progress_ctx = options->watch.ctx,
        .cancel = options->watch.cancel,
    };
    uint64_t start_ns = time_monotonic_ns();
    int rc = infer_dissect(&dissection->result, source, &infer);
    dissection->seconds = (double)(time_monotonic_ns() - start_ns) / 1e9;
    if (rc < 0) {
        free(dissection);
        return rc;
    }
    *out = dissection;
    return 0;
}

static int dissect_recording(struct sonde_dissection **out, const struct traceset *recording,
                             const char *spec, const struct sonde_dissect_options *options)
{
    struct trace_source source = traceset_source(recording);
    return dissect_source(out, &source, spec, traceset_device_info(recording), options);
}

/* Keeps the first error: what was measured before an interrupt is written all the same. */
static int write_recording(const struct traceset *set, const char *path, int rc)
{
    if (!path || (rc < 0 && rc != SONDE_EINTERRUPTED)) {
        return rc;
    }
    if (rc == 0) {
        return traceset_write(set, path);
    }
    char interrupted[512];
    snprintf(interrupted, sizeof(interrupted), "%s", error_text());
    if (traceset_write(set, path) < 0) {
        return error_prefix(rc, "%s; and the recording could not be written: ", interrupted);
    }
    return error_set(rc, "%s; what was measured so far is in %s", interrupted, path);
}

static int dissect_live(struct sonde_dissection **out, struct sonde_device *device,
                        const struct sonde_dissect_options *options)
{
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    int rc = traceset_create(&set);
    if (rc < 0) {
        return rc;
    }
    api_describe_device(traceset_device(set), &device->device->info);
    device->device->cancel = options->watch.cancel;
    rc = probe_live_create(&live, device->device, set);
    if (rc < 0) {
        goto out;
    }
    probe_live_limit(live, by_effort(PROBE_DISSECTION_WORK, options->effort));
    struct trace_source source = probe_live_source(live);
    rc = dissect_source(out, &source, device->spec, traceset_device(set), options);
    rc = write_recording(set, options->record, rc);
out:
    device->device->cancel = NULL;
    probe_live_destroy(live);
    traceset_destroy(set);
    return rc;
}

int sonde_dissect(struct sonde_dissection **out, struct sonde_device *device,
                  const struct sonde_dissect_options *options)
{
    *out = NULL;
    const struct traceset *recording = device->device->recording;
    if (recording) {
        int rc = dissect_recording(out, recording, device->spec, options);
        return rc == 0 && options->record ? traceset_write(recording, options->record) : rc;
    }
    return dissect_live(out, device, options);
}

int sonde_infer(struct sonde_dissection **out, const char *path,
                const struct sonde_dissect_options *options)
{
    struct traceset *set;
    *out = NULL;
    int rc = traceset_read(&set, path);
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = dissect_recording(out, set, path, options);
    traceset_destroy(set);
    return rc;
}

int sonde_experiments(char **text)
{
    struct strbuf out = {0};
    for (size_t i = 0; infer_experiment_at(i).name; i++) {
        struct infer_experiment experiment = infer_experiment_at(i);
        strbuf_printf(&out, "%-14s %s\n", experiment.name, experiment.doc);
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

void sonde_dissection_destroy(struct sonde_dissection *dissection)
{
    free(dissection);
}

static struct report_subject subject_of(const struct sonde_dissection *dissection)
{
    return (struct report_subject){
        .version = sonde_version(),
        .device_spec = dissection->spec,
        .device = &dissection->device,
        .date = dissection->date,
        .seconds = dissection->seconds,
    };
}

int sonde_dissection_table(char **text, const struct sonde_dissection *dissection, unsigned flags)
{
    struct report_subject subject = subject_of(dissection);
    struct report_style style = {
        .colour = flags & SONDE_TABLE_COLOUR,
        .evidence = flags & SONDE_TABLE_EVIDENCE,
    };
    return style.evidence ? report_table(text, &dissection->result, &subject, &style)
                          : report_summary(text, &dissection->result, &subject, &style);
}

int sonde_dissection_json(char **text, const struct sonde_dissection *dissection)
{
    struct report_subject subject = subject_of(dissection);
    return report_json(text, &dissection->result, &subject);
}
