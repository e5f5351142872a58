/*
 * Sets one by one, where no rule tells which lines share one: a hashed index. Of the lines of a
 * window, some times what the cache holds, the shortest beginning that does not fit has exactly one
 * line too many for one set. The lines without any one of which it fits are that set's; with them
 * it is asked of all further lines whether they are in the set, too (members.c). The same again of
 * the lines that are left, until none is.
 *
 * What comes of it is a map of residues whose period is the window, of which nothing is known
 * beyond. It takes as many walks as there are lines, each about as long as the cache: small caches
 * alone are asked.
 */
#include "infer/geometry/index_each.h"

#include <stdlib.h>

#include "infer/fit/groups.h"
#include "infer/geometry/index_check.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned window, few_lines, least_window, first_look, load_budget, most_lines, passes;
} limits = {
    .window = 6,            /* times what the cache holds: lines that are put into sets */
    .few_lines = 256,       /* lines that are put into sets at least. Chosen */
    .least_window = 3,      /* the same at least, for each set must have more lines than ways */
    .first_look = 2,        /* times what the cache holds: a beginning that does not fit */
    .load_budget = 4000000, /* loads that all may cost */
    .most_lines = 1024,     /* lines that the cache holds */
    .passes = 4,            /* times that a walk of a verdict visits each line, about */
};
#define NO_CLASS UINT16_MAX

/* Lines that are in no set yet, in their order, and the same as offsets. */
struct rest {
    struct level *level;
    uint32_t *line, *offset, *room; /* owned */
    size_t count, holds;            /* lines; those that the cache holds, about */
    uint64_t start;                 /* loads when it began */
};

static void rest_free(struct rest *rest)
{
    free(rest->line);
    free(rest->offset);
    free(rest->room);
}

static int rest_create(struct rest *out, struct level *level, size_t holds, size_t window)
{
    *out = (struct rest){.level = level,
                         .line = calloc(window + 1, sizeof *out->line),
                         .offset = malloc((window + 1) * sizeof *out->offset),
                         .room = malloc((window + 1) * sizeof *out->room),
                         .count = window,
                         .holds = holds,
                         .start = level->lab->loads};
    for (size_t i = 0; out->line && i < window; i++) {
        out->line[i] = (uint32_t)i;
    }
    return out->line && out->offset && out->room ? 0 : error_memory();
}

/* Lines that have found a set are none of the rest. */
static void rest_refresh(struct rest *rest)
{
    const struct set_map *map = &rest->level->map;
    size_t kept = 0;
    for (size_t i = 0; i < rest->count; i++) {
        if (map->class_of[rest->line[i]] == NO_CLASS) {
            rest->line[kept] = rest->line[i];
            rest->offset[kept++] = (uint32_t)(rest->line[i] * rest->level->line.bytes);
        }
    }
    rest->count = kept;
}

/* The verdict on the first `count` without those from `from` to `to`; never FIT_UNKNOWN. */
static int verdict_without(struct rest *rest, bool *fits, size_t count, size_t from, size_t to)
{
    struct lab *lab = rest->level->lab;
    enum fit_verdict verdict = FIT_UNKNOWN;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        rest->room[kept] = rest->offset[i];
        kept += i < from || i >= to;
    }
    if (lab->loads - rest->start > limits.load_budget) {
        return lab_undecided(lab, "sets found one by one take more than %u loads",
                             limits.load_budget);
    }
    int rc = groups_verdict(rest->level, &verdict, rest->room, kept);
    *fits = verdict == FIT_YES;
    return rc || verdict != FIT_UNKNOWN
               ? rc
               : lab_undecided(lab, "noise hides which lines fit together");
}

/* The shortest beginning that does not fit. */
static int find_beginning(struct rest *rest, size_t *count)
{
    size_t fits = 0, fails = limits.first_look * rest->holds;
    bool fit = true;
    int rc = 0;
    fails = fails < rest->count ? fails : rest->count;
    rc = verdict_without(rest, &fit, fails, 0, 0);
    if (rc == 0 && fit) {
        return lab_undecided(rest->level->lab, "too few lines are left to fill a set");
    }
    while (rc == 0 && fails - fits > 1) {
        size_t middle = fits + (fails - fits) / 2;
        rc = verdict_without(rest, &fit, middle, 0, 0);
        *(fit ? &fits : &fails) = middle;
    }
    *count = fails;
    return rc;
}

/* Those of the first `count` without any one of which they fit, but for the last, which is one. */
static int find_members(struct rest *rest, struct eviction_set *set, size_t count, size_t from,
                        size_t to)
{
    bool fits = true;
    int rc = from < to ? verdict_without(rest, &fits, count, from, to) : 0;
    if (rc || from >= to || !fits) {
        return rc;
    }
    if (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        rc = find_members(rest, set, count, from, middle);
        return rc ? rc : find_members(rest, set, count, middle, to);
    }
    if (set->ways == EVICTION_SET_MAX_WAYS) {
        return lab_undecided(rest->level->lab, "more than %d ways", EVICTION_SET_MAX_WAYS);
    }
    set->member[set->ways++] = rest->line[from];
    return 0;
}

/* A set of lines that are left, and all of these that are in it. */
static int take_set(struct rest *rest, struct eviction_set *set)
{
    struct set_map *map = &rest->level->map;
    size_t count = 0, found = 0;
    int rc = find_beginning(rest, &count);
    *set = (struct eviction_set){.level = rest->level};
    rc = rc ? rc : find_members(rest, set, count, 0, count - 1);
    if (rc == 0 && (count == 0 || set->ways == 0)) {
        rc = lab_undecided(rest->level->lab, "lines that do not fit together share no set");
    }
    if (rc) {
        return rc;
    }
    set->extra = rest->line[count - 1];
    rc = eviction_set_members(set, rest->room, &found, rest->line + count, rest->count - count);
    for (size_t i = 0; i < found; i++) {
        map->class_of[rest->room[i]] = (uint16_t)map->sets;
    }
    for (size_t i = 0; i < set->ways; i++) {
        map->class_of[set->member[i]] = (uint16_t)map->sets;
    }
    map->class_of[set->extra] = (uint16_t)map->sets++;
    return rc;
}

/* Halves of halves of a beginning for each way, in each set: is that too dear? */
static bool is_dear(size_t holds, size_t ways)
{
    double halves = 2, sets = (double)holds / (double)ways + 1;
    for (size_t n = ways; n < holds; n *= 2) {
        halves++;
    }
    return holds > limits.most_lines ||
           sets * (double)ways * halves * (double)holds * limits.passes > limits.load_budget;
}

int index_find_each(struct level *level, bool *found, size_t ways, struct rng *rng)
{
    uint64_t bytes = level->fit.stride > level->line.bytes ? level->fit.stride : level->line.bytes;
    size_t holds = (size_t)(level->fit.count * level->fit.stride / bytes);
    size_t window = limits.window * holds, most = line_limit(level);
    window = window > limits.few_lines ? window : limits.few_lines;
    most = most < SETMAP_MAX_SETS ? most : SETMAP_MAX_SETS;
    window = window < most ? window : most;
    *found = false;
    if (holds == 0 || window < limits.least_window * holds || is_dear(holds, ways)) {
        return 0;
    }
    struct rest rest;
    struct eviction_set first = {.ways = 0}, set;
    level->map = (struct set_map){.period = (uint32_t)window, .limit = (uint32_t)window};
    for (size_t i = 0; i < window; i++) {
        level->map.class_of[i] = NO_CLASS;
    }
    int rc = rest_create(&rest, level, holds, window);
    for (rest_refresh(&rest); rc == 0 && rest.count; rest_refresh(&rest)) {
        rc = take_set(&rest, &set);
        first = level->map.sets == 1 ? set : first;
    }
    rest_free(&rest);
    rc = rc ? rc : index_check(&first, found, &level->map, rng);
    *found = *found && !level->map.untested; /* a recording has no such walks */
    return rc;
}
