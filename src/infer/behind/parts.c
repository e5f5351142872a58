/*
 * Finds the lines of one set behind another cache. The few lines of one set, walked alone, stay in
 * the cache in front, and this cache never sees them. So all that fits is walked, and one element
 * more, which is too much for one set. Under most policies the lines of that set are those that
 * miss now and then in long walks. These are found quickly. They are believed if they divide what
 * fits into whole sets, and if the rest fits without one of them, but not without half of what is
 * beside them. The part of one that must be left out for that is the line.
 *
 * A policy that resists thrashing shows few of them. Then parts are left out: the rest fits exactly
 * if the part holds a whole line of that set. Parts are halved as long as one of the halves holds
 * such a line. What is left is a line, if lines are aligned and a power of two of fetch units long.
 * Nothing is assumed about policy or index function.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/fit/fit.h"
#include "infer/behind/behind.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials of constants alone (tests/blind). */
static const struct {
    unsigned budget, watch_budget, steady_looks, quick_warm, quick_passes, quick_windows,
        least_prompt, mostly, many, far_fewer, least_regular, tried, least_lines;
    double by_chance, by_noise;
} limits = {
    .budget = 4000000,       /* loads, for parts that are left out */
    .watch_budget = 1200000, /* loads, for watching which elements miss */
    .by_chance = 1e-3,       /* chance that noise makes one element suspect */
    .steady_looks = 4,       /* looks with the same suspects, each after twice as many walks */
    .quick_warm = 8,         /* passes of warm-up, where what fits does at once */
    .quick_passes = 4,       /* passes that all miss */
    .quick_windows = 8,      /* windows of those at most, where noise misses too */
    .by_noise = 1e-7,        /* chance: less likely is no noise */
    .least_prompt = 4,       /* verdicts: so many came at once */
    .mostly = 16,            /* times as many verdicts came at once as later */
    .least_regular = 6,      /* lines: fewer are found as soon. Chosen */
    .least_lines = 2,        /* lines beside the last, where other parts are none. Chosen */
    .tried = 16,             /* lines of these that are tried. Chosen */
    .many = 6,               /* misses of a few passes */
    .far_fewer = 8,          /* one part in so many of the misses of what does not fit: it fits */
};

/* Misses of some more passes, and passes without one. */
static int count_passes(struct behind_parts *d, uint64_t *misses, uint64_t *clean,
                        uint64_t *records, const struct walk_plan *plan)
{
    struct walk walk;
    uint64_t in_pass = 0;
    int rc = walk_run(d->level->lab, &walk, plan);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < walk.count; i++) {
        in_pass += level_class(d->level, walk.latency[i]) == LOAD_MISS;
        if ((i + 1) % plan->shape.count == 0) {
            *clean += in_pass == 0;
            *misses += in_pass;
            in_pass = 0;
        }
    }
    *records += walk.count;
    walk_free(&walk);
    return 0;
}

/*
 * Does a walk of `count` elements miss in every pass, more often than by noise? And how often in
 * the first few passes?
 */
static int misses_always(struct behind_parts *d, bool *always, uint64_t *at_first, size_t count)
{
    struct level *level = d->level;
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = d->ring, .count = count});
    bool quiet = level->timing.false_slow == 0;
    size_t passes = level->max_window / count;
    double seen = (double)level->timing.false_misses;
    double noise = (seen + 3 * sqrt(seen) + 3) / (double)(level->timing.hit_records + 1);
    uint64_t misses = 0, clean = 0, records = 0;
    *always = false;
    *at_first = SIZE_MAX;
    passes = passes > limits.quick_passes ? limits.quick_passes : passes;
    plan.warm = limits.quick_warm * count;
    plan.window = (uint32_t)(passes * count);
    for (unsigned i = 0; passes > 0 && clean == 0 && !*always && i < limits.quick_windows; i++) {
        plan.run = 400 + i;
        int rc = count_passes(d, &misses, &clean, &records, &plan);
        if (rc) {
            return rc;
        }
        *at_first = i ? *at_first : misses;
        double chance = poisson_tail(noise * (double)records, misses);
        *always = clean == 0 && (quiet || chance < limits.by_noise);
    }
    return 0;
}

/*
 * Where what fits hardly ever took longer, what misses in pass after pass does not fit. Where all
 * that does not fit missed far more often, what hardly misses fits.
 */
static enum fit_verdict judge_at_once(const struct behind_parts *d, bool always, uint64_t misses)
{
    bool at_once = d->prompt >= limits.least_prompt && d->prompt > limits.mostly * d->slow;
    return !at_once                                                             ? FIT_UNKNOWN
           : always                                                             ? FIT_NO
           : d->fewest >= limits.many && misses <= d->fewest / limits.far_fewer ? FIT_YES
                                                                                : FIT_UNKNOWN;
}

/* Is element i in one of the parts found? */
static bool is_in_part(const struct behind_parts *d, size_t i)
{
    bool is = false;
    for (size_t k = 0; k < d->count; k++) {
        is = is || (i >= d->at[k] && i < d->at[k] + d->span[k]);
    }
    return is;
}

/* `beside`: what is left out is not of the parts found. */
static int fits_but(struct behind_parts *d, bool *fits, size_t from, size_t to, bool beside)
{
    size_t count = 0;
    enum fit_verdict verdict = FIT_UNKNOWN;
    bool always = false;
    for (size_t i = 0; i < d->total; i++) {
        if (i < from || i >= to || (beside && is_in_part(d, i))) {
            d->ring[count++] = (uint32_t)(i * d->level->fit.stride);
        }
    }
    *fits = true;
    if (count == 0) {
        return 0;
    }
    uint64_t misses = 0;
    int rc = misses_always(d, &always, &misses, count);
    verdict = rc ? verdict : judge_at_once(d, always, misses);
    if (rc == 0 && verdict == FIT_UNKNOWN) {
        struct walk_shape shape = {.ring = d->ring, .count = count};
        rc = fit_verdict(d->level, &verdict, &shape);
        d->prompt += verdict == FIT_YES && !always;
        d->slow += verdict == FIT_YES && always;
    }
    if (verdict == FIT_NO && (d->fewest == 0 || misses < d->fewest)) {
        d->fewest = misses;
    }
    *fits = verdict == FIT_YES;
    return rc;
}

static int fits_without(struct behind_parts *d, bool *fits, size_t from, size_t to)
{
    return fits_but(d, fits, from, to, false);
}

/* ---- which elements miss ---- */

/*
 * So many misses of an element, in so many records of it, are no noise. Nor are they far from the
 * elements with the most: elements of one set miss about equally often.
 */
static uint32_t least_misses(const struct behind_parts *d, const uint32_t *misses, double records)
{
    const struct level *level = d->level;
    double seen = (double)level->timing.false_misses, sum = 0, close = 0;
    double share = (seen + 3 * sqrt(seen)) / (double)(level->timing.hit_records + 1);
    uint32_t least = 1, most = 0;
    while (share > 0 &&
           (double)d->total * poisson_tail(share * records, least) > limits.by_chance) {
        least++;
    }
    for (size_t i = 0; i < d->total; i++) {
        most = misses[i] > most ? misses[i] : most;
    }
    for (size_t i = 0; i < d->total; i++) {
        bool is_close = misses[i] > most / 3;
        sum += is_close ? misses[i] : 0;
        close += is_close;
    }
    uint32_t usual = close > 0 ? (uint32_t)(sum / close / 4) : 0;
    return usual > least ? usual : least;
}

/* Do the elements that missed make whole parts of this span, and as many as divide what fits? */
static bool take_parts(struct behind_parts *d, const uint32_t *misses, uint32_t least, size_t span)
{
    size_t fits = d->total - 1;
    d->count = 0;
    for (size_t at = 0; at < fits; at += span) {
        size_t missed = 0;
        for (size_t i = at; i < at + span && i < fits; i++) {
            missed += misses[i] >= least;
        }
        if (missed && (missed < span || d->count + 1 == BEHIND_MOST_PARTS)) {
            return false;
        }
        if (missed) {
            d->at[d->count] = at;
            d->span[d->count++] = span;
        }
    }
    bool whole = d->count > 0 && fits % (span * d->count) == 0 && misses[fits] >= least;
    d->at[d->count] = fits;
    d->span[d->count++] = 1;
    return whole;
}

/* The shortest span, of those that the misses allow, without which the rest fits. */
static int find_span(struct behind_parts *d, bool *found, const uint32_t *misses, uint32_t least)
{
    int rc = 0;
    *found = false;
    for (size_t span = 1; rc == 0 && !*found && span < d->total; span *= 2) {
        if (!take_parts(d, misses, least, span)) {
            return 0;
        }
        rc = fits_without(d, found, d->at[0], d->at[0] + span);
    }
    return rc;
}

/*
 * Without the others, one half of them after the other, all lines of the set are still too many. A
 * policy that keeps a line for long lets others miss alone, and then a half makes room.
 */
static int others_make_room(struct behind_parts *d, bool *room)
{
    size_t half = d->total / 2;
    int rc = fits_but(d, room, 0, half, true);
    return rc || *room ? rc : fits_but(d, room, half, d->total, true);
}

/*
 * Are these all lines of the set? If they fit when they are walked with filler accesses, they are
 * not. Two looks must agree where that cannot be asked: the cache in front is not known well
 * enough, or no other lines share its sets with them.
 */
static int confirm(struct behind_parts *d, bool *found, size_t *before)
{
    int rc = behind_keep_conflict(d);
    bool untried = !d->level->front->line.bytes || d->unheard;
    *found = d->level->conflict.offsets || (untried && *before == d->count);
    *before = d->count;
    return rc;
}

/* A number for the set of suspects; another set has another number, the empty one 0. */
static uint64_t name_suspects(const uint32_t *misses, size_t count, uint32_t least)
{
    uint64_t name = 0;
    for (size_t i = 0; i < count; i++) {
        name = misses[i] >= least ? (name + i + 1) * UINT64_C(0x9e3779b97f4a7c15) : name;
    }
    return name;
}

/* What a look leaves to the next one. */
struct looks {
    uint64_t name; /* of the suspects */
    unsigned alike;
    size_t count; /* of parts */
};

/*
 * The same suspects would give the same answer, so they are not tried again. Parts of which too few
 * pass the cache in front are believed the second time.
 */
static int look(struct behind_parts *d, bool *found, const uint32_t *misses, double records,
                struct looks *before)
{
    uint32_t least = least_misses(d, misses, records);
    uint64_t name = name_suspects(misses, d->total, least);
    bool again = name == before->name && d->level->front->line.bytes;
    before->alike = again ? before->alike + 1 : 0;
    before->name = name;
    *found = again && d->unheard;
    if (again) {
        return 0;
    }
    bool room = false;
    d->unheard = false;
    int rc = find_span(d, found, misses, least);
    rc = rc || !*found ? rc : others_make_room(d, &room);
    *found = *found && !room;
    return rc || !*found ? rc : confirm(d, found, &before->count);
}

static int watch(struct behind_parts *d, bool *found)
{
    struct level *level = d->level;
    struct walk_shape shape = {.stride = level->fit.stride, .count = d->total};
    uint32_t *misses = calloc(d->total + 1, sizeof *misses);
    uint64_t start = level->lab->loads;
    struct looks before = {0};
    double records = 0;
    int rc = 0;
    *found = false;
    if (!misses) {
        return error_memory();
    }
    for (uint32_t run = 0, next = 1; rc == 0 && !*found && before.alike < limits.steady_looks;
         run++) {
        uint64_t loads = level->lab->loads;
        rc = fit_count_misses(level, misses, &shape, run);
        records += (double)(level->lab->loads - loads) / (double)d->total - 1 - run % 3;
        if (rc == 0 && run + 1 == next) {
            next *= 2;
            rc = look(d, found, misses, records, &before);
        }
        if (level->lab->loads - start > limits.watch_budget) {
            break;
        }
    }
    free(misses);
    return rc;
}

/* ---- leaving parts out ---- */

/* Do the rest of the lines come at the distance of the first two, up to the last? */
static bool lay_lattice(struct behind_parts *d)
{
    size_t step = d->at[1] - d->at[0], span = d->span[0], lines = 2;
    while (lines < BEHIND_MOST_PARTS && d->at[0] + lines * step < d->total) {
        d->at[lines] = d->at[0] + lines * step;
        d->span[lines++] = span;
    }
    d->count = lines;
    return lines >= limits.least_regular && lines < BEHIND_MOST_PARTS && d->span[1] == span &&
           d->at[lines - 1] + span >= d->total;
}

/*
 * The lines of most sets come at equal distances. Then the first two tell all others, and to try
 * some of these takes far less than to find each: the rest must fit without any one of them, and
 * not without what lies beside them.
 */
static int guess_regular(struct behind_parts *d)
{
    bool fits = lay_lattice(d), room = true;
    size_t tries = d->count - 2 < limits.tried ? d->count - 2 : limits.tried;
    int rc = 0;
    for (size_t i = 0; rc == 0 && fits && i < tries; i++) {
        size_t line = 2 + i * (d->count - 2) / tries;
        rc = fits_without(d, &fits, d->at[line], d->at[line] + d->span[line]);
    }
    rc = rc || !fits ? rc : others_make_room(d, &room);
    d->guessed = true;
    d->regular = rc == 0 && fits && !room;
    d->count = d->regular ? d->count : 2;
    return rc;
}

/* `span` is a power of two, and `from` a multiple of it. */
static int descend(struct behind_parts *d, uint64_t start, size_t from, size_t span)
{
    bool fits;
    if (from >= d->total || d->regular) {
        return 0;
    }
    if (d->level->lab->loads - start > limits.budget || d->count == BEHIND_MOST_PARTS) {
        return lab_undecided(d->level->lab, "the lines of a set are not found in %u loads",
                             limits.budget);
    }
    int rc = fits_without(d, &fits, from, from + span);
    if (rc || !fits) {
        return rc;
    }
    size_t before = d->count;
    bool is_line = span == 1 || (before > 0 && span <= d->span[0]); /* all are as long */
    rc = !is_line ? descend(d, start, from, span / 2) : 0;
    rc = rc || is_line ? rc : descend(d, start, from + span / 2, span / 2);
    if (rc == 0 && d->count == before && d->count < BEHIND_MOST_PARTS) {
        d->at[d->count] = from;
        d->span[d->count++] = span;
    }
    return rc || d->guessed || d->count != 2 ? rc : guess_regular(d);
}

/*
 * Where little more than the cache in front holds is left, it fits for that cache's sake. Such a
 * part makes room, and no half of it does: it is longer than the lines.
 */
static void leave_out_long(struct behind_parts *d)
{
    size_t least = SIZE_MAX, lines = 0, kept = 0;
    for (size_t i = 0; i + 1 < d->count; i++) {
        lines = d->span[i] < least ? 1 : lines + (d->span[i] == least);
        least = d->span[i] < least ? d->span[i] : least;
    }
    if (lines < limits.least_lines) {
        return; /* one alone may be as well what the others are not */
    }
    for (size_t i = 0; i < d->count; i++) {
        if (i + 1 == d->count || d->span[i] == least) {
            d->at[kept] = d->at[i];
            d->span[kept++] = d->span[i];
        }
    }
    d->count = kept;
}

int behind_find_parts(struct behind_parts *parts)
{
    bool found = false;
    int rc = watch(parts, &found);
    if ((rc && !lab_soft(rc)) || (rc == 0 && found)) {
        return rc;
    }
    size_t span = 1;
    while (span < parts->total) {
        span *= 2;
    }
    parts->count = 0;
    rc = descend(parts, parts->level->lab->loads, 0, span);
    leave_out_long(parts);
    return rc;
}
