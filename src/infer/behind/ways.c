/*
 * Ways, line and sets of a cache behind another, from the parts of an array that are the lines of
 * one set (behind/parts.c). Parts that do not agree decide nothing: lines of different lengths, a
 * capacity that is no multiple of the ways.
 */
#include <stdlib.h>

#include "infer/behind/behind.h"
#include "util/error.h"

/* Confidence. Fixed by: blind trials of constants alone (tests/blind). */
static const struct {
    double tried, untried;
} limits = {
    .tried = 0.9,   /* probability, where the set was walked by itself */
    .untried = 0.8, /* probability, where it could not be */
};

/* Are all parts lines of one length? Of the last line the walk has the first element alone. */
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
        behind_forget_conflict(level);
    }
    free(parts.ring);
    return rc;
}
