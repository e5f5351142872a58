/*
 * Runs the experiments on the caches. What fails leaves its reason in the attributes concerned and
 * in those of everything that needs it; only an error that concerns the whole (memory out,
 * interrupted, a source that breaks) ends the dissection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/published/copy.h"
#include "infer/device/count.h"
#include "infer/level.h"
#include "infer/device/memory.h"
#include "infer/outstanding/outstanding.h"
#include "infer/latency/patterns.h"
#include "infer/large/occupancy.h"
#include "infer/device/shared.h"
#include "infer/device/sharing.h"
#include "infer/tlb/tlb.h"
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
#include "infer/device/device.def"
};
enum { WHOLE_COUNT = sizeof wholes / sizeof *wholes };

/* Of the words that fit on a path whose words lie lines apart: their sets are sought one by one. */
#define MOST_INTERLEAVED 512

static const struct level_info levels[] = {
#define LEVEL(id, scope, op, behind, beneath, shared, window, doc)                                 \
    {id, scope, op, behind, beneath, shared, window, doc},
#include "infer/levels.def"
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

/*
 * What may be asked for by name: experiments on caches, wholes, caches. A selection has a bit for
 * each, in this order.
 */
enum { NAME_COUNT = EXPERIMENT_COUNT + WHOLE_COUNT, ALL_COUNT = NAME_COUNT + LEVEL_COUNT };
#define BITS(from, count) (((UINT64_C(1) << (count)) - 1) << (from))
#define EXPERIMENT_BITS BITS(0, EXPERIMENT_COUNT)
#define LEVEL_BITS BITS(NAME_COUNT, LEVEL_COUNT)

struct infer_experiment infer_experiment_at(size_t i)
{
    if (i >= ALL_COUNT) {
        return (struct infer_experiment){NULL, NULL};
    }
    if (i >= NAME_COUNT) {
        return (struct infer_experiment){levels[i - NAME_COUNT].id, levels[i - NAME_COUNT].doc};
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

/* Bits of the names in a comma-separated list. */
static int parse_list(uint64_t *out, const char *list)
{
    *out = 0;
    while (list && *list) {
        size_t length = strcspn(list, ","), i = 0;
        while (i < ALL_COUNT && (strlen(infer_experiment_at(i).name) != length ||
                                 strncmp(infer_experiment_at(i).name, list, length) != 0)) {
            i++;
        }
        if (i == ALL_COUNT) {
            return error_set(SONDE_EUSAGE, "there is no experiment or cache '%.*s'",
                             (int)(length > 60 ? 60 : length), list);
        }
        *out |= UINT64_C(1) << i;
        list += length + (list[length] == ',');
    }
    return 0;
}

static uint64_t with_needs(uint64_t wanted)
{
    for (size_t i = EXPERIMENT_COUNT; i-- > 0;) {
        wanted |= wanted & (UINT64_C(1) << i) ? experiments[i].needs : 0;
    }
    return wanted;
}

/*
 * Of experiments and of caches, a list that names none means all of them. Wholes are caches' equals
 * here: a list of caches alone asks for no whole.
 */
static uint64_t fill_only(uint64_t only)
{
    if (!only) {
        return BITS(0, ALL_COUNT);
    }
    uint64_t filled = with_needs(only);
    if (!(only & BITS(0, NAME_COUNT))) {
        filled |= EXPERIMENT_BITS;
    }
    return only & LEVEL_BITS || !(only & EXPERIMENT_BITS) ? filled : filled | LEVEL_BITS;
}

static int select_experiments(uint64_t *out, const struct infer_options *options)
{
    uint64_t only, skip;
    int rc = parse_list(&only, options->only);
    rc = rc ? rc : parse_list(&skip, options->skip);
    if (rc == 0) {
        *out = fill_only(only) & ~skip;
    }
    return rc;
}

static bool is_selected(uint64_t selected, size_t i)
{
    return selected >> i & 1;
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
        return path && path->interleave > 1 && level->fit_count > MOST_INTERLEAVED
                   ? "too many words of the thread fit to find out which of them conflict"
                   : NULL;
    case EXPERIMENT_index:
        return behind && !level->escort
                   ? "the lines of a set stay in the cache in front when they are walked alone"
                   : NULL;
    case EXPERIMENT_sets:
        return behind && !level->map.sets
                   ? "which lines share a set behind another cache is not known"
                   : NULL;
    case EXPERIMENT_policy:
        return behind && !level->escort ? "the cache in front keeps part of the accesses from it"
                                        : NULL;
    case EXPERIMENT_cold:
        return behind && level->result->present && !level->fetch_bytes ? NULL : NOT_APPLICABLE;
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
        if (!is_selected(selected, i)) {
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
            if (i == EXPERIMENT_line && rc == INFER_UNDECIDED && level->conflict_count) {
                withdraw_conflict(level, failed[i]);
            }
        }
        if (!(good & (1u << i))) {
            refuse_yields(level->result, experiments[i].yields, failed[i]);
            refuse_structure(level->result, i, failed[i]);
        }
    }
    return 0;
}

/* No latency of the memory: the reason is the one that hid the outermost cache's misses. */
static void refuse_memory(struct dissection *out, const struct cache_result *outermost)
{
    if (out->memory_latency.status == ATTRIBUTE_NOT_MEASURED && !out->memory_latency.reason[0]) {
        const char *why = outermost->miss_penalty.reason;
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

/*
 * What was found in the addresses of a path of which each byte stands for several of the cache, in
 * the cache's own bytes. A line that holds no second word of the path, and what rests on where
 * lines end, stays open.
 */
static void scale_result(struct cache_result *r, const struct level *level, uint32_t interleave)
{
    if (interleave == 1) {
        return;
    }
    r->path_interleave = interleave;
    attribute_refuse(&r->fetch_granularity, "B",
                     "the path's words lie too far apart to share what a miss fetches");
    for (size_t i = 0; i < r->step_count; i++) {
        r->steps[i].bytes *= interleave;
    }
    if (level->same_as) {
        return; /* what was taken over is in the cache's own bytes */
    }
    for (size_t i = 0; i < CACHE_ATTRIBUTE_COUNT; i++) {
        struct attribute *attribute = attribute_at(r, i);
        if (strcmp(attributes[i].unit, "B") == 0 && i != CACHE_ATTRIBUTE_carveout_shared) {
            attribute->value *= interleave;
        }
    }
    for (size_t i = 0; i < r->index.mask_count; i++) {
        r->index.masks[i] *= interleave;
    }
    if (level->line_bytes == level->fetch_bytes) {
        char reason[160];
        snprintf(reason, sizeof reason, "lines of %llu B and less look alike through this path",
                 (unsigned long long)level->line_bytes * interleave);
        attribute_refuse(&r->line, "B", reason);
        if (r->sets.status == ATTRIBUTE_MEASURED) {
            attribute_refuse(&r->sets, "1", reason);
        }
    }
}

static void name_result(struct cache_result *result, const struct level_info *info)
{
    snprintf(result->id, sizeof result->id, "%s", info->id);
    snprintf(result->scope, sizeof result->scope, "%s", info->scope);
    for (size_t a = 0; a < CACHE_ATTRIBUTE_COUNT; a++) {
        attribute_refuse(attribute_at(result, a), attributes[a].unit, "");
    }
}

/* Takes the conflicting set over. */
static void summarise(struct level_summary *out, struct level *level)
{
    *out = (struct level_summary){.info = level->info,
                                  .known = level->threshold > 0 && level->fetch_bytes > 0,
                                  .threshold = level->threshold,
                                  .ceiling = level->ceiling,
                                  .hit_cycles = level->hit_cycles,
                                  .miss_cycles = level->miss_cycles,
                                  .fit_stride = level->fit_stride,
                                  .fit_count = level->large ? 0 : level->fit_count,
                                  .ways = level->conflict_count ? level->conflict_count - 1 : 0,
                                  .fetch_bytes = level->fetch_bytes,
                                  .line_bytes = level->line_bytes,
                                  .false_misses = level->false_misses,
                                  .false_slow = level->false_slow,
                                  .hit_records = level->hit_records,
                                  .same_as = level->same_as,
                                  .conflict = level->conflict,
                                  .map = level->map,
                                  .conflict_count = level->conflict_count};
    memcpy(out->policy, level->result->policy.name, sizeof out->policy);
    level->conflict = NULL;
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
    name_result(result, info);
    lab->options = &options;
    lab->level_loads = loads_of_level(lab, level.outermost);
    int rc = run_experiments(&level, selected);
    lab->options = whole;
    refuse_yields(result, ~0u, result->present ? NOT_APPLICABLE : "the cache does not show");
    scale_result(result, &level, path ? path->interleave : 1);
    summarise(summary, &level);
    rc = rc ? rc : add_seen(seen, &level.seen);
    level_free(&level);
    return rc;
}

/* A cache that was not asked for is in the result, and says so. */
static void leave_out(struct lab *lab, struct level_summary *summary, const struct level_info *info)
{
    struct cache_result *result = &lab->out->caches[lab->out->cache_count++];
    name_result(result, info);
    refuse_yields(result, ~0u, "not asked for");
    refuse_structure(result, EXPERIMENT_policy, "not asked for");
    refuse_structure(result, EXPERIMENT_index, "not asked for");
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
        bool wanted = is_selected(selected, NAME_COUNT + i), front = false;
        for (size_t k = i + 1; !wanted && k < LEVEL_COUNT; k++) {
            front = front || (is_selected(selected, NAME_COUNT + k) &&
                              strcmp(levels[k].behind, levels[i].id) == 0);
        }
        if (!wanted) {
            experiments_wanted &= with_needs(1u << EXPERIMENT_ways);
        }
        if (wanted || front) {
            rc = dissect_level(lab, &summaries[i], &seen, &levels[i], experiments_wanted);
        } else {
            leave_out(lab, &summaries[i], &levels[i]);
        }
        lab->level_count = i + 1;
    }
    if (rc == 0) {
        refuse_memory(lab->out, &lab->out->caches[LEVEL_COUNT - 1]);
        lab->out->class_count = sample_classes(lab->out->classes, INFER_MAX_LATENCIES, &seen);
    }
    sample_free(&seen);
    return rc;
}

/* As run_experiments(): what fails leaves its reason. */
static int run_wholes(struct lab *lab, uint64_t selected)
{
    for (size_t i = 0; i < WHOLE_COUNT; i++) {
        lab->why[0] = '\0';
        int rc = INFER_UNDECIDED;
        if (!is_selected(selected, EXPERIMENT_COUNT + i)) {
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
    uint64_t selected;
    int rc = select_experiments(&selected, options);
    struct infer_options filled = *options;
    filled.max_footprint_bytes =
        options->max_footprint_bytes ? options->max_footprint_bytes : UINT64_C(1) << 28;
    struct level_summary summaries[LEVEL_COUNT] = {0};
    struct lab lab = {.source = source, .options = &filled, .out = out};
    rc = rc ? rc : run_levels(&lab, summaries, selected);
    rc = rc ? rc : run_wholes(&lab, selected);
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        free(summaries[i].conflict);
    }
    return rc;
}
