/*
 * Mei and Chu's four steps (Benchmarking the Memory Hierarchy of Modern GPUs, 2014, section 3.2),
 * as published:
 *
 *   1. C: the largest array without a miss.
 *   2. b: beyond C the number of addresses that miss stays the same, then jumps when the next line
 *      begins, hence the next set. The distance from C to the jump is the line.
 *   3. a: in steps of b each further line makes one more set miss. The number of sets is the count
 *      of lines beyond C at which everything misses.
 *   4. policy: at C + b LRU misses the same lines in every pass; anything else does not.
 *
 * The steps walk by fetch units instead of words. That changes no result and costs a fraction. The
 * recipe assumes equal sets and an index by address bits. This is not checked: where it does not
 * hold, the recipe differs from the general inference, and both are reported. The paper applies it
 * to first-level caches only, and so does this, for windows are short.
 */
#include "infer/published/published.h"
#include "infer/fit/fit.h"
#include "infer/experiments.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned max_elements, line_units, passes;
} limits = {
    .max_elements = 16384, /* elements: longer walks take too long */
    .line_units = 64,      /* fetch units: longer lines are not looked for */
    .passes = 6,           /* passes: what misses in none of them hits */
};

struct steps {
    uint64_t size_bytes, line_bytes, sets;
    bool periodic;
};

/* Addresses that ever miss in some passes over `count` elements. */
static int count_missing(struct level *level, size_t *missing, uint64_t stride, size_t count)
{
    uint32_t *misses = calloc(count, sizeof *misses);
    if (!misses) {
        return error_memory();
    }
    int rc = 0;
    for (uint32_t pass = 0; pass < limits.passes && rc == 0; pass++) {
        rc = fit_count_misses(level, misses, &(struct walk_shape){.stride = stride, .count = count},
                              pass);
    }
    *missing = 0;
    for (size_t i = 0; i < count; i++) {
        *missing += misses[i] > 0;
    }
    free(misses);
    return rc;
}

/* 1. Doubling, then bisection, where the paper counts up. */
static int find_size(struct level *level, uint64_t *bytes)
{
    uint64_t stride = level->timing.fetch_bytes;
    size_t fits = 1, fails = 0;
    while (fails == 0 || fails - fits > 1) {
        size_t count = fails ? fits + (fails - fits) / 2 : 2 * fits;
        enum fit_verdict verdict = FIT_UNKNOWN;
        if (count > limits.max_elements) {
            return lab_undecided(level->lab, "more than %u elements fit", limits.max_elements);
        }
        int rc =
            fit_verdict(level, &verdict, &(struct walk_shape){.stride = stride, .count = count});
        if (rc) {
            return rc;
        }
        if (verdict == FIT_YES) {
            fits = count;
        } else {
            fails = count;
        }
    }
    *bytes = fits * stride;
    return 0;
}

/* 2. One unit more at a time, until more than that unit joins those that miss. */
static int find_line(struct level *level, struct steps *steps)
{
    uint64_t stride = level->timing.fetch_bytes;
    size_t fits = (size_t)(steps->size_bytes / stride), before = 0;
    for (size_t units = 1; units <= limits.line_units; units++) {
        size_t missing = 0;
        int rc = count_missing(level, &missing, stride, fits + units);
        if (rc) {
            return rc;
        }
        if (units > 1 && missing > before + 1) {
            steps->line_bytes = (units - 1) * stride;
            return 0;
        }
        before = missing;
    }
    return lab_undecided(level->lab, "the number of addresses that miss never jumps");
}

/* 3. The fewest lines beyond C with which all miss; missing lines only get more with the array. */
static int find_sets(struct level *level, struct steps *steps)
{
    size_t lines = (size_t)(steps->size_bytes / steps->line_bytes), some = 0, all = lines + 1;
    while (all - some > 1) {
        size_t more = some + (all - some) / 2, missing;
        int rc = count_missing(level, &missing, steps->line_bytes, lines + more);
        if (rc) {
            return rc;
        }
        if (missing == lines + more) {
            all = more;
        } else {
            some = more;
        }
    }
    if (all > lines) {
        return lab_undecided(level->lab, "however long the array, some lines never miss");
    }
    steps->sets = all;
    return 0;
}

/* 4. Do two passes of one window miss the same lines? */
static int find_policy(struct level *level, struct steps *steps)
{
    size_t count = (size_t)(steps->size_bytes / steps->line_bytes) + 1;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = steps->line_bytes, .count = count});
    size_t passes = level->max_window / count;
    if (passes < 2) {
        return lab_undecided(level->lab, "a window does not hold two passes");
    }
    plan.warm = count;
    plan.window = (uint32_t)(passes * count);
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    steps->periodic = true;
    for (size_t i = count; i < walk.count; i++) {
        bool now = level_class(level, walk.latency[i]) != LOAD_HIT;
        steps->periodic =
            steps->periodic && now == (level_class(level, walk.latency[i - count]) != LOAD_HIT);
    }
    walk_free(&walk);
    return 0;
}

static void report_sets(struct method_result *method, const struct steps *steps, const char *id)
{
    uint64_t set_bytes = steps->sets * steps->line_bytes;
    attribute_set(&method->sets, (double)steps->sets, "1", 0.5, id);
    if (set_bytes && steps->size_bytes % set_bytes == 0) {
        uint64_t ways = steps->size_bytes / set_bytes;
        attribute_set(&method->ways, (double)ways, "1", 0.5, id);
    } else {
        attribute_refuse(&method->ways, "1", "the size is no multiple of sets times line");
    }
}

static int run_steps(struct level *level, struct method_result *method, const char *id)
{
    struct steps steps = {0};
    int rc = find_size(level, &steps.size_bytes);
    if (rc) {
        return rc;
    }
    attribute_set(&method->size, (double)steps.size_bytes, "B", 0.5, id);
    rc = find_line(level, &steps);
    if (rc) {
        return rc;
    }
    attribute_set(&method->line, (double)steps.line_bytes, "B", 0.5, id);
    rc = find_policy(level, &steps);
    if (rc == 0) {
        attribute_set(&method->periodic, steps.periodic, "1", 0.5, id);
    } else if (!lab_soft(rc)) {
        return rc;
    }
    rc = find_sets(level, &steps);
    if (rc == 0) {
        report_sets(method, &steps, id);
    }
    return rc;
}

static void refuse_rest(struct method_result *method, const struct refusal *why)
{
    struct attribute *all[] = {&method->size, &method->line, &method->sets, &method->ways,
                               &method->periodic};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->status != ATTRIBUTE_MEASURED) {
            attribute_refuse_as(all[i], all[i]->unit, why);
        }
    }
}

bool mei_applies(const struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    const char *reason = level->same_as           ? "it is applied to the same cache elsewhere"
                         : level->info->behind[0] ? "the method is for first-level caches"
                         : path && path->interleave > 1 ? "the method needs lines of several words"
                                                        : NULL;
    if (reason) {
        lab_undecided(level->lab, "%s", reason);
    }
    return !reason;
}

int level_mei(struct level *level)
{
    if (!level->info->beneath[0]) {
        return lab_undecided(level->lab, "the method is for first-level caches");
    }
    struct method_result *method = level_method(level, "mei", "");
    if (!method) {
        return 0;
    }
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: Mei and Chu's steps, walking by %u B; neither equal sets nor the "
                 "index are checked",
                 level->info->op, level->timing.fetch_bytes);
    int rc = run_steps(level, method, id);
    struct refusal none = {.reason = "the recipe does not get there"};
    refuse_rest(method, level->lab->why.reason[0] ? &level->lab->why : &none);
    return rc;
}
