/*
 * What an SM may have outstanding, and in what it keeps it (Lashgar et al., HEART 2015, and past
 * it): how many independent loads a warp has in flight; where the time of more and more loads jumps
 * (ray.c), along rays of 1, 2, 4, .. 32 lanes a warp instruction; and which count is
 * the same at all jumps. A table of misses (MSHR) and a limit on requests fill by requests, a table
 * of instructions (PRT) by warp instructions, whatever lanes they have. Each ray bounds the count
 * from both sides in either unit: it fits before the jump, it does not behind it, and a ray without
 * a jump bounds it from below as far as one would have shown. The unit whose bounds all rays meet
 * is the structure's; their intersection is its size.
 *
 * MSHR and limit part where pairs of warps load the same lines: a table holds a line once. How
 * many further requests to a line it takes shows where more and more warps, or lanes, load the
 * same.
 *
 * Loads are L2 hits that miss L1 (op=ca, nothing of them in L1). Where none of their rays jumps,
 * answers may come back more slowly than requests leave, which hides it. Then hits of L1 behind
 * such loads are asked (ray.c), where there is an L1. A table of misses does not take them; a table
 * of instructions and a limit on requests do, and hold one more than fits before them. Or the
 * structure may fill no sooner than a round trip to L2 takes. Then rays of loads that miss L2 are
 * asked, whose round trip is longer. What these fill may be L2's, too, which counts lines: a table
 * of misses is not told from them. A structure behind a narrower one, or one that fills only after
 * 2 L, does not show: then a lower bound is all that is said.
 */
#include "infer/experiments.h"
#include "infer/outstanding/outstanding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials of outstanding loads (tests/blind/outstanding.c). */
static const struct {
    double jump_share, slack, steady_share, cold, cold_sure, cold_jump_share, hit_at, hit_at_last,
        hit_late, clean_share, hit_jump_share, hit_share, most_sure, fine_jump_share, fine_sure;
    unsigned many_rays, fine_jump, most_full, most_loads, outside, hit_jump, clean;
} limits = {
    .jump_share = 0.25, /* share of a single load's time: a jump */
    .slack = 0.02,      /* share of a count by which rays may differ */
    .steady_share =
        0.8,     /* share of throughput times latency: a single load may be one of the slower */
    .cold = 1.3, /* times a load that hits L2: a miss of it, by which more may show. Chosen */
    .cold_jump_share = 0.12, /* share of such a load's time: a jump. Chosen */
    .cold_sure = 0.89,       /* confidence of what misses of L2 show at most. Chosen */
    .hit_at = 0.55,          /* of a round trip: when a hit comes behind loads. Chosen */
    .hit_late = 0.85,        /* of the time until the first answer: a later one. Chosen */
    .hit_at_last = 0.66,     /* the same, where that shows nothing. Chosen */
    .clean_share = 0.03,     /* of a hit's time behind one load: it waited for nothing, */
    .clean = 3,              /* or so many cycles. Both chosen */
    .fine_jump_share = 0.08, /* share of a single load's time: a small jump, */
    .fine_jump = 16,         /* and so many cycles. Both chosen */
    .fine_sure = 0.85,       /* confidence of what small jumps show at most: one of ten dissections
                                of an H200 saw one. Chosen */
    .many_rays = 3,          /* of hits, that agree on a number of requests. Chosen */
    .most_sure = 0.9,        /* confidence of what not all rays say. Chosen */
    .hit_share = 0.8,        /* of a round trip: what takes longer is no hit. Chosen */
    .hit_jump_share = 0.06,  /* of a single load's time: what a hit waits longer at once, */
    .hit_jump = 10,          /* and so many cycles. Both chosen */
    .outside = 40,           /* cycles of a load before it has a place, and after. Chosen */
    .most_full = 4,          /* loads of a thread where all lanes load */
    .most_loads = 8,         /* loads of a warp, on rays: 8 x 32 instructions reach far enough */
};

struct study {
    struct lab *lab;
    struct outstanding_result *out;
    struct yardstick yard;
    uint32_t loads; /* in flight per warp, on rays */
    struct ray_result rays[OUT_RAYS];
    size_t ray_count, jumps;
    bool exact;      /* all rays meet at one count, none given or taken */
    bool is_l1s;     /* loads past L1 do not fill it */
    bool is_fine;    /* small jumps count */
    bool is_refuted; /* what rays said, by loads of another shape */
};

static const struct cache_result *find_cache(const struct dissection *d, const char *id)
{
    for (size_t i = 0; i < d->cache_count; i++) {
        if (strcmp(d->caches[i].id, id) == 0) {
            return &d->caches[i];
        }
    }
    return NULL;
}

static uint32_t line_of_cache(const struct study *s, const char *id)
{
    const struct cache_result *cache = find_cache(s->lab->out, id);
    double line = cache && cache->line.status == ATTRIBUTE_MEASURED ? cache->line.value : 128;
    return line > 128 && line <= 1024 ? (uint32_t)line : 128;
}

static int set_yardstick(struct study *s, bool cold)
{
    uint32_t line = line_of_cache(s, "l1_data"), behind = line_of_cache(s, "l2");
    s->yard = (struct yardstick){.op = "ca", .line_bytes = line, .cold = cold};
    if (cold) { /* what comes first reads the lines between */
        s->yard.line_bytes = 2 * (behind > line ? behind : line);
    }
    const struct ray one = {.axis = RAY_LOADS, .lanes = 1, .warps = 1, .merge = 1, .share = 1};
    struct ray none = one;
    none.lanes = 0;
    int rc = ray_measure(s->lab, &s->yard.one_cycles, &s->yard, &one, 1, 1);
    rc = rc ? rc : ray_measure(s->lab, &s->yard.overhead_cycles, &s->yard, &none, 1, 1);
    s->yard.jump_cycles = (cold ? limits.cold_jump_share : limits.jump_share) * s->yard.one_cycles;
    if (rc == 0 && s->yard.one_cycles < 1.2 * s->yard.overhead_cycles) {
        return lab_undecided(s->lab, "a load (%.0f cycles) cannot be told from none (%.0f)",
                             s->yard.one_cycles, s->yard.overhead_cycles);
    }
    return rc;
}

/* ---- loads per warp ---- */

static int find_loads_per_warp(struct study *s)
{
    struct ray ray = {
        .axis = RAY_LOADS, .lanes = 1, .warps = 1, .merge = 1, .share = 1, .last = OUT_LOADS};
    struct ray_result one, two = {0};
    char id[24];
    int rc = tell_ray(s->lab, &one, &s->yard, &ray);
    if (rc) {
        return rc;
    }
    s->loads = one.fits < 1 ? 1 : one.fits < limits.most_loads ? one.fits : limits.most_loads;
    if (!one.jumped) {
        tell_least(&s->out->loads_per_warp, &s->out->loads_per_warp_least, one.fits, "1",
                   "one warp's loads showed no jump");
        return 0;
    }
    ray.warps = 2;
    ray.last = one.fits + 1;
    rc = ray_follow(s->lab, &two, &s->yard, &ray);
    bool alike = two.jumped && two.fits == one.fits;
    if (rc == 0 && !alike && one.by_part) {
        rc = ray_steps(s->lab, &alike, &s->yard, &ray, one.fits);
    }
    if (rc == 0 && alike) {
        lab_evidence(
            s->lab, id, "outstanding",
            "threads lanes=1: %u loads take %.0f cycles, %u %.0f; so for one warp and for two",
            one.fits, one.before_cycles, one.fits + 1, one.after_cycles);
        attribute_set(&s->out->loads_per_warp, one.fits, "1", one.by_part ? 0.9 : 0.97, id);
    } else if (rc == 0) {
        tell_least(&s->out->loads_per_warp, &s->out->loads_per_warp_least, one.fits, "1",
                   "with two warps the time jumps elsewhere, so something that they share is full");
    }
    return rc;
}

/* ---- what fills ---- */

static int add_ray(struct study *s, const struct ray *ray)
{
    if (s->ray_count == OUT_RAYS) {
        return 0;
    }
    struct ray_result *result = &s->rays[s->ray_count];
    int rc = tell_ray(s->lab, result, &s->yard, ray);
    s->ray_count += rc == 0;
    s->jumps += rc == 0 && result->jumped;
    return rc;
}

/* Few lanes, all, then those between, until two rays have jumped. */
static int follow_rays(struct study *s)
{
    static const uint32_t lanes[] = {1, 2, OUT_WARP, 16, 8, 4};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof lanes / sizeof *lanes && s->jumps < 2; i++) {
        struct ray ray = {.axis = RAY_INSTRUCTIONS,
                          .loads = s->loads,
                          .lanes = lanes[i],
                          .merge = 1,
                          .share = 1,
                          .last = OUT_WARP * s->loads};
        if (lanes[i] == OUT_WARP) {
            ray.axis = RAY_REQUESTS;
            ray.last = OUT_BLOCK * (s->loads < limits.most_full ? s->loads : limits.most_full);
        }
        rc = add_ray(s, &ray);
    }
    return rc;
}

/*
 * Single lanes alone show a jump: requests of several may leave too late. So many had left when the
 * hit came, and requests that share instructions leave no more slowly. A hit that comes later, but
 * before the first answer, tells of a few more of these.
 */
static int follow_later_hits(struct study *s)
{
    const struct ray_result *first = &s->rays[0];
    double answer = s->yard.hit + first->after_cycles - s->yard.one_cycles;
    double turn = (double)s->yard.hit / first->fits;
    uint32_t later = (uint32_t)(limits.hit_late * answer);
    int rc = 0;
    if (first->ray.lanes != 1 || later <= s->yard.hit) {
        return 0;
    }
    s->ray_count = 1;
    s->yard.hit = later;
    s->yard.turn_cycles = turn;
    for (uint32_t lanes = 4; lanes >= 2 && rc == 0; lanes /= 2) {
        struct ray ray = {.axis = RAY_INSTRUCTIONS,
                          .loads = s->loads,
                          .lanes = lanes,
                          .merge = 1,
                          .share = 1,
                          .last = (uint32_t)(later / turn / lanes)};
        rc = add_ray(s, &ray);
    }
    return rc;
}

/* The same, with hits: a warp less. Steps of few requests alone, for each may delay a hit a little.
 */
static int follow_hit_rays(struct study *s)
{
    static const uint32_t lanes[] = {1, OUT_WARP, 2, 4};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof lanes / sizeof *lanes; i++) {
        struct ray ray = {.axis = RAY_INSTRUCTIONS,
                          .loads = s->loads,
                          .lanes = lanes[i],
                          .merge = 1,
                          .share = 1,
                          .last = (OUT_WARP - 1) * s->loads};
        if (lanes[i] == OUT_WARP) {
            ray.axis = RAY_REQUESTS;
            ray.last = OUT_BLOCK - OUT_WARP;
        }
        rc = add_ray(s, &ray);
    }
    return rc || s->jumps != 1 || !s->rays[0].jumped ? rc : follow_later_hits(s);
}

static void say_kind(struct study *s, const char *kind, double confidence, const char *id)
{
    snprintf(s->out->structure, sizeof s->out->structure, "%s", kind);
    s->out->confidence = confidence;
    snprintf(s->out->evidence, sizeof s->out->evidence, "%s", id);
}

/* ---- a table of lines, or a limit ---- */

/* The ray whose jump is the clearest. */
static const struct ray_result *clearest(const struct study *s)
{
    const struct ray_result *best = NULL;
    for (size_t i = 0; i < s->ray_count; i++) {
        const struct ray_result *r = &s->rays[i];
        if (r->jumped && (!best || r->after_cycles - r->before_cycles >
                                       best->after_cycles - best->before_cycles)) {
            best = r;
        }
    }
    return best;
}

static int tell_table(struct study *s, double size, double *confidence)
{
    struct table_study table = {.lab = s->lab,
                                .yard = &s->yard,
                                .loads = s->loads,
                                .jump = clearest(s),
                                .confidence = *confidence};
    int rc = table_tell(&table, size);
    s->is_l1s = table.is_l1s;
    if (rc == 0 && table.kind) {
        *confidence = table.confidence;
        say_kind(s, table.kind, table.confidence, table.id);
    }
    return rc;
}

/* ---- what follows ---- */

/* The most requests that were certainly under way together, on any ray. */
static double most_at_once(const struct study *s)
{
    double most = 1;
    for (size_t i = 0; i < s->ray_count; i++) {
        const struct ray_result *r = &s->rays[i];
        most = r->at_once ? fmax(most, ray_requests(&r->ray, r->at_once)) : most;
    }
    return most;
}

/*
 * By Little's law: answers come in a steady stream, so many a cycle, each after no less than a
 * single load's time. That far beyond the first filling it holds of any structure, full or not. Of
 * that time a load has a place for less: it is issued before, and written back after.
 */
static int steady_requests(struct study *s, double *requests)
{
    const struct ray ray = {
        .axis = RAY_REQUESTS, .loads = 1, .lanes = OUT_WARP, .merge = 1, .share = 1};
    double half = 0, full = 0;
    int rc = ray_measure(s->lab, &half, &s->yard, &ray, OUT_BLOCK / 2, 0);
    rc = rc ? rc : ray_measure(s->lab, &full, &s->yard, &ray, OUT_BLOCK, 0);
    double each = (full - half) / (OUT_BLOCK / 2.0);
    bool steady = full > 2 * s->yard.one_cycles && each > 0;
    *requests =
        rc == 0 && steady
            ? fmax(1, floor(limits.steady_share *
                            (s->yard.one_cycles - s->yard.overhead_cycles - limits.outside) / each))
            : 1;
    return rc;
}

static double most_instructions(const struct study *s)
{
    double most = 1;
    for (size_t i = 0; i < s->ray_count; i++) {
        const struct ray_result *r = &s->rays[i];
        most = r->at_once ? fmax(most, ray_instructions(&r->ray, r->at_once)) : most;
    }
    return most;
}

static void set_size(struct attribute *attribute, double *least, struct bounds b, double confidence,
                     const char *unit, const char *id)
{
    double low = ceil(b.low - 1e-9), high = floor(b.high + 1e-9);
    if (high - low <= fmax(0, 0.02 * low)) {
        attribute_set(attribute, low, unit, low == high ? confidence : 0.5 * confidence, id);
        return;
    }
    char why[80];
    snprintf(why, sizeof why, "and at most %.0f, of which no ray told more", high);
    tell_least(attribute, least, low, unit, why);
}

/* How many rays bound the count from above: agreement of two is more than chance. */
static double trust(const struct study *s, bool exact)
{
    return !exact ? 0.6 : s->jumps >= 3 ? 0.98 : s->jumps == 2 ? 0.95 : 0.85;
}

/* Does the table of instructions take full warps as well? */
static int try_full_warps(struct study *s, bool *as_many, double entries)
{
    const struct ray ray = {
        .axis = RAY_INSTRUCTIONS, .loads = s->loads, .lanes = OUT_WARP, .merge = 1, .share = 1};
    uint32_t x = (uint32_t)entries;
    double cycles[2] = {0};
    int rc = ray_measure_both(s->lab, cycles, &s->yard, &ray, x, 1);
    *as_many = rc == 0 && cycles[1] - cycles[0] >= 0.5 * s->yard.jump_cycles &&
               cycles[0] <= 2 * s->yard.one_cycles;
    return rc;
}

static int set_requests(struct study *s, struct bounds b, double confidence, const char *id)
{
    struct outstanding_result *out = s->out;
    if (strcmp(out->structure, "prt") != 0) {
        set_size(&out->max_requests, &out->max_requests_least, b, confidence, "1", id);
        return 0;
    }
    /* An entry serves all lanes: shown where full warps fill the table alike, else concluded. */
    bool shown = false;
    double low = ceil(b.low - 1e-9), high = floor(b.high + 1e-9);
    int rc = s->yard.hit || low < high ? 0 : try_full_warps(s, &shown, low);
    struct bounds all = {.low = low * OUT_WARP, .high = high * OUT_WARP};
    set_size(&out->max_requests, &out->max_requests_least, all,
             shown ? confidence : 0.7 * confidence, "1", id);
    return rc;
}

static void describe_rays(const struct study *s, char text[320])
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < s->ray_count && at < 280; i++) {
        const struct ray_result *r = &s->rays[i];
        at += (size_t)snprintf(text + at, 320 - at, "%s%u lanes%s: %s%u instructions, %u requests",
                               i ? "; " : "", r->ray.lanes,
                               r->ray.axis == RAY_REQUESTS ? " by threads" : "",
                               r->jumped ? "" : "over ", ray_instructions(&r->ray, r->fits),
                               ray_requests(&r->ray, r->fits));
    }
}

static double lowest_jump(const struct study *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->ray_count; i++) {
        const struct ray_result *r = &s->rays[i];
        least = r->jumped ? fmin(least, r->after_cycles - r->before_cycles) : least;
    }
    return isinf(least) ? 0 : least;
}

/* What small jumps, misses of L2 or few rays of hits tell, what rays nearly agree on, and a table
 * of instructions, is told only where loads of another shape show it too. */
static int hold_against_others(struct study *s, struct bounds *b)
{
    struct outstanding_result *out = s->out;
    bool is_prt = strcmp(out->structure, "prt") == 0, holds = true;
    bool few_hits = s->yard.hit && s->jumps < limits.many_rays;
    bool doubtful = is_prt || few_hits || s->yard.cold || s->is_fine || !s->exact;
    double size = ceil(b->low - 1e-9);
    bool is_one = size == floor(b->high + 1e-9) || !s->exact;
    if (!out->structure[0] || !doubtful || !is_one) {
        return 0;
    }
    int rc =
        foretold_holds(s->lab, &holds, &s->yard, s->loads, is_prt, (uint32_t)size, lowest_jump(s));
    if (rc == 0 && !holds) {
        out->structure[0] = '\0';
        *b = (struct bounds){0};
    }
    s->is_refuted = rc == 0 && !holds;
    return rc;
}

/* Hits overtake requests of a ray. What all but one say then is of one unit, or tells nothing. */
static bool meet_all_but_one(struct study *s, const struct meeting *m, struct bounds *requests,
                             struct bounds *instructions)
{
    struct bounds by_requests = {0}, by_instructions = {0};
    size_t out = 0, other = 0;
    bool counts_requests = meet_but_one(m, &by_requests, &out, false);
    bool counts_instructions = meet_but_one(m, &by_instructions, &other, true);
    if (counts_requests == counts_instructions) {
        return false;
    }
    *requests = counts_requests ? by_requests : *requests;
    *instructions = counts_instructions ? by_instructions : *instructions;
    s->rays[counts_requests ? out : other].jumped = false;
    s->jumps--;
    return true;
}

static int decide(struct study *s)
{
    struct outstanding_result *out = s->out;
    char id[24], rays[320];
    bool exact = true;
    const struct meeting m = {.rays = s->rays, .count = s->ray_count, .hits = s->yard.hit > 0};
    struct bounds requests = meet_all(&m, false, 0), instructions = meet_all(&m, true, 0);
    bool most = !requests.agree && !instructions.agree && meet_most(&m, &instructions);
    bool but_one = s->yard.hit && !most && !requests.agree && !instructions.agree &&
                   meet_all_but_one(s, &m, &requests, &instructions);
    if (s->jumps > 0 && !most && !but_one && !requests.agree && !instructions.agree) {
        exact = false;
        requests = meet_all(&m, false, limits.slack);
        instructions = meet_all(&m, true, limits.slack);
    }
    describe_rays(s, rays);
    lab_evidence(s->lab, id, "outstanding", "threads%s: most that fit before the time jumps: %s",
                 s->yard.hit ? ", a hit behind them" : "", rays);
    s->exact = exact;
    double confidence = fmin(trust(s, exact), s->is_fine ? limits.fine_sure : 1);
    int rc = 0;
    struct bounds b = {0};
    if (requests.agree && !instructions.agree) {
        b = requests;
        /* What one ray alone shows may be another's doing: that is not made exact. */
        rc = s->jumps > 1 ? narrow_requests(s->lab, &b, &s->yard) : 0;
        rc = rc ? rc : tell_table(s, ceil(b.low), &confidence);
        confidence = but_one ? fmin(confidence, limits.most_sure) : confidence;
    } else if (instructions.agree && !requests.agree) {
        b = instructions;
        confidence = most || but_one ? fmin(confidence, limits.most_sure) : confidence;
        say_kind(s, "prt", confidence, id);
    }
    rc = rc ? rc : hold_against_others(s, &b);
    if (s->yard.hit && out->structure[0] && strcmp(out->structure, "mshr") != 0) {
        b.low++; /* the hit has a place as well */
        b.high++;
    }
    if (rc == 0 && out->structure[0]) {
        set_size(&out->entries, &out->entries_least, b, confidence, "entries", id);
        return set_requests(s, b, confidence, id);
    }
    if (rc == 0 && b.agree) { /* requests, in whatever structure */
        rc = set_requests(s, b, confidence, id);
        snprintf(out->refusal.reason, sizeof out->refusal.reason,
                 "requests count, but pairs of warps do not decide in what");
        return rc;
    }
    snprintf(out->refusal.reason, sizeof out->refusal.reason, "%s",
             s->jumps == 0    ? "no number of loads that one block can have makes the time jump"
             : s->is_refuted  ? "loads of another shape do not wait at the number that rays tell"
             : requests.agree ? "the jumps fit requests as well as instructions"
                              : "the jumps fit neither requests nor instructions");
    return rc;
}

/* What takes a hit's time behind one load, and what a request takes until it has left at most. */
static int set_hit_yardstick(struct study *s, const struct study *of, double at)
{
    const struct ray one = {.axis = RAY_LOADS, .lanes = 1, .warps = 1, .merge = 1, .share = 1};
    double single = of->yard.one_cycles;
    s->yard = of->yard;
    s->yard.round_cycles = single - of->yard.overhead_cycles;
    s->yard.hit = (uint32_t)(at * s->yard.round_cycles);
    s->yard.jump_cycles = fmax(limits.hit_jump, limits.hit_jump_share * single);
    s->yard.turn_cycles = 1;
    for (size_t i = 0; i < of->ray_count; i++) {
        s->yard.turn_cycles = fmax(s->yard.turn_cycles, of->rays[i].turn_cycles);
    }
    return ray_measure(s->lab, &s->yard.one_cycles, &s->yard, &one, 1, 1);
}

/* The ray's jump tells nothing, nor what fits before it. */
static void drop(struct study *s, struct ray_result *r)
{
    r->jumped = false;
    r->fits = 0;
    s->jumps--;
}

/*
 * Requests of single lanes may leave so late that what was full when others jumped had answers by
 * then. Where two others jump, and sooner, its later jump tells nothing.
 */
static void drop_late_single(struct study *s)
{
    struct ray_result *single = &s->rays[0];
    size_t sooner = 0;
    if (s->ray_count == 0 || !single->jumped || single->ray.lanes != 1) {
        return;
    }
    for (size_t i = 1; i < s->ray_count; i++) {
        const struct ray_result *r = &s->rays[i];
        sooner += r->jumped &&
                  ray_requests(&r->ray, r->fits + 1) <= ray_requests(&single->ray, single->fits);
    }
    if (sooner >= 2) {
        drop(s, single);
    }
}

/* Behind requests that leave late a hit waits more and more, before anything is full. Where two
 * others jump from where it waited for nothing, such a ray's jump tells nothing. */
static void drop_late(struct study *s)
{
    double clean = s->yard.one_cycles + fmax(limits.clean, limits.clean_share * s->yard.one_cycles);
    size_t kept = 0;
    for (size_t i = 0; i < s->ray_count; i++) {
        kept += s->rays[i].jumped && s->rays[i].before_cycles <= clean;
    }
    for (size_t i = 0; i < s->ray_count && kept >= 2; i++) {
        struct ray_result *r = &s->rays[i];
        if (r->jumped && r->before_cycles > clean) {
            drop(s, r);
        }
    }
}

/* Rays of hits behind loads, where the time of the loads tells nothing; they come at that part of a
 * round trip. */
static int study_hits_at(struct study *s, double at)
{
    struct outstanding_result *out = s->out, before = *out;
    struct study hits = {.lab = s->lab, .out = out, .loads = s->loads};
    int rc = set_hit_yardstick(&hits, s, at);
    bool is_hit = rc == 0 && hits.yard.one_cycles < limits.hit_share * hits.yard.round_cycles;
    rc = rc || !is_hit ? rc : follow_hit_rays(&hits);
    drop_late_single(&hits);
    drop_late(&hits);
    rc = rc || hits.jumps == 0 ? rc : decide(&hits);
    /* One ray may jump where a warp's requests leave late; not two, at the same number. Nothing but
     * that number tells a table of instructions. */
    bool is_prt = strcmp(out->structure, "prt") == 0;
    bool told = out->structure[0] && out->entries.status == ATTRIBUTE_MEASURED &&
                (is_prt ? hits.exact : hits.jumps >= 2);
    if (rc == 0 && told) {
        s->jumps = hits.jumps; /* no other loads need be asked */
        return 0;
    }
    *out = before;
    return rc && !lab_soft(rc) ? rc : 0;
}

/* What fills late is not full yet when a hit comes soon. */
static int study_hits(struct study *s)
{
    int rc = study_hits_at(s, limits.hit_at);
    return rc || s->jumps > 0 ? rc : study_hits_at(s, limits.hit_at_last);
}

/*
 * What takes nearly a round trip to fill makes the time jump by little. Smaller jumps than else, of
 * two rays at least, that meet at one count.
 */
static int study_small_jumps(struct study *s)
{
    struct outstanding_result *out = s->out, before = *out;
    struct study fine = {
        .lab = s->lab, .out = out, .yard = s->yard, .loads = s->loads, .is_fine = true};
    fine.yard.jump_cycles = fmax(limits.fine_jump, limits.fine_jump_share * s->yard.one_cycles);
    int rc = follow_rays(&fine);
    rc = rc || fine.jumps < 2 ? rc : decide(&fine);
    bool told =
        rc == 0 && out->structure[0] && fine.exact && out->entries.status == ATTRIBUTE_MEASURED;
    if (told) {
        s->jumps = fine.jumps;
        return 0;
    }
    *out = before;
    return rc && !lab_soft(rc) ? rc : 0;
}

/* Rays of loads that miss L2, of as many loads a warp: a table of instructions, or a limit. */
static int study_cold(struct study *s)
{
    struct outstanding_result *out = s->out, before = *out;
    struct study cold = {.lab = s->lab, .out = out, .loads = s->loads};
    int rc = set_yardstick(&cold, true);
    bool longer = rc == 0 && cold.yard.one_cycles > limits.cold * s->yard.one_cycles;
    rc = rc || !longer ? rc : follow_rays(&cold);
    rc = rc || cold.jumps == 0 ? rc : decide(&cold);
    /* Who bounds a size alone may have been late by chance, as any load of memory may be. */
    bool told = rc == 0 && out->structure[0] && out->entries.status == ATTRIBUTE_MEASURED &&
                (strcmp(out->structure, "mshr") != 0 || (cold.is_l1s && cold.exact));
    if (told) {
        out->confidence = fmin(out->confidence, limits.cold_sure);
        out->entries.confidence = fmin(out->entries.confidence, limits.cold_sure);
        out->max_requests.confidence = fmin(out->max_requests.confidence, limits.cold_sure);
        return 0;
    }
    *out = before;
    return rc && !lab_soft(rc) ? rc : 0;
}

/* What is open when everything has been tried: bounds. */
static int set_bounds(struct study *s)
{
    struct outstanding_result *out = s->out;
    double steady = 1, most = most_at_once(s);
    int rc = steady_requests(s, &steady);
    if (!out->structure[0] && out->entries.status != ATTRIBUTE_MEASURED) {
        attribute_refuse(&out->entries, "entries", out->refusal.reason);
    }
    if (out->max_requests.status != ATTRIBUTE_MEASURED && out->max_requests_least == 0) {
        tell_least(&out->max_requests, &out->max_requests_least, fmax(steady, most), "1",
                   steady > most ? "throughput times latency" : "so many were under way together");
    }
    out->instructions_least = most_instructions(s);
    for (size_t i = 0; i < s->ray_count; i++) {
        const struct ray_result *r = &s->rays[i];
        out->request_cycles = r->ray.axis == RAY_REQUESTS ? r->turn_cycles : out->request_cycles;
    }
    return rc;
}

int outstanding_dissect(struct lab *lab)
{
    struct study s = {.lab = lab, .out = &lab->out->outstanding};
    int rc = set_yardstick(&s, false);
    rc = rc ? rc : find_loads_per_warp(&s);
    rc = rc ? rc : follow_rays(&s);
    rc = rc ? rc : decide(&s);
    rc = rc || s.jumps > 0 ? rc : study_hits(&s);
    rc = rc || s.jumps > 0 ? rc : study_small_jumps(&s);
    rc = rc || s.jumps > 0 ? rc : study_cold(&s);
    rc = rc ? rc : mergers_tell(s.lab, &s.yard);
    rc = rc ? rc : set_bounds(&s);
    if (rc == 0) {
        s.out->one_cycles = s.yard.one_cycles;
        s.out->measured = true;
    }
    return rc;
}

void outstanding_refuse(struct dissection *out, const struct refusal *why)
{
    struct outstanding_result *o = &out->outstanding;
    if (!o->structure[0] && !o->refusal.reason[0]) {
        o->refusal = *why;
    }
    attribute_refuse_open(&o->entries, "entries", why);
    attribute_refuse_open(&o->mergers, "1", why);
    attribute_refuse_open(&o->loads_per_warp, "1", why);
    attribute_refuse_open(&o->max_requests, "1", why);
}
