/* Workloads on a simulated device, or through the driver on a real GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/handles.h"
#include "device/device.h"
#include "model/model.h"
#include "rt/rt.h"
#include "sonde/sonde.h"
#include "statistics/statistics.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/progress.h"
#include "util/text/suggest.h"
#include "workloads/workload.h"

int sonde_workload_list(char **text)
{
    struct strbuf out = {0};
    for (uint32_t i = 0; i < workload_count; i++) {
        const struct workload *workload = &workloads[i];
        strbuf_printf(&out, "%-18s size %u (full %u)%s%s, %s, sim:%s\n", workload->name,
                      workload->small_size, workload->full_size,
                      workload->knows & WORKLOAD_BLOCK ? ", block" : "",
                      workload->knows & WORKLOAD_DEPTH ? ", depth" : "", workload->target,
                      workload_model(workload));
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

static int find(const struct workload **out, const char *name)
{
    struct suggest suggest = suggest_begin(name);
    *out = workload_find(name);
    for (uint32_t i = 0; i < workload_count; i++) {
        suggest_offer(&suggest, workloads[i].name);
    }
    const char *near = suggest_best(&suggest);
    return *out ? 0
                : error_set(SONDE_EUSAGE,
                            near ? "no workload '%s'; did you mean '%s'?"
                                 : "no workload '%s'; sonde workload --list names them",
                            name, near);
}

static bool begins(const char *spec, const char *kind)
{
    return strncmp(spec, kind, strlen(kind)) == 0;
}

static int open_simulated(struct rt **out, const char *spec)
{
    struct model *model;
    if (!begins(spec, "sim:")) {
        return begins(spec, "replay:")
                   ? error_set(SONDE_EUSAGE, "'%s': workloads are run on sim:NAME and cuda:N", spec)
                   : device_unknown(spec);
    }
    int rc = model_load(&model, spec + 4);
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = rt_create(out, model);
    model_destroy(model);
    return rc;
}

static char *told(const struct workbench *run, const struct statistics *statistics, bool functional)
{
    struct strbuf out = {0};
    struct gpu_stats total;
    statistics_total(&total, statistics);
    strbuf_printf(&out, "launches          %" PRIu64 "\n", run->launches);
    if (functional) {
        strbuf_printf(&out, "thread_insns      %" PRIu64 "\n", run->thread_insns);
    } else {
        strbuf_printf(&out,
                      "cycles            %" PRIu64 "\nwarp_insns        %" PRIu64
                      "\nthread_insns      %" PRIu64 "\n",
                      run->cycles, total.warp_insns, total.thread_insns);
    }
    return strbuf_take(&out);
}

static int run_on(char **text, struct rt *rt, const struct workload *workload,
                  const struct sonde_workload_options *options)
{
    struct statistics statistics = {0};
    struct workbench run;
    const struct workload_settings settings = {
        .size = options->size,
        .block = options->block,
        .depth = options->depth,
        .functional = options->functional,
        .launched = statistics_add,
        .ctx = &statistics,
    };
    struct residents residents;
    int rc = residents_begin(&residents, rt_model(rt)->sms);
    if (rc < 0) {
        return rc;
    }
    gpu_set_placed(rt_gpu(rt), residents_note, &residents);
    const struct progress progress = {options->watch.progress, options->watch.ctx};
    rt_set_cancel(rt, options->watch.cancel);
    if (progress.report) {
        rt_set_progress(rt, &progress);
    }
    rc = options->threads ? rt_set_threads(rt, options->threads) : 0;
    rc = rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
    rc = rc ? rc : workload_run_with(&run, rt, workload, &settings);
    rt_set_progress(rt, NULL);
    gpu_set_placed(rt_gpu(rt), NULL, NULL);
    statistics.most_ctas = residents.most;
    statistics.late_ctas = residents.late;
    residents_free(&residents);
    rc = rc == 0 && statistics.failed ? error_memory() : rc;
    if (rc == 0 && options->stats_path) {
        rc = statistics_write(options->stats_path, rt_model(rt), &statistics, NULL);
    }
    if (rc == 0) {
        *text = told(&run, &statistics, options->functional);
        rc = *text ? 0 : error_memory();
    }
    statistics_free(&statistics);
    return rc;
}

/* On a real GPU: what a driver can tell. */
static int run_driven(char **text, const char *spec, const struct workload *workload,
                      const struct sonde_workload_options *options)
{
    struct device *device = NULL;
    struct workbench run;
    struct strbuf out = {0};
    const struct workload_settings settings = {
        .size = options->size, .block = options->block, .depth = options->depth};
    if (options->functional || options->stats_path || options->threads) {
        return error_set(SONDE_EUSAGE,
                         "'%s': --functional, --stats and --threads are a simulator's", spec);
    }
    int rc = device_open_as_program(&device, spec);
    rc = rc < 0 ? rc : workload_run_on(&run, device, workload, &settings);
    if (rc == 0) {
        strbuf_printf(&out, "launches          %" PRIu64 "\nmicroseconds      %.1f\n", run.launches,
                      (double)run.launch_ns / 1e3);
        *text = strbuf_take(&out);
        rc = *text ? 0 : error_memory();
    }
    device_close(device);
    return rc;
}

int sonde_workload(char **text, const char *device_spec,
                   const struct sonde_workload_options *options)
{
    const struct workload *workload;
    struct rt *rt = NULL;
    *text = NULL;
    if (options->stats_path && options->functional) {
        return error_set(SONDE_EUSAGE, "statistics are of timed launches; --functional has none");
    }
    char own[64];
    int rc = find(&workload, options->name);
    if (rc == 0 && !device_spec) {
        snprintf(own, sizeof own, "sim:%s", workload_model(workload));
        device_spec = own;
    }
    if (rc == 0 && begins(device_spec, "cuda:")) {
        return run_driven(text, device_spec, workload, options);
    }
    rc = rc ? rc : open_simulated(&rt, device_spec);
    rc = rc ? rc : run_on(text, rt, workload, options);
    rt_destroy(rt);
    return rc;
}
