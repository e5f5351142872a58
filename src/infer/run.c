/*
 * Runs the experiments on the caches, then those on the device. What fails leaves its reason in the
 * attributes concerned and in those of everything that needs it; only an error that concerns the
 * whole (memory out, interrupted, a source that breaks) ends the dissection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/experiments.h"
#include "infer/result.h"
#include "infer/select.h"
#include "util/error.h"

/* Of the words that fit on a path whose words lie lines apart: their sets are sought one by one. */
#define MOST_INTERLEAVED 512

static void report_progress(struct lab *lab, const struct level *level, size_t experiment)
{
    const struct infer_options *options = lab->options;
    if (options->progress) {
        char what[64];
        snprintf(what, sizeof what, "%s: %s", level->info->id, experiments[experiment].name);
        options->progress(options->progress_ctx, lab->done, what);
    }
}

/* Why an experiment makes no sense on this cache; NULL when it does. */
static const char *not_for(const struct level *level, size_t experiment)
{
    const struct path_info *path = path_find(level->info->op);
    bool behind = level->info->behind[0] != '\0';
    switch (experiment) {
    case EXPERIMENT_load_to_use:
    case EXPERIMENT_average:
        return path && path->can_chain ? NULL : "the probe for untimed chains has no such path";
    case EXPERIMENT_ports:
        return behind || strcmp(level->info->op, "const") != 0 ? NOT_APPLICABLE : NULL;
    case EXPERIMENT_ways:
        return path && path->interleave > 1 && level->fit.count > MOST_INTERLEAVED
                   ? "too many words of the thread fit to find out which of them conflict"
                   : NULL;
    case EXPERIMENT_index:
        return behind && !level->filler
                   ? "the lines of a set stay in the cache in front when they are walked alone"
                   : NULL;
    case EXPERIMENT_sets:
        return behind && !level->map.sets
                   ? "which lines share a set behind another cache is not known"
                   : NULL;
    case EXPERIMENT_policy:
        return behind && !level->filler ? "the cache in front keeps part of the accesses from it"
                                        : NULL;
    case EXPERIMENT_cold:
        return behind && level->result->present && !level->timing.fetch_bytes ? NULL
                                                                              : NOT_APPLICABLE;
    case EXPERIMENT_evict:
        return level->outermost && level->large ? NULL : NOT_APPLICABLE;
    case EXPERIMENT_mei:
        return level->same_as                 ? "it is applied to the same cache elsewhere"
               : behind                       ? "the method is for first-level caches"
               : path && path->interleave > 1 ? "the method needs lines of several words"
                                              : NULL;
    default:
        return NULL;
    }
}

/*
 * Structure may take walk after walk where many ways draw their victims. Where loads are dear,
 * caches together leave that at some number of them, and each but the last at two thirds of what is
 * left; their latencies, and what concerns the device as a whole, come still.
 */
static uint64_t loads_of_level(const struct lab *lab, bool last)
{
    uint64_t all = lab->options->max_cache_loads, left = all > lab->loads ? all - lab->loads : 1;
    return all == 0 ? 0 : last ? all : lab->loads + (2 * left + 2) / 3;
}

static uint64_t most_loads_of(const struct lab *lab, size_t experiment)
{
    enum {
        STRUCTURE = 1u << EXPERIMENT_capacity | 1u << EXPERIMENT_ways | 1u << EXPERIMENT_line |
                    1u << EXPERIMENT_index | 1u << EXPERIMENT_sets | 1u << EXPERIMENT_policy
    };
    return STRUCTURE >> experiment & 1 ? lab->level_loads : 0;
}

/* What needs no doing on a cache that another path has shown. */
static bool is_taken_over(const struct level *level, size_t experiment)
{
    return level->same_as && (experiment == EXPERIMENT_capacity || experiment == EXPERIMENT_ways ||
                              experiment == EXPERIMENT_line || experiment == EXPERIMENT_sets ||
                              experiment == EXPERIMENT_index || experiment == EXPERIMENT_policy);
}

/*
 * Where no line shows around the conflicting addresses, these need not be of one set: what hides
 * the line (another cache in front, loads whose latencies overlap, noise) made the set as well. Its
 * number of ways, and what fits in steps that need not be lines, then rest on nothing, and blind
 * trials found nine of ten of them wrong.
 */
static void withdraw_conflict(struct level *level, const char *reason)
{
    attribute_refuse(&level->result->ways, "1", reason);
    attribute_refuse(&level->result->size, "B", reason);
}

static int run_experiments(struct level *level, uint64_t selected)
{
    struct lab *lab = level->lab;
    uint32_t good = 0;
    char failed[EXPERIMENT_COUNT][160] = {{0}};
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        lab->done += 1.0 / ((double)EXPERIMENT_COUNT * LEVEL_COUNT);
        uint32_t lacking = experiments[i].needs & ~good;
        const char *senseless = not_for(level, i);
        if (!selects_experiment(selected, i)) {
            snprintf(failed[i], sizeof failed[i], "not asked for");
        } else if (is_taken_over(level, i)) {
            good |= 1u << i;
        } else if (senseless && !lacking) {
            snprintf(failed[i], sizeof failed[i], "%s", senseless);
        } else if (lacking) {
            size_t first = 0;
            while (!(lacking & (1u << first))) {
                first++;
            }
            memcpy(failed[i], failed[first], sizeof failed[i]);
        } else {
            report_progress(lab, level, i);
            lab->why[0] = '\0';
            lab->most_loads = most_loads_of(lab, i);
            int rc = experiments[i].run(level);
            lab->most_loads = 0;
            if (rc && !lab_soft(rc)) {
                return rc;
            }
            good |= rc == 0 ? 1u << i : 0;
            snprintf(failed[i], sizeof failed[i], "%.*s", (int)sizeof failed[i] - 1,
                     rc == 0       ? ""
                     : lab->why[0] ? lab->why
                                   : "the measurements do not decide");
            if (i == EXPERIMENT_line && rc == INFER_UNDECIDED && level->conflict.count) {
                withdraw_conflict(level, failed[i]);
            }
        }
        if (!(good & (1u << i))) {
            result_refuse(level->result, experiments[i].yields, failed[i]);
            result_refuse_structure(level->result, i, failed[i]);
        }
    }
    return 0;
}

/* Takes the conflicting set over. */
static void summarise(struct level_summary *out, struct level *level)
{
    *out = (struct level_summary){.info = level->info,
                                  .known =
                                      level->timing.threshold > 0 && level->timing.fetch_bytes > 0,
                                  .timing = level->timing,
                                  .fit = level->fit,
                                  .conflict = level->conflict,
                                  .line = level->line,
                                  .map = level->map,
                                  .ways = level->conflict.count ? level->conflict.count - 1 : 0,
                                  .same_as = level->same_as};
    out->fit.count = level->large ? 0 : level->fit.count;
    memcpy(out->policy, level->result->policy.name, sizeof out->policy);
    level->conflict.offsets = NULL;
}

static const struct level_summary *find_summary(const struct lab *lab, const char *id)
{
    for (size_t i = 0; i < lab->level_count; i++) {
        if (strcmp(lab->levels[i].info->id, id) == 0) {
            return &lab->levels[i];
        }
    }
    return NULL;
}

/* Adds to what was seen on all caches. */
static int add_seen(struct sample *seen, const struct sample *more)
{
    struct sample all;
    int rc = sample_join(&all, seen, more);
    if (rc == 0) {
        sample_free(seen);
        *seen = all;
    }
    return rc;
}

static int dissect_level(struct lab *lab, struct level_summary *summary, struct sample *seen,
                         const struct level_info *info, uint64_t selected)
{
    struct cache_result *result = &lab->out->caches[lab->out->cache_count++];
    const struct path_info *path = path_find(info->op);
    struct infer_options options = *lab->options, *whole = (struct infer_options *)lab->options;
    uint32_t limit = options.max_window ? options.max_window : 1024;
    if (path && path->reach_bytes && path->reach_bytes < options.max_footprint_bytes) {
        options.max_footprint_bytes = path->reach_bytes;
    }
    struct level level = {.lab = lab,
                          .info = info,
                          .result = result,
                          .front = find_summary(lab, info->behind),
                          .outermost = info == &levels[LEVEL_COUNT - 1]};
    level.max_window = info->max_window && info->max_window < limit ? info->max_window : limit;
    result_name(result, info);
    lab->options = &options;
    lab->level_loads = loads_of_level(lab, level.outermost);
    int rc = run_experiments(&level, selected);
    lab->options = whole;
    result_refuse(result, ~0u, result->present ? NOT_APPLICABLE : "the cache does not show");
    result_scale(result, &level, path ? path->interleave : 1);
    summarise(summary, &level);
    rc = rc ? rc : add_seen(seen, &level.seen);
    level_free(&level);
    return rc;
}

/* A cache that was not asked for is in the result, and says so. */
static void leave_out(struct lab *lab, struct level_summary *summary, const struct level_info *info)
{
    struct cache_result *result = &lab->out->caches[lab->out->cache_count++];
    result_name(result, info);
    result_refuse(result, ~0u, "not asked for");
    result_refuse_structure(result, EXPERIMENT_policy, "not asked for");
    result_refuse_structure(result, EXPERIMENT_index, "not asked for");
    *summary = (struct level_summary){.info = info};
}

/* Each cache asked for, and those in front of one: without them it cannot be told. */
static int run_levels(struct lab *lab, struct level_summary summaries[LEVEL_COUNT],
                      uint64_t selected)
{
    struct sample seen = {0};
    int rc = 0;
    lab->levels = summaries;
    for (size_t i = 0; rc == 0 && i < LEVEL_COUNT; i++) {
        uint64_t experiments_wanted = selected;
        bool wanted = selects_level(selected, i), front = false;
        for (size_t k = i + 1; !wanted && k < LEVEL_COUNT; k++) {
            front = front ||
                    (selects_level(selected, k) && strcmp(levels[k].behind, levels[i].id) == 0);
        }
        if (!wanted) {
            experiments_wanted &= select_with_needs(1u << EXPERIMENT_ways);
        }
        if (wanted || front) {
            rc = dissect_level(lab, &summaries[i], &seen, &levels[i], experiments_wanted);
        } else {
            leave_out(lab, &summaries[i], &levels[i]);
        }
        lab->level_count = i + 1;
    }
    if (rc == 0) {
        result_refuse_memory(lab->out, &lab->out->caches[LEVEL_COUNT - 1]);
        lab->out->class_count = sample_classes(lab->out->classes, INFER_MAX_LATENCIES, &seen);
    }
    sample_free(&seen);
    return rc;
}

/* As run_experiments(): what fails leaves its reason. */
static int run_device_experiments(struct lab *lab, uint64_t selected)
{
    for (size_t i = 0; i < DEVICE_EXPERIMENT_COUNT; i++) {
        lab->why[0] = '\0';
        int rc = INFER_UNDECIDED;
        if (!selects_device_experiment(selected, i)) {
            lab_undecided(lab, "not asked for");
        } else {
            if (lab->options->progress) {
                lab->options->progress(lab->options->progress_ctx, lab->done,
                                       device_experiments[i].name);
            }
            rc = device_experiments[i].run(lab);
        }
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        device_experiments[i].refuse(
            lab->out, rc && lab->why[0] ? lab->why : "the measurements do not decide");
    }
    return 0;
}

int infer_dissect(struct dissection *out, struct trace_source *source,
                  const struct infer_options *options)
{
    memset(out, 0, sizeof *out);
    attribute_refuse(&out->memory_latency, "cycles", "");
    uint64_t selected;
    int rc = select_experiments(&selected, options);
    struct infer_options filled = *options;
    filled.max_footprint_bytes =
        options->max_footprint_bytes ? options->max_footprint_bytes : UINT64_C(1) << 28;
    struct level_summary summaries[LEVEL_COUNT] = {0};
    struct lab lab = {.source = source, .options = &filled, .out = out};
    rc = rc ? rc : run_levels(&lab, summaries, selected);
    rc = rc ? rc : run_device_experiments(&lab, selected);
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        free(summaries[i].conflict.offsets);
    }
    return rc;
}
