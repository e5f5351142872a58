/*
 * The conflicting set of a cache behind another: the first elements of the parts of an array that
 * are the lines of one set (behind/parts.c). It is kept if these, walked with filler accesses
 * (behind/filler.h), do not fit, and fit without any one. Then the cache is examined as any other.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/behind/behind.h"
#include "infer/behind/filler.h"
#include "infer/fit/groups.h"
#include "util/error.h"

/* Elements that fit and do not lie in the set: leaving them out makes no room. */
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

/* Is it a conflicting set? Lines that stay in front for good leave that undecided. */
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

void behind_forget_conflict(struct level *level)
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
    behind_forget_conflict(level);
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
        behind_forget_conflict(level);
    }
    level->line.bytes = 0;
    return lab_soft(rc) ? 0 : rc;
}
