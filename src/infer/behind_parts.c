/*
 * The lines of one set behind another cache. The few lines of one set, walked alone, stay in the
 * cache in front, and this one never hears of them. So all that fits is walked, and one element
 * more, which is too much for one set. Its lines are, under most policies, those that miss now and
 * then in long walks: quickly found, and believed if they divide what fits into whole sets, and if
 * the rest fits without one of them. How much of one must be left out for that is the line.
 *
 * A policy that resists thrashing shows few of them. Then parts are left out: the rest fits exactly
 * if the part holds a whole line of that set. Parts are halved as long as one of the halves holds
 * such a line; what is left is a line, if lines are aligned and a power of two of fetch units long.
 * Nothing is assumed about the policy or the index function.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/behind.h"
#include "util/error.h"

#define BUDGET 3000000       /* loads, for parts left out */
#define WATCH_BUDGET 1200000 /* and for watching who misses */
#define BY_CHANCE 1e-3       /* that noise makes one element suspect */

static int fits_without(struct behind_parts *d, bool *fits, size_t from, size_t to)
{
    size_t count = 0;
    enum fit_verdict verdict = FIT_UNKNOWN;
    for (size_t i = 0; i < d->total; i++) {
        if (i < from || i >= to) {
            d->ring[count++] = (uint32_t)(i * d->level->fit_stride);
        }
    }
    *fits = true;
    if (count == 0) {
        return 0;
    }
    int rc = fit_verdict(d->level, &verdict, &(struct walk_shape){.ring = d->ring, .count = count});
    *fits = verdict == FIT_YES;
    return rc;
}

/* ---- who misses ---- */

/*
 * Misses that an element does not have by noise, after so many records of it; nor is it far from
 * the elements with the most: those of one set miss about equally often.
 */
static uint32_t least_misses(const struct behind_parts *d, const uint32_t *misses, double records)
{
    const struct level *level = d->level;
    double seen = (double)level->false_misses, sum = 0, close = 0;
    double share = (seen + 3 * sqrt(seen)) / (double)(level->hit_records + 1);
    uint32_t least = 1, most = 0;
    while (share > 0 && (double)d->total * poisson_tail(share * records, least) > BY_CHANCE) {
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

/* Do those that missed make whole parts of this span, and as many as divide what fits? */
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

/* The shortest span without which the rest fits, of those that the misses allow. */
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
 * Are these all? Not if they fit when they are walked with an escort. Where the cache in front is
 * not known well enough for that, those of two looks must agree.
 */
static int confirm(struct behind_parts *d, bool *found, size_t *before)
{
    int rc = behind_keep_conflict(d);
    *found = d->level->conflict || (!d->level->front->line_bytes && *before == d->count);
    *before = d->count;
    return rc;
}

/* Who are suspect, as a number that is another for others; that of none is 0. */
static uint64_t name_suspects(const uint32_t *misses, size_t count, uint32_t least)
{
    uint64_t name = 0;
    for (size_t i = 0; i < count; i++) {
        name = misses[i] >= least ? (name + i + 1) * UINT64_C(0x9e3779b97f4a7c15) : name;
    }
    return name;
}

static int watch(struct behind_parts *d, bool *found)
{
    struct level *level = d->level;
    struct walk_shape shape = {.stride = level->fit_stride, .count = d->total};
    uint32_t *misses = calloc(d->total + 1, sizeof *misses);
    uint64_t start = level->lab->loads;
    double records = 0;
    size_t before_count = 0;
    uint64_t tried = 0;
    int rc = 0;
    *found = false;
    if (!misses) {
        return error_memory();
    }
    for (uint32_t run = 0, look = 1; rc == 0 && !*found; run++) {
        uint64_t before = level->lab->loads;
        rc = fit_count_misses(level, misses, &shape, run);
        records += (double)(level->lab->loads - before) / (double)d->total - 1 - run % 3;
        if (rc == 0 && run + 1 == look) {
            uint32_t least = least_misses(d, misses, records);
            uint64_t name = name_suspects(misses, d->total, least);
            look *= 2;
            bool again = name == tried && level->front->line_bytes; /* would fail again */
            rc = again ? 0 : find_span(d, found, misses, least);
            rc = rc || !*found ? rc : confirm(d, found, &before_count);
            tried = name;
        }
        if (level->lab->loads - start > WATCH_BUDGET) {
            break;
        }
    }
    free(misses);
    return rc;
}

/* ---- what is left out ---- */

/* `span` is a power of two, and `from` a multiple of it. */
static int descend(struct behind_parts *d, uint64_t start, size_t from, size_t span)
{
    bool fits;
    if (from >= d->total) {
        return 0;
    }
    if (d->level->lab->loads - start > BUDGET || d->count == BEHIND_MOST_PARTS) {
        return lab_undecided(d->level->lab, "the lines of a set are not found in %d loads", BUDGET);
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
    return rc;
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
    return descend(parts, parts->level->lab->loads, 0, span);
}
