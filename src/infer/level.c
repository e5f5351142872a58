/* What every experiment on a cache may ask of it. */
#include "infer/level.h"

#include <stdlib.h>
#include <string.h>

#include "infer/behind/filler.h"
#include "infer/experiments.h"

#include "util/sort.h"

static const struct walk_filler *filler_of(const struct level *level)
{
    return level->filler                          ? &level->filler->base
           : level->in_pages && level->keeps_hits ? &walk_in_pages_after_hits
           : level->in_pages                      ? &walk_in_pages
           : level->keeps_hits                    ? &walk_after_hits
                                                  : NULL;
}

const struct walk_filler *level_filler_of_twice(const struct level *level)
{
    return level->in_pages ? &walk_in_pages : NULL;
}

void level_leave_pages(struct level *level)
{
    free(level->leads.line);
    level->leads = (struct walk_leads){0};
    level->in_pages = false;
}

struct walk_plan level_plan(const struct level *level, struct walk_shape shape)
{
    return (struct walk_plan){.op = level->info->op,
                              .shape = shape,
                              .windows = 1,
                              .shared_bytes = level->info->shared_bytes,
                              .repeats = level->repeats,
                              .mirror = level->timing.mirror,
                              .filler = filler_of(level),
                              .most_window = level->max_window,
                              .leads = &level->leads};
}

void level_plan_by(struct walk_plan *plan, const struct level *level, const char *op)
{
    bool own = strcmp(op, level->info->op) == 0;
    plan->op = op;
    plan->mirror = own ? plan->mirror : (struct walk_mirror){0};
}

int level_clock(const struct level *level, struct sample *out, const struct sample *in)
{
    int rc = sample_create(out, in->values, in->count);
    for (size_t i = 0; rc == 0 && i < out->count; i++) {
        out->values[i] = walk_mirrored(&level->timing.mirror, out->values[i]);
    }
    if (rc == 0) {
        sort_u32(out->values, out->count);
    }
    return rc;
}

int level_saw(struct level *level, const struct sample *latencies)
{
    struct sample all, clock;
    int rc = level_clock(level, &clock, latencies);
    if (rc) {
        return rc;
    }
    rc = sample_join(&all, &level->seen, &clock);
    sample_free(&clock);
    if (rc == 0) {
        sample_free(&level->seen);
        level->seen = all;
    }
    return rc;
}

void level_free(struct level *level)
{
    free(level->conflict.offsets);
    filler_free(level->filler);
    level_leave_pages(level);
    sample_free(&level->seen);
    level->conflict.offsets = NULL;
}

bool level_always(const struct level *level)
{
    (void)level;
    return true;
}
