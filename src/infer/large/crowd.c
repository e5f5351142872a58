/*
 * A set of a cache that is too large for many ordered walks, where each load is dear (a
 * simulator's). Of an array a little longer than what fits (sweep.c), some sets have too many
 * lines, and of an LRU cache all of theirs miss in each pass. So one long walk, recorded whole,
 * names the lines of the crowded sets: a few hundred or thousand of hundreds of thousands. Among
 * these a smallest conflicting set is found as of any cache (conflict.c), and from it line
 * (line.c), sets (rows.c) and policy.
 *
 * Policies under which crowded sets show only some of their lines in a pass are not told so.
 */
#include "infer/experiments.h"
#include "infer/fit/fit.h"
#include "infer/geometry/geometry.h"
#include "infer/geometry/rows.h"
#include "infer/large/large.h"
#include "infer/policy/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide). */
static const struct {
    unsigned stride, passes, least, most, tries;
    double first, longer, shorter, sure, contradicted;
} limits = {
    .stride = 128,        /* bytes from element to element: a line, or a part of one */
    .passes = 2,          /* passes before the record */
    .least = 3,           /* lines that miss: fewer are no crowded set */
    .most = 6000,         /* lines that miss: of more, shorter arrays have enough */
    .tries = 7,           /* arrays that are walked */
    .first = 0.9,         /* times what the sweep says fits: the first array */
    .longer = 1.15,       /* times an array without crowded sets: the next */
    .shorter = 0.85,      /* times an array with too many: the next */
    .sure = 0.85,         /* confidence of ways that one set shows. Blind trials */
    .contradicted = 0.45, /* the same of what lines of other sets do not bear out. Chosen */
};

/* The elements that missed in a walk of `count`; `missed` has room for all. */
static int walk_whole(struct level *level, uint32_t *missed, size_t *found, size_t count)
{
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = limits.stride, .count = count});
    struct walk walk;
    plan.warm = limits.passes * count;
    plan.window = level->max_window;
    plan.windows = (uint32_t)((count + plan.window - 1) / plan.window);
    plan.persist = true;
    int rc = walk_run(level->lab, &walk, &plan);
    *found = 0;
    for (size_t i = 0; rc == 0 && i < walk.count && i < count; i++) {
        if (level_class(level, walk.latency[i]) == LOAD_MISS) {
            missed[(*found)++] = (uint32_t)(walk_element(&walk, i) * limits.stride);
        }
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    return rc;
}

/* One array: how many of its lines miss, and a conflicting set among these, if they are not too
 * many. What misses for another reason (records are written through the same cache) fits alone. */
static int try_array(struct level *level, size_t *missed, size_t count)
{
    uint32_t *lines = malloc((count + 1) * sizeof *lines);
    if (!lines) {
        return error_memory();
    }
    int rc = walk_whole(level, lines, missed, count);
    rc = rc ? rc
         : *missed < limits.least || *missed > limits.most
             ? lab_undecided(level->lab, "%zu of %zu lines miss", *missed, count)
             : level_conflict_among(level, lines, *missed, limits.sure);
    free(lines);
    return rc;
}

/* Arrays around the length that the sweep tells, until one has a few crowded sets. */
static int find_crowd(struct level *level, size_t fits)
{
    double most = (double)level->lab->options->max_footprint_bytes / limits.stride;
    double low = 0, high = 0, length = limits.first * (double)fits;
    int rc = INFER_UNDECIDED;
    for (unsigned i = 0; rc == INFER_UNDECIDED && i < limits.tries && length < most; i++) {
        size_t missed = 0;
        rc = try_array(level, &missed, (size_t)length);
        *(missed > limits.most ? &high : &low) = length;
        length = high == 0 ? low * limits.longer
                 : low > 0 ? sqrt(low * high)
                           : high * limits.shorter;
    }
    return rc;
}

/* What drawn victims, or a rule that is not known, leave of a set: one more may fit now and then.
 */
static void doubt_ways(struct cache_result *result)
{
    bool doubtful = result->policy.name[0] == '\0' || policy_is_drawn(result->policy.name);
    if (doubtful && result->ways.status == ATTRIBUTE_MEASURED) {
        result->ways.confidence = fmin(result->ways.confidence, limits.sure);
        result->size.confidence = fmin(result->size.confidence, limits.sure);
    }
}

/* Rows did not show, and the address bits do. */
static void set_by_index(struct level *level)
{
    struct cache_result *result = level->result;
    double confidence = result->index.confidence;
    double ways = (double)(level->conflict.count - 1), sets = (double)level->map.sets;
    level->size_bytes = (uint64_t)(ways * sets) * level->line.bytes;
    const char *id = result->index.evidence;
    attribute_set(&result->sets, sets, "1", confidence, id);
    attribute_set(&result->ways, ways, "1", confidence, id);
    attribute_set(&result->size, (double)level->size_bytes, "B", confidence, id);
}

/* What lines of other sets say of what one set has told. */
static void weigh(struct cache_result *result, bool confirmed)
{
    struct attribute *const told[] = {&result->sets, &result->ways, &result->size};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        double was = told[i]->confidence;
        told[i]->confidence =
            confirmed ? fmax(was, result->index.confidence) : fmin(was, limits.contradicted);
    }
}

/*
 * The index, where sets are few enough. What it predicts confirms what rows have told; rows of one
 * line are a modulus, which predicts, or they are something else.
 */
static int find_index(struct level *level)
{
    struct cache_result *result = level->result;
    bool known = result->sets.status == ATTRIBUTE_MEASURED;
    size_t sets = known ? (size_t)result->sets.value : 0;
    int rc = level_index_of_sets(level, sets);
    if (lab_soft(rc)) {
        result->index.refusal = lab_refusal(level->lab);
        if (known && level->result->row_lines == 1 && sets <= SETMAP_MAX_SETS) {
            weigh(result, false);
        }
        return 0;
    }
    if (rc == 0 && !known) {
        set_by_index(level);
    } else if (rc == 0 && !level->map.untested) {
        weigh(result, true);
    }
    return rc;
}

int large_take_apart(struct level *level)
{
    int rc = level_line(level);
    if (rc) {
        const struct refusal why = lab_refusal(level->lab);
        attribute_refuse_as(&level->result->ways, "1", &why);
        return rc;
    }
    rc = level_rows(level);
    rc = lab_soft(rc) ? 0 : rc;
    rc = rc ? rc : large_policy(level);
    rc = rc ? rc : find_index(level);
    if (rc == 0) {
        doubt_ways(level->result);
    }
    return rc;
}

bool crowd_applies(const struct level *level)
{
    bool applies = level->outermost && level->large && level->lab->options->max_cache_loads &&
                   level->result->ways.status != ATTRIBUTE_MEASURED;
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

int level_crowd(struct level *level)
{
    const struct attribute *size = &level->result->size;
    if (size->status != ATTRIBUTE_MEASURED) {
        return lab_undecided(level->lab, "how much fits does not show");
    }
    int rc = find_crowd(level, (size_t)(size->value / limits.stride));
    rc = rc ? rc : large_take_apart(level);
    free(level->conflict.offsets);
    level->conflict = (struct level_conflict){0};
    return rc;
}
