/*
 * Ways, line and sets of a cache behind another, from the parts of an array that are the lines of
 * one set (behind/parts.c). Parts that do not agree decide nothing: lines of different lengths, or
 * a capacity that is no multiple of the ways where the set could not be walked by itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "infer/behind/behind.h"
#include "infer/fit/fit.h"
#include "util/bits.h"
#include "util/error.h"

/* Confidence. Fixed by: blind trials of constants alone (tests/blind). */
static const struct {
    double tried, untried;
    unsigned beginnings;
} limits = {
    .tried = 0.9,    /* probability, where the set was walked by itself */
    .untried = 0.8,  /* probability, where it could not be */
    .beginnings = 4, /* arrays that begin elsewhere. Chosen */
};

/*
 * Are all parts lines of one length? Of the last line the walk has the first elements alone: the
 * first one, or as many more as the cache in front had kept, which this one was not asked for.
 */
static bool is_consistent(const struct behind_parts *d)
{
    size_t lines = d->count ? d->count - 1 : 0;
    for (size_t i = 0; i < lines; i++) {
        if (d->span[i] != d->span[0]) {
            return false;
        }
    }
    return lines > 0 && d->at[lines] < d->total && d->at[lines] + d->span[0] >= d->total &&
           d->at[lines] % d->span[0] == 0;
}

/* Elements that fit: all before the last line. */
static size_t fits_of(const struct behind_parts *d)
{
    return d->at[d->count - 1];
}

/* Whole sets of so many lines? */
static bool is_whole(const struct behind_parts *d)
{
    size_t set = d->count ? d->span[0] * (d->count - 1) : 0;
    return set > 0 && fits_of(d) % set == 0;
}

static int fits_from(struct behind_parts *d, enum fit_verdict *out, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        d->ring[i] = (uint32_t)((from + i) * d->level->fit.stride);
    }
    struct filler *filler = d->level->filler; /* of the conflicting set, which is not walked here */
    d->level->filler = NULL;
    int rc = fit_verdict(d->level, out, &(struct walk_shape){.ring = d->ring, .count = count});
    d->level->filler = filler;
    return rc;
}

/*
 * Sets that addresses number are filled alike wherever an array begins: as much fits, and no more.
 * Where a hash numbers them, by chance one set or another is full first. Arrays begin at multiples
 * of a power of two, so that sets that masks number have as many lines of them.
 */
static int find_hashed(struct behind_parts *d, bool *hashed, size_t *asked)
{
    const struct path_info *path = path_find(d->level->info->op);
    size_t fits = fits_of(d), step = 1, sets = fits / (d->count - 1) + 1;
    size_t reach = (size_t)(path->reach_bytes / d->level->fit.stride);
    while (step < sets) {
        step *= 2;
    }
    int rc = 0;
    *hashed = false;
    *asked = 0;
    for (size_t from = step;
         rc == 0 && !*hashed && *asked < limits.beginnings && from + d->total <= reach;
         from += step * (1 + *asked)) {
        enum fit_verdict same = FIT_UNKNOWN, more = FIT_UNKNOWN;
        rc = fits_from(d, &same, from, fits);
        rc = rc || same != FIT_YES ? rc : fits_from(d, &more, from, d->total);
        *hashed = same == FIT_NO || more == FIT_YES;
        *asked += same == FIT_NO || more != FIT_UNKNOWN;
    }
    return lab_soft(rc) ? 0 : rc;
}

/* Of a hashed cache a set's lines alone are known. */
static void tell_hashed(struct level *level, const struct behind_parts *d)
{
    double ways = (double)(d->count - 1);
    uint64_t line = d->span[0] * level->fit.stride;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: one element more than fits does without any one of %zu parts of "
                 "%llu B; arrays that begin elsewhere have another edge",
                 level->info->op, d->count, (unsigned long long)line);
    level->line.bytes = line;
    attribute_set(&level->result->ways, ways, "1", limits.untried, id);
    attribute_set(&level->result->line, (double)line, "B", limits.untried, id);
}

/*
 * Those of a set that fills before the others do: its own are no ways of all. A set that was walked
 * by itself is one all the same, and the others are filled by the index (geometry/sets.c).
 */
static void tell_unequal(struct level *level, const struct behind_parts *d)
{
    uint64_t line = d->span[0] * level->fit.stride, bytes = fits_of(d) * level->fit.stride;
    char id[24], reason[160];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %llu B fit, one element more does without any one of %zu parts of "
                 "%llu B, which by themselves do not fit: a set that fills before others",
                 level->info->op, (unsigned long long)bytes, d->count, (unsigned long long)line);
    snprintf(reason, sizeof reason, "a set of %zu lines fills before others do", d->count - 1);
    level->line.bytes = line;
    level->fit.count = fits_of(d);
    attribute_set(&level->result->line, (double)line, "B", limits.tried, id);
    attribute_refuse(&level->result->ways, "1", reason);
}

/* Lines of the set come after each `sets` lines, all along the array: so they are numbered. */
static void tell_regular(struct level *level, const struct behind_parts *d, uint64_t sets,
                         double confidence, const char *id)
{
    struct index_result *out = &level->result->index;
    uint64_t line = level->line.bytes;
    for (size_t i = 0; i < d->count; i++) {
        if (d->at[i] != i * sets * d->span[0]) {
            return;
        }
    }
    bool power = is_power_of_two(sets) && is_power_of_two(line);
    snprintf(out->kind, sizeof out->kind, sets == 1 ? "none" : power ? "bits" : "modulo");
    out->modulus = power || sets == 1 ? 0 : sets;
    for (uint64_t bit = 1; power && bit < sets; bit *= 2) {
        out->masks[out->mask_count++] = bit * line;
    }
    snprintf(out->evidence, sizeof out->evidence, "%s", id);
    out->confidence = confidence;
}

static int conclude(struct level *level, struct behind_parts *d)
{
    bool hashed = false;
    size_t asked = 0;
    int rc = is_consistent(d) ? find_hashed(d, &hashed, &asked) : 0;
    if (rc) {
        return rc;
    }
    const bool whole = is_whole(d), unequal = !whole && !hashed && level->filler;
    if (!is_consistent(d) || (!whole && !hashed && !unequal)) {
        return lab_undecided(level->lab, "the parts of an array that make room for one more line "
                                         "do not look like the lines of a set");
    }
    if (hashed) {
        tell_hashed(level, d);
        return 0;
    }
    if (unequal) {
        tell_unequal(level, d);
        return 0;
    }
    uint64_t line = d->span[0] * level->fit.stride, bytes = fits_of(d) * level->fit.stride;
    uint64_t lines = bytes / line, more = (d->total - fits_of(d)) * level->fit.stride;
    double ways = (double)(d->count - 1);
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %llu B fit, and %llu B more do without any one of %zu parts of %llu "
                 "B, and without no other; the last is the one that is too many",
                 level->info->op, (unsigned long long)bytes, (unsigned long long)more, d->count,
                 (unsigned long long)line);
    struct cache_result *result = level->result;
    double confidence = level->filler ? limits.tried : limits.untried;
    level->line.bytes = line;
    level->fit.count = fits_of(d);
    attribute_set(&result->ways, ways, "1", confidence, id);
    attribute_set(&result->line, (double)line, "B", confidence, id);
    attribute_set(&result->size, (double)bytes, "B", confidence, id);
    attribute_set(&result->sets, (double)lines / ways, "1", confidence, id);
    if (!level->filler) { /* else the index is asked (geometry/index.c) */
        tell_regular(level, d, lines / (d->count - 1), confidence, id);
    }
    return 0;
}

int behind_ways(struct level *level)
{
    struct behind_parts parts = {.level = level, .total = level->fit.count + 1};
    parts.ring = malloc((parts.total + BEHIND_MOST_PARTS) * sizeof *parts.ring);
    if (!parts.ring) {
        return error_memory();
    }
    int rc = behind_find_parts(&parts);
    rc = rc || level->conflict.offsets ? rc : behind_keep_conflict(&parts);
    rc = rc ? rc : conclude(level, &parts);
    if (rc) {
        behind_forget_conflict(level);
    }
    free(parts.ring);
    return rc;
}
