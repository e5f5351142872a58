/*
 * The reference of local memory. Neighbouring words of a thread lie a whole line apart, for the
 * words of the warp's other threads lie between them (CUDA C Programming Guide 6.0, section
 * 5.3.2.2). So each word is the first of its fetch unit, and no unit can be told. Two facts decide
 * instead: eight words in a circle take less than a load from L2, and a long circle has loads that
 * take more than any of these.
 */
#include "infer/presence/presence.h"

#include <math.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned small_words;
    double hit_share, slower;
} limits = {
    .small_words = 8,  /* words: any cache holds so many */
    .hit_share = 0.98, /* share of the loads of a small circle that are hits for certain */
    .slower = 1.05,    /* times a load past the cache: another way */
};

static void note_reference(struct level *level, const struct sample *hits, size_t words,
                           const struct path_info *path)
{
    level->timing.fetch_bytes = CHASE_WORD_BYTES;
    level->timing.hit_records = hits->count;
    level->timing.false_slow =
        (uint64_t)(sample_share(hits, level->timing.threshold, INFINITY) * (double)hits->count +
                   0.5);
    level->timing.false_misses = level->timing.false_slow;
    lab_evidence(
        level->lab, level->timing.evidence, level->info->id,
        "chase op=%s: %u words circled in %.0f cycles; in a circle of %zu words loads take "
        "%.0f (threshold %.0f); words of the thread lie %u B apart",
        level->info->op, limits.small_words, level->timing.hit_cycles, words,
        level->timing.miss_cycles, level->timing.threshold, path->interleave * CHASE_WORD_BYTES);
}

/* The lowest threshold between the hits and what only a long circle has. */
static int separate_long(struct level *level, bool *found, const struct sample *hits, size_t words)
{
    struct sample walked, both = {0};
    struct walk_shape shape = {.stride = CHASE_WORD_BYTES, .count = words};
    int rc = circle_sample(level, &walked, level->info->op, shape);
    if (rc) {
        return rc;
    }
    rc = sample_join(&both, hits, &walked);
    double thresholds[8];
    size_t count = rc ? 0 : sample_thresholds(thresholds, 8, &both);
    for (size_t i = 0; i < count && !*found; i++) {
        struct sample slow = sample_view(&walked, thresholds[i], INFINITY);
        if (thresholds[i] >= sample_quantile(hits, limits.hit_share) &&
            slow.count * 2 >= walked.count) {
            level->timing.threshold = thresholds[i];
            reference_misses(level, &slow);
            *found = true;
        }
    }
    sample_free(&walked);
    sample_free(&both);
    return rc;
}

/* Loads that take clearly longer than those from L2 go another way: a cache on it may be as slow.
 */
static int doubt_absence(struct level *level)
{
    const struct level_timing *t = &level->timing;
    if (t->hit_cycles <= limits.slower * t->beneath_cycles) {
        return INFER_UNDECIDED; /* absent, as was said */
    }
    return lab_undecided(level->lab,
                         "eight words in a circle take %.0f cycles, loads past a cache %.0f: a "
                         "longer way, with or without a cache",
                         t->hit_cycles, t->beneath_cycles);
}

int reference_interleaved(struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    struct sample hits;
    struct walk_shape small = {.stride = CHASE_WORD_BYTES, .count = limits.small_words};
    int rc = circle_sample(level, &hits, level->info->op, small);
    if (rc) {
        return rc;
    }
    level->timing.hit_cycles = sample_quantile(&hits, 0.5);
    rc = circle_check_sooner(level, &hits, 1);
    rc = rc == INFER_UNDECIDED ? doubt_absence(level) : rc;
    uint64_t most = level->lab->options->max_footprint_bytes / CHASE_WORD_BYTES;
    bool found = false;
    for (size_t words = 64; rc == 0 && !found && words <= most; words *= 2) {
        rc = separate_long(level, &found, &hits, words);
        if (found) {
            note_reference(level, &hits, words, path);
        }
    }
    sample_free(&hits);
    return rc || found ? rc
                       : lab_undecided(level->lab, "no walk as far as the path reaches is slower "
                                                   "than eight words in a circle");
}
