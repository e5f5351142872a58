/*
 * Ways, line and sets of a cache behind another, from the parts of an array that are the lines of
 * one set (behind/parts.c). What does not agree (lines of different lengths, a capacity that is no
 * multiple of the ways) decides nothing. From here on the set's lines can be walked with filler
 * accesses (behind/filler.h), and the cache be examined as any other.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/behind/behind.h"
#include "infer/behind/filler.h"
#include "infer/fit/groups.h"
#include "util/error.h"

/* Confidence. Fixed by: blind trials of constants alone (tests/blind). */
static const struct {
    double tried, untried;
} limits = {
    .tried = 0.9,   /* probability, where the set was walked by itself */
    .untried = 0.8, /* probability, where it could not be */
};

/* Of the last line the walk has the first element alone. */
static bool is_consistent(const struct behind_parts *d)
{
    size_t lines = d->count ? d->count - 1 : 0;
    for (size_t i = 0; i < lines; i++) {
        if (d->span[i] != d->span[0]) {
            return false;
        }
    }
    return lines > 0 && d->at[lines] + 1 == d->total && (d->total - 1) % (d->span[0] * lines) == 0;
}

/* Elements that fit and do not lie in the set: what is left out of them makes no room. */
static int outside_of(const struct behind_parts *d, uint32_t **out, size_t *count)
{
    size_t k = 0;
    *count = 0;
    *out = malloc(d->total * sizeof **out);
    if (!*out) {
        return error_memory();
    }
    for (size_t i = 0; i + 1 < d->total; i++) {
        while (k < d->count && d->at[k] + d->span[k] <= i) {
            k++;
        }
        if (k == d->count || i < d->at[k]) {
            (*out)[(*count)++] = (uint32_t)(i * d->level->fit.stride);
        }
    }
    return 0;
}

/* Nothing decides where some of the lines stay in front for good. */
static int check_conflict(struct behind_parts *d, bool *holds)
{
    struct level *level = d->level;
    enum fit_verdict verdict = FIT_UNKNOWN;
    const size_t left_out[] = {0, d->count / 2, d->count - 1};
    int rc = groups_verdict(level, &verdict, level->conflict.offsets, d->count);
    *holds = verdict == FIT_NO;
    d->unheard = verdict == FIT_UNKNOWN;
    for (size_t i = 0; i < 3 && rc == 0 && *holds && d->count > 2; i++) {
        memcpy(d->ring, level->conflict.offsets, d->count * sizeof *d->ring);
        memmove(d->ring + left_out[i], d->ring + left_out[i] + 1,
                (d->count - 1 - left_out[i]) * sizeof *d->ring);
        rc = groups_verdict(level, &verdict, d->ring, d->count - 1);
        *holds = verdict == FIT_YES;
        d->unheard = verdict == FIT_UNKNOWN;
    }
    return rc;
}

static void forget_conflict(struct level *level)
{
    filler_free(level->filler);
    free(level->conflict.offsets);
    level->filler = NULL;
    level->conflict.offsets = NULL;
    level->conflict.count = 0;
}

int behind_keep_conflict(struct behind_parts *d)
{
    struct level *level = d->level;
    uint32_t *outside;
    size_t count;
    bool holds = false;
    int rc = outside_of(d, &outside, &count);
    forget_conflict(level);
    level->conflict.offsets = rc ? NULL : malloc((d->count + 1) * sizeof *level->conflict.offsets);
    if (!level->conflict.offsets) {
        free(outside);
        return error_memory();
    }
    for (size_t i = 0; i < d->count; i++) {
        level->conflict.offsets[i] = (uint32_t)(d->at[i] * level->fit.stride);
    }
    level->conflict.count = d->count;
    level->line.bytes = d->span[0] * level->fit.stride;
    rc = filler_create(level, outside, count);
    rc = rc ? rc : check_conflict(d, &holds);
    if (rc || !holds) {
        forget_conflict(level);
    }
    level->line.bytes = 0;
    return lab_soft(rc) ? 0 : rc;
}

static int conclude(struct level *level, const struct behind_parts *d)
{
    if (!is_consistent(d)) {
        return lab_undecided(level->lab, "the parts of an array that make room for one more line "
                                         "do not look like the lines of a set");
    }
    uint64_t line = d->span[0] * level->fit.stride, bytes = (d->total - 1) * level->fit.stride;
    uint64_t lines = bytes / line;
    double ways = (double)(d->count - 1);
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %llu B fit, and %llu B more do without any one of %zu parts of %llu "
                 "B, and without no other; the last is the one that is too many",
                 level->info->op, (unsigned long long)bytes, (unsigned long long)level->fit.stride,
                 d->count, (unsigned long long)line);
    struct cache_result *result = level->result;
    double confidence = level->filler ? limits.tried : limits.untried;
    level->line.bytes = line;
    attribute_set(&result->ways, ways, "1", confidence, id);
    attribute_set(&result->line, (double)line, "B", confidence, id);
    attribute_set(&result->size, (double)bytes, "B", confidence, id);
    attribute_set(&result->sets, (double)lines / ways, "1", confidence, id);
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
        forget_conflict(level);
    }
    free(parts.ring);
    return rc;
}
