/*
 * How the examination of a cache begins, by the way its path leads to it: a cache behind another
 * that no load passes by (behind/behind.c), local memory (interleaved.c), any other (reference.c).
 *
 * Where noise adds as much to a load as a miss takes, single loads tell nothing. Noise makes loads
 * slower, and never sooner: of some walks alike, the least that each load takes has little of it.
 * So what noise hid is asked once more by such walks, of caches in front of the outermost one,
 * whose walks are short. A cache that draws its victims misses elsewhere in each of them: what is
 * told of it by that many is less sure.
 */
#include "infer/behind/behind.h"
#include "infer/experiments.h"
#include "infer/presence/presence.h"
#include "infer/presence/words.h"

#include <math.h>
#include <string.h>

/* Thresholds. Chosen. */
static const struct {
    uint32_t repeats[2];
    double tail, noise_cycles, sure;
} limits = {
    .repeats = {3, 5}, /* walks, of which the least counts: as many as it takes */
    .tail = 0.02,      /* share of the hits: strays and ports */
    .noise_cycles = 2, /* by which the others differ where there is noise */
    .sure = 0.85,      /* confidence of a structure that such walks tell */
};

static int begin_once(struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    if (level->info->behind[0]) {
        return behind_begin(level);
    }
    bool apart = path && path->interleave > 1;
    int rc = apart ? reference_interleaved(level) : reference_by_words(level);
    return rc == 0 && (apart || path_is_apart(level)) ? level_find_same(level) : rc;
}

/* Do hits of the path differ, of a cache whose walks may be repeated? */
static int is_noisy(struct level *level, bool *noisy)
{
    const struct path_info *path = path_find(level->info->op);
    struct sample hits;
    bool hidden = level->info->behind[0] && !(level->front && level->front->known);
    *noisy = false;
    bool dear = level->outermost || !path || path->interleave > 1;
    if (dear || level->repeats || hidden) {
        return 0;
    }
    int rc = words_sample(level, &hits, level->info->op, WORDS_BYTES, 0);
    if (rc) {
        return lab_soft(rc) ? 0 : rc;
    }
    double spread = sample_quantile(&hits, 1 - limits.tail) - sample_quantile(&hits, limits.tail);
    *noisy = spread > limits.noise_cycles;
    sample_free(&hits);
    return 0;
}

/* What was told of the level, and why not, as if nothing had been asked. */
static void forget(struct level *level)
{
    struct cache_result *r = level->result, none = {.path_interleave = r->path_interleave};
    memcpy(none.id, r->id, sizeof none.id);
    memcpy(none.scope, r->scope, sizeof none.scope);
    *r = none;
    level->timing = (struct level_timing){0};
    level->lab->why = (struct refusal){0};
}

int level_begin_repeated(struct level *level, bool *begun)
{
    const struct cache_result before = *level->result;
    const struct level_timing timing = level->timing;
    const struct refusal why = level->lab->why;
    bool noisy;
    *begun = false;
    int rc = is_noisy(level, &noisy);
    if (rc || !noisy) {
        return rc;
    }
    for (size_t i = 0;
         (rc == 0 || lab_soft(rc)) && !*begun && i < sizeof limits.repeats / sizeof *limits.repeats;
         i++) {
        forget(level);
        level->repeats = limits.repeats[i];
        rc = begin_once(level);
        *begun = rc == 0;
    }
    if (rc && lab_soft(rc)) {
        *level->result = before;
        level->timing = timing;
        level->lab->why = why;
        level->repeats = 0;
        rc = 0;
    }
    return rc;
}

void level_doubt_repeated(struct level *level)
{
    struct cache_result *r = level->result;
    struct attribute *told[] = {&r->size, &r->ways, &r->sets, &r->line};
    if (!level->repeats) {
        return;
    }
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        told[i]->confidence = fmin(told[i]->confidence, limits.sure);
    }
    r->index.confidence = fmin(r->index.confidence, limits.sure);
    r->policy.confidence = fmin(r->policy.confidence, limits.sure);
}

int level_begin(struct level *level)
{
    bool begun = false;
    int rc = begin_once(level);
    if (rc != INFER_UNDECIDED || level->lab->why.status == ATTRIBUTE_ABSENT) {
        return rc;
    }
    int again = level_begin_repeated(level, &begun);
    return again ? again : begun ? 0 : rc;
}
