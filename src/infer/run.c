/*
 * Runs the experiments on the caches, then those on the device, then published recipes, which
 * nothing else needs. What fails leaves its reason in the attributes concerned and in those of
 * everything that needs it; only an error that concerns the whole (memory out, interrupted, a
 * source that breaks) ends the dissection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/experiments.h"
#include "infer/geometry/geometry.h"
#include "infer/outcomes.h"
#include "infer/policy/policy.h"
#include "infer/presence/presence.h"
#include "infer/result.h"
#include "infer/select.h"
#include "util/error.h"

/*
 * Shares of the work, for the progress line. What concerns the device as a whole takes about as
 * long as all caches together where everything is asked for: of the shipped models a tenth to two
 * thirds of the time.
 */
static void plan_shares(struct lab *lab, const struct selection *selected)
{
    const double dear = (double)EXPERIMENT_COUNT * LEVEL_COUNT / DEVICE_EXPERIMENT_COUNT;
    double all = dear * __builtin_popcount(selected->on_device);
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        all += __builtin_popcount(selected->on_cache[i]);
    }
    lab->share = all > 0 ? 1 / all : 0;
    lab->device_share = dear * lab->share;
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

/*
 * Structure may take walk after walk where many ways draw their victims. Where loads are dear,
 * caches together leave that at some number of them, and each but the last at two thirds of what is
 * left, though never at less than a small cache takes (behind another its walks are longer), the
 * last at half of all, whatever those before it took; their latencies, and what concerns the device
 * as a whole, come still.
 */
static uint64_t loads_of_level(const struct lab *lab, const struct level_info *info, bool last)
{
    /* Of all loads, one in so many. Blind trials; behind another cache chosen. */
    const uint64_t least_share = last ? 2 : info->behind[0] ? 12 : 32;
    uint64_t all = lab->options->max_cache_loads, left = all > lab->loads ? all - lab->loads : 1;
    uint64_t most = last ? all : lab->loads + (2 * left + 2) / 3;
    uint64_t least = lab->loads + all / least_share;
    return all == 0 ? 0 : most > least ? most : least;
}

/* Of all that a source may do, what may be spent by when a recipe ends: on caches, and of copies.
 */
static const double recipes_share = 0.95, copy_share = 0.9;
/* By when paths are compared and caches are counted: a large cache is filled again and again, many
 * SMs of an L2 in parts ask each other many times. Chosen. */
static const double sharing_share = 0.8, count_share = 0.85;
/* By when translation and patterns of access are known: loads in flight, which come after, take a
 * hundredth. Chosen. */
static const double translation_share = 0.95;
/* Bytes that fit: walks of so small a cache are cheap, and its recipes come in any case. Chosen. */
static const uint64_t recipes_small = 8192;

static bool is_small(const struct level *level)
{
    return level->fit.count && level->fit.count * level->fit.stride <= recipes_small;
}

/* A published recipe walks a cache through again and again, for what is known by then: of the loads
 * that caches may take, one part in so many. Of a small cache noise alone makes it take as many.
 * Chosen. */
static const uint64_t recipe_part = 16, small_recipe_part = 32;

static uint64_t loads_of_recipe(const struct level *level)
{
    const struct lab *lab = level->lab;
    uint64_t all = lab->options->max_cache_loads;
    return all ? lab->loads + all / (is_small(level) ? small_recipe_part : recipe_part) : 0;
}

/*
 * Of all that a source may do, the caches leave a part to what comes after, which takes far less:
 * the structure of each to the next one's, and that of the last to translation and loads in flight.
 * What a path costs alone comes still where structure has spent its share.
 */
static double share_of(const struct level *level, enum experiment_kind kind)
{
    static const double first = 0.3, each = 0.06, last = 0.7, paths = 0.05;
    double share = level->outermost ? last : first + each * (double)level->lab->level_count;
    return kind == STRUCTURE ? share
           : kind == PATH    ? share + paths
           : is_small(level) ? 1
                             : recipes_share;
}

/*
 * Where no line shows around the conflicting addresses, these need not be of one set: what hides
 * the line (another cache in front, loads whose latencies overlap, noise) made the set as well. Its
 * number of ways, and what fits in steps that need not be lines, then rest on nothing, and blind
 * trials found nine of ten of them wrong.
 */
static void withdraw_conflict(struct level *level, const struct refusal *why)
{
    free(level->conflict.offsets);
    level->conflict = (struct level_conflict){0};
    attribute_refuse_as(&level->result->ways, "1", why);
    attribute_refuse_as(&level->result->size, "B", why);
}

static const struct refusal not_asked = {ATTRIBUTE_NOT_ASKED, "not asked for"};

/* Confidence of a number of sets above which they are alike. Chosen. */
static const double alike_sure = 0.85;

/* Noise hid the misses of a nearer cache: its beginning once more, by walks that are repeated, and
 * what fits into it. `rc`: what came of it before. */
static int begin_nearer(struct level *level, int rc)
{
    bool begun = false;
    int again = level_begin_repeated(level, &begun);
    return again ? again : begun ? level_capacity(level) : rc;
}

/* One experiment that nothing stands against. */
static int run_one(struct level *level, size_t i)
{
    struct lab *lab = level->lab;
    const struct experiment *experiment = &experiments[i];
    report_progress(lab, level, i);
    lab->why.reason[0] = '\0';
    lab->most_loads = experiment->kind == STRUCTURE ? lab->level_loads
                      : experiment->kind == RECIPE  ? loads_of_recipe(level)
                                                    : 0;
    lab_allow(lab, share_of(level, experiment->kind));
    int rc = experiment->run(level);
    if (i == EXPERIMENT_capacity && rc == INFER_UNDECIDED && level->hides_nearer) {
        rc = begin_nearer(level, rc);
    }
    lab->most_loads = 0;
    if (i == EXPERIMENT_line && rc == INFER_UNDECIDED && level->conflict.count) {
        struct refusal why = lab_refusal(lab);
        withdraw_conflict(level, &why);
    }
    return rc;
}

/* Why an experiment is not run: what it needs failed, for that reason, or it makes no sense here.
 */
static bool is_barred(struct level *level, struct refusal failed[], size_t i, uint32_t good)
{
    uint32_t lacking = experiments[i].needs & ~good;
    if (lacking) {
        failed[i] = failed[__builtin_ctz(lacking)];
    } else if (!experiments[i].applies(level)) {
        failed[i] = lab_refusal(level->lab);
    } else {
        return false;
    }
    return true;
}

/* A cache while it is examined: its recipes come when all the rest is done. */
struct examination {
    struct level level;
    struct infer_options options; /* those of its path */
    uint32_t selected, good;      /* bits of experiments */
    struct refusal failed[EXPERIMENT_COUNT];
};

/* Recipes, or all other experiments. */
static int run_experiments(struct examination *e, bool recipes)
{
    struct level *level = &e->level;
    struct lab *lab = level->lab;
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        if ((experiments[i].kind == RECIPE) != recipes) {
            continue;
        }
        bool is_good = false;
        if (!(e->selected >> i & 1)) {
            e->failed[i] = not_asked;
        } else if (level->same_as && experiments[i].kind == STRUCTURE) {
            is_good = true; /* taken over from the path that has shown the cache */
        } else if (!is_barred(level, e->failed, i, e->good)) {
            int rc = run_one(level, i);
            if (rc && !lab_soft(rc)) {
                return rc;
            }
            is_good = rc == 0;
            e->failed[i] = lab_refusal(lab);
        }
        if (i == EXPERIMENT_policy) { /* asked or not, before others go by what was held */
            level_doubt_held(level);
            level_doubt_repeated(level);
        }
        e->good |= (uint32_t)is_good << i;
        lab->done += e->selected >> i & 1 ? lab->share : 0;
        if (!is_good) {
            result_refuse(level->result, experiments[i].yields, &e->failed[i]);
        }
    }
    if (!recipes && !level->result->present) {
        level->result->absence = e->failed[EXPERIMENT_reference];
    }
    return 0;
}

/* Takes the conflicting set over. */
static void summarise(struct level_summary *out, struct level *level)
{
    *out = (struct level_summary){.info = level->info,
                                  .known =
                                      level->timing.threshold > 0 && level->timing.fetch_bytes > 0,
                                  .repeats = level->repeats,
                                  .timing = level->timing,
                                  .fit = level->fit,
                                  .conflict = level->conflict,
                                  .line = level->line,
                                  .map = level->map,
                                  .size_bytes = level->size_bytes,
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

/* How much each of elements apart stands for is known with the sets. Who leaves these out, or has
 * a recording without them, gets no size of them: it was twice to four times a cache's. */
static void withdraw_spaced_size(struct examination *e)
{
    const struct level *level = &e->level;
    const struct refusal *sets = &e->failed[EXPERIMENT_sets];
    bool is_left_out =
        sets->status == ATTRIBUTE_NOT_ASKED || sets->status == ATTRIBUTE_NOT_RECORDED;
    if (level->spaced_size && is_left_out && !level->size_bytes) {
        attribute_refuse_as(&level->result->size, "B", sets);
    }
}

static int dissect_level(struct lab *lab, struct level_summary *summary, struct sample *seen,
                         struct examination *e, const struct level_info *info)
{
    struct cache_result *result = &lab->out->caches[lab->out->cache_count++];
    const struct path_info *path = path_find(info->op);
    const struct infer_options *whole = lab->options;
    uint32_t limit = whole->max_window ? whole->max_window : 1024;
    e->options = *whole;
    if (path && path->reach_bytes && path->reach_bytes < whole->max_footprint_bytes) {
        e->options.max_footprint_bytes = path->reach_bytes;
    }
    e->level = (struct level){.lab = lab,
                              .info = info,
                              .result = result,
                              .front = find_summary(lab, info->behind),
                              .outermost = info == &levels[LEVEL_COUNT - 1]};
    struct level *level = &e->level;
    level->max_window = info->max_window && info->max_window < limit ? info->max_window : limit;
    result_name(result, info);
    lab->options = &e->options;
    lab->level_loads = loads_of_level(lab, info, level->outermost);
    int rc = run_experiments(e, false);
    withdraw_spaced_size(e);
    bool alike = result->sets.status == ATTRIBUTE_MEASURED && result->sets.confidence > alike_sure;
    policy_doubt_choice(&result->policy, level->conflict.count ? level->conflict.count - 1 : 0,
                        alike);
    lab->options = whole;
    const struct refusal nothing = {ATTRIBUTE_ABSENT, NOT_APPLICABLE};
    result_refuse(result, ALL_YIELDS, result->present ? &nothing : &result->absence);
    result_scale(result, level, path ? path->interleave : 1);
    summarise(summary, level);
    return rc ? rc : add_seen(seen, &level->seen);
}

/* A cache that was not asked for is in the result, and says so. */
static void leave_out(struct lab *lab, struct level_summary *summary, const struct level_info *info)
{
    struct cache_result *result = &lab->out->caches[lab->out->cache_count++];
    result_name(result, info);
    result->absence = not_asked;
    result_refuse(result, ALL_YIELDS, &not_asked);
    *summary = (struct level_summary){.info = info};
}

static int run_levels(struct lab *lab, struct level_summary summaries[LEVEL_COUNT],
                      struct examination examined[LEVEL_COUNT])
{
    struct sample seen = {0};
    int rc = 0;
    lab->levels = summaries;
    for (size_t i = 0; rc == 0 && i < LEVEL_COUNT; i++) {
        if (examined[i].selected) {
            rc = dissect_level(lab, &summaries[i], &seen, &examined[i], &levels[i]);
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

/* The place among the levels of the cache that a recipe was applied to. */
static size_t level_of(const struct method_result *method)
{
    size_t i = 0;
    while (i < LEVEL_COUNT && strcmp(levels[i].id, method->cache) != 0) {
        i++;
    }
    return i;
}

/* By the order of the levels; of one cache in the order in which they were applied. */
static void order_methods(struct dissection *out)
{
    for (size_t i = 1; i < out->method_count; i++) {
        for (size_t k = i; k > 0 && level_of(&out->methods[k - 1]) > level_of(&out->methods[k]);
             k--) {
            struct method_result other = out->methods[k];
            out->methods[k] = out->methods[k - 1];
            out->methods[k - 1] = other;
        }
    }
}

/* Small caches first, whose recipes are cheap. */
static int run_recipes(struct lab *lab, struct examination examined[LEVEL_COUNT])
{
    const struct infer_options *whole = lab->options;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2 * LEVEL_COUNT; i++) {
        struct examination *e = &examined[i % LEVEL_COUNT];
        if (e->selected && is_small(&e->level) == (i < LEVEL_COUNT)) {
            lab->options = &e->options;
            rc = run_experiments(e, true);
        }
    }
    lab->options = whole;
    order_methods(lab->out);
    return rc;
}

static double share_of_device(size_t experiment)
{
    return experiment == DEVICE_EXPERIMENT_sharing    ? sharing_share
           : experiment == DEVICE_EXPERIMENT_count    ? count_share
           : experiment == DEVICE_EXPERIMENT_tlbs     ? translation_share
           : experiment == DEVICE_EXPERIMENT_patterns ? translation_share
           : experiment == DEVICE_EXPERIMENT_copy     ? copy_share
                                                      : 1;
}

/* Those that are always run, or those that are named. As run_experiments(): what fails leaves its
 * reason. */
static int run_device_experiments(struct lab *lab, uint32_t selected, bool named)
{
    for (size_t i = 0; i < DEVICE_EXPERIMENT_COUNT; i++) {
        const struct device_experiment *experiment = &device_experiments[i];
        struct refusal why = not_asked;
        if ((experiment->when == NAMED) != named) {
            continue;
        }
        if (selected >> i & 1) {
            lab->why.reason[0] = '\0';
            if (lab->options->progress) {
                lab->options->progress(lab->options->progress_ctx, lab->done, experiment->name);
            }
            lab_allow(lab, share_of_device(i));
            int rc = experiment->run(lab);
            if (rc && !lab_soft(rc)) {
                return rc;
            }
            lab->done += lab->device_share;
            lab->why.reason[0] = rc ? lab->why.reason[0] : '\0';
            why = lab_refusal(lab);
        }
        experiment->refuse(lab->out, &why);
    }
    return 0;
}

/*
 * An edge of the curve tells others how much to walk. Where neither ways nor a rule of eviction are
 * known, much may miss of what is far from filling the cache, and it is no size: of three such
 * edges none was within a third of one.
 */
static void withdraw_sampled_size(const struct level *level)
{
    struct cache_result *result = level->result;
    if (level->sampled_size && result->size.status == ATTRIBUTE_MEASURED &&
        result->ways.status != ATTRIBUTE_MEASURED) {
        char reason[160];
        snprintf(reason, sizeof reason,
                 "%.4g MiB fit, as far as samples tell; how much more all sets hold does not show",
                 result->size.value / 1048576);
        attribute_refuse(&result->size, "B", reason);
    }
}

int infer_dissect(struct dissection *out, struct trace_source *source,
                  const struct infer_options *options)
{
    memset(out, 0, sizeof *out);
    attribute_refuse(&out->memory_latency, "cycles", "");
    struct selection selected = {0};
    int rc = select_experiments(&selected, options);
    struct infer_options filled = *options;
    filled.max_footprint_bytes =
        options->max_footprint_bytes ? options->max_footprint_bytes : UINT64_C(1) << 28;
    struct level_summary summaries[LEVEL_COUNT] = {0};
    struct examination examined[LEVEL_COUNT] = {0};
    struct lab lab = {.source = source, .options = &filled, .out = out};
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        examined[i].selected = selected.on_cache[i];
    }
    plan_shares(&lab, &selected);
    rc = rc ? rc : run_levels(&lab, summaries, examined);
    rc = rc ? rc : run_device_experiments(&lab, selected.on_device, false);
    rc = rc ? rc : run_recipes(&lab, examined);
    outcomes_apply(out); /* of what blind trials run */
    rc = rc ? rc : run_device_experiments(&lab, selected.on_device, true);
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        withdraw_sampled_size(&examined[i].level);
        level_free(&examined[i].level);
        free(summaries[i].conflict.offsets);
    }
    return rc;
}
