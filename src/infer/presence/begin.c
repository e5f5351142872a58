/*
 * How the examination of a cache begins, by the way its path leads to it. A first-level cache whose
 * lines hold several of the path's words: reference.c. A cache behind another that no load passes
 * by: behind.c. And local memory, where neighbouring words of a thread lie a whole line apart, for
 * the words of the warp's other threads lie between them (CUDA C Programming Guide 6.0,
 * section 5.3.2.2). There is no fetch unit to be seen, for each word is the first of its own. What
 * remains: eight words in a circle take less than a load from L2, and a long circle has loads that
 * take more than any of these.
 */
#include <math.h>
#include <stdlib.h>

#include "infer/level.h"
#include "util/error.h"

#define WORD_BYTES 4
#define SMALL_WORDS 8
#define CIRCLE_RECORDS 256
#define KEPT 8
#define KEPT_STRIDE 4224 /* more than a line, and other sets */
#define KEPT_AT (UINT32_C(3) << 20)
#define KEPT_ROOM 65536 /* for each path */
#define SOONER 1.05     /* what noise does not put between so few loads */
#define HITS 0.98       /* share of the loads of a small circle that are hits for certain */

int level_circle(struct level *level, struct sample *out, const char *op, struct walk_shape shape)
{
    struct walk_plan plan = level_plan(level, shape);
    plan.op = op;
    plan.warm = 4 * shape.count;
    plan.window = level->max_window < CIRCLE_RECORDS ? level->max_window : CIRCLE_RECORDS;
    plan.windows = 4;
    plan.spread = true;
    return walk_sample(level->lab, out, &plan);
}

int level_check_sooner(struct level *level, const struct sample *own, double share)
{
    struct sample beneath;
    struct walk_shape shape = {.stride = WORD_BYTES, .count = SMALL_WORDS};
    int rc = level_circle(level, &beneath, level->info->beneath, shape);
    if (rc) {
        return rc;
    }
    double median = sample_quantile(own, 0.5), other = sample_quantile(&beneath, 0.5);
    level->beneath_cycles = sample_quantile(&beneath, 0.1);
    level->result->present = sample_quantile(own, 0.9) < share * level->beneath_cycles;
    sample_free(&beneath);
    return level->result->present
               ? 0
               : lab_undecided(level->lab,
                               "no such cache shows: loads take %.0f cycles through it, %.0f past "
                               "it",
                               median, other);
}

bool level_is_apart(const struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    return path && !path->can_chain && path->reach_bytes == 0;
}

/*
 * Elements that L2 holds, each read the first time in a launch and then its neighbour, which any
 * cache has now, however small, and whatever it gives up first. No other cache of the path has
 * them the first time: nothing walks so far from the buffer's start, and first levels begin a
 * launch empty.
 */
int level_keeps(struct level *level, bool *keeps)
{
    uint32_t ring[2 * KEPT], latency[2][KEPT];
    const struct path_info *path = path_find(level->info->op), *first_path = path_find("ca");
    for (uint32_t i = 0; i < KEPT; i++) {
        ring[2 * i] = KEPT_AT + (uint32_t)(path - first_path) * KEPT_ROOM + i * KEPT_STRIDE;
        ring[2 * i + 1] = ring[2 * i] + WORD_BYTES;
    }
    struct walk_shape shape = {.ring = ring, .count = 2 * KEPT};
    struct sample beneath, first = {0}, again = {0};
    struct walk_plan plan = level_plan(level, shape);
    struct walk walk;
    *keeps = false;
    int rc = level_circle(level, &beneath, level->info->beneath, shape); /* so that L2 has them */
    if (rc) {
        return rc;
    }
    sample_free(&beneath);
    plan.window = 2 * KEPT;
    rc = walk_run(level->lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < 2 * KEPT; i++) {
        latency[walk_element(&walk, i) % 2][i / 2] = walk.latency[i];
    }
    rc = sample_create(&first, latency[0], KEPT);
    rc = rc ? rc : sample_create(&again, latency[1], KEPT);
    *keeps = rc == 0 && SOONER * sample_quantile(&again, 0.9) < sample_quantile(&first, 0.1);
    if (*keeps) { /* no miss takes less than what comes from L2 or farther */
        level->beneath_cycles = sample_quantile(&first, 0.1);
    }
    sample_free(&first);
    sample_free(&again);
    walk_free(&walk);
    return rc;
}

/* ---- words that lie lines apart ---- */

static void note_reference(struct level *level, const struct sample *hits, size_t words,
                           const struct path_info *path)
{
    level->fetch_bytes = WORD_BYTES;
    level->hit_records = hits->count;
    level->false_slow =
        (uint64_t)(sample_share(hits, level->threshold, INFINITY) * (double)hits->count + 0.5);
    level->false_misses = level->false_slow;
    lab_evidence(
        level->lab, level->reference, level->info->id,
        "chase op=%s: %d words circled in %.0f cycles; in a circle of %zu words loads take "
        "%.0f (threshold %.0f); words of the thread lie %u B apart",
        level->info->op, SMALL_WORDS, level->hit_cycles, words, level->miss_cycles,
        level->threshold, path->interleave * WORD_BYTES);
}

/* The lowest threshold between the hits and what only a long circle has. */
static int separate_long(struct level *level, bool *found, const struct sample *hits, size_t words)
{
    struct sample walked, both = {0};
    struct walk_shape shape = {.stride = WORD_BYTES, .count = words};
    int rc = level_circle(level, &walked, level->info->op, shape);
    if (rc) {
        return rc;
    }
    rc = sample_join(&both, hits, &walked);
    double thresholds[8];
    size_t count = rc ? 0 : sample_thresholds(thresholds, 8, &both);
    for (size_t i = 0; i < count && !*found; i++) {
        struct sample slow = sample_view(&walked, thresholds[i], INFINITY);
        if (thresholds[i] >= sample_quantile(hits, HITS) && slow.count * 2 >= walked.count) {
            level->threshold = thresholds[i];
            level->miss_cycles = sample_quantile(&slow, 0.5);
            double high = sample_quantile(&slow, 0.9);
            level->ceiling = high + fmax(high - thresholds[i], 0.5 * level->miss_cycles);
            *found = true;
        }
    }
    sample_free(&walked);
    sample_free(&both);
    return rc;
}

static int begin_interleaved(struct level *level, const struct path_info *path)
{
    struct sample hits;
    struct walk_shape small = {.stride = WORD_BYTES, .count = SMALL_WORDS};
    int rc = level_circle(level, &hits, level->info->op, small);
    if (rc) {
        return rc;
    }
    level->hit_cycles = sample_quantile(&hits, 0.5);
    rc = level_check_sooner(level, &hits, 1);
    uint64_t most = level->lab->options->max_footprint_bytes / WORD_BYTES;
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

int level_begin(struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    if (level->info->behind[0]) {
        return behind_begin(level);
    }
    bool apart = path && path->interleave > 1;
    int rc = apart ? begin_interleaved(level, path) : level_reference(level);
    return rc == 0 && (apart || level_is_apart(level)) ? level_find_same(level) : rc;
}
