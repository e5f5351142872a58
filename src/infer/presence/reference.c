/*
 * The first experiment on a cache: is it there, how long do its hits and misses take, and how much
 * does a miss fetch?
 *
 * Loads that circle in 1 KiB are hits. A walk word by word through an array that is too large has
 * misses. A miss must fall on the first word read of each fetch unit, and the words after it must
 * hit. A word that is slow even in the circle of 1 KiB (the width of a port, a bank) is no miss.
 * Latencies that do not follow the addresses in this way (shuffled, or lost in noise) decide
 * nothing. The array grows until the misses follow fetch units, so no size is assumed.
 */
#include "infer/presence/presence.h"
#include "infer/presence/unread.h"
#include "infer/presence/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind) and models with small caches, where a member
 * does not say that it was chosen. */
static const struct {
    unsigned small_bytes, first_bytes, least_units, few, records, max_disorder, max_unit_words,
        least_delayed, many, again, alike_cycles;
    double covered, drawn, together, clearly, by_noise, alike, hit_share, by_itself, anywhere;
    uint64_t cheap_bytes, largest_cache, most_repeated;
} limits = {
    .small_bytes = WORDS_BYTES, /* bytes: most caches hold so many */
    .first_bytes = 16384,       /* bytes: the first array that is too large for small caches */
    .least_units = 16,          /* fetch units in a smaller array */
    .clearly = 1.15,            /* times as long as next to all hits take: no hit */
    .by_noise = 1e-7,           /* chance: less likely is no noise */
    .anywhere = 0.01, /* chance: that often loads at any word begin so many units. Chosen */
    .few = 50,        /* loads: one in so many makes no class */
    .records = 2048,  /* loads of a window. Chosen */
    .covered = 0.5,   /* share of the units that miss where they begin */
    .drawn =
        0.35, /* the same of many: a cache that draws its victims keeps half of twice its size */
    .together = 0.02, /* share of the misses: fewer fall on both halves of a unit by noise. Of units
                         that miss by themselves, so many of them, far more do. Chosen */
    .many = 64,       /* misses. Chosen */
    .cheap_bytes =
        UINT64_C(4) << 20, /* bytes: a larger array is dear to lay out word by word. Chosen */
    .max_disorder = 3,     /* arrays whose latencies do not follow the addresses. Chosen */
    .largest_cache = UINT64_C(64) << 20, /* bytes: larger caches are not looked for. Chosen */
    .most_repeated =
        UINT64_C(1) << 20, /* bytes that are walked a few times: first levels hold less. Chosen */
    .alike = 0.2,          /* share of the median: spread of loads that all take the same. Chosen */
    .hit_share =
        0.98,   /* share of the loads circling in 1 KiB that are hits for certain: noise is less */
    .again = 3, /* times that circle and arrays are walked again. Chosen */
    .alike_cycles = 2,      /* by which hits differ where other work delays none. Chosen */
    .by_itself = 0.004,     /* share of the loads circling: that many are slow by themselves */
    .least_delayed = 4,     /* loads: fewer make no class. Chosen */
    .max_unit_words = 2048, /* words: fetch units up to 8 KiB. Chosen */
};
enum { MOST_THRESHOLDS = 31 }; /* hits of many slices lie apart below that of misses */
enum { LOOK_STRIDE = 128 };    /* bytes: of the first walk of a large array */
/* Where misses showed; the words around the bytes of the array that is told. */
static const struct place {
    const char *before, *behind;
} touched = {"", " after touching all of it"},
  unread_beside = {"blocks that nobody has read, beside ", " of which most miss,"},
  unread_alone = {"blocks that nobody has read, beside less than ", " that fit,"};

struct pattern {
    uint32_t unit_words, phase;
    double on_phase, covered;
    size_t misses;
};

/* What one walk showed. */
struct trial {
    bool apart, found, disorder;
    struct pattern pattern;
};

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
 * What the cache in front has of a unit is not asked of this one, and then the unit's second half
 * begins the miss. So misses follow halves, and no unit misses at both of them in turn: each has
 * come as a whole.
 */
static bool are_halves(const uint32_t *missed, size_t misses, uint32_t unit)
{
    size_t together = 0;
    for (size_t i = 1; i < misses; i++) {
        together +=
            missed[i] != missed[i - 1] && missed[i] / (2 * unit) == missed[i - 1] / (2 * unit);
    }
    return misses >= limits.many && (double)together < limits.together * (double)misses;
}

/*
 * The largest unit that explains the misses of a walk word by word. Noise may put a few misses
 * elsewhere. A wrong unit puts at least every third miss at the wrong place. The first record of a
 * window is left out: it may begin inside a unit.
 */
static bool find_unit(struct pattern *out, const struct level *level, const struct walk *walk,
                      double false_share)
{
    uint32_t *missed = malloc(walk->count * sizeof *missed);
    uint32_t *histogram = malloc(limits.max_unit_words * sizeof *histogram);
    size_t misses = 0;
    bool found = false;
    for (size_t i = 0; missed && histogram && i < walk->count; i++) {
        if (i % walk->window != 0 && level_class(level, walk->latency[i]) == LOAD_MISS) {
            missed[misses++] = (uint32_t)walk_element(walk, i);
        }
    }
    if (misses >= 6) {
        double false_misses = false_share * (double)walk->count;
        false_misses += 3 * sqrt(false_misses) + 3;
        double noise = fmin(0.25, fmax(0.05, false_misses / (double)misses));
        for (uint32_t unit = limits.max_unit_words; unit >= 2 && !found; unit--) {
            if ((uint64_t)unit * 4 <= walk->window) {
                *out = try_unit(missed, misses, walk, unit, histogram);
                double covered = misses < limits.many ? limits.covered : limits.drawn;
                found = out->on_phase >= 1 - noise && out->covered >= covered;
            }
        }
        uint32_t whole = 2 * out->unit_words;
        if (found && level->front && whole <= limits.max_unit_words &&
            are_halves(missed, misses, out->unit_words)) {
            struct pattern both = try_unit(missed, misses, walk, whole, histogram);
            *out = both.covered > 0 ? both : *out;
        }
    }
    free(missed);
    free(histogram);
    return found;
}

void reference_misses(struct level *level, const struct sample *misses)
{
    struct level_timing *timing = &level->timing;
    struct attribute median = {0};
    double high = sample_quantile(misses, 0.9);
    sample_bound_median(&median, misses);
    timing->miss_cycles = sample_quantile(misses, 0.5);
    timing->miss_low = median.low;
    timing->miss_high = median.high;
    timing->miss_between = (sample_quantile(misses, 0.25) + sample_quantile(misses, 0.75)) / 2;
    timing->ceiling = high + fmax(high - timing->threshold, 0.5 * timing->miss_cycles);
}

/* Take `threshold` for this level. False when next to nothing is slower. */
static bool set_threshold(struct level *level, double threshold, const struct sample *both,
                          const struct sample *walked, double ceiling)
{
    struct sample lower = sample_view(both, -1, threshold);
    struct sample upper = sample_view(walked, threshold, ceiling);
    level->timing.threshold = threshold;
    level->timing.hit_cycles = sample_quantile(&lower, 0.5);
    reference_misses(level, &upper);
    return upper.count >= 6;
}

/*
 * Are slow and fast records in no order at all? Then neighbours are alike as often as by chance.
 * Words of one line that all come from a farther place are alike far more often. A miss at the
 * first word of every unit makes them alike less often.
 */
static bool without_order(const struct level *level, const struct walk *walk)
{
    double slow = 0, alike = 0, pairs = 0;
    bool before = false;
    for (size_t i = 0; i < walk->count; i++) {
        bool now = walk->latency[i] > level->timing.threshold;
        slow += now;
        if (i % walk->window != 0) {
            alike += now == before;
            pairs++;
        }
        before = now;
    }
    double share = slow / (double)walk->count;
    double expected = share * share + (1 - share) * (1 - share);
    double error = sqrt(fmax(expected * (1 - expected), 1e-6) / fmax(pairs, 1));
    return share > 0.02 && fabs(alike / fmax(pairs, 1) - expected) < 5 * error;
}

/*
 * A threshold above the latency of what the cache in front misses. Where the walk misses this cache
 * as well, or not at all, the threshold may fall below. Then it goes halfway from there to the
 * slower loads.
 */
static double above_floor(const struct level *level, double threshold, const struct sample *walked,
                          double ceiling)
{
    struct sample slow = sample_view(walked, level->timing.floor_cycles, ceiling);
    struct sample between = sample_view(walked, threshold, level->timing.floor_cycles);
    bool below = threshold < level->timing.floor_cycles && between.count * limits.few < slow.count;
    return below ? 0.5 * (level->timing.floor_cycles + sample_quantile(&slow, 0.02)) : threshold;
}

/*
 * A threshold below the latency of loads that pass the cache by. Where every miss of a walk goes
 * farther than to the next level, the middle of the gap lies beyond that latency. If nothing lies
 * between, the threshold goes halfway from the hits to the next level.
 */
static double below_beneath(const struct level *level, double threshold,
                            const struct sample *walked)
{
    if (threshold <= level->timing.beneath_cycles) {
        return threshold;
    }
    struct sample fast = sample_view(walked, -1, threshold);
    double middle = 0.5 * (sample_quantile(&fast, limits.hit_share) + level->timing.beneath_cycles);
    struct sample between = sample_view(walked, middle, threshold);
    struct sample slow = sample_view(walked, threshold, INFINITY);
    return between.count * 2 < slow.count && middle < level->timing.beneath_cycles ? middle
                                                                                   : threshold;
}

/*
 * Nearly all loads that miss here may miss the next level, too. The few that hit it lie under a
 * threshold between those two. They are slower than hits and begin fetch units, as misses do, more
 * often than noise does. Then the threshold goes below them. Not behind a cache of the same unit:
 * whatever it misses begins one, with and without noise.
 */
static int lower_threshold(struct level *level, bool *lowered, const struct pattern *pattern,
                           const struct sample *hits, const struct walk *walk)
{
    double fast =
        fmax(limits.clearly * sample_quantile(hits, limits.hit_share), level->timing.floor_cycles);
    uint32_t *begin = malloc((walk->count + 1) * sizeof *begin);
    size_t count = 0, begin_count = 0;
    *lowered = false;
    if (level->front &&
        pattern->unit_words * CHASE_WORD_BYTES <= level->front->timing.fetch_bytes) {
        free(begin);
        return 0;
    }
    if (!begin) {
        return error_memory();
    }
    for (size_t i = 0; i < walk->count; i++) {
        bool between = walk->latency[i] > fast && walk->latency[i] <= level->timing.threshold;
        if (i % walk->window != 0 && between) {
            begin[begin_count] = walk->latency[i];
            begin_count += walk_element(walk, i) % pattern->unit_words == pattern->phase;
            count++;
        }
    }
    double chance = binomial_tail(count, 1.0 / pattern->unit_words, begin_count);
    struct sample sooner = {0};
    int rc = 0;
    if (begin_count >= 6 && 2 * begin_count > count && chance < limits.by_noise) {
        rc = sample_create(&sooner, begin, begin_count);
        level->timing.threshold =
            rc ? level->timing.threshold : 0.5 * (fast + sample_quantile(&sooner, 0.1));
        *lowered = rc == 0;
    }
    sample_free(&sooner);
    free(begin);
    return rc;
}

/*
 * Loads that circle and are slow as often as those of the walk are slow whatever they read: now and
 * then a load takes a little longer. That is no class of misses.
 */
static bool slow_by_itself(const struct sample *hits, const struct sample *walked, double threshold,
                           double ceiling)
{
    double of_hits = sample_share(hits, threshold, ceiling);
    double error = sqrt(of_hits / (double)hits->count + 1e-9);
    return of_hits > limits.by_itself &&
           sample_share(walked, threshold, ceiling) < 2 * of_hits + 3 * error;
}

/* A walk word by word, the latencies of hits, of the walk, and of both, and the slowest that count.
 */
struct classes {
    const struct walk *walk;
    const struct sample *hits, *walked, *both;
    double ceiling;
};

/* The share of hits that the threshold takes for misses. */
static double false_share(const struct level *level, const struct sample *hits)
{
    return sample_share(hits, level->timing.threshold, level->timing.ceiling);
}

/*
 * Two classes may lie above a threshold, and the lower one begin fetch units no more often than
 * loads at any word do: hits that something else delays. The threshold goes above it, where the
 * rest still follows the same units.
 */
static void raise_threshold(struct level *level, struct pattern *pattern, const double *higher,
                            size_t count, const struct classes *c)
{
    const struct level_timing before = level->timing;
    for (size_t j = 0; j < count; j++) {
        struct pattern next = {0};
        size_t delayed = 0, begin = 0;
        for (size_t i = 0; i < c->walk->count; i++) {
            uint32_t cycles = c->walk->latency[i];
            if (i % c->walk->window != 0 && cycles > before.threshold && cycles <= higher[j]) {
                begin += walk_element(c->walk, i) % pattern->unit_words == pattern->phase;
                delayed++;
            }
        }
        if (delayed < limits.least_delayed || 2 * begin > delayed ||
            binomial_tail(delayed, 1.0 / pattern->unit_words, begin) < limits.anywhere) {
            continue;
        }
        if (set_threshold(level, higher[j], c->both, c->walked, c->ceiling) &&
            find_unit(&next, level, c->walk, false_share(level, c->hits)) &&
            next.unit_words == pattern->unit_words && next.phase == pattern->phase) {
            *pattern = next;
            return;
        }
        level->timing = before;
    }
}

/*
 * Finds the lowest threshold that explains the walk: records above it lie where fetch units begin.
 * A cache with near and far parts has more than two classes, and the lower ones are all hits.
 */
static int try_thresholds(struct level *level, struct trial *trial, const struct classes *c,
                          double *thresholds, size_t count)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count && !trial->found; i++) {
        double at = above_floor(level, thresholds[i], c->walked, c->ceiling);
        at = below_beneath(level, at, c->walked);
        if (at < sample_quantile(c->hits, limits.hit_share) || at < level->timing.floor_cycles ||
            at > level->timing.beneath_cycles ||
            slow_by_itself(c->hits, c->walked, at, c->ceiling) ||
            !set_threshold(level, at, c->both, c->walked, c->ceiling)) {
            continue;
        }
        trial->apart = true;
        trial->found = (c->walk->shape.ring || c->walk->shape.stride == CHASE_WORD_BYTES) &&
                       find_unit(&trial->pattern, level, c->walk, false_share(level, c->hits));
        if (trial->found) {
            raise_threshold(level, &trial->pattern, thresholds + i + 1, count - i - 1, c);
            bool lowered = false;
            rc = lower_threshold(level, &lowered, &trial->pattern, c->hits, c->walk);
            if (lowered) {
                set_threshold(level, level->timing.threshold, c->both, c->walked, c->ceiling);
            }
        }
        trial->disorder = trial->disorder || (!trial->found && without_order(level, c->walk));
    }
    return rc;
}

static int separate(struct level *level, struct trial *trial, const struct sample *hits,
                    const struct walk *walk)
{
    struct sample walked = {0}, both = {0};
    int rc = sample_create(&walked, walk->latency, walk->count);
    rc = rc ? rc : sample_join(&both, hits, &walked);
    if (rc == 0) {
        /* What is far above everything else is an interruption, not a class. */
        double ceiling = 3 * fmax(sample_quantile(&walked, 0.99), sample_quantile(hits, 0.5));
        struct sample plain = sample_view(&both, -1, ceiling);
        double thresholds[MOST_THRESHOLDS];
        size_t count = sample_thresholds(thresholds, MOST_THRESHOLDS, &plain);
        const struct classes c = {walk, hits, &walked, &both, ceiling};
        rc = try_thresholds(level, trial, &c, thresholds, count);
    }
    sample_free(&walked);
    sample_free(&both);
    return rc;
}

/* The circle that is all hits, and the largest array walked word by word: latencies of their loads.
 */
struct circle {
    size_t bytes;
    struct sample hits, walked;
    uint64_t walked_bytes;
    uint32_t run; /* tells walks of the same arrays apart */
};

static void finish(struct level *level, const struct pattern *pattern, const struct circle *circle,
                   const struct place *place, uint64_t bytes)
{
    level->timing.missed_bytes = bytes;
    level->timing.fetch_bytes = pattern->unit_words * CHASE_WORD_BYTES;
    level->timing.hit_records = circle->hits.count;
    level->timing.false_misses =
        (uint64_t)(sample_share(&circle->hits, level->timing.threshold, level->timing.ceiling) *
                       (double)circle->hits.count +
                   0.5);
    level->timing.false_slow =
        (uint64_t)(sample_share(&circle->hits, level->timing.threshold, INFINITY) *
                       (double)circle->hits.count +
                   0.5);
    lab_evidence(
        level->lab, level->timing.evidence, level->info->id,
        "chase op=%s: %zu B circled in %.0f cycles; a walk word by word through %s%llu B%s "
        "misses (%.0f cycles, threshold %.0f) %zu times, %.1f %% of them at the same word "
        "of each %u B, where "
        "%.0f %% miss; false misses %.2g",
        level->info->op, circle->bytes, level->timing.hit_cycles, place->before,
        (unsigned long long)bytes, place->behind, level->timing.miss_cycles,
        level->timing.threshold, pattern->misses, 100 * pattern->on_phase,
        level->timing.fetch_bytes, 100 * pattern->covered,
        (double)level->timing.false_misses / (double)level->timing.hit_records);
    double confidence =
        0.8 + 0.19 * fmin(1, (double)pattern->misses / 16) * (pattern->on_phase > 0.95 ? 1 : 0.5);
    level->result->present = true;
    attribute_set(&level->result->fetch_granularity, level->timing.fetch_bytes, "B", confidence,
                  level->timing.evidence);
}

/* All of the array is touched before each window: of a large one as seldom as can be where loads
 * are dear, and of that no more than the walk asks for where its elements are lines apart. */
static int walk_array(struct level *level, struct walk *walk, uint64_t bytes, uint64_t stride,
                      uint32_t run)
{
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = stride, .count = (size_t)(bytes / stride)});
    bool dear = bytes > limits.cheap_bytes && level->lab->options->max_cache_loads;
    uint32_t window = dear ? 2 * limits.records : limits.records;
    plan.touch = true;
    plan.touch_stride = dear && stride == LOOK_STRIDE ? LOOK_STRIDE : 0;
    plan.window = level->max_window < window ? level->max_window : window;
    plan.windows = dear ? 1 : bytes > UINT64_C(1) << 20 ? 2 : 4;
    plan.spread = true;
    plan.run = run;
    return walk_run(level->lab, walk, &plan);
}

/* One size of array: do two classes show, and do the slow loads lie where a unit of fetching
 * begins? */
static int try_array(struct level *level, struct trial *trial, struct circle *circle,
                     uint64_t bytes, uint64_t stride)
{
    struct walk walk;
    int rc = walk_array(level, &walk, bytes, stride, circle->run);
    *trial = (struct trial){0};
    if (rc == 0) {
        rc = separate(level, trial, &circle->hits, &walk);
        if (rc == 0 && stride == CHASE_WORD_BYTES) {
            sample_free(&circle->walked);
            circle->walked_bytes = bytes;
            rc = sample_create(&circle->walked, walk.latency, walk.count);
        }
        walk_free(&walk);
    }
    return rc;
}

/*
 * On a path of two small caches one array may miss both. Then no hit of the second one is recorded,
 * and the lowest threshold is the second one's. So arrays begin at twice the circle there, and grow
 * by a half or a third. Walks that a recording does not have are passed over.
 */
static int try_small(struct level *level, struct circle *circle, bool *found)
{
    for (uint64_t bytes = 2 * limits.small_bytes; bytes < limits.first_bytes && !*found;
         bytes = bytes % 3 ? bytes / 2 * 3 : bytes / 3 * 4) {
        struct trial trial;
        int rc = try_array(level, &trial, circle, bytes, CHASE_WORD_BYTES);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        /* Few lines of one set that is too full may lie as regularly as few units. */
        if (rc == 0 && trial.found &&
            (uint64_t)trial.pattern.unit_words * CHASE_WORD_BYTES * limits.least_units <= bytes) {
            finish(level, &trial.pattern, circle, &touched, bytes);
            *found = true;
        }
    }
    return 0;
}

/* The circle once more; the one that is kept has the sooner hits. */
static int circle_again(struct level *level, struct circle *circle)
{
    struct sample again;
    int rc = words_sample(level, &again, level->info->op, circle->bytes, circle->run);
    if (rc) {
        return rc;
    }
    if (sample_quantile(&again, limits.hit_share) <
        sample_quantile(&circle->hits, limits.hit_share)) {
        struct sample before = circle->hits;
        circle->hits = again;
        again = before;
    }
    sample_free(&again);
    return 0;
}

/*
 * Other work beside the circle, or beside the arrays, makes hits as slow as a second cache is. It
 * comes and goes: all are walked again, a few times, where hits are not alike.
 */
static int find_misses_small(struct level *level, struct circle *circle, bool *found)
{
    const struct path_info *path = path_find(level->info->op);
    if (!path || path->reach_bytes == 0) {
        return 0;
    }
    double alike = sample_quantile(&circle->hits, 0.5) + limits.alike_cycles;
    bool noisy = !level->front && sample_quantile(&circle->hits, limits.hit_share) > alike;
    int rc = try_small(level, circle, found);
    for (circle->run = 1; rc == 0 && noisy && !*found && circle->run <= limits.again;
         circle->run++) {
        rc = circle_again(level, circle);
        rc = rc ? rc : try_small(level, circle, found);
    }
    circle->run = 0;
    return lab_soft(rc) ? 0 : rc; /* a recording has them once */
}

/*
 * Every load takes the same, in the circle and in arrays of all sizes. Then no cache is there, and
 * the latency is the memory's. This needs walks through more than any cache holds. A refused walk
 * decides nothing.
 */
static int conclude_without_misses(struct level *level, const struct circle *circle,
                                   uint64_t walked_bytes)
{
    double median = sample_quantile(&circle->hits, 0.5);
    double spread = sample_quantile(&circle->hits, 0.9) - sample_quantile(&circle->hits, 0.1);
    if (!level->outermost || walked_bytes < limits.largest_cache ||
        spread > limits.alike * median) {
        return lab_undecided(level->lab,
                             "no two classes of latency: hits and misses cannot be told apart");
    }
    char id[24];
    lab_evidence(level->lab, id, "memory",
                 "chase op=%s: loads take %.0f cycles in %zu B as in %llu MiB: no cache shows",
                 level->info->op, median, circle->bytes, (unsigned long long)walked_bytes >> 20);
    attribute_set(&level->lab->out->memory_latency, median, "cycles", 0.9, id);
    return lab_absent(level->lab, "no cache shows: loads take %.0f cycles in %zu B as in %llu MiB",
                      median, circle->bytes, (unsigned long long)walked_bytes >> 20);
}

/* How long arrays are searched for misses, and what was seen of those. */
struct search {
    uint64_t walked_bytes;
    unsigned disorder;
    bool apart;
    bool asked_unread;
    struct trial unread; /* what memory that nobody has read showed */
};

/* Misses in memory that nobody has read. */
static int try_unread(struct level *level, struct search *s, const struct circle *circle)
{
    struct unread unread;
    s->asked_unread = true;
    int rc = unread_walk(level, &unread);
    if (rc) {
        return lab_soft(rc) ? 0 : rc;
    }
    rc = separate(level, &s->unread, &circle->hits, &unread.walk);
    unread_free(&unread);
    return rc;
}

/* Does an array of so many bytes miss where fetch units begin? */
static int find_misses_in(struct level *level, struct search *s, struct circle *circle,
                          uint64_t bytes, bool *found)
{
    struct trial trial = {.apart = true};
    enum unread_array array = UNREAD_FITS;
    int rc = 0;
    if (!s->asked_unread && unread_applies(level, bytes)) {
        rc = try_unread(level, s, circle);
    }
    if (rc == 0 && s->unread.found) {
        rc = unread_array(level, &array, bytes);
    }
    if (rc == 0 && s->unread.found && array != UNREAD_REFUSED) {
        *found = array != UNREAD_FITS;
        if (*found) {
            finish(level, &s->unread.pattern, circle,
                   array == UNREAD_MISSES ? &unread_beside : &unread_alone, bytes);
        }
        return rc;
    }
    if (rc == 0 &&
        bytes >
            limits.cheap_bytes) { /* laying out a large array word by word is dear: look first */
        rc = try_array(level, &trial, circle, bytes, LOOK_STRIDE);
    }
    if (rc == 0 && trial.apart) {
        rc = try_array(level, &trial, circle, bytes, CHASE_WORD_BYTES);
    }
    *found = rc == 0 && trial.found;
    if (*found) {
        finish(level, &trial.pattern, circle, &touched, bytes);
    }
    s->apart = s->apart || trial.apart;
    s->disorder += trial.disorder;
    return rc;
}

/*
 * Loads that pass the cache by may take no longer than its hits, where some of what lies behind it
 * is nearer than others. Then no threshold lies between, in whatever array: misses of the nearest
 * lines pass for hits.
 */
static int check_room(struct level *level, const struct circle *circle)
{
    double hits = sample_quantile(&circle->hits, limits.hit_share);
    double past = level->timing.beneath_cycles;
    return past > hits ? 0
                       : lab_undecided(level->lab,
                                       "hits take up to %.0f cycles, and loads past the cache from "
                                       "%.0f on: misses of what is nearest pass for hits",
                                       hits, past);
}

/* Grow the array until misses show where a fetch unit begins. */
static int find_misses(struct level *level, struct circle *circle)
{
    uint64_t limit = level->lab->options->max_footprint_bytes;
    struct search s = {.walked_bytes = 0};
    bool found = false;
    int rc = find_misses_small(level, circle, &found);
    rc = rc || found ? rc : check_room(level, circle);
    limit = level->repeats && limit > limits.most_repeated ? limits.most_repeated : limit;
    for (uint64_t bytes = limits.first_bytes;
         rc == 0 && !found && bytes <= limit && bytes <= UINT64_C(1) << 30; bytes *= 4) {
        rc = find_misses_in(level, &s, circle, bytes, &found);
        s.walked_bytes = bytes;
        /* Of the outermost cache hits themselves may lie apart, in parts and slices: more bytes. */
        if (s.disorder >= limits.max_disorder &&
            !(level->outermost && bytes < limits.cheap_bytes)) {
            break;
        }
    }
    if (rc || found) {
        return rc;
    }
    level->timing.threshold = s.apart ? level->timing.threshold : 0;
    return s.apart
               ? lab_undecided(level->lab, "latencies do not follow the addresses: slow loads are "
                                           "not where a unit of fetching begins")
               : conclude_without_misses(level, circle, s.walked_bytes);
}

/*
 * Where the search for misses of the outermost cache ends without any, whatever ended it, nobody
 * knows whether that cache or the memory served the loads. What they took is told with the reason,
 * and is no value.
 */
static int tell_walked(struct level *level, const struct circle *circle)
{
    struct latency_class classes[INFER_MAX_LATENCIES];
    struct refusal *why = &level->lab->why;
    char id[24], text[160] = "", range[64];
    if (!level->outermost || circle->walked_bytes == 0 || !why->reason[0]) {
        return 0;
    }
    size_t count = sample_classes(classes, INFER_MAX_LATENCIES, &circle->walked), used = 0;
    for (size_t i = 0; i < count && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", %.0f cycles (%.0f %%)",
                                 classes[i].cycles, 100 * classes[i].share);
    }
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: a walk word by word through %llu KiB, of such a cache or of memory%s",
        level->info->op, (unsigned long long)circle->walked_bytes >> 10, text);
    double low = sample_quantile(&circle->walked, 0.05);
    double high = sample_quantile(&circle->walked, 0.95);
    snprintf(range, sizeof range,
             high > low ? "; loads through %llu KiB take %.0f to %.0f cycles"
                        : "; loads through %llu KiB take %.0f cycles",
             (unsigned long long)circle->walked_bytes >> 10, low, high);
    size_t length = strlen(why->reason), room = sizeof why->reason - length;
    if (strlen(range) < room) {
        snprintf(why->reason + length, room, "%s", range);
    }
    return level_saw(level, &circle->walked);
}

/* Whether the cache is there, by the circle's hits; where that found a mirror, they are in it. */
static int check_presence(struct level *level, struct circle *circle)
{
    bool before = level->timing.mirror.sum > 0;
    struct sample mirrored;
    int rc = presence_check(level, &circle->hits);
    if (rc || before || !level->timing.mirror.sum) {
        return rc;
    }
    rc = level_clock(level, &mirrored, &circle->hits);
    if (rc == 0) {
        sample_free(&circle->hits);
        circle->hits = mirrored;
        level->timing.hit_cycles = sample_quantile(&circle->hits, 0.5);
    }
    return rc;
}

int reference_by_words(struct level *level)
{
    struct circle circle = {.bytes = limits.small_bytes};
    int rc = words_choose(level, &circle.bytes);
    rc = rc ? rc : words_sample(level, &circle.hits, level->info->op, circle.bytes, 0);
    if (rc) {
        return rc;
    }
    level->timing.hit_cycles = sample_quantile(&circle.hits, 0.5);
    level->timing.beneath_cycles = INFINITY;
    if (level->info->beneath[0]) {
        rc = check_presence(level, &circle);
    }
    rc = rc ? rc : find_misses(level, &circle);
    if (lab_soft(rc)) {
        int error = tell_walked(level, &circle);
        rc = error ? error : rc;
    }
    sample_free(&circle.hits);
    sample_free(&circle.walked);
    return rc;
}
