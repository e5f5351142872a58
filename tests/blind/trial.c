/*
 * One trial: the hierarchy of a seed as a model file, the simulator on it, noise where it is
 * wanted, the whole dissection, and its score. A dissection has a limit of processor time; one that
 * goes beyond it has told nothing.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "blind.h"
#include "blind_wide.h"
#include "device/device.h"
#include "infer/infer.h"
#include "probe/probe.h"
#include "report/report.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

/* Of narrow machines what is published beside the inference, curves for people, and what has blind
 * trials of its own are skipped; of others nothing is, as for whoever types `sonde dissect`. */
/* Watchdogs: a narrow one takes up to 14 s of an idle core, and more of a crowded one. */
enum { BLIND_TRIAL_SECONDS = 60, BLIND_WIDE_SECONDS = 60 };
static const struct blind_kind kinds[] = {
    {"narrow", "mei,average,sweep,outstanding,memory,copy", NULL, BLIND_TRIAL_SECONDS, blind_draw,
     blind_draw_noise, blind_judge},
    {"wide", NULL, NULL, BLIND_WIDE_SECONDS, blind_draw_wide, blind_draw_wide_noise,
     blind_judge_wide},
    {"changed", NULL, NULL, BLIND_WIDE_SECONDS, blind_draw_changed, blind_draw_wide_noise,
     blind_judge_wide},
};

const struct blind_kind *blind_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* A signal handler can reach nothing but a global. */
static volatile int overdue;

static void on_alarm(int number)
{
    (void)number;
    overdue = 1;
}

static int infer_as_json(json_t **out, const struct blind_kind *kind, struct trace_source *source,
                         struct probe_live *live, struct device *device, bool loud)
{
    static struct dissection result;
    struct blind_spending spending = {.device = device};
    struct trace_device none = {.sms = 1};
    struct report_subject subject = {.version = "", .device_spec = "", .device = &none, .date = ""};
    struct infer_options options = {.seed = 1,
                                    .only = kind->only,
                                    .skip = kind->skip,
                                    .cancel = &overdue,
                                    .progress = loud ? blind_spend : NULL,
                                    .progress_ctx = &spending,
                                    .max_window = probe_live_max_window(live),
                                    .max_footprint_bytes = probe_live_max_footprint(live),
                                    .max_cache_loads = PROBE_CACHE_LOADS,
                                    .max_mapped_bytes =
                                        probe_mapped_limit(device->info.memory_bytes)};
    char *text = NULL;
    int rc = infer_dissect(&result, source, &options);
    if (loud) {
        blind_spend(&spending, 1, "");
    }
    rc = rc < 0 ? rc : report_json(&text, &result, &subject);
    rc = rc < 0 ? rc : json_from_text(out, text, strlen(text), "dissection");
    free(text);
    return rc;
}

static int dissect_device(json_t **out, const struct blind_kind *kind, struct device *device,
                          const struct blind_noise *noise, uint64_t seed, bool loud)
{
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    struct noise_source *noisy = NULL;
    device->cancel = &overdue;
    int rc = traceset_create(&set);
    rc = rc < 0 ? rc : probe_live_create(&live, device, set);
    if (rc == 0) {
        probe_live_limit(live, PROBE_DISSECTION_WORK);
        struct trace_source source = probe_live_source(live);
        noisy = noise ? noise_source_create(source, noise, seed) : NULL;
        rc = noise && !noisy ? error_memory() : 0;
        source = noisy ? noise_source_get(noisy) : source;
        rc = rc < 0 ? rc : infer_as_json(out, kind, &source, live, device, loud);
    }
    noise_source_destroy(noisy);
    probe_live_destroy(live);
    traceset_destroy(set);
    return rc;
}

static void limit_time(unsigned seconds)
{
    struct itimerval limit = {.it_value.tv_sec = (time_t)seconds};
    overdue = 0;
    signal(SIGVTALRM, on_alarm);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static int dissect(json_t **out, const struct blind_kind *kind, const char *path,
                   const struct blind_noise *noise, uint64_t seed, bool loud)
{
    char spec[300];
    struct device *device = NULL;
    snprintf(spec, sizeof(spec), "sim:%s", path);
    limit_time(kind->seconds);
    int rc = device_open(&device, spec);
    if (rc == 0) {
        rc = dissect_device(out, kind, device, noise, seed, loud);
        device_close(device);
    }
    limit_time(0);
    return rc;
}

static void not_drawn(struct blind_tally *tally, struct blind_hierarchy *hierarchy, uint64_t seed)
{
    printf("WRONG seed %llu: no such hierarchy can be: %s\n%s", (unsigned long long)seed,
           error_text(), hierarchy->yaml ? hierarchy->yaml : "");
    tally->undrawn++;
    blind_forget(hierarchy);
}

static void tell_noise(const struct blind_noise *n)
{
    printf("noise: jitter %.0f, hump %.0f in %.3f, busy %.0f in %.3f, rows %.0f from %.0f, strays "
           "%.4f, drift %.4f\n",
           n->jitter_cycles, n->hump_cycles, n->hump_share, n->busy_cycles, n->busy_share,
           n->row_cycles, n->row_from, n->outlier_share, n->drift);
}

/* What each value rests on. */
static void tell_evidence(json_t *dissection)
{
    const char *id;
    json_t *text;
    json_object_foreach(json_object_get(dissection, "evidence"), id, text)
    {
        printf("evidence %s: %s\n", id, json_string_value(text));
    }
}

unsigned blind_trial(struct blind_tally *tally, const struct blind_kind *kind, uint64_t seed,
                     bool with_noise, bool loud)
{
    struct blind_hierarchy hierarchy;
    struct blind_noise noise;
    char path[256] = "";
    json_t *dissection = NULL;
    kind->draw_noise(&noise, seed);
    if (!kind->draw(&hierarchy, seed)) {
        not_drawn(tally, &hierarchy, seed);
        return 0;
    }
    if (loud) {
        printf("%s\n", hierarchy.yaml);
        if (with_noise) {
            tell_noise(&noise);
        }
    }
    int rc = blind_write_model(path, hierarchy.yaml);
    rc = rc < 0 ? rc : dissect(&dissection, kind, path, with_noise ? &noise : NULL, seed, loud);
    tally->trials++;
    if (rc < 0) {
        printf("WRONG seed %llu%s: no dissection (limit %u s): %s\n", (unsigned long long)seed,
               with_noise ? " (noisy)" : "", kind->seconds, error_text());
        tally->failed++;
    }
    if (loud) {
        tell_evidence(dissection);
    }
    kind->judge(tally, &hierarchy, with_noise ? &noise : NULL, dissection, seed, loud);
    json_decref(dissection);
    if (path[0]) {
        unlink(path);
    }
    unsigned of_class = blind_class(hierarchy.model);
    blind_forget(&hierarchy);
    return of_class;
}

void blind_trial_died(struct blind_tally *tally, const struct blind_kind *kind, uint64_t seed,
                      bool with_noise, int signal_number)
{
    struct blind_hierarchy hierarchy;
    struct blind_noise noise;
    kind->draw_noise(&noise, seed);
    printf("WRONG seed %llu%s: the trial died of signal %d\n", (unsigned long long)seed,
           with_noise ? " (noisy)" : "", signal_number);
    tally->trials++;
    tally->died++;
    if (kind->draw(&hierarchy, seed)) {
        kind->judge(tally, &hierarchy, with_noise ? &noise : NULL, NULL, seed, false);
    }
    blind_forget(&hierarchy);
}
