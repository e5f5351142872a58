/*
 * Do these addresses fit into the cache together? All geometry is built from this question. A walk
 * in a circle answers it, whatever the replacement policy:
 *
 *  - A set with more lines than ways misses at least once in every pass.
 *  - After a whole pass without a miss every line is in the cache, and no miss can follow.
 *
 * So a pass without a miss proves the fit. Passes that all miss, however long the warm-up, disprove
 * it. Nothing is assumed about policy, index function or geometry.
 *
 * A real GPU adds noise: some hits are so slow that they look like misses. Noise falls on any
 * address. A set that is too full misses on its own few addresses again and again. Where noise is
 * so frequent that it spoils whole passes, two tests give the verdict: more misses than noise
 * explains (Poisson), or misses on fewer addresses than chance explains (binomial).
 */
#include "infer/fit/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind) and drawn toy GPUs (unit.infer.random), where a
 * member names nothing else. */
static const struct {
    unsigned small_ring, many_misses, clean_rounds, late_loads, most_shown, shown_loads, most_warm,
        heard_passes, quiet_passes;
    double noisy_records, late_records, noisy_slow, patience, least_let_go, left, by_noise;
} limits = {
    .small_ring = 256,     /* elements: shorter rings are warmed long and walked often */
    .many_misses = 3,      /* misses in a pass: stray noise of a quiet device reaches fewer */
    .clean_rounds = 3,     /* rounds that prove a fit when no window holds a whole pass */
    .noisy_records = 50e3, /* records: the rounds of a noisy walk end there */
    .late_records = 15e3,  /* the same, where the cache settles late */
    .noisy_slow = 0.02,    /* slow records by noise in a pass: from there on statistics decide */
    .late_loads = 120000,  /* loads of warm-up, where only the counts of misses matter */
    .patience = 10.0, /* rate of misses times passes of warm-up: beyond, settling is ruled out */
    .least_let_go = 0.15,  /* share of a first round that misses where much is let go */
    .most_shown = 12,      /* passes in a window of a noisy walk that settles late */
    .shown_loads = 400000, /* loads that more than two windows of a round may cost */
    .most_warm = 250,      /* passes of warm-up */
    .left = 6.0,           /* exp(-left) is the chance that something has not settled yet */
    .heard_passes = 10,    /* passes behind another cache, which keeps other elements in each */
    .quiet_passes = 8,     /* passes: what the cache in front still keeps then stays there */
    .by_noise =
        1e-7, /* chance: less likely is no noise. Chosen: a dissection asks some thousand times */
};
enum { MAX_ROUNDS = 6 };

struct round {
    uint64_t records, misses, slow;                         /* slow: not a hit */
    uint64_t settled_records, settled_misses, settled_slow; /* after a first whole pass of hits */
    double passes; /* walked before the middle of each window */
    bool clean;
};

/* A cache that is empty when a launch begins holds no other data. */
static bool settles_late(const struct level *level)
{
    return level->habits.late > 0 && !level->habits.begins_empty;
}

/* The share of the records that are slow although everything hits. */
static double slow_share(const struct level *level)
{
    return level->timing.hit_records
               ? (double)level->timing.false_slow / (double)level->timing.hit_records
               : 0;
}

/* A bound on the share of those that look like misses. */
static double false_bound(const struct level *level)
{
    double seen = (double)level->timing.false_misses;
    return (seen + 3 * sqrt(seen) + 3) / (double)(level->timing.hit_records + 1);
}

/*
 * How many ways draw their victims? Let u of w ways hold other lines. Then about 2 u lines miss in
 * a pass, and each of these misses evicts one of the others with a chance of u / w. After t passes
 * the last one is still there with a chance of 2 exp(-2 t / w), which is the product over the
 * stages before. So n / w sets miss 4 n / w exp(-2 t / w) times in a pass. The number of misses
 * gives w.
 */
static void learn_ways(struct level *level, const struct fit *fit, const struct round rounds[],
                       unsigned last)
{
    const struct round *round = &rounds[last];
    double t = round->passes, s = 8, seen = (double)round->misses / (double)round->records * t;
    bool much = (double)rounds[0].misses > limits.least_let_go * (double)rounds[0].records;
    if (!settles_late(level) || last == 0 || !much || round->misses < 8 || seen > 0.7) {
        return;
    }
    while (s > 0.5 && 4 * s * exp(-2 * s) < seen) {
        s -= 0.05;
    }
    level->habits.slow_ways = fmax(level->habits.slow_ways, fmin(t / s, (double)fit->count));
}

double fit_settling_passes(const struct level *level, size_t count, double left)
{
    double ways =
        level->conflict.count ? (double)level->conflict.count : level->habits.slow_ways * 1.2;
    if (!settles_late(level) || level->front) {
        return 0;
    }
    return ways > 0 ? ways / 2 * (log(2 * fmax((double)count / ways, 1)) + left) : 0;
}

static bool has_settled(const struct level *level, size_t count, const struct round *round)
{
    double passes = fit_settling_passes(level, count, limits.left);
    return passes > 0 && round->passes >= passes;
}

/*
 * Passes of warm-up in each round. A cache that holds other data and replaces at random needs many
 * passes to evict it: about as many as it has ways, times the logarithm of the sets. Short rings
 * are warmed that long as soon as they miss. Long ones are warmed that long once the cache was seen
 * to settle late.
 */
static uint64_t warm_passes(const struct level *level, size_t count, unsigned round, bool noisy)
{
    bool small = count <= limits.small_ring;
    if (small && level->habits.begins_empty && noisy) {
        return round ? 3 : 2;
    }
    static const uint8_t quick[MAX_ROUNDS] = {1, 2, 3, 6, 12, 24};
    static const uint8_t patient_small[MAX_ROUNDS] = {2, 24, 96, 250, 250, 250};
    static const uint8_t patient_large[MAX_ROUNDS] = {3, 12, 48, 192, 250, 250};
    if (small) {
        return patient_small[round];
    }
    if (settles_late(level)) {
        double known = fit_settling_passes(level, count, limits.left);
        bool whole =
            2 * count <= level->max_window; /* a pass may be seen clean for all the noise */
        return known > 0 && round > 1 && known < 2 * limits.most_warm ? (uint64_t)known + 1
               : noisy && !whole                                      ? 24
                                                                      : patient_large[round];
    }
    return noisy ? (round ? 4 : 1) : quick[round];
}

/*
 * Where noise spoils some passes and the warm-up is long, each window has many passes. One pass
 * without a miss decides.
 */
static bool shows_passes(const struct level *level, size_t count, bool noisy)
{
    return noisy && !level->front && !level->habits.begins_empty &&
           2 * count <= level->max_window && (settles_late(level) || count <= limits.small_ring);
}

static void plan_round(struct walk_plan *plan, const struct level *level, unsigned round,
                       bool noisy)
{
    size_t n = plan->shape.count, window = level->max_window;
    bool small = n <= limits.small_ring;
    plan->warm = n * warm_passes(level, n, round, noisy);
    plan->run = round;
    if (shows_passes(level, n, noisy)) {
        size_t passes = window / n < limits.most_shown ? window / n : limits.most_shown;
        plan->window = (uint32_t)(passes * n);
        plan->windows = round < 3 ? 1 : (uint32_t)(2 * limits.most_shown / passes);
        while (plan->windows > 2 && plan->windows * plan->warm > limits.shown_loads) {
            plan->windows--;
        }
    } else if (n <= window) {
        size_t passes = small ? 256 / n : 1;
        passes = passes < 2 ? 2 : passes > 16 ? 16 : passes;
        passes = level->front && round > 0 && passes < limits.heard_passes ? limits.heard_passes
                                                                           : passes;
        passes = passes * n > window ? window / n : passes;
        plan->window = (uint32_t)(passes * n);
        plan->windows = noisy ? 1u << round : 1;
    } else {
        size_t records = noisy ? n << round : n;
        plan->windows = (uint32_t)((records + window - 1) / window);
        plan->window = (uint32_t)((records + plan->windows - 1) / plan->windows);
    }
}

/*
 * Counts one walk into `fit`. A stray is slower than any miss and proves nothing. On a quiet device
 * it counts as a miss. On a noisy one it is left out, unless strays are many. A load that the cache
 * in front answered proves nothing either. The ring fits when each of its elements hit behind that
 * cache without a miss in between, in one pass or in several, or when the cache in front keeps the
 * rest for good.
 */
static void count_walk(struct fit *fit, struct round *round, const struct level *level,
                       const struct walk *walk, bool noisy)
{
    size_t strays = 0, run = 0, longest = 0, plain = 0;
    bool quiet = false;   /* for many passes */
    uint32_t stretch = 0; /* of hits, numbered from 1 on */
    for (size_t i = 0; i < walk->count; i++) {
        strays += level_class(level, walk->latency[i]) == LOAD_STRAY;
    }
    bool strays_count = !noisy || strays * 20 > walk->count;
    *round = (struct round){.records = walk->count};
    for (size_t i = 0; i < walk->count; i++) {
        enum load_class class = level_class(level, walk->latency[i]);
        bool settled = longest >= fit->count;
        bool ends = i % walk->window == 0 || class != LOAD_HIT;
        run = ends ? 0 : run;
        plain = ends ? 0 : plain + 1;
        quiet = quiet || plain >= limits.quiet_passes * fit->count;
        stretch += ends;
        if (class == LOAD_HIT && level_heard(level, walk->latency[i])) {
            run += !fit->seen || fit->seen[walk_element(walk, i)] != stretch;
            if (fit->seen) {
                fit->seen[walk_element(walk, i)] = stretch;
            }
        }
        longest = run > longest ? run : longest;
        round->slow += class != LOAD_HIT;
        round->settled_records += settled;
        round->settled_slow += settled && class != LOAD_HIT;
        if (class == LOAD_MISS || (class == LOAD_STRAY && strays_count)) {
            fit->misses[walk_element(walk, i)]++;
            round->misses++;
            round->settled_misses += settled;
        }
    }
    bool whole = level->front && walk->window >= fit->count;
    round->clean = round->slow == 0 && !whole ? walk->count >= fit->count
                                              : longest >= fit->count || (level->front && quiet);
    fit->records += round->records;
    fit->total += round->misses;
}

/* Chance that noise alone puts the misses of the last round on so few addresses. */
static double concentration(const struct fit *fit, const struct round *round, double false_rate)
{
    uint64_t passes = (round->records + fit->count - 1) / fit->count;
    double least = 1;
    double rate = fmax(false_rate, (double)round->misses / (double)round->records);
    size_t at_least[34] = {0};
    for (size_t i = 0; i < fit->count; i++) {
        uint32_t misses = fit->misses[i] < 33 ? fit->misses[i] : 33;
        at_least[misses]++;
    }
    for (int k = 32; k >= 0; k--) {
        at_least[k] += at_least[k + 1];
    }
    for (unsigned k = 2; k <= 32 && at_least[k]; k++) {
        double expected = (double)fit->count * binomial_tail(passes, rate, k);
        least = fmin(least, poisson_tail(expected, at_least[k]));
    }
    return least;
}

/*
 * Will the misses stay, however long the warm-up? Under random replacement one line of w that has
 * no place misses about twice a pass, at a rate of 2 / w. Each miss finds the place with a chance
 * of about 1 / w. After t passes a rate r is left by accident with a chance of exp(-r t). Otherwise
 * misses that will end get fewer from round to round.
 */
static bool will_stay(const struct level *level, const struct fit *fit, const struct round rounds[],
                      unsigned round, bool noisy)
{
    bool small = fit->count <= limits.small_ring;
    double now = (double)rounds[round].misses / (double)rounds[round].records;
    if (small || settles_late(level)) {
        return round >= 4 || has_settled(level, fit->count, &rounds[round]) ||
               now > limits.patience / (double)warm_passes(level, fit->count, round, noisy);
    }
    if (round == 0) {
        return false;
    }
    double before = (double)rounds[round - 1].misses / (double)rounds[round - 1].records;
    return now >= 0.7 * before || round + 1 == MAX_ROUNDS;
}

static enum fit_verdict judge_quiet(const struct level *level, const struct fit *fit,
                                    const struct round rounds[], unsigned round)
{
    double now = (double)rounds[round].misses / (double)rounds[round].records;
    double passes = (double)fit->records / (double)fit->count;
    if (rounds[round].misses == 0) { /* the cache in front had some of them */
        return round + 1 == MAX_ROUNDS ? FIT_YES : FIT_UNKNOWN;
    }
    if (round + 1 == MAX_ROUNDS) {
        return FIT_NO;
    }
    if (round == 0) {
        /* Where longer warming never helped, do not ask for it again on a long walk that misses all
         * the time. */
        bool shortcut = level->habits.steady >= 2 && !settles_late(level) && fit->count > 1024;
        return shortcut && now > 0.5 ? FIT_NO : FIT_UNKNOWN;
    }
    /* Where what fits never needed a second round, two are enough. */
    bool few =
        ((double)fit->total < limits.many_misses * passes || level->habits.prompt < 3) && round < 2;
    bool small = fit->count <= limits.small_ring;
    return will_stay(level, fit, rounds, round, false) && (small || !few) ? FIT_NO : FIT_UNKNOWN;
}

/*
 * Each round is judged by itself, for the rounds before may have been settling. Each is twice as
 * long as the one before.
 */
static enum fit_verdict judge_noisy(const struct level *level, struct fit *fit,
                                    const struct round rounds[], unsigned round)
{
    double bound = false_bound(level);
    const struct round *now = &rounds[round];
    double chance = fmin(poisson_tail(bound * (double)now->records, now->misses),
                         concentration(fit, now, bound));
    double most = settles_late(level) ? limits.late_records : limits.noisy_records;
    bool last = round >= 4 || (round >= 1 && (double)fit->count * (double)(2u << round) > most);
    if (shows_passes(level, fit->count, true)) {
        last = round >= 4 || has_settled(level, fit->count, now);
    }
    fit->noisy = true;
    if (chance < limits.by_noise && round >= 1 &&
        (last || will_stay(level, fit, rounds, round, true))) {
        return FIT_NO;
    }
    if (last) {
        return chance > 1e-3 ? FIT_YES : FIT_UNKNOWN;
    }
    return FIT_UNKNOWN;
}

/*
 * A pass without a miss proves the fit when one window saw all of it. Windows that each see a part
 * see parts of different passes. A set that misses at another place in each pass (random
 * replacement) can then go unseen. So several rounds must be clean, unless the cache was seen to
 * miss alike in every pass.
 */
static bool judge_clean(const struct level *level, const struct walk_plan *plan, unsigned clean)
{
    bool whole = plan->window >= plan->shape.count;
    bool alike = level->habits.regular > 0 && level->habits.irregular == 0;
    return clean >= (whole || alike ? 1 : limits.clean_rounds);
}

/* Do two rounds of a walk with many misses miss alike? */
static void learn_rhythm(struct level *level, const struct fit *fit, const struct round rounds[])
{
    double a = (double)rounds[0].misses / (double)rounds[0].records;
    double b = (double)rounds[1].misses / (double)rounds[1].records;
    if (fit->total < 32 || fit->noisy) {
        return;
    }
    if (fabs(a - b) <= 0.02 * fmax(a, b)) {
        level->habits.regular++;
    } else {
        level->habits.irregular++;
    }
}

/* Learns noise: what fits and had settled still missed so many times. */
static void learn_noise(struct level *level, const struct fit *fit, const struct round *last)
{
    level->timing.hit_records += fit->noisy ? last->records : last->settled_records;
    level->timing.false_misses += fit->noisy ? last->misses : last->settled_misses;
    level->timing.false_slow += fit->noisy ? last->slow : last->settled_slow;
}

/*
 * Did the walk miss more often before it settled than noise explains? Then the cache evicts other
 * data slowly.
 */
static void learn_settling(struct level *level, const struct fit *fit, const struct round *last)
{
    if (fit->noisy && fit->records > last->records) {
        /* Noise does not get less with more warming. */
        double rate =
            ((double)last->misses + 3 * sqrt((double)last->misses) + 3) / (double)last->records;
        double earlier_records = (double)(fit->records - last->records);
        level->habits.late +=
            poisson_tail(rate * earlier_records, fit->total - last->misses) < limits.by_noise;
        return;
    }
    uint64_t misses = fit->total - last->settled_misses;
    double records = (double)(fit->records - last->settled_records);
    if (!fit->noisy && misses > 2 &&
        poisson_tail(false_bound(level) * records, misses) < limits.by_noise) {
        level->habits.late++;
    } else {
        level->habits.prompt += !fit->noisy && fit->count > limits.small_ring && misses == 0;
    }
}

/* Arrays beside lines of earlier walks that a cache keeps. */
static int begin_array(struct level *level, struct walk_plan *plan)
{
    bool asks = level->keeps_hits && !plan->shape.ring;
    plan->run += asks ? WALK_AFTER_HITS : 0;
    return asks ? walk_hit_all(level->lab, plan) : 0;
}

/* One round. Its counts go into `fit` and rounds[round], its plan into `plan`. */
static int walk_round(struct level *level, struct fit *fit, struct walk_plan *plan,
                      struct round rounds[], unsigned round, bool noisy)
{
    bool asks = noisy && round > 0 && level->fit.held_count && !level->front;
    int rc = asks ? level_learn_beginning(level) : 0; /* is a long warm-up needed? */
    struct walk walk;
    plan_round(plan, level, round, noisy);
    rc = rc ? rc : begin_array(level, plan);
    rc = rc ? rc : walk_run(level->lab, &walk, plan);
    if (rc) {
        return rc;
    }
    if (noisy) {
        memset(fit->misses, 0, fit->count * sizeof *fit->misses);
    }
    if (fit->seen) {
        memset(fit->seen, 0, fit->count * sizeof *fit->seen);
    }
    count_walk(fit, &rounds[round], level, &walk, noisy);
    walk_free(&walk);
    rounds[round].passes = ((double)plan->warm + plan->window / 2.0) / (double)fit->count;
    learn_ways(level, fit, rounds, round);
    return 0;
}

int fit_test(struct level *level, struct fit *out, const struct walk_shape *shape)
{
    *out = (struct fit){.verdict = FIT_UNKNOWN, .count = shape->count};
    out->misses = calloc(shape->count, sizeof *out->misses);
    out->seen = level->front ? calloc(shape->count, sizeof *out->seen) : NULL;
    if (!out->misses || (level->front && !out->seen)) {
        fit_free(out);
        return error_memory();
    }
    struct round rounds[MAX_ROUNDS];
    unsigned round = 0, clean = 0;
    bool noisy = false;
    for (; round < MAX_ROUNDS && out->verdict == FIT_UNKNOWN; round++) {
        noisy = slow_share(level) * (double)shape->count > limits.noisy_slow;
        struct walk_plan plan = level_plan(level, *shape);
        int rc = walk_round(level, out, &plan, rounds, round, noisy);
        if (rc) {
            fit_free(out);
            return rc;
        }
        clean = rounds[round].clean ? clean + 1 : 0;
        if (clean) {
            out->verdict = judge_clean(level, &plan, clean) ? FIT_YES : FIT_UNKNOWN;
            out->noisy = false;
        } else if (noisy) {
            out->verdict = judge_noisy(level, out, rounds, round);
            if (out->verdict == FIT_UNKNOWN && round >= 4) {
                break;
            }
        } else {
            out->verdict = judge_quiet(level, out, rounds, round);
        }
    }
    if (out->verdict == FIT_UNKNOWN && clean) {
        out->verdict = FIT_YES;
    }
    if (out->verdict == FIT_YES) {
        level->fit.held_stride = shape->ring ? level->fit.held_stride : shape->stride;
        level->fit.held_count = shape->ring ? level->fit.held_count : shape->count;
        learn_noise(level, out, &rounds[round - 1]);
        learn_settling(level, out, &rounds[round - 1]);
    } else if (out->verdict == FIT_NO && round == 2) {
        level->habits.steady += out->count > limits.small_ring;
        learn_rhythm(level, out, rounds);
    }
    return 0;
}

int fit_count_misses(struct level *level, uint32_t *misses, const struct walk_shape *shape,
                     uint32_t run)
{
    struct walk_plan plan = level_plan(level, *shape);
    plan_round(&plan, level, 0, false);
    size_t late = limits.late_loads / shape->count < 64 ? 64 : limits.late_loads / shape->count;
    plan.warm = shape->count * (settles_late(level) ? (late < 400 ? late : 400) : 1 + run % 3);
    plan.run = 100 + run;
    if (shape->count <= level->max_window) {
        plan.window = (uint32_t)(level->max_window / shape->count * shape->count);
        if (level->habits.begins_empty && !level->front &&
            slow_share(level) * (double)shape->count > limits.noisy_slow) {
            plan.windows = (uint32_t)(2 * limits.most_shown * shape->count / plan.window + 1);
        }
    }
    struct fit fit = {.count = shape->count, .misses = misses};
    struct round round;
    struct walk walk;
    int rc = begin_array(level, &plan);
    rc = rc ? rc : walk_run(level->lab, &walk, &plan);
    if (rc == 0) {
        count_walk(&fit, &round, level, &walk,
                   slow_share(level) * (double)shape->count > limits.noisy_slow);
        walk_free(&walk);
    }
    return rc;
}

void fit_free(struct fit *fit)
{
    free(fit->misses);
    free(fit->seen);
    fit->misses = fit->seen = NULL;
}

int fit_verdict(struct level *level, enum fit_verdict *out, const struct walk_shape *shape)
{
    struct fit fit;
    int rc = fit_test(level, &fit, shape);
    if (rc == 0) {
        *out = fit.verdict;
        fit_free(&fit);
    }
    return rc;
}
