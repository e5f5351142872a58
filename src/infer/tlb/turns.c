/*
 * Sets that pages are dealt to in turn: page p is of set p % n. Nothing says that a GPU does so,
 * but where it does, few and short walks tell all of its sets, of whatever size and policy.
 *
 * Of all pages that fit and the one behind them a single set has too many, that page's. The nearest
 * page before it without which the walk fits is of its set, too, and n pages away. Then every set
 * is made to overflow: a page more of each, until in every round one of its pages misses; sets of
 * one walk keep the level in front busy for each other.
 *
 * That is a guess until other walks bear it out. In some sets a page more than entries must not
 * fit though all others have one less, and must fit without one of them, whichever; so the guessed
 * n is no multiple of the true one, and no divisor. All entries of all sets must fit together.
 */
#include "infer/tlb/tlb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned beside, run, front_times, passes, deeper, alone, left_out, period_warm, period_views;
    size_t batch;
    unsigned fewest_ways, most_loads, single, patience;
    double over, under, correlated, chances, better;
} limits = {
    .beside = 8,           /* pages beyond twice what the level in front holds */
    .run = 600000,         /* requests: apart from those of all other walks */
    .front_times = 4,      /* times the entries in front: so many pages a batch has, if it can */
    .passes = 12,          /* of a window */
    .deeper = 2,           /* times the entries that each set has at least: no set has more */
    .alone = 3,            /* sets that are walked alone */
    .left_out = 2,         /* of their pages, left out one by one */
    .period_warm = 40,     /* rounds before it is looked who misses */
    .period_views = 3,     /* walks, where records are not counted */
    .single = 5,           /* pages left out one by one of what seems a single set */
    .patience = 4,         /* times the pages: rounds after which what draws is at rest */
    .fewest_ways = 3,      /* of a set: no more sets are sought than that leaves */
    .most_loads = 2000000, /* that all of it may cost */
    .batch = 600,          /* pages of a walk */
    .over = 0.6,           /* misses of a set a round, from which on it is too full */
    .under = 0.1,          /* the same, up to which it is not */
    .correlated = 0.1, /* pages that miss at a distance: less is none. Those of a policy that draws
                          are not all seen to */
    .chances = 5,      /* times what chance makes of it */
    .better = 1.25,    /* times: so much better a longer distance is, if it is the period */
};

struct turns {
    struct tlb_lab *tl;
    const struct tlb_level *level;
    size_t sets;
    size_t depth;   /* pages of each set that fit for certain */
    uint32_t *ways; /* of each set, with room for the most; 0: not known yet; owned */
    uint32_t *page; /* of a walk; owned */
    size_t count, room;
    uint64_t start; /* loads before */
    struct rng rng;
};

/* INFER_UNDECIDED: it has cost as much as it may. */
static int may_go_on(const struct turns *t)
{
    return t->tl->lab->loads - t->start <= limits.most_loads
               ? 0
               : lab_undecided(t->tl->lab,
                               "which sets pages are dealt to was not found in %u loads",
                               limits.most_loads);
}

static int walk_fits(struct turns *t, bool *fits)
{
    struct tlb_ring ring = {.count = t->count};
    int rc = may_go_on(t);
    if (rc) {
        return rc;
    }
    if (tlb_can_count(t->tl, t->level, t->count)) {
        return tlb_count_fits(t->tl, fits, t->level, t->page, t->count);
    }
    ring.unit = malloc((t->count + 1) * sizeof *ring.unit);
    if (!ring.unit) {
        return error_memory();
    }
    for (size_t i = 0; i < t->count; i++) {
        ring.unit[i] = tlb_place(t->tl, t->level->page, t->page[i], 0);
    }
    rc = tlb_fits(t->tl, fits, &ring, t->level);
    free(ring.unit);
    return rc;
}

/* ---- are there several sets? ---- */

static bool is_prime(size_t number)
{
    bool is = number > 1;
    for (size_t i = 2; is && i * i <= number; i++) {
        is = number % i > 0;
    }
    return is;
}

/*
 * Of the last page's set are those before it whose distance the number of sets divides. So pages
 * at distances that are prime and more than there are sets are of others; where the walk fits
 * without these, there is one set.
 */
static int ask_several(struct turns *t, bool *several)
{
    const size_t last = t->level->fits;
    bool fits = true;
    t->count = 0;
    for (size_t i = 0; i <= last; i++) {
        size_t distance = last - i;
        if (distance != 1 && (distance * limits.fewest_ways < last || !is_prime(distance))) {
            t->page[t->count++] = (uint32_t)i;
        }
    }
    int rc = walk_fits(t, &fits);
    *several = rc == 0 && !fits;
    return rc;
}

/* ---- a single set ---- */

/* Does the walk of all that fit and one more fit without one of them? */
static int fits_without(struct turns *t, bool *fits, size_t without)
{
    t->count = 0;
    for (size_t i = 0; i <= t->level->fits; i++) {
        if (i != without) {
            t->page[t->count++] = (uint32_t)i;
        }
    }
    return walk_fits(t, fits);
}

/* Where victims are drawn, what was there before leaves late: a page more may fit after all. */
static int is_full(struct turns *t, bool *full)
{
    struct tlb_miss_counts counts;
    const size_t pages = t->level->fits + 1;
    struct tlb_count_plan plan = {.warm = (uint32_t)(limits.patience * pages),
                                  .passes = limits.passes,
                                  .rounds = 2,
                                  .windows = 1};
    *full = tlb_can_count(t->tl, t->level, pages) &&
            t->tl->lab->loads - t->start + (uint64_t)plan.warm * pages < limits.most_loads;
    if (!*full) {
        return 0;
    }
    int rc = tlb_miss_counts_create(&counts, t->tl, pages);
    rc = rc ? rc : tlb_count_misses(t->tl, &counts, t->level, NULL, &plan);
    *full = rc == 0 && !counts.clean && (double)counts.slow >= limits.over * counts.rounds;
    tlb_miss_counts_free(&counts);
    return rc;
}

/* All pages are of one set if the walk of one too many fits whichever is left out. */
static int ask_single(struct turns *t, bool *good)
{
    int rc = 0;
    *good = true;
    for (size_t i = 0; rc == 0 && *good && i < limits.single; i++) {
        rc = fits_without(t, good, (size_t)rng_below(&t->rng, t->level->fits));
    }
    rc = rc || !*good ? rc : is_full(t, good);
    t->sets = 1;
    t->ways[0] = (uint32_t)t->level->fits;
    return rc;
}

/* ---- the nearest page of the same set ---- */

/* Does the walk of all that fit and one more fit without the `less` pages before that one? */
static int fits_less(struct turns *t, bool *fits, size_t less)
{
    t->count = 0;
    for (size_t i = 0; i < t->level->fits - less; i++) {
        t->page[t->count++] = (uint32_t)i;
    }
    t->page[t->count++] = (uint32_t)t->level->fits;
    return walk_fits(t, fits);
}

static int find_nearest(struct turns *t)
{
    size_t parts = tlb_parts(t->level, t->level->fits);
    size_t hidden = t->level->in_front ? 2 * t->level->in_front / parts + limits.beside : 1;
    size_t held = t->level->fits, low = 0;
    size_t high = held > hidden ? held - hidden : 0;
    bool fits = false;
    high = high < INFER_MAX_TLB_SETS ? high : INFER_MAX_TLB_SETS;
    int rc = high ? fits_less(t, &fits, high) : 0;
    while (rc == 0 && fits && high - low > 1) {
        size_t middle = low + (high - low) / 2;
        bool here = false;
        rc = fits_less(t, &here, middle);
        *(here ? &high : &low) = middle;
    }
    t->sets = fits ? high : 0;
    return rc;
}

/* ---- at what distance those that miss repeat ---- */

/* Pages that are too many, in hundredths of those that fit. */
static const unsigned overfull[] = {0, 3, 8};

static int mark_missing(struct turns *t, bool *missing, size_t pages)
{
    struct tlb_miss_counts counts;
    struct tlb_count_plan plan = {
        .warm = limits.period_warm, .passes = limits.passes, .rounds = 2, .windows = 1};
    int rc = tlb_miss_counts_create(&counts, t->tl, pages);
    rc = rc ? rc : tlb_count_misses(t->tl, &counts, t->level, NULL, &plan);
    for (size_t i = 0; rc == 0 && i < pages; i++) {
        missing[i] = counts.misses[i] > (t->tl->noisy ? 1 : 0);
    }
    tlb_miss_counts_free(&counts);
    return rc;
}

/* The same of walks that are too long to be counted. */
static int mark_slow(struct turns *t, bool *missing, size_t pages)
{
    struct tlb_ring ring = {0};
    int rc = tlb_ring_of_pages(t->tl, &ring, t->level->page, pages, 0);
    for (unsigned k = 0; rc == 0 && k < limits.period_views; k++) {
        struct tlb_view view;
        rc = tlb_view(t->tl, &view, &ring, t->level, 1);
        for (size_t i = 0; rc == 0 && i < pages; i++) {
            missing[i] = missing[i] || (t->tl->noisy ? view.slow[i] : view.ever[i]);
        }
        if (rc == 0) {
            tlb_view_free(&view);
        }
    }
    free(ring.unit);
    return rc;
}

/* Of two pages so far apart, or a multiple: how well does one that misses tell that the other does?
 * 1: perfectly. */
static double correlation(const bool *missing, size_t pages, size_t distance)
{
    double pairs = 0, both = 0, all = 0;
    for (size_t first = 0; first < distance; first++) {
        double count = 0, misses = 0;
        for (size_t i = first; i < pages; i += distance) {
            count++;
            misses += missing[i];
        }
        pairs += count * (count - 1);
        both += misses * (misses - 1);
        all += misses;
    }
    double share = all / (double)pages, spread = share * (1 - share);
    return pairs > 0 && spread > 0 ? (both / pairs - share * share) / spread : 0;
}

/* The least distance at which pages that miss do so about as alike as at any. */
static int find_period(struct turns *t, size_t pages)
{
    bool *missing = calloc(pages, sizeof *missing);
    if (!missing) {
        return error_memory();
    }
    double best = 0;
    int rc = may_go_on(t);
    if (rc == 0) {
        rc = tlb_can_count(t->tl, t->level, pages) ? mark_missing(t, missing, pages)
                                                   : mark_slow(t, missing, pages);
    }
    t->sets = 0;
    for (size_t n = 2; rc == 0 && n * limits.fewest_ways <= pages && n <= INFER_MAX_TLB_SETS; n++) {
        /* Of so many pairs chance makes so much. */
        double chance = sqrt(2 * (double)n) / (double)pages, here = correlation(missing, pages, n);
        if (here > best && here > fmax(limits.correlated, limits.chances * chance)) {
            best = here * limits.better;
            t->sets = n;
        }
    }
    free(missing);
    return rc;
}

/* ---- how many of each set fit ---- */

/* Pages of a walk that is counted, at most. */
static size_t most_batch(const struct turns *t)
{
    size_t most = tlb_most_window(t->tl) / TLB_COUNT_ROUNDS / (t->tl->twice ? 2 : 1);
    return most < limits.batch ? most : limits.batch;
}

/* The next sets that are not known, so many pages of each; returns the first set behind them. */
static size_t fill_batch(struct turns *t, size_t from, size_t depth)
{
    size_t set = from, wanted = limits.front_times * t->level->in_front, most = most_batch(t);
    t->count = 0;
    for (; set < t->sets && (t->count == 0 || t->count + depth <= most); set++) {
        for (size_t i = 0; t->ways[set] == 0 && i < depth; i++) {
            t->page[t->count++] = (uint32_t)(set + i * t->sets);
        }
    }
    for (size_t other = 0; other < t->sets && t->count < wanted && t->count + t->depth <= most;
         other++) { /* for the front */
        bool within = other >= from && other < set && t->ways[other] == 0;
        for (size_t i = 0; !within && i < t->depth; i++) {
            t->page[t->count++] = (uint32_t)(other + i * t->sets);
        }
    }
    return set;
}

/* Misses of each set a round. */
static int count_batch(struct turns *t, double *rate, uint32_t warm)
{
    struct tlb_miss_counts counts;
    size_t passes = tlb_most_window(t->tl) / t->count / (t->tl->twice ? 2 : 1);
    struct tlb_count_plan plan = {
        .warm = warm,
        .passes = (uint32_t)(passes < limits.passes ? passes : limits.passes),
        .rounds = 2,
        .windows = 1,
    };
    int rc = may_go_on(t);
    if (rc) {
        return rc;
    }
    rc = tlb_miss_counts_create(&counts, t->tl, t->count);
    rc = rc ? rc : tlb_count_misses(t->tl, &counts, t->level, t->page, &plan);
    memset(rate, 0, t->sets * sizeof *rate);
    for (size_t i = 0; rc == 0 && i < t->count; i++) {
        rate[t->page[i] % t->sets] += counts.misses[i] / counts.rounds;
    }
    tlb_miss_counts_free(&counts);
    return rc;
}

/*
 * The least misses a round that each set had in several orders. A policy may let pages of a set
 * that is not full miss for ever in some order, and what was there before may not have left yet.
 */
static int least_rates(struct turns *t, double *least, size_t from, size_t to)
{
    static const uint16_t ladder[] = {24, 24, 24, 80, 240};
    double *rate = calloc(t->sets + 1, sizeof *rate);
    bool open = true;
    int rc = 0;
    if (!rate) {
        return error_memory();
    }
    for (size_t set = from; set < to; set++) {
        least[set] = INFINITY;
    }
    for (size_t k = 0; rc == 0 && open && k < sizeof ladder / sizeof *ladder; k++) {
        rc = count_batch(t, rate, ladder[k]);
        open = false;
        for (size_t set = from; set < to; set++) {
            least[set] = fmin(least[set], rate[set]);
            open = open || (t->ways[set] == 0 && least[set] > limits.under);
        }
    }
    free(rate);
    return rc;
}

/* Does each set that is asked overflow, or not? */
static int judge_batch(struct turns *t, double *least, size_t from, size_t to, size_t depth)
{
    int rc = tlb_can_count(t->tl, t->level, t->count) ? least_rates(t, least, from, to)
                                                      : INFER_UNDECIDED;
    for (size_t set = from; rc == 0 && set < to; set++) {
        if (t->ways[set] == 0 && least[set] > limits.under) {
            t->ways[set] = (uint32_t)depth - 1;
            rc = least[set] < limits.over ? INFER_UNDECIDED : 0;
        }
    }
    return rc;
}

static bool all_known(const struct turns *t)
{
    bool all = true;
    for (size_t set = 0; set < t->sets; set++) {
        all = all && t->ways[set] > 0;
    }
    return all;
}

static int find_ways(struct turns *t)
{
    double *least = calloc(t->sets + 1, sizeof *least);
    int rc = 0;
    if (!least) {
        return error_memory();
    }
    size_t held = tlb_pages_held(t->tl, t->level);
    t->depth = t->level->fits / t->sets;
    for (size_t depth = t->depth + 1; rc == 0 && !all_known(t); depth++) {
        if (depth > limits.deeper * t->depth + limits.beside || depth * t->sets > held ||
            depth > most_batch(t)) {
            rc = INFER_UNDECIDED;
        }
        for (size_t set = 0; rc == 0 && set < t->sets;) {
            size_t to = fill_batch(t, set, depth);
            rc = t->count ? judge_batch(t, least, set, to, depth) : 0; /* 0: all are known */
            set = to;
        }
    }
    free(least);
    return rc;
}

/* ---- is it so? ---- */

/* Some pages of each set for the level in front; of set `full` a page less than entries. */
static size_t beside(const struct turns *t, size_t other, size_t full)
{
    size_t wanted = limits.front_times * t->level->in_front;
    size_t depth = (wanted + t->sets - 1) / t->sets, most = t->ways[other] - (other == full);
    return other == full || most < depth ? most : depth;
}

/* Do so many pages of a set fit, without one of them, beside some of the others? */
static int fits_beside(struct turns *t, bool *fits, size_t set, size_t pages, size_t without,
                       size_t full)
{
    t->count = 0;
    for (size_t other = 0; other < t->sets; other++) {
        size_t count = other == set ? pages : beside(t, other, full);
        for (size_t i = 0; i < count; i++) {
            if (other != set || i != without) {
                t->page[t->count++] = (uint32_t)(other + i * t->sets);
            }
        }
    }
    return walk_fits(t, fits);
}

/* A page more than entries is too many, whichever other set is nearly full: were it the same one,
 * that page would fit there. */
static int check_apart(struct turns *t, bool *good, size_t set)
{
    const size_t pages = t->ways[set] + 1;
    int rc = 0;
    *good = true;
    for (size_t parts = 2; rc == 0 && *good && parts <= t->sets; parts++) {
        bool fits = false;
        if (t->sets % parts == 0 && is_prime(parts)) {
            size_t full = (set + t->sets / parts) % t->sets;
            rc = fits_beside(t, &fits, set, pages, pages, full);
            *good = !fits;
        }
    }
    return rc;
}

/* Whichever page is left out, the others fit. */
static int check_whole(struct turns *t, bool *good, size_t set)
{
    const size_t pages = t->ways[set] + 1;
    int rc = 0;
    *good = true;
    for (size_t i = 0; rc == 0 && *good && i <= limits.left_out && i < pages; i++) {
        /* The last but one is the nearest to the last; the others are drawn. */
        size_t out = i == 0 ? pages - 1 : i == 1 ? pages - 2 : (size_t)rng_below(&t->rng, pages);
        rc = fits_beside(t, good, set, pages, out, t->sets);
    }
    return rc;
}

/* All entries of all sets fit, as far as walks of so many pages are counted. */
static int check_together(struct turns *t, bool *good)
{
    t->count = 0;
    for (size_t set = 0; set < t->sets; set++) {
        for (size_t i = 0; i < t->ways[set] && t->count < t->room; i++) {
            t->page[t->count++] = (uint32_t)(set + i * t->sets);
        }
    }
    return tlb_can_count(t->tl, t->level, t->count) ? walk_fits(t, good) : 0;
}

static int check(struct turns *t, bool *good)
{
    size_t set = t->level->fits % t->sets;
    int rc = 0;
    *good = true;
    for (size_t i = 0; rc == 0 && *good && i < limits.alone; i++) {
        rc = check_apart(t, good, set);
        rc = rc || !*good ? rc : check_whole(t, good, set);
        set = (size_t)rng_below(&t->rng, t->sets);
    }
    return rc || !*good ? rc : check_together(t, good);
}

/* What the guess of how many sets there are says of each of them; `good`: it is borne out. */
static int try_guess(struct turns *t, bool *good)
{
    *good = false;
    if (t->sets < 2 || t->level->fits < 2 * t->sets || t->sets > INFER_MAX_TLB_SETS) {
        return 0;
    }
    memset(t->ways, 0, t->sets * sizeof *t->ways);
    int rc = find_ways(t);
    rc = rc ? rc : check(t, good);
    return rc == INFER_UNDECIDED ? 0 : rc;
}

static int find(struct turns *t, bool *good)
{
    bool several = false;
    int rc = ask_several(t, &several);
    *good = false;
    if (rc == 0 && several) {
        rc = find_nearest(t);
        rc = rc ? rc : try_guess(t, good);
    }
    for (size_t i = 0; rc == 0 && !*good && i < sizeof overfull / sizeof *overfull; i++) {
        size_t pages = t->level->fits * (100 + overfull[i]) / 100 + 2, most = t->room - 2;
        rc = find_period(t, pages < most ? pages : most);
        rc = rc ? rc : try_guess(t, good);
    }
    return rc || several || *good ? rc : ask_single(t, good);
}

/* ---- the result ---- */

/* For the policy: the largest set, where its pages are counted; else that of the last page. */
static size_t chosen_set(const struct turns *t)
{
    size_t best = t->level->fits % t->sets;
    for (size_t set = 0; set < t->sets; set++) {
        best = t->ways[set] > t->ways[best] ? set : best;
    }
    return best;
}

static int take(const struct turns *t, struct tlb_result *out, struct tlb_level *level,
                size_t *entries)
{
    size_t set = chosen_set(t), pages = t->ways[set] + 1;
    uint32_t *own = malloc(pages * sizeof *own);
    if (!own) {
        return error_memory();
    }
    free(level->set);
    level->set = own;
    level->set_count = pages;
    for (size_t i = 0; i < pages; i++) {
        own[i] = (uint32_t)(set + i * t->sets);
    }
    *entries = 0;
    out->set_count = t->sets;
    out->step_count = 0;
    for (size_t i = 0; i < t->sets; i++) {
        out->entries_per_set[i] = t->ways[i];
        *entries += t->ways[i];
    }
    return 0;
}

int tlb_sets_in_turn(struct tlb_lab *tl, struct tlb_result *out, struct tlb_level *level,
                     size_t *entries, bool *found)
{
    const uint32_t run = tl->run;
    struct turns t = {
        .tl = tl, .level = level, .room = tlb_pages_held(tl, level) + 2, .start = tl->lab->loads};
    *found = false;
    if (!tlb_can_count(tl, level, 2 * level->in_front + limits.beside)) {
        return 0;
    }
    t.page = malloc((t.room + limits.batch) * sizeof *t.page);
    t.ways = calloc(INFER_MAX_TLB_SETS, sizeof *t.ways);
    rng_seed(&t.rng, level->fits);
    tl->run += limits.run;
    int rc = t.page && t.ways ? find(&t, found) : error_memory();
    tl->run = run;
    if (rc == 0 && *found) {
        rc = take(&t, out, level, entries);
    } else if (rc && lab_soft(rc)) { /* older recordings lack these walks */
        tl->lab->why = (struct refusal){0};
        *found = false;
        rc = 0;
    }
    free(t.ways);
    free(t.page);
    return rc;
}
