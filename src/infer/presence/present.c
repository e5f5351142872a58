/*
 * Is the cache there? Loads that circle in some words come back sooner than those that pass it by,
 * or, on a path of its own, sooner the second time.
 */
#include "infer/presence/presence.h"
#include "infer/presence/words.h"

#include <math.h>
#include <string.h>

/* Thresholds. Fixed by: blind trials (tests/blind) and models with small caches, where a member
 * does not say that it was chosen. */
static const struct {
    unsigned again;
    double farther, longer, sooner;
} limits = {
    .again = 3, /* times that both are asked again. Chosen */
    .farther =
        1.3, /* times a hit: on a path of its own nothing as far as a plain load's is a hit */
    .longer = 1.02, /* times a load past the cache: no accident of a median. Chosen */
    .sooner = 1.03, /* times a load through the cache, the same where noise covers it. Chosen */
};

/* Median latencies of loads that circle, with the level's operator and past the cache. */
struct medians {
    double own, beneath;
};

enum { SOONER = -1, ALIKE, LONGER };

static int compare_medians(const struct medians *m)
{
    return m->own > limits.longer * m->beneath + 1   ? LONGER
           : m->beneath > limits.sooner * m->own + 2 ? SOONER
                                                     : ALIKE;
}

static int sample_medians(struct level *level, struct medians *out, uint32_t run)
{
    struct sample own, beneath;
    int rc = words_sample(level, &own, level->info->op, WORDS_BYTES, run);
    if (rc) {
        return rc;
    }
    rc = words_sample(level, &beneath, level->info->beneath, WORDS_BYTES, run);
    if (rc == 0) {
        *out = (struct medians){sample_quantile(&own, 0.5), sample_quantile(&beneath, 0.5)};
        sample_free(&beneath);
    }
    sample_free(&own);
    return rc;
}

/*
 * Noise may cover what a cache saves, and other work on the GPU may have come in the way of one of
 * the two. So both are asked again, in turn. Plain loads are longer if the soonest of theirs are:
 * they take the same way. They are sooner if they are each time.
 */
static int ask_again(struct level *level, int *how, struct medians *least)
{
    *how = compare_medians(least);
    for (uint32_t run = 1; *how != ALIKE && run <= limits.again; run++) {
        struct medians now;
        int rc = sample_medians(level, &now, run);
        if (rc) {
            *how = *how == SOONER ? ALIKE : *how;
            return lab_soft(rc) ? 0 : rc; /* a recording has them once */
        }
        least->own = fmin(least->own, now.own);
        least->beneath = fmin(least->beneath, now.beneath);
        bool still = *how == LONGER || compare_medians(&now) == SOONER;
        *how = still ? compare_medians(least) : ALIKE;
    }
    return 0;
}

int presence_check(struct level *level, const struct sample *hits)
{
    struct sample beneath;
    int rc = words_sample(level, &beneath, level->info->beneath, WORDS_BYTES, 0);
    if (rc) {
        return rc;
    }
    double own = sample_quantile(hits, 0.9), other = sample_quantile(&beneath, 0.1);
    /* Misses on another path than a plain load's may take more than one past the cache. */
    level->timing.beneath_cycles = strcmp(level->info->op, "ca") == 0 ? other : INFINITY;
    struct medians least = {sample_quantile(hits, 0.5), sample_quantile(&beneath, 0.5)};
    sample_free(&beneath);
    int how = compare_medians(&least);
    rc = own < other || path_is_apart(level) ? 0 : ask_again(level, &how, &least);
    if (rc) {
        return rc;
    }
    /* Loads that take longer than those past the cache go another way: it may be on that. */
    enum kept kept = own < other || how == SOONER ? KEPT : how == LONGER ? KEPT_UNCLEAR : KEPT_NOT;
    if (path_is_apart(level)) {
        rc = circle_keeps(level, &kept, hits); /* the path itself may be longer, or shorter */
        /* Where hits are far nearer than that, nothing as far is one. */
        if (kept == KEPT && other > limits.farther * own) {
            level->timing.beneath_cycles = fmin(level->timing.beneath_cycles, other);
        }
    }
    if (rc) {
        return rc;
    }
    if (kept == KEPT_UNCLEAR) {
        return lab_undecided(level->lab,
                             "latencies do not tell whether a line is kept: repeated loads take "
                             "%.0f cycles through it, %.0f past it",
                             least.own, least.beneath);
    }
    if (kept == KEPT_NOT) {
        level->result->present = false;
        return lab_absent(level->lab,
                          "no such cache shows: repeated loads take %.0f cycles through it, "
                          "%.0f past it",
                          least.own, least.beneath);
    }
    level->result->present = true;
    return 0;
}
