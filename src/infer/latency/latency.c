/*
 * Latencies of a level.
 *
 *   hit_latency          the median of a fine-grained record as in Mei and Chu (2014), from clock
 *                        to clock around the load and the store of its result; it contains both
 *                        clock reads and that store
 *   load_to_use_latency  an untimed dependent chain, divided by its length
 *   miss_penalty         what a miss takes longer than a hit, through the same operator
 */
#include "infer/experiments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Chosen, where a member does not say what fixed it. */
static const struct {
    uint64_t far_bytes;
    double exact, rounded, translated, sure, unsure, broad, even, agree, agree_beside, on_top,
        far_times, recorded, valley, sooner;
    unsigned few, again, misses_again, far_cycles, fewest_classed, chained;
    uint64_t cheap;
} limits = {
    .sure = 0.93,   /* confidence of a miss whose median is told by many loads */
    .unsure = 0.85, /* the same, where another dissection may find another */
    .broad = 0.15,  /* share of a miss that its middle quarter spreads over: by an H200, where ten
                       dissections agree on L1's (0.09) and not on L2's (0.26) */
    .agree = 0.03,  /* share of a miss by which two walks differ that agree */
    .agree_beside =
        0.015,      /* the same where hits are not alike: other work may have slowed one. Chosen */
    .on_top = 0.85, /* times a miss: what it takes at least without that of translation */
    .even = 0.02,   /* share of a hit that the middle half of the hits spreads over */
    .far_times = 1.25, /* times a load past the cache, and */
    .far_cycles = 20,  /* cycles more: farther than any slice of L2 is from another. Chosen */
    .again = 2,        /* samples more, where it is not so */
    .misses_again = 4, /* samples of misses more, where there is noise: longer than other work of
                          blind trials takes at a time */
    .cheap = 20000,    /* loads of a sample that is taken again. Chosen */
    .chained = 1024,   /* loads of a chain */
    .exact = 0.25,     /* cycles that an untimed chain may take longer, by its first loads */
    .valley = 0.1,  /* share of misses between near and far ones; of one hump a quarter. Chosen */
    .sooner = 0.98, /* times a miss that is surely another. Chosen */
    .recorded = 3,  /* cycles that a timed hit takes longer than an untimed one, at most: of 282
                       caches of blind trials without noise 2.7 */
    .rounded = 1,   /* cycles of a mean that hits and an untimed chain may differ by */
    .few = 16,      /* misses: the walk of the reference tells as much */
    .fewest_classed = 200, /* misses whose classes are told. As patterns.c's */
    .translated = 0.6,     /* confidence of a miss where walks miss translation as well */
    .far_bytes = UINT64_C(256) << 20, /* bytes: far more than a large cache holds */
};

/* Windows spread over an array, warmed by ordered loads when it is short, else by all threads. */
static int sample_walks(struct level *level, struct sample *out, struct walk_shape shape,
                        unsigned run, uint32_t repeats)
{
    struct walk_plan plan = level_plan(level, shape);
    plan.run = run;
    plan.repeats = repeats;
    plan.touch = shape.count > 4096;
    plan.warm = plan.touch ? 0 : shape.count;
    uint32_t window = plan.touch ? 1024 : 256;
    plan.window = level->max_window < window ? level->max_window : window;
    plan.windows = plan.touch ? 2 : 8;
    plan.spread = true;
    return walk_sample(level->lab, out, &plan);
}

static int sample_walk(struct level *level, struct sample *out, struct walk_shape shape,
                       unsigned run)
{
    return sample_walks(level, out, shape, run, level->repeats);
}

/*
 * What surely fits: half of the elements that did, at most 2048; 4 MiB where tens of megabytes fit.
 * Behind another cache it is all that fit, for the cache in front may keep half of them.
 */
static struct walk_shape safe_shape(const struct level *level)
{
    if (level->front && level->fit.count) {
        return (struct walk_shape){.stride = level->fit.stride, .count = level->fit.count};
    }
    if (level->large) {
        return (struct walk_shape){.stride = 128, .count = 32768};
    }
    if (level->fit.count < 4) {
        uint32_t interleave = path_find(level->info->op)->interleave;
        return (struct walk_shape){.stride = 32 / interleave < 4 ? 4 : 32 / interleave,
                                   .count = interleave > 1 ? 8 : 32};
    }
    size_t count = level->fit.count / 2 < 2048 ? level->fit.count / 2 : 2048;
    return (struct walk_shape){.stride = level->fit.stride, .count = count};
}

static double spread_of(const struct sample *sample)
{
    return (sample_quantile(sample, 0.75) - sample_quantile(sample, 0.25)) /
           sample_quantile(sample, 0.5);
}

/* By the clock, that is: in the mirror the later of two is the sooner one. */
static bool is_sooner(const struct level *level, double cycles, double than)
{
    return level_cycles(level, cycles) < level_cycles(level, than);
}

/* Other work may have slowed most loads of a sample that is not even: some time later it has not.
 */
static int sample_again(struct level *level, struct sample *all, struct walk_shape shape)
{
    unsigned most = level->outermost ? limits.again : limits.misses_again;
    for (unsigned run = 1; run <= most && spread_of(all) >= limits.even; run++) {
        struct sample later;
        int rc = sample_walk(level, &later, shape, run);
        if (rc) {
            return lab_soft(rc) ? 0 : rc;
        }
        bool sooner = is_sooner(level, sample_quantile(&later, 0.5), sample_quantile(all, 0.5));
        sample_free(sooner ? all : &later);
        *all = sooner ? later : *all;
    }
    return 0;
}

/*
 * Of walks that are repeated the least counts, which has less noise than a hit has. So what hits
 * take is told of single walks of the same elements, which fit.
 */
static int single_hits(struct level *level, struct sample *hits, struct sample *all,
                       struct walk_shape shape)
{
    struct sample single;
    if (level->repeats <= 1 || level->front) {
        return 0;
    }
    int rc = sample_walks(level, &single, shape, 0, 1);
    if (rc == 0) {
        sample_free(all);
        *all = single;
        *hits = sample_view(all, -1, level->timing.ceiling);
    }
    return rc;
}

/* Of loads that fit those that the cache in front did not answer, nor what lies behind. */
static struct sample hits_of(const struct level *level, const struct sample *all)
{
    double sooner = level->front ? level->front->timing.threshold : -1;
    return sample_view(all, sooner, level->timing.threshold);
}

/*
 * Lines of a cache behind another may be so long that the one in front keeps most of the array when
 * one word of each is read. Then each unit of fetching is.
 */
static int sample_finely(struct level *level, struct sample *all, struct walk_shape *shape)
{
    uint32_t fetch = level->timing.fetch_bytes;
    if (!level->front || shape->stride <= fetch || hits_of(level, all).count * 2 >= all->count) {
        return 0;
    }
    sample_free(all);
    *all = (struct sample){0};
    *shape = (struct walk_shape){.stride = fetch, .count = shape->count * (shape->stride / fetch)};
    return sample_walk(level, all, *shape, 0);
}

int level_latency(struct level *level)
{
    if (level->hides_nearer) {
        return lab_undecided(level->lab, "hits are of two caches that noise does not tell apart");
    }
    struct sample all;
    struct walk_shape shape = safe_shape(level);
    int rc = sample_walk(level, &all, shape, 0);
    if (rc) {
        return rc;
    }
    rc = sample_finely(level, &all, &shape);
    rc = rc ? rc : sample_again(level, &all, shape);
    if (rc) {
        sample_free(&all);
        return rc;
    }
    struct sample hits = hits_of(level, &all);
    if (hits.count * 2 < all.count) {
        sample_free(&all);
        return lab_undecided(level->lab, "an array that fits missed in most loads");
    }
    level->circled_cycles = level->timing.hit_cycles;
    level->timing.hit_cycles = sample_quantile(&hits, 0.5);
    struct sample clock;
    rc = single_hits(level, &hits, &all, shape);
    rc = rc ? rc : level_clock(level, &clock, &hits);
    if (rc) {
        sample_free(&all);
        return rc;
    }
    level->result->latency_count =
        sample_classes(level->result->latencies, INFER_MAX_LATENCIES, &clock);
    double spread = spread_of(&clock), cycles = sample_quantile(&clock, 0.5);
    level->uneven = spread > 0;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s through %zu elements at stride %llu: %zu hits, median %.0f cycles, 5 "
                 "%% %.0f, 95 %% %.0f",
                 level->info->op, shape.count, (unsigned long long)shape.stride, hits.count, cycles,
                 sample_quantile(&clock, 0.05), sample_quantile(&clock, 0.95));
    attribute_set(&level->result->hit_latency, cycles, "cycles", spread < limits.even ? 0.98 : 0.92,
                  id);
    sample_bound_median(&level->result->hit_latency, &clock);
    sample_free(&clock);
    rc = level_saw(level, &all);
    sample_free(&all);
    return rc;
}

bool chain_applies(const struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    if (!path || !path->can_chain) {
        lab_undecided(level->lab, "the probe for untimed chains has no such path");
    }
    return path && path->can_chain;
}

/* An untimed chain through elements that fit: *median of five, and the least and the most. */
static int time_chain(struct level *level, double *median, double ends[2], struct walk_shape shape)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    uint64_t bytes = shape.count * shape.stride;
    trace_request_init(&request, "average");
    int rc = trace_request_set_text(&request, "op", level->info->op);
    rc = rc ? rc : trace_request_set_u64(&request, "bytes", bytes);
    rc = rc ? rc : trace_request_set_u64(&request, "stride", shape.stride);
    rc = rc ? rc : trace_request_set_u64(&request, "loads", limits.chained);
    rc = rc ? rc : trace_request_set_u64(&request, "warm", 2 * shape.count);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", 5);
    if (rc == 0 && level->info->shared_bytes) {
        rc = trace_request_set_u64(&request, "shared", level->info->shared_bytes);
    }
    rc = rc ? rc : lab_measure(level->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    size_t count, counted;
    const double *cycles = trace_f64(trace, "cycles", &count);
    const double *timed = trace_f64(trace, "loads", &counted);
    if (!cycles || !timed || count == 0 || count != counted || count > 64) {
        return lab_undecided(level->lab, "an average trace lacks columns");
    }
    level->lab->loads += 2 * limits.chained * count;
    double each[64];
    for (size_t i = 0; i < count; i++) {
        each[i] = timed[i] > 0 ? cycles[i] / timed[i] : NAN;
    }
    sort_double(each, count);
    *median = each[count / 2];
    ends[0] = each[0];
    ends[1] = each[count - 1];
    return 0;
}

/* What timed loads take in the mean, each with its record: no untimed one that hits takes longer.
 */
static double mean_of_hits(const struct level *level)
{
    double sum = 0;
    for (size_t i = 0; i < level->result->latency_count; i++) {
        sum += level->result->latencies[i].share * level->result->latencies[i].cycles;
    }
    return level->result->latency_count ? sum : INFINITY;
}

/*
 * Hits that take far longer than any untimed chain of them, where that is no longer than those that
 * circled in few words: other work has slowed these. (Timing may take some cycles, of both alike,
 * and few words lie nearer than all do.)
 */
static void doubt_hits(struct level *level, double chain)
{
    struct attribute *hit = &level->result->hit_latency;
    double circled = level_cycles(level, level->circled_cycles);
    if (circled > 0 && chain <= circled + limits.rounded &&
        hit->value > fmax(chain, circled) + limits.recorded) {
        hit->confidence = fmin(hit->confidence, limits.unsure);
    }
}

int level_load_to_use(struct level *level)
{
    /* Through the same elements as the hits, where a chain of 8-byte pointers can go. */
    struct walk_shape shape = safe_shape(level);
    if (shape.stride % 8 != 0) {
        shape = (struct walk_shape){.stride = 32, .count = 32};
    }
    shape.count = shape.count > 1024 ? 1024 : shape.count;
    double median = 0, ends[2] = {0}, mean = mean_of_hits(level), most = mean + limits.rounded;
    int rc = time_chain(level, &median, ends, shape);
    /* Of a hashed cache's elements some may miss for ever; of fewer, none. */
    for (int again = 0; rc == 0 && median > mean + limits.exact && again < 3 && shape.count >= 64;
         again++) {
        shape.count /= 4;
        double fewer = 0;
        int soft = time_chain(level, &fewer, ends, shape);
        rc = lab_soft(soft) ? 0 : soft;
        if (soft) {
            break;
        }
        median = fewer;
    }
    if (rc) {
        return rc;
    }
    if (!(median > 0) || median > level->timing.threshold) {
        return lab_undecided(level->lab, "the untimed chain takes longer than a hit");
    }
    if (median > most) {
        return lab_undecided(level->lab,
                             "the untimed chain takes %.1f cycles a load, longer than "
                             "timed hits: some of its loads missed",
                             median);
    }
    char id[24];
    unsigned long long bytes = shape.count * shape.stride;
    lab_evidence(level->lab, id, level->info->id,
                 "average op=%s: a dependent chain in %llu B, %u loads timed as a whole, 5 times: "
                 "%.2f to %.2f cycles a load",
                 level->info->op, bytes, limits.chained, ends[0], ends[1]);
    attribute_set(&level->result->load_to_use_latency, median, "cycles", 0.95, id);
    doubt_hits(level, ends[1]);
    return 0;
}

/* Windows over the conflicting set: its misses are loads that hit the next level for certain. */
static int sample_conflict(struct level *level, struct sample *out, unsigned run)
{
    size_t count = level->conflict.count;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = level->conflict.offsets, .count = count});
    plan.run = run;
    plan.warm = 4 * count;
    plan.window = level->max_window < 512 ? level->max_window : 512;
    plan.windows = 2;
    return walk_sample(level->lab, out, &plan);
}

/*
 * Windows spread over an array far larger than a large cache. Its misses go to many places of the
 * memory, so their median does not depend on a few places.
 */
static int sample_far(struct level *level, struct sample *out, char what[64])
{
    uint64_t limit = level->lab->options->max_footprint_bytes, bytes = limits.far_bytes;
    bytes = bytes < limit ? bytes : limit;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = 128, .count = (size_t)(bytes / 128)});
    plan.touch = true;
    plan.window = 128;
    plan.windows = 16;
    plan.spread = true;
    snprintf(what, 64, "16 windows over %llu MiB", (unsigned long long)bytes >> 20);
    return walk_sample(level->lab, out, &plan);
}

/* Latencies among which misses are; `what` says of what. */
static int sample_misses(struct level *level, struct sample *out, char what[64], unsigned run)
{
    if (level->translated) {
        snprintf(what, 64, "the reference walk");
        return 0;
    }
    if (level->conflict.count && level->info->beneath[0]) {
        snprintf(what, 64, "a conflicting set of %zu", level->conflict.count);
        return sample_conflict(level, out, run);
    }
    struct walk_shape shape = {.stride = level->fit.stride, .count = 3 * level->fit.count};
    if (!level->large && shape.count &&
        shape.count * shape.stride <= level->lab->options->max_footprint_bytes) {
        snprintf(what, 64, "three times as many elements as fit");
        return sample_walk(level, out, shape, run);
    }
    int rc = level->large ? sample_far(level, out, what) : INFER_UNDECIDED;
    if (lab_soft(rc)) {
        snprintf(what, 64, "the reference walk");
    }
    return lab_soft(rc) ? 0 : rc;
}

static double median_of_misses(const struct level *level, const struct sample *all)
{
    struct sample slow = sample_view(all, level->timing.threshold, level->timing.ceiling);
    return slow.count >= limits.few ? sample_quantile(&slow, 0.5) : INFINITY;
}

/* Are the one's misses sooner than the other's, the early and the late ones as well? */
static bool misses_sooner(const struct level *level, const struct sample *a, const struct sample *b)
{
    struct sample one = sample_view(a, level->timing.threshold, level->timing.ceiling);
    struct sample other = sample_view(b, level->timing.threshold, level->timing.ceiling);
    bool sooner = one.count >= limits.few;
    for (unsigned quarter = 1; quarter <= 3 && sooner; quarter++) {
        sooner = is_sooner(level, sample_quantile(&one, quarter / 4.0),
                           sample_quantile(&other, quarter / 4.0));
    }
    return sooner;
}

/*
 * Other work may have slowed most misses of a sample, and later ones not. Asked where hits are not
 * all alike, so that there is noise, and where a sample is cheap.
 */
static int misses_again(struct level *level, struct sample *all, uint64_t loads)
{
    bool asks = level->uneven && !level->outermost && all->count && loads <= limits.cheap;
    for (unsigned run = 1; asks && run <= limits.misses_again; run++) {
        struct sample later = {0};
        char what[64];
        int rc = sample_misses(level, &later, what, run);
        if (rc) {
            return lab_soft(rc) ? 0 : rc;
        }
        bool sooner = misses_sooner(level, &later, all);
        sample_free(sooner ? all : &later);
        *all = sooner ? later : *all;
    }
    return 0;
}

/* Farther than any slice of L2 is from another: another cache answers, or memory. */
static bool is_farther(double cycles, double than)
{
    return cycles > limits.far_times * than + limits.far_cycles;
}

/*
 * Are the lines beside each other the ones to ask, of `many` and `few` that misses take? Where no
 * noise is, many lines say better than the few of a set how far L2 is, whose slices may be near and
 * far.
 */
static bool prefers_dense(const struct level *level, double many, double few)
{
    double past = level->timing.beneath_cycles; /* of a few lines, too */
    double near = isfinite(past) && past > few ? past : few;
    return level->uneven ? many < limits.sooner * few : isfinite(many) && !is_farther(many, near);
}

/*
 * The lines of a conflicting set may lie in few sets of the next cache and miss there, too; so does
 * an array far larger than what fits. Lines beside each other, a quarter more than fit, miss the
 * next cache only if it is as small. What misses less far is the miss that is meant; on the path of
 * constants, whose second cache may answer later than L2, it is that of lines beside each other;
 * `disputed`: these take longer.
 */
static int try_dense(struct level *level, struct sample *all, char what[64], bool *disputed)
{
    uint64_t line = level->line.bytes ? level->line.bytes : level->fit.stride;
    size_t count = line ? (size_t)(level->fit.count * level->fit.stride / line) : 0;
    count += count / 4 + 1;
    if (!level->info->beneath[0] || !level->fit.count || !line || level->large || count > 4096 ||
        count * line > level->lab->options->max_footprint_bytes) {
        return 0;
    }
    struct sample dense;
    int rc = sample_walk(level, &dense, (struct walk_shape){.stride = line, .count = count}, 0);
    if (rc) {
        return lab_soft(rc) ? 0 : rc;
    }
    double many = median_of_misses(level, &dense), few = median_of_misses(level, all);
    bool meant = strcmp(level->info->op, "const") == 0 && !level->front && isfinite(many);
    *disputed = meant && many > (1 + limits.agree_beside) * few;
    bool prefers = meant || prefers_dense(level, many, few);
    if (prefers) {
        snprintf(what, 64, "%zu lines beside each other", count);
    }
    sample_free(prefers ? all : &dense);
    *all = prefers ? dense : *all;
    return 0;
}

/* Between two humps a median lies where chance puts it. */
static double trust_median(const struct level *level, const struct sample *slow)
{
    double middle = sample_quantile(slow, 0.625) - sample_quantile(slow, 0.375);
    bool narrow = slow->count >= limits.few && middle <= limits.broad * sample_quantile(slow, 0.5);
    return level->translated ? limits.translated : narrow ? limits.sure : limits.unsure;
}

/*
 * What a miss takes where nothing but the reference walk tells it. Memory may be near and far,
 * behind parts of the outermost cache: between two humps a median lies where chance puts it. The
 * quartiles lie in the one and the other, and what is in the middle of them is told. (A mean also
 * has what few loads wait longer for, refreshes for one.)
 */
static double reference_miss(const struct level *level)
{
    double median = level->timing.miss_cycles, between = level->timing.miss_between;
    bool is_apart = fabs(between - median) > limits.agree * median;
    return level->outermost && is_apart ? between : median;
}

/*
 * The same of a walk's misses, which may be of few lines, most of them near or most far: then their
 * median seems sure, and hardly any lie in the middle half between the quartiles. `apart`: they do
 * not.
 */
static double walked_miss(const struct level *level, const struct sample *slow, double *sure,
                          bool *apart)
{
    double median = sample_quantile(slow, 0.5);
    double low = sample_quantile(slow, 0.25), high = sample_quantile(slow, 0.75);
    double between = (low + high) / 2, quarter = (high - low) / 4;
    *apart = level->outermost && *sure >= limits.sure &&
             fabs(between - median) > limits.agree * median &&
             sample_share(slow, low + quarter, high - quarter) < limits.valley;
    *sure = *apart ? limits.unsure : *sure;
    return *apart ? between : median;
}

/*
 * The walk of the reference goes word by word through what is far larger than the outermost cache,
 * and so misses translation at few of its loads. A walk wide apart may miss it at each: then its
 * misses take a little longer, or what seems to miss are hits whose translation does. Two walks
 * that disagree leave the value unsure.
 */
static void hold_against_reference(const struct level *level, double reference, double *miss,
                                   double *sure, char what[64])
{
    bool asks = level->outermost && !level->large && !level->translated;
    double agree = level->uneven ? limits.agree_beside : limits.agree;
    if (!asks || fabs(reference - *miss) <= agree * *miss) {
        return;
    }
    *sure = fmin(*sure, limits.unsure);
    if (reference > limits.on_top * *miss) {
        *miss = reference;
        snprintf(what, 64, "the reference walk, for others disagree");
    }
}

/*
 * Misses of a first level that the reference's walk makes are as near as any: the next level holds
 * what it reads in a row. Where others take longer under noise, other work has slowed them, or they
 * missed that level, too.
 */
static void hold_against_sooner(const struct level *level, double *miss, double *sure,
                                char what[64])
{
    double reference = level->timing.miss_cycles;
    bool asks = !level->outermost && !level->front && level->timing.false_slow > 0 &&
                !level->timing.mirror.sum;
    if (asks && *miss > (1 + limits.agree) * reference) {
        *miss = reference;
        *sure = fmin(*sure, limits.unsure);
        snprintf(what, 64, "the reference walk, for others take longer");
    }
}

/*
 * What L2 has takes through a first level that misses about as long as past it. Where misses take
 * far longer, all of them missed L2, too, which holds less than that level then. On another path
 * than a plain load's they may take longer all the same.
 */
static void hold_against_past(const struct level *level, double *miss, double *sure, char what[64])
{
    double past = level->timing.beneath_cycles;
    bool asks = strcmp(level->info->op, "ca") == 0 && isfinite(past) && past > 0;
    if (asks && is_farther(*miss, past)) {
        *miss = past;
        *sure = fmin(*sure, limits.unsure);
        snprintf(what, 64, "loads past it, for all others miss L2");
    }
}

/* Near and far misses, of which what is told is in the middle: the reference walk's median is one
 * of them. */
static void bound_middle(const struct level *level, struct attribute *out, double miss,
                         const struct sample *slow)
{
    double apart = fabs(miss - level->timing.miss_cycles);
    if (miss == level->timing.miss_between) {
        out->low = miss - apart;
        out->high = miss + apart;
    } else if (slow->count >= limits.few) {
        out->low = fmin(miss, sample_quantile(slow, 0.25));
        out->high = fmax(miss, sample_quantile(slow, 0.75));
    }
}

/* Of a miss that is a sample's median, or the reference walk's, what it may be as well; of near and
 * far ones these; of a hit as it is taken. */
static void bound_miss(struct level *level, double miss, double hit, const struct sample *slow)
{
    struct attribute *penalty = &level->result->miss_penalty;
    struct attribute *memory = &level->lab->out->memory_latency;
    struct attribute walked = {0};
    if (slow->count >= limits.few && miss == sample_quantile(slow, 0.5)) {
        sample_bound_median(&walked, slow);
    } else if (miss == level->timing.miss_cycles) {
        walked.low = level->timing.miss_low;
        walked.high = level->timing.miss_high;
    } else if (level->outermost) {
        bound_middle(level, &walked, miss, slow);
    }
    if (walked.high <= 0) {
        return;
    }
    double ends[] = {level_cycles(level, walked.low), level_cycles(level, walked.high)};
    penalty->low = fmin(ends[0], ends[1]) - hit;
    penalty->high = fmax(ends[0], ends[1]) - hit;
    if (level->outermost) {
        memory->low = penalty->low + hit;
        memory->high = penalty->high + hit;
    }
}

/* Of the outermost cache, how all loads of memory are distributed, the latest included: rows that
 * are open and others, and refreshes, show there. Where translation misses as well they do not. */
static int keep_classes(struct level *level, const struct sample *all)
{
    struct sample slow = sample_view(all, level->timing.threshold, INFINITY), clock;
    if (!level->outermost || level->translated || slow.count < limits.fewest_classed) {
        return 0;
    }
    int rc = level_clock(level, &clock, &slow);
    if (rc == 0) {
        level->result->miss_count =
            sample_classes(level->result->misses, INFER_MAX_LATENCIES, &clock);
        sample_free(&clock);
    }
    return rc;
}

/*
 * The loads among which misses are. What is far above everything else is no class where it is rare;
 * where it is most of what is slow, the memory is there, and what lies below came from another part
 * of the outermost cache.
 */
static struct sample slow_loads(const struct level *level, const struct sample *all)
{
    struct sample slow = sample_view(all, level->timing.threshold, level->timing.ceiling);
    struct sample later = sample_view(all, level->timing.ceiling, INFINITY);
    return level->outermost && later.count > slow.count ? later : slow;
}

/* What a miss takes. For the outermost cache that is the memory's latency. */
int level_penalty(struct level *level)
{
    struct sample all = {0};
    char what[64];
    uint64_t start = level->lab->loads;
    int rc = sample_misses(level, &all, what, 0);
    rc = rc ? rc : misses_again(level, &all, level->lab->loads - start);
    bool apart = false, disputed = false;
    rc = rc ? rc : try_dense(level, &all, what, &disputed);
    if (rc) {
        sample_free(&all);
        return rc;
    }
    struct sample slow = slow_loads(level, &all);
    double sure = disputed ? limits.unsure : trust_median(level, &slow);
    double miss = walked_miss(level, &slow, &sure, &apart);
    double reference = apart ? reference_miss(level) : level->timing.miss_cycles;
    if (slow.count < limits.few) {
        miss = reference_miss(level);
        sure = miss == level->timing.miss_cycles ? sure : fmin(sure, limits.unsure);
        snprintf(what, sizeof what, "the reference walk");
    }
    hold_against_reference(level, reference, &miss, &sure, what);
    hold_against_sooner(level, &miss, &sure, what);
    hold_against_past(level, &miss, &sure, what);
    rc = slow.count ? level_saw(level, &slow) : 0;
    rc = rc ? rc : keep_classes(level, &all);
    if (rc) {
        sample_free(&all);
        return rc;
    }
    double hit = level_cycles(level, level->timing.hit_cycles), walked = miss;
    miss = level_cycles(level, miss);
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: a miss takes %.0f cycles (median of %zu in %s), a hit %.0f",
                 level->info->op, miss, slow.count, what, hit);
    attribute_set(&level->result->miss_penalty, miss - hit, "cycles", sure, id);
    if (level->outermost) {
        attribute_set(&level->lab->out->memory_latency, miss, "cycles", sure, id);
    }
    bound_miss(level, walked, hit, &slow);
    sample_free(&all);
    return 0;
}
