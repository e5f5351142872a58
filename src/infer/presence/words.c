/*
 * A few words that are walked round and round, so that all loads hit: what hits look like. Most
 * caches hold a circle of 1 KiB; one that does not has loads that are slower than in a circle of a
 * few words.
 */
#include "infer/presence/words.h"

#include <math.h>

/* Thresholds. Fixed by: blind trials (tests/blind) and models with small caches. */
static const struct {
    double slower, by_noise_slower;
} limits = {
    .slower = 1.1, /* times a word's latency in the smaller circle, and 10 cycles: slower */
    .by_noise_slower = 1e-4, /* chance that noise alone makes so many slower */
};
enum { TINY_WORDS = 16 }; /* of the smaller circle */

static int walk_circle(struct level *level, struct walk *walk, const char *op, size_t bytes,
                       uint32_t run)
{
    struct walk_plan plan = level_plan(
        level, (struct walk_shape){.stride = CHASE_WORD_BYTES, .count = bytes / CHASE_WORD_BYTES});
    level_plan_by(&plan, level, op);
    plan.warm = 2 * plan.shape.count;
    plan.window = level->max_window < 512 ? level->max_window : 512;
    plan.windows = 4;
    plan.run = run;
    return walk_run(level->lab, walk, &plan);
}

int words_sample(struct level *level, struct sample *out, const char *op, size_t bytes,
                 uint32_t run)
{
    struct walk walk;
    int rc = walk_circle(level, &walk, op, bytes, run);
    if (rc == 0) {
        rc = sample_create(out, walk.latency, walk.count);
        walk_free(&walk);
    }
    return rc;
}

/* The median latency of each of the first words. */
static int word_medians(double medians[TINY_WORDS], const struct walk *walk)
{
    uint32_t of_word[2048];
    int rc = 0;
    for (size_t word = 0; rc == 0 && word < TINY_WORDS; word++) {
        size_t count = 0;
        for (size_t i = 0; i < walk->count && count < 2048; i++) {
            if (walk_element(walk, i) == word) {
                of_word[count++] = walk->latency[i];
            }
        }
        struct sample sample;
        rc = sample_create(&sample, of_word, count);
        medians[word] = rc ? 0 : sample_quantile(&sample, 0.5);
        sample_free(&sample);
    }
    return rc;
}

/* Records slower than their words are in the smaller circle; words so far apart are alike. */
static size_t count_slower(const struct walk *walk, const double tiny[TINY_WORDS])
{
    size_t slower = 0;
    for (size_t i = 0; i < walk->count; i++) {
        slower += walk->latency[i] > limits.slower * tiny[walk_element(walk, i) % TINY_WORDS] + 10;
    }
    return slower;
}

/*
 * Chooses the circle that is all hits. A cache of less than 1 KiB has loads that are slower in a
 * circle of 1 KiB than in one of 64 B, though at different words each time. A word that is slow in
 * both circles is no miss. What is slow now and then in both is noise.
 */
int words_choose(struct level *level, size_t *bytes)
{
    double medians[TINY_WORDS];
    struct walk small, tiny;
    *bytes = WORDS_BYTES;
    int rc = walk_circle(level, &small, level->info->op, WORDS_BYTES, 0);
    if (rc) {
        return lab_soft(rc) ? 0 : rc;
    }
    rc = walk_circle(level, &tiny, level->info->op, TINY_WORDS * CHASE_WORD_BYTES, 0);
    if (rc) {
        walk_free(&small);
        return lab_soft(rc) ? 0 : rc; /* nobody has walked the smaller circle */
    }
    rc = word_medians(medians, &tiny);
    if (rc == 0) {
        double noise = (double)count_slower(&tiny, medians);
        double most = (noise + 2 * sqrt(noise) + 2) * (double)small.count / (double)tiny.count;
        if (poisson_tail(most, count_slower(&small, medians)) < limits.by_noise_slower) {
            *bytes = TINY_WORDS * CHASE_WORD_BYTES;
        }
    }
    walk_free(&small);
    walk_free(&tiny);
    return rc;
}
