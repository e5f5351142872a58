/*
 * Ways, line and sets of a cache behind another. The few lines of one set, walked alone, stay in
 * the cache in front, and this one never hears of them. So all that fits is walked, and one element
 * more, which is too much for one set: if a part is left out, the rest fits exactly if the part
 * holds a whole line of that set. Parts are halved as long as one of the halves holds such a line;
 * what is left is a line, if lines are aligned and a power of two of fetch units long. Nothing is
 * assumed about the policy or the index function. What does not agree (lines of different lengths,
 * a capacity that is no multiple of the ways) decides nothing.
 */
#include <stdlib.h>

#include "infer/level.h"
#include "util/error.h"

#define BUDGET 3000000 /* loads */
#define MOST_LINES 512

struct descent {
    struct level *level;
    uint32_t *ring; /* room for a walk */
    uint64_t start;
    size_t total; /* elements: those that fit, and one */
    size_t at[MOST_LINES], span[MOST_LINES], count;
};

static int fits_without(struct descent *d, bool *fits, size_t from, size_t to)
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

/* `span` is a power of two, and `from` a multiple of it. */
static int descend(struct descent *d, size_t from, size_t span)
{
    bool fits;
    if (from >= d->total) {
        return 0;
    }
    if (d->level->lab->loads - d->start > BUDGET || d->count == MOST_LINES) {
        return lab_undecided(d->level->lab, "the lines of a set are not found in %d loads", BUDGET);
    }
    int rc = fits_without(d, &fits, from, from + span);
    if (rc || !fits) {
        return rc;
    }
    size_t before = d->count;
    rc = span > 1 ? descend(d, from, span / 2) : 0;
    rc = rc || span == 1 ? rc : descend(d, from + span / 2, span / 2);
    if (rc == 0 && d->count == before && d->count < MOST_LINES) {
        d->at[d->count] = from;
        d->span[d->count++] = span;
    }
    return rc;
}

/* Of the last line the walk has the first element alone. */
static bool is_consistent(const struct descent *d)
{
    size_t lines = d->count ? d->count - 1 : 0;
    for (size_t i = 0; i < lines; i++) {
        if (d->span[i] != d->span[0]) {
            return false;
        }
    }
    return lines > 0 && d->at[lines] + 1 == d->total && (d->total - 1) % (d->span[0] * lines) == 0;
}

static bool is_equally_spaced(const struct descent *d)
{
    for (size_t i = 2; i < d->count; i++) {
        if (d->at[i] - d->at[i - 1] != d->at[1] - d->at[0]) {
            return false;
        }
    }
    return true;
}

/* Equally spaced lines that miss when they are walked alone, too, are those that other experiments
 * need. */
static int keep_conflict(struct level *level, const struct descent *d)
{
    enum fit_verdict verdict = FIT_UNKNOWN;
    for (size_t i = 0; i < d->count; i++) {
        d->ring[i] = (uint32_t)(d->at[i] * level->fit_stride);
    }
    struct walk_shape shape = {.ring = d->ring, .count = d->count};
    bool may_miss = is_equally_spaced(d) && d->count - 1 > level->front->ways;
    int rc = may_miss ? fit_verdict(level, &verdict, &shape) : 0;
    if (rc == 0 && verdict == FIT_NO) {
        level->conflict = malloc((d->count + 1) * sizeof *level->conflict);
        for (size_t i = 0; level->conflict && i < d->count; i++) {
            level->conflict[i] = d->ring[i];
        }
        level->conflict_count = level->conflict ? d->count : 0;
        rc = level->conflict ? 0 : error_memory();
    }
    return lab_soft(rc) ? 0 : rc;
}

static int conclude(struct level *level, const struct descent *d)
{
    if (!is_consistent(d)) {
        return lab_undecided(level->lab, "the parts of an array that make room for one more line "
                                         "do not look like the lines of a set");
    }
    uint64_t line = d->span[0] * level->fit_stride, bytes = (d->total - 1) * level->fit_stride;
    uint64_t lines = bytes / line;
    double ways = (double)(d->count - 1);
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %llu B fit, and %llu B more do without any one of %zu parts of %llu "
                 "B, and without no other; the last is the one that is too many",
                 level->info->op, (unsigned long long)bytes, (unsigned long long)level->fit_stride,
                 d->count, (unsigned long long)line);
    struct cache_result *result = level->result;
    level->line_bytes = line;
    attribute_set(&result->ways, ways, "1", 0.9, id);
    attribute_set(&result->line, (double)line, "B", 0.9, id);
    attribute_set(&result->size, (double)bytes, "B", 0.9, id);
    attribute_set(&result->sets, (double)lines / ways, "1", 0.9, id);
    return keep_conflict(level, d);
}

int behind_ways(struct level *level)
{
    struct descent d = {.level = level, .start = level->lab->loads, .total = level->fit_count + 1};
    d.ring = malloc((d.total + MOST_LINES) * sizeof *d.ring);
    if (!d.ring) {
        return error_memory();
    }
    size_t span = 1;
    while (span < d.total) {
        span *= 2;
    }
    int rc = descend(&d, 0, span);
    rc = rc ? rc : conclude(level, &d);
    free(d.ring);
    return rc;
}
