/*
 * Runs the experiments on the caches. What fails leaves its reason in the attributes concerned and
 * in those of everything that needs it; only an error that concerns the whole (memory out,
 * interrupted, a source that breaks) ends the dissection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/level.h"
#include "infer/outstanding.h"
#include "infer/shared.h"
#include "infer/tlb.h"
#include "util/error.h"

enum {
#define EXPERIMENT(name, function, needs, yields, doc) EXPERIMENT_##name,
#include "infer/experiments.def"
    EXPERIMENT_COUNT
};

enum {
#define ATTRIBUTE(field, unit) CACHE_ATTRIBUTE_##field,
#include "infer/attributes.def"
    CACHE_ATTRIBUTE_COUNT
};

static const struct {
    size_t offset;
    const char *unit;
} attributes[] = {
#define ATTRIBUTE(field, unit) {offsetof(struct cache_result, field), unit},
#include "infer/attributes.def"
};

static const struct {
    const char *name;
    int (*run)(struct level *);
    uint32_t needs, yields;
    const char *doc;
} experiments[] = {
#define EXPERIMENT(name, function, needs, yields, doc) {#name, function, needs, yields, doc},
#include "infer/experiments.def"
};

/* What concerns the device as a whole; their bits follow those of the caches' experiments. */
static const struct {
    const char *name;
    int (*run)(struct lab *);
    void (*refuse)(struct dissection *, const char *reason);
    const char *doc;
} wholes[] = {
#define WHOLE(name, function, refuse, doc) {#name, function, refuse, doc},
#include "infer/wholes.def"
};
enum { WHOLE_COUNT = sizeof wholes / sizeof *wholes, NAME_COUNT = EXPERIMENT_COUNT + WHOLE_COUNT };

static const struct level_info levels[] = {
#define LEVEL(id, scope, op, beneath, shared, window, doc) {id, scope, op, beneath, shared, window},
#include "infer/levels.def"
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

struct infer_experiment infer_experiment_at(size_t i)
{
    if (i >= NAME_COUNT) {
        return (struct infer_experiment){NULL, NULL};
    }
    if (i >= EXPERIMENT_COUNT) {
        return (struct infer_experiment){wholes[i - EXPERIMENT_COUNT].name,
                                         wholes[i - EXPERIMENT_COUNT].doc};
    }
    return (struct infer_experiment){experiments[i].name, experiments[i].doc};
}

static struct attribute *attribute_at(struct cache_result *result, size_t i)
{
    return (struct attribute *)((char *)result + attributes[i].offset);
}

/* Give the yields of an experiment that have no value the reason why. */
static void refuse_yields(struct cache_result *result, uint32_t yields, const char *reason)
{
    for (size_t i = 0; i < CACHE_ATTRIBUTE_COUNT; i++) {
        struct attribute *attribute = attribute_at(result, i);
        if (yields & (1u << i) && attribute->status == ATTRIBUTE_NOT_MEASURED &&
            !attribute->reason[0]) {
            attribute_refuse(attribute, attributes[i].unit, reason);
        }
    }
}

/* The same for what is no single number. */
static void refuse_structure(struct cache_result *result, size_t experiment, const char *reason)
{
    struct policy_result *policy = &result->policy;
    struct index_result *index = &result->index;
    if (experiment == EXPERIMENT_policy && !policy->name[0]) {
        snprintf(policy->reason, sizeof policy->reason, "%.*s", (int)sizeof policy->reason - 1,
                 reason);
    }
    if (experiment == EXPERIMENT_index && !index->kind[0]) {
        snprintf(index->reason, sizeof index->reason, "%.*s", (int)sizeof index->reason - 1,
                 reason);
    }
}

/* Bits of the experiments in a comma-separated list. */
static int parse_list(uint32_t *out, const char *list)
{
    *out = 0;
    while (list && *list) {
        size_t length = strcspn(list, ","), i = 0;
        while (i < NAME_COUNT && (strlen(infer_experiment_at(i).name) != length ||
                                  strncmp(infer_experiment_at(i).name, list, length) != 0)) {
            i++;
        }
        if (i == NAME_COUNT) {
            return error_set(SONDE_EUSAGE, "there is no experiment '%.*s'",
                             (int)(length > 60 ? 60 : length), list);
        }
        *out |= 1u << i;
        list += length + (list[length] == ',');
    }
    return 0;
}

static uint32_t with_needs(uint32_t wanted)
{
    for (size_t i = EXPERIMENT_COUNT; i-- > 0;) {
        wanted |= wanted & (1u << i) ? experiments[i].needs : 0;
    }
    return wanted;
}

static int select_experiments(uint32_t *out, const struct infer_options *options)
{
    uint32_t only, skip;
    int rc = parse_list(&only, options->only);
    rc = rc ? rc : parse_list(&skip, options->skip);
    if (rc == 0) {
        *out = (only ? with_needs(only) : (1u << NAME_COUNT) - 1) & ~skip;
    }
    return rc;
}

static void report_progress(struct lab *lab, const struct level *level, size_t experiment)
{
    const struct infer_options *options = lab->options;
    if (options->progress) {
        char what[64];
        snprintf(what, sizeof what, "%s: %s", level->info->id, experiments[experiment].name);
        options->progress(options->progress_ctx, lab->done, what);
    }
}

static int run_experiments(struct level *level, uint32_t selected)
{
    struct lab *lab = level->lab;
    uint32_t good = 0;
    char failed[EXPERIMENT_COUNT][160] = {{0}};
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        lab->done += 1.0 / ((double)EXPERIMENT_COUNT * LEVEL_COUNT);
        uint32_t lacking = experiments[i].needs & ~good;
        if (!(selected & (1u << i))) {
            snprintf(failed[i], sizeof failed[i], "not asked for");
        } else if (lacking) {
            size_t first = 0;
            while (!(lacking & (1u << first))) {
                first++;
            }
            memcpy(failed[i], failed[first], sizeof failed[i]);
        } else {
            report_progress(lab, level, i);
            lab->why[0] = '\0';
            int rc = experiments[i].run(level);
            if (rc && !lab_soft(rc)) {
                return rc;
            }
            good |= rc == 0 ? 1u << i : 0;
            snprintf(failed[i], sizeof failed[i], "%.*s", (int)sizeof failed[i] - 1,
                     rc == 0       ? ""
                     : lab->why[0] ? lab->why
                                   : "the measurements do not decide");
        }
        if (!(good & (1u << i))) {
            refuse_yields(level->result, experiments[i].yields, failed[i]);
            refuse_structure(level->result, i, failed[i]);
        }
    }
    return 0;
}

/* No latency of the memory: the reason is the one that hid the outermost cache's misses. */
static void refuse_memory(struct dissection *out, const struct level *level)
{
    if (out->memory_latency.status == ATTRIBUTE_NOT_MEASURED && !out->memory_latency.reason[0]) {
        const char *why = level->result->miss_penalty.reason;
        attribute_refuse(&out->memory_latency, "cycles",
                         why[0] ? why : "no walk misses the outermost cache");
    }
}

struct method_result *level_method(struct level *level, const char *name, const char *reason)
{
    struct dissection *d = level->lab->out;
    if (d->method_count == INFER_MAX_METHODS) {
        return NULL;
    }
    struct method_result *method = &d->methods[d->method_count++];
    snprintf(method->name, sizeof method->name, "%s", name);
    snprintf(method->cache, sizeof method->cache, "%s", level->info->id);
    attribute_refuse(&method->size, "B", reason);
    attribute_refuse(&method->line, "B", reason);
    attribute_refuse(&method->sets, "1", reason);
    attribute_refuse(&method->ways, "1", reason);
    attribute_refuse(&method->periodic, "1", reason);
    return method;
}

static int dissect_level(struct lab *lab, struct sample *seen, size_t i, uint32_t selected)
{
    struct cache_result *result = &lab->out->caches[lab->out->cache_count++];
    snprintf(result->id, sizeof result->id, "%s", levels[i].id);
    snprintf(result->scope, sizeof result->scope, "%s", levels[i].scope);
    for (size_t a = 0; a < CACHE_ATTRIBUTE_COUNT; a++) {
        attribute_refuse(attribute_at(result, a), attributes[a].unit, "");
    }
    struct level level = {
        .lab = lab, .info = &levels[i], .result = result, .outermost = i + 1 == LEVEL_COUNT};
    uint32_t limit = lab->options->max_window ? lab->options->max_window : 1024;
    level.max_window =
        levels[i].max_window && levels[i].max_window < limit ? levels[i].max_window : limit;
    int rc = run_experiments(&level, selected);
    refuse_yields(result, ~0u, result->present ? "not applicable" : "the cache does not show");
    if (level.outermost) {
        refuse_memory(lab->out, &level);
    }
    if (rc == 0) {
        struct sample all;
        rc = sample_join(&all, seen, &level.seen);
        if (rc == 0) {
            sample_free(seen);
            *seen = all;
        }
    }
    level_free(&level);
    return rc;
}

/* As run_experiments(): what fails leaves its reason. */
static int run_wholes(struct lab *lab, uint32_t selected)
{
    for (size_t i = 0; i < WHOLE_COUNT; i++) {
        lab->why[0] = '\0';
        int rc = INFER_UNDECIDED;
        if (!(selected & (1u << (EXPERIMENT_COUNT + i)))) {
            lab_undecided(lab, "not asked for");
        } else {
            if (lab->options->progress) {
                lab->options->progress(lab->options->progress_ctx, lab->done, wholes[i].name);
            }
            rc = wholes[i].run(lab);
        }
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        wholes[i].refuse(lab->out, rc && lab->why[0] ? lab->why : "the measurements do not decide");
    }
    return 0;
}

int infer_dissect(struct dissection *out, struct trace_source *source,
                  const struct infer_options *options)
{
    memset(out, 0, sizeof *out);
    attribute_refuse(&out->memory_latency, "cycles", "");
    uint32_t selected;
    int rc = select_experiments(&selected, options);
    struct infer_options filled = *options;
    filled.max_footprint_bytes =
        options->max_footprint_bytes ? options->max_footprint_bytes : UINT64_C(1) << 28;
    struct lab lab = {.source = source, .options = &filled, .out = out};
    struct sample seen = {0};
    for (size_t i = 0; rc == 0 && i < LEVEL_COUNT; i++) {
        rc = dissect_level(&lab, &seen, i, selected);
    }
    rc = rc ? rc : run_wholes(&lab, selected);
    if (rc == 0) {
        out->class_count = sample_classes(out->classes, INFER_MAX_LATENCIES, &seen);
    }
    sample_free(&seen);
    return rc;
}
