/*
 * The first experiment on a cache: is it there, what do its hits and misses look like, and how much does a
 * miss fetch? Hits are loads that circle in 1 KiB. Misses come from a walk word by word through an array that is too
 * large: there a miss must fall on the first word read of each fetch unit, and the words after it must hit. Latencies that do not
 * follow the addresses in this way (shuffled, or drowned in noise) say nothing about a cache, and then
 * nothing is concluded about it. The array grows until the pattern shows, so no size is assumed.
 */
#include "infer/level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define SMALL_BYTES 1024
#define SMALL_STRIDE 32
#define WORD_BYTES 4
#define MAX_UNIT_WORDS 2048     /* fetch units up to 8 KiB */

static int sample_hits(struct level *level, struct sample *out, const char *op)
{
    struct walk_plan plan = level_plan(
        level, (struct walk_shape){.stride = SMALL_STRIDE, .count = SMALL_BYTES / SMALL_STRIDE});
    plan.op = op;
    plan.warm = 256;
    plan.window = level->max_window < 512 ? level->max_window : 512;
    plan.windows = 8;
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    if (rc == 0) {
        rc = sample_create(out, walk.latency, walk.count);
        walk_free(&walk);
    }
    return rc;
}

/* Does the load with this level's operator come back sooner than the one that passes the cache by? */
static int check_presence(struct level *level, const struct sample *hits)
{
    struct sample beneath;
    int rc = sample_hits(level, &beneath, level->info->beneath);
    if (rc) {
        return rc;
    }
    double own = sample_quantile(hits, 0.9), other = sample_quantile(&beneath, 0.1);
    double own_median = sample_quantile(hits, 0.5), other_median = sample_quantile(&beneath, 0.5);
    sample_free(&beneath);
    if (own >= other) {
        level->result->present = false;
        return lab_undecided(level->lab, "no such cache shows: repeated loads take %.0f cycles through it, "
                             "%.0f past it", own_median, other_median);
    }
    level->result->present = true;
    return 0;
}

struct pattern { uint32_t unit_words, phase; double on_phase, covered; size_t misses; };

/* How well misses fit "one per unit of `words`, always at the same place in the unit". */
static struct pattern try_unit(const uint32_t *missed, size_t misses, const struct walk *walk,
                               uint32_t words, uint32_t *histogram)
{
    struct pattern p = {.unit_words = words, .misses = misses};
    memset(histogram, 0, words * sizeof *histogram);
    for (size_t i = 0; i < misses; i++) {
        uint32_t phase = missed[i] % words;
        histogram[phase]++;
        if (histogram[phase] > histogram[p.phase]) {
            p.phase = phase;
        }
    }
    p.on_phase = (double)histogram[p.phase] / (double)misses;
    if (p.on_phase < 0.7) {
        return p;
    }
    size_t places = 0;
    for (size_t i = 0; i < walk->count; i++) {
        places += i % walk->window != 0 && walk_element(walk, i) % words == p.phase;
    }
    p.covered = places ? (double)histogram[p.phase] / (double)places : 0;
    return p;
}

/*
 * The largest unit that explains the misses of a walk word by word. Noise may put a few misses
 * elsewhere; a wrong unit misplaces every third at least. A window's first record is left out: it may
 * begin inside a unit.
 */
static bool find_unit(struct pattern *out, const struct level *level, const struct walk *walk)
{
    uint32_t *missed = malloc(walk->count * sizeof *missed);
    uint32_t *histogram = malloc(MAX_UNIT_WORDS * sizeof *histogram);
    size_t misses = 0;
    bool found = false;
    for (size_t i = 0; missed && histogram && i < walk->count; i++) {
        if (i % walk->window != 0 && level_class(level, walk->latency[i]) == LOAD_MISS) {
            missed[misses++] = (uint32_t)walk_element(walk, i);
        }
    }
    if (misses >= 6) {
        double noise = fmin(0.25, fmax(0.05, 3.0 / (double)misses));
        for (uint32_t unit = MAX_UNIT_WORDS; unit >= 2 && !found; unit--) {
            if ((uint64_t)unit * 4 <= walk->window) {
                *out = try_unit(missed, misses, walk, unit, histogram);
                found = out->on_phase >= 1 - noise && out->covered >= 0.5;
            }
        }
    }
    free(missed);
    free(histogram);
    return found;
}

/* Set threshold, ceiling and medians from the hits and from the latencies of a walk that should miss. */
static int separate(struct level *level, bool *apart, const struct sample *hits,
                    const struct walk *walk)
{
    struct sample walked = {0}, both = {0};
    int rc = sample_create(&walked, walk->latency, walk->count);
    rc = rc ? rc : sample_join(&both, hits, &walked);
    *apart = false;
    if (rc == 0) {
        /* What is far above everything else is an interruption, not a class. */
        double ceiling = 3 * fmax(sample_quantile(&walked, 0.99), sample_quantile(hits, 0.5));
        double spread = sample_quantile(hits, 0.9) - sample_quantile(hits, 0.1);
        double floor_cycles = sample_quantile(hits, 0.9) + spread;
        struct sample upper = sample_view(&walked, floor_cycles, ceiling);
        double threshold;
        if (upper.count >= 6 && sample_split(&threshold, &both, ceiling, 0.002) &&
            threshold >= sample_quantile(hits, 0.9)) {
            struct sample lower = sample_view(&both, -1, threshold);
            upper = sample_view(&walked, threshold, ceiling);
            level->threshold = threshold;
            level->hit_cycles = sample_quantile(&lower, 0.5);
            level->miss_cycles = sample_quantile(&upper, 0.5);
            double high = sample_quantile(&upper, 0.9);
            level->ceiling = high + fmax(high - threshold, 0.5 * level->miss_cycles);
            *apart = upper.count >= 6;
        }
    }
    sample_free(&walked);
    sample_free(&both);
    return rc;
}

static void finish(struct level *level, const struct pattern *pattern, const struct sample *hits,
                   uint64_t bytes)
{
    level->fetch_bytes = pattern->unit_words * WORD_BYTES;
    level->hit_records = hits->count;
    level->false_misses = (uint64_t)(sample_share(hits, level->threshold, level->ceiling) *
                                     (double)hits->count + 0.5);
    lab_evidence(level->lab, level->reference, level->info->id,
                 "chase op=%s: %d B circled in %.0f cycles; a walk word by word through %llu B after touching all of it "
                 "misses (%.0f cycles, threshold %.0f) %zu times, %.1f %% of them at the same word of each %u B, where "
                 "%.0f %% miss; false misses %.2g",
                 level->info->op, SMALL_BYTES, level->hit_cycles, (unsigned long long)bytes,
                 level->miss_cycles, level->threshold, pattern->misses, 100 * pattern->on_phase,
                 level->fetch_bytes, 100 * pattern->covered,
                 (double)level->false_misses / (double)level->hit_records);
    double confidence = 0.8 + 0.19 * fmin(1, (double)pattern->misses / 16) *
                        (pattern->on_phase > 0.95 ? 1 : 0.5);
    level->result->present = true;
    attribute_set(&level->result->fetch_granularity, level->fetch_bytes, "B", confidence,
                  level->reference);
}

static int walk_words(struct level *level, struct walk *walk, uint64_t bytes)
{
    struct walk_plan plan = level_plan(
        level, (struct walk_shape){.stride = WORD_BYTES, .count = bytes / WORD_BYTES});
    plan.touch = true;
    plan.window = level->max_window < 2048 ? level->max_window : 2048;
    plan.windows = 2;
    plan.spread = true;
    return walk_run(level->lab, walk, &plan);
}

/* Grow the array until misses show where a fetch unit begins. */
static int find_misses(struct level *level, const struct sample *hits)
{
    uint64_t limit = level->lab->options->max_footprint_bytes;
    bool apart_once = false;
    for (uint64_t bytes = 16384; bytes <= limit && bytes <= UINT64_C(1) << 30; bytes *= 4) {
        struct walk walk;
        struct pattern pattern;
        bool apart;
        int rc = walk_words(level, &walk, bytes);
        if (rc) {
            return rc;
        }
        rc = separate(level, &apart, hits, &walk);
        bool found = rc == 0 && apart && find_unit(&pattern, level, &walk);
        walk_free(&walk);
        if (rc) {
            return rc;
        }
        if (found) {
            finish(level, &pattern, hits, bytes);
            return 0;
        }
        apart_once = apart_once || apart;
    }
    return lab_undecided(level->lab, apart_once ?
                         "latencies do not follow the addresses: slow loads are not where a unit of fetching begins" :
                         "no two classes of latency: hits and misses cannot be told apart");
}

int level_reference(struct level *level)
{
    struct sample hits;
    int rc = sample_hits(level, &hits, level->info->op);
    if (rc) {
        return rc;
    }
    level->hit_cycles = sample_quantile(&hits, 0.5);
    if (level->info->beneath[0]) {
        rc = check_presence(level, &hits);
    }
    rc = rc ? rc : find_misses(level, &hits);
    sample_free(&hits);
    return rc;
}
