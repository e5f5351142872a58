/*
 * Is a line in a set? As many lines of the set as it has ways, the members of the eviction set, are
 * walked, then the lines in question. If one of these is in the set too, the members do not all
 * fit, and in each pass one of them misses. Lines of other sets do not matter. So any number of
 * lines is tested at once, and those in the set are found by halving.
 */
#include "infer/geometry/members.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "infer/fit/groups.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    uint64_t max_bytes, page_bytes;
    unsigned left_out, negatives_per_set, span_caches, words, warm_cycles, cycles, late_cycles,
        least_asked, most_asked, few_pages;
} limits = {
    .max_bytes = UINT64_C(32) << 20, /* bytes: the span of offsets */
    .left_out = 10,                  /* lines that are left out in turn, to see that a set is one */
    .negatives_per_set = 24,         /* lines of other sets, for each set of the map */
    .words = 8,                      /* words of each line of a set that are walked before others */
    .warm_cycles = 2,                /* cycles before the record. Chosen */
    .cycles = 2,                     /* that are recorded. Chosen */
    .late_cycles = 24,               /* the same, of a cache that draws its victims */
    .least_asked = 8,                /* lines: fewer are halved. Chosen */
    .most_asked = 16,                /* lines that are asked alone. Chosen */
    .few_pages = 12,                 /* lines, each in a page of its own. Chosen */
    .page_bytes = UINT64_C(2) << 20, /* bytes in which bits of an offset are those of the address */
    .span_caches = 8, /* caches: what is drawn from holds so many, if there is room */
};
#define NEGATIVES 384

uint32_t line_limit(const struct level *level)
{
    uint64_t limit = level->lab->options->max_footprint_bytes;
    limit = limit < limits.max_bytes ? limit : limits.max_bytes;
    return (uint32_t)(limit / level->line.bytes);
}

uint32_t class_limit(const struct level *level, const struct set_map *map)
{
    uint32_t limit = line_limit(level);
    bool ends = map->limit && !map->linear;
    return ends && map->limit < limit ? map->limit : limit;
}

uint32_t draw_span(const struct level *level, const struct set_map *map)
{
    uint64_t span = limits.page_bytes / level->line.bytes, limit = line_limit(level);
    uint64_t least =
        limits.span_caches * level->fit.count; /* no two of those that fit are of one line */
    span = map->limit ? map->limit : span < least ? least : span;
    return (uint32_t)(span < limit ? span : limit);
}

int eviction_set_of_conflict(struct eviction_set *out, struct level *level)
{
    *out = (struct eviction_set){.level = level, .ways = level->conflict.count - 1};
    if (out->ways > EVICTION_SET_MAX_WAYS) {
        return lab_undecided(level->lab, "more than %d ways", EVICTION_SET_MAX_WAYS);
    }
    out->extra = line_of(level, level->conflict.offsets[0]);
    for (size_t i = 0; i < out->ways; i++) {
        out->member[i] = line_of(level, level->conflict.offsets[i + 1]);
    }
    return 0;
}

size_t class_lines(uint32_t *out, const struct set_map *map, size_t class, uint32_t from,
                   size_t count, uint32_t limit)
{
    size_t found = 0;
    for (uint32_t line = from; line < limit && found < count; line++) {
        if (set_map_class(map, line) == class) {
            out[found++] = line;
        }
    }
    return found;
}

static bool is_among(uint32_t line, const uint32_t *lines, size_t count)
{
    size_t i = 0;
    while (i < count && lines[i] != line) {
        i++;
    }
    return i < count;
}

/* Lines of a class, each the first from a drawn one on; fewer where it has not as many. */
static size_t draw_class(uint32_t *out, const struct set_map *map, size_t class, size_t count,
                         uint32_t span, struct rng *rng)
{
    size_t drawn = 0;
    for (size_t i = 0; i < 8 * count && drawn < count; i++) {
        uint32_t line;
        if (class_lines(&line, map, class, (uint32_t)rng_below(rng, span), 1, span) == 1 &&
            !is_among(line, out, drawn)) {
            out[drawn++] = line;
        }
    }
    return drawn;
}

static int lines_verdict(struct level *level, enum fit_verdict *out, const uint32_t *lines,
                         size_t count)
{
    uint32_t *ring = malloc((count + 1) * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    for (size_t i = 0; i < count; i++) {
        ring[i] = (uint32_t)(lines[i] * level->line.bytes);
    }
    sort_u32(ring, count);
    int rc = groups_verdict(level, out, ring, count);
    free(ring);
    return rc;
}

/*
 * How many of `lines` fit together, the first ones of them: `guess` most likely. If not, more is
 * asked of all of them at once, for they all fit where they share no set, and fewer in steps that
 * double; then by bisection.
 */
static int count_fitting(struct level *level, size_t *fits, const uint32_t *lines, size_t count,
                         size_t guess)
{
    size_t low = 0, high = count + 1, at = guess < count ? guess : count, step = 1;
    while (high - low > 1) {
        enum fit_verdict verdict = FIT_UNKNOWN;
        int rc = lines_verdict(level, &verdict, lines, at);
        if (rc) {
            return rc;
        }
        if (verdict == FIT_UNKNOWN) {
            return lab_undecided(level->lab, "noise hides how many lines of a set fit");
        }
        if (verdict == FIT_YES) {
            low = at;
            at = high <= count ? low + (high - low) / 2 : low == guess ? guess + 1 : count;
        } else {
            high = at;
            at = low == 0 ? (at > step ? at - step : 1) : low + (high - low) / 2;
        }
        at = at <= low ? low + 1 : at >= high ? high - 1 : at;
        step *= 2;
    }
    *fits = low;
    return 0;
}

/*
 * Do the first `count` lines, which do not fit and did without the last, fit without any one of
 * them? Not where they lie in several sets. Some are drawn; where they are one more than the ways
 * of the conflicting set, a line of another set is hardly among them.
 */
static int is_one_set(struct level *level, bool *one, const uint32_t *lines, size_t count)
{
    uint32_t rest[2 * EVICTION_SET_MAX_WAYS + 24];
    unsigned tries = count == level->conflict.count ? 1 : limits.left_out;
    struct rng rng;
    rng_seed(&rng, count);
    *one = true;
    for (unsigned i = 0; *one && i < tries; i++) {
        size_t kept = 0, left_out = (size_t)rng_below(&rng, count);
        for (size_t k = 0; k < count; k++) {
            if (k != left_out) {
                rest[kept++] = lines[k];
            }
        }
        enum fit_verdict verdict = FIT_UNKNOWN;
        int rc = lines_verdict(level, &verdict, rest, kept);
        if (rc) {
            return rc;
        }
        *one = verdict == FIT_YES;
    }
    return 0;
}

int eviction_set_of_class(struct eviction_set *out, struct level *level, const struct set_map *map,
                          size_t class, struct rng *rng)
{
    size_t guess = level->conflict.count - 1, most = 2 * guess + 24, fits = 0;
    uint32_t lines[2 * EVICTION_SET_MAX_WAYS + 24];
    if (guess > EVICTION_SET_MAX_WAYS) {
        return lab_undecided(level->lab, "more than %d ways", EVICTION_SET_MAX_WAYS);
    }
    size_t count = rng ? draw_class(lines, map, class, most, draw_span(level, map), rng) : 0;
    count = count < most ? class_lines(lines, map, class, 0, most, class_limit(level, map)) : count;
    int rc = count_fitting(level, &fits, lines, count, guess);
    if (rc) {
        return rc;
    }
    if (fits == 0 || fits == count || fits > EVICTION_SET_MAX_WAYS) {
        return lab_undecided(level->lab, "lines that should share a set all fit");
    }
    bool one = false;
    rc = is_one_set(level, &one, lines, fits + 1);
    if (rc || !one) {
        return rc ? rc : lab_undecided(level->lab, "lines that should share a set do not");
    }
    *out = (struct eviction_set){.level = level, .ways = fits, .extra = lines[fits]};
    memcpy(out->member, lines, fits * sizeof *lines);
    sort_u32(out->member, fits);
    return 0;
}

/* The eviction set first, then the lines asked about. */
static void fill_walk(const struct eviction_set *eviction, uint32_t *ring, uint32_t *group,
                      const uint32_t *lines, size_t count)
{
    uint32_t line_bytes = (uint32_t)eviction->level->line.bytes;
    for (size_t i = 0; i < eviction->ways; i++) {
        ring[i] = eviction->member[i] * line_bytes;
        group[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        ring[eviction->ways + i] = lines[i] * line_bytes;
        group[eviction->ways + i] = GROUP_NONE;
    }
}

static bool has_member(const struct eviction_set *eviction, const uint32_t *lines, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (is_among(lines[k], eviction->member, eviction->ways)) {
            return true;
        }
    }
    return false;
}

/* Of lines that no bound on the whole cache keeps out. */
static int any_of_part(const struct eviction_set *eviction, bool *in, const uint32_t *lines,
                       size_t count)
{
    size_t n = eviction->ways + count;
    uint32_t *ring = malloc(2 * n * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    fill_walk(eviction, ring, ring + n, lines, count);
    enum fit_verdict verdict = FIT_UNKNOWN;
    int rc =
        groups_test(eviction->level, &verdict,
                    &(struct group_walk){.ring = ring, .group = ring + n, .count = n, .groups = 1});
    free(ring);
    if (rc == 0 && verdict == FIT_UNKNOWN) {
        return lab_undecided(eviction->level->lab, "noise hides which addresses share a set");
    }
    *in = verdict == FIT_NO;
    return rc;
}

/* As many lines as the cache has data for, where that is fewer than its tags reach. */
int eviction_set_any(const struct eviction_set *eviction, bool *in, const uint32_t *lines,
                     size_t count)
{
    const struct level *level = eviction->level;
    bool is_bound = level->by_drawn && level->fit.count > eviction->ways;
    size_t part = is_bound ? level->fit.count - eviction->ways : count;
    int rc = 0;
    *in = has_member(eviction, lines, count);
    for (size_t at = 0; rc == 0 && !*in && at < count; at += part) {
        rc = any_of_part(eviction, in, lines + at, count - at < part ? count - at : part);
    }
    return rc;
}

/* By halving those that are in question. */
static int halve_members(const struct eviction_set *eviction, uint32_t *found, size_t *found_count,
                         const uint32_t *lines, size_t count)
{
    bool in = false;
    int rc = eviction_set_any(eviction, &in, lines, count);
    if (rc || !in) {
        return rc;
    }
    if (count == 1) {
        found[(*found_count)++] = lines[0];
        return 0;
    }
    rc = halve_members(eviction, found, found_count, lines, count / 2);
    return rc ? rc
              : halve_members(eviction, found, found_count, lines + count / 2, count - count / 2);
}

/*
 * Which of the lines miss when the set is walked over and over before them, at other words each
 * time: a line of the set is driven out by it, others stay. misses[i] is of lines[i].
 */
static int count_misses(const struct eviction_set *eviction, uint32_t *misses,
                        const uint32_t *lines, size_t count)
{
    struct level *level = eviction->level;
    size_t words = level->timing.fetch_bytes / CHASE_WORD_BYTES, ways = eviction->ways;
    words = words < limits.words ? words : limits.words;
    size_t before = words * ways, all = before + count;
    bool late = level->habits.late > 0 && !level->habits.begins_empty;
    uint32_t *ring = malloc(all * sizeof *ring), bytes = (uint32_t)level->line.bytes;
    if (!ring) {
        return error_memory();
    }
    for (size_t i = 0; i < before; i++) {
        ring[i] = eviction->member[i % ways] * bytes + (uint32_t)(i / ways) * CHASE_WORD_BYTES;
    }
    for (size_t i = 0; i < count; i++) {
        ring[before + i] = lines[i] * bytes;
    }
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = ring, .count = all});
    size_t records = all * (late ? limits.late_cycles : limits.cycles);
    plan.warm = all * limits.warm_cycles;
    plan.windows = (uint32_t)((records + level->max_window - 1) / level->max_window);
    plan.window = (uint32_t)((records + plan.windows - 1) / plan.windows);
    plan.persist = true;
    plan.filler = level_filler_of_twice(level);
    plan.run = 700;
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        size_t element = walk_element(&walk, i);
        if (element >= before) {
            misses[element - before] += level_class(level, walk.latency[i]) != LOAD_HIT;
        }
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    free(ring);
    return rc;
}

/* Those that miss are asked alone. The others come first in `rest`, which has room for all. */
static int ask_missing(const struct eviction_set *eviction, uint32_t *found, size_t *found_count,
                       uint32_t *rest, size_t *rest_count, const uint32_t *misses,
                       const uint32_t *lines, size_t count)
{
    size_t asked = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        bool in = false;
        if (misses[i] > 0 && asked < limits.most_asked) {
            asked++;
            rc = eviction_set_any(eviction, &in, &lines[i], 1);
        }
        *(in ? &found[(*found_count)++] : &rest[(*rest_count)++]) = lines[i];
    }
    return rc;
}

/* What is read ahead of a line, so that it finds its page translated, may be in the set in its
 * place. Those lines stay that are in it also where another one is read ahead. */
static int ask_otherwise(const struct eviction_set *eviction, uint32_t *found, size_t *count)
{
    struct level *level = eviction->level;
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < *count; i++) {
        bool in = false;
        level->leads.turn = 1;
        rc = eviction_set_any(eviction, &in, &found[i], 1);
        level->leads.turn = 0;
        found[kept] = found[i];
        kept += in;
    }
    *count = kept;
    return rc;
}

/*
 * Of an outermost cache one walk mostly shows them all; what is left must not have another. A
 * recording may lack that walk.
 */
int eviction_set_members(const struct eviction_set *eviction, uint32_t *found, size_t *found_count,
                         const uint32_t *lines, size_t count)
{
    bool in_one = eviction->level->outermost && count >= limits.least_asked &&
                  !has_member(eviction, lines, count);
    uint32_t *misses = in_one ? calloc(2 * count, sizeof *misses) : NULL;
    if (in_one && !misses) {
        return error_memory();
    }
    size_t before = *found_count, left = 0;
    int rc = in_one ? count_misses(eviction, misses, lines, count) : SONDE_ENOTRECORDED;
    if (rc == 0) {
        rc = ask_missing(eviction, found, found_count, misses + count, &left, misses, lines, count);
        rc = rc ? rc : halve_members(eviction, found, found_count, misses + count, left);
        sort_u32(found + before, *found_count - before);
    } else if (rc == SONDE_ENOTRECORDED) {
        rc = halve_members(eviction, found, found_count, lines, count);
    }
    free(misses);
    if (rc == 0 && eviction->level->in_pages) {
        size_t kept = *found_count - before;
        rc = ask_otherwise(eviction, found + before, &kept);
        *found_count = before + kept;
    }
    return rc;
}

static bool is_known(const struct eviction_set *eviction, uint32_t line)
{
    return line == eviction->extra || has_member(eviction, &line, 1);
}

/* Draws lines of other classes, each once. */
static size_t draw_negatives(uint32_t *out, const struct eviction_set *eviction,
                             const struct set_map *map, uint32_t span, struct rng *rng)
{
    size_t class = set_map_class(map, eviction->extra), count = 0, kept = 0;
    size_t tries = limits.negatives_per_set * map->sets < NEGATIVES
                       ? limits.negatives_per_set * map->sets
                       : NEGATIVES;
    for (size_t i = 0; i < tries && map->sets > 1; i++) {
        uint32_t line = (uint32_t)rng_below(rng, span);
        if (set_map_class(map, line) != class) {
            out[count++] = line;
        }
    }
    if (count) {
        sort_u32(out, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || out[i] != out[kept - 1]) {
            out[kept++] = out[i];
        }
    }
    return kept;
}

/* A line of the set's class that was not used yet. */
static bool draw_positive(uint32_t *out, const struct eviction_set *eviction,
                          const struct set_map *map, uint32_t span, struct rng *rng)
{
    size_t class = set_map_class(map, eviction->extra);
    for (unsigned attempt = 0; attempt < 8; attempt++) {
        if (draw_class(out, map, class, 1, span, rng) == 1 && !is_known(eviction, *out)) {
            return true;
        }
    }
    return false;
}

/*
 * Is one of many lines, drawn from all over, in the set? They lie in as many pages. Where these are
 * more than are translated at once, the set's own lines miss translation, as if one of them were in
 * it: so it must be in among few of them, too.
 */
static int any_of_drawn(const struct eviction_set *eviction, bool *in, const uint32_t *lines,
                        size_t count)
{
    int rc = eviction_set_any(eviction, in, lines, count);
    if (rc || !*in || !eviction->level->outermost || count <= limits.few_pages) {
        return rc;
    }
    *in = false;
    for (size_t at = 0, part = limits.few_pages; rc == 0 && !*in && at < count; at += part) {
        rc = eviction_set_any(eviction, in, lines + at, count - at < part ? count - at : part);
    }
    return rc;
}

int eviction_set_check(const struct eviction_set *eviction, bool *holds, const struct set_map *map,
                       unsigned members, struct rng *rng)
{
    uint32_t lines[NEGATIVES], span = draw_span(eviction->level, map);
    size_t count = draw_negatives(lines, eviction, map, span, rng);
    bool in = false;
    int rc = any_of_drawn(eviction, &in, lines, count);
    *holds = rc == 0 && !in;
    for (size_t i = 0; i < members && rc == 0 && *holds; i++) {
        if (draw_positive(lines, eviction, map, span, rng)) {
            rc = eviction_set_any(eviction, holds, lines, 1);
        }
    }
    return rc;
}
