/*
 * Sets that pages are dealt to in turn: page p is of set p % n. Nothing says that a GPU does so,
 * but where it does, few and short walks tell all of its sets, of whatever size and policy.
 *
 * Of all pages that fit and the one behind them a single set has too many, that page's. The nearest
 * page before it without which the walk fits is of its set, too, and n pages away. Then every set
 * is made to overflow: a page more of each, until in every round one of its pages misses; sets of
 * one walk keep the level in front busy for each other.
 *
 * That is a guess until other walks bear it out. In some sets alone a page more than entries must
 * not fit, and must fit without one of them, whichever; so the guessed n is no divisor of the true
 * one, and no multiple. All entries of all sets must fit together.
 */
#include "infer/tlb/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned beside, run, front_times, passes, deeper, alone, left_out;
    size_t batch;
    double over, under, most_beside;
} limits = {
    .beside = 8,       /* pages beyond twice what the level in front holds */
    .run = 600000,     /* requests: apart from those of all other walks */
    .front_times = 4,  /* times the entries in front: so many pages a batch has, if it can */
    .passes = 12,      /* of a window */
    .deeper = 2,       /* times the entries that each set has at least: no set has more */
    .alone = 3,        /* sets that are walked alone */
    .left_out = 2,     /* of their pages, left out one by one */
    .batch = 600,      /* pages of a walk */
    .over = 0.6,       /* misses of a set a round, from which on it is too full */
    .under = 0.1,      /* the same, up to which it is not */
    .most_beside = 0.7 /* share of the pages that fit: more of them beside a set fill others */
};

struct turns {
    struct tlb_lab *tl;
    const struct tlb_level *level;
    size_t sets;
    size_t depth;   /* pages of each set that fit for certain */
    uint32_t *ways; /* of each set; 0: not known yet; owned */
    uint32_t *page; /* of a walk; owned */
    size_t count, room;
    struct rng rng;
};

static int walk_fits(struct turns *t, bool *fits)
{
    struct tlb_ring ring = {.count = t->count};
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
    int rc = tlb_fits(t->tl, fits, &ring, t->level);
    free(ring.unit);
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
    size_t hidden = t->level->in_front ? 2 * t->level->in_front + limits.beside : 1;
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

/* ---- how many of each set fit ---- */

/* A page that fits beside what is walked, for the level in front: any but those of set `not`. */
static void add_beside(struct turns *t, size_t wanted, size_t not )
{
    const size_t fits = t->depth * t->sets, own = t->count;
    bool *taken = calloc(fits + 1, sizeof *taken);
    for (size_t tries = 0; taken && t->count < wanted && tries < 4 * fits; tries++) {
        size_t page = (size_t)rng_below(&t->rng, fits);
        if (!taken[page] && page % t->sets != not ) {
            taken[page] = true;
            t->page[t->count++] = (uint32_t)page;
        }
    }
    t->count = taken ? t->count : own;
    free(taken);
}

/* The next sets that are not known, so many pages of each; returns the first set behind them. */
static size_t fill_batch(struct turns *t, size_t from, size_t depth)
{
    size_t set = from, wanted = limits.front_times * t->level->in_front;
    t->count = 0;
    for (; set < t->sets && (t->count == 0 || t->count + depth <= limits.batch); set++) {
        for (size_t i = 0; t->ways[set] == 0 && i < depth; i++) {
            t->page[t->count++] = (uint32_t)(set + i * t->sets);
        }
    }
    for (size_t other = 0; other < t->sets && t->count < wanted; other++) { /* for the front */
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
    int rc = tlb_miss_counts_create(&counts, t->tl, t->count);
    rc = rc ? rc : tlb_count_misses(t->tl, &counts, t->level, t->page, &plan);
    memset(rate, 0, t->sets * sizeof *rate);
    for (size_t i = 0; rc == 0 && i < t->count; i++) {
        rate[t->page[i] % t->sets] += counts.misses[i] / counts.rounds;
    }
    tlb_miss_counts_free(&counts);
    return rc;
}

/* Does each set that is asked overflow, or not? Sets that are not at rest yet are asked again. */
static int judge_batch(struct turns *t, double *rate, size_t from, size_t to, size_t depth)
{
    static const uint16_t ladder[] = {24, 80, 240};
    bool open = true;
    int rc = tlb_can_count(t->tl, t->level, t->count) ? 0 : INFER_UNDECIDED;
    for (size_t k = 0; rc == 0 && open && k < sizeof ladder / sizeof *ladder; k++) {
        rc = count_batch(t, rate, ladder[k]);
        open = false;
        for (size_t set = from; set < to; set++) {
            open =
                open || (t->ways[set] == 0 && rate[set] > limits.under && rate[set] < limits.over);
        }
    }
    for (size_t set = from; rc == 0 && !open && set < to; set++) {
        bool over = t->ways[set] == 0 && rate[set] >= limits.over;
        t->ways[set] = over ? (uint32_t)depth - 1 : t->ways[set];
    }
    return rc || !open ? rc : INFER_UNDECIDED;
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
    double *rate = calloc(t->sets + 1, sizeof *rate);
    int rc = rate ? 0 : error_memory();
    size_t held = tlb_pages_held(t->tl, t->level);
    t->depth = t->level->fits / t->sets;
    for (size_t depth = t->depth + 1; rc == 0 && !all_known(t); depth++) {
        if (depth > limits.deeper * t->depth + limits.beside || depth * t->sets > held ||
            depth > limits.batch) {
            rc = INFER_UNDECIDED;
        }
        for (size_t set = 0; rc == 0 && set < t->sets;) {
            size_t to = fill_batch(t, set, depth);
            rc = judge_batch(t, rate, set, to, depth);
            set = to;
        }
    }
    free(rate);
    return rc;
}

/* ---- is it so? ---- */

/* Do so many pages of a set fit, without one of them, beside pages for the level in front? */
static int fits_alone(struct turns *t, bool *fits, size_t set, size_t pages, size_t without)
{
    size_t wanted = t->level->in_front ? 2 * t->level->in_front + limits.beside : 0;
    t->count = 0;
    for (size_t i = 0; i < pages; i++) {
        if (i != without) {
            t->page[t->count++] = (uint32_t)(set + i * t->sets);
        }
    }
    double others = (double)(t->depth * (t->sets - 1)) * limits.most_beside;
    if (wanted > t->count && (double)(wanted - t->count) > others) {
        return INFER_UNDECIDED;
    }
    add_beside(t, wanted, set);
    return walk_fits(t, fits);
}

/* A page more than entries is too many; whichever is left out, the others fit. */
static int check_set(struct turns *t, bool *good, size_t set)
{
    const size_t pages = t->ways[set] + 1;
    bool fits = false;
    int rc = fits_alone(t, &fits, set, pages, pages);
    *good = rc == 0 && !fits;
    for (size_t i = 0; rc == 0 && *good && i <= limits.left_out && i < pages; i++) {
        /* The last but one is the nearest to the last; the others are drawn. */
        size_t out = i == 0 ? pages - 1 : i == 1 ? pages - 2 : (size_t)rng_below(&t->rng, pages);
        rc = fits_alone(t, good, set, pages, out);
    }
    return rc;
}

static int check_together(struct turns *t, bool *good)
{
    t->count = 0;
    for (size_t set = 0; set < t->sets; set++) {
        for (size_t i = 0; i < t->ways[set] && t->count < t->room; i++) {
            t->page[t->count++] = (uint32_t)(set + i * t->sets);
        }
    }
    return walk_fits(t, good);
}

static int check(struct turns *t, bool *good)
{
    size_t set = t->level->fits % t->sets;
    int rc = 0;
    *good = true;
    for (size_t i = 0; rc == 0 && *good && i < limits.alone; i++) {
        rc = check_set(t, good, set);
        set = (size_t)rng_below(&t->rng, t->sets);
    }
    return rc || !*good ? rc : check_together(t, good);
}

static int find(struct turns *t, bool *good)
{
    int rc = find_nearest(t);
    *good = false;
    if (rc || t->sets < 2 || t->level->fits < t->sets) {
        return rc;
    }
    t->ways = calloc(t->sets, sizeof *t->ways);
    rc = t->ways ? find_ways(t) : error_memory();
    return rc ? rc : check(t, good);
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
    struct turns t = {.tl = tl, .level = level, .room = tlb_pages_held(tl, level) + 2};
    *found = false;
    if (!tlb_can_count(tl, level, 2 * level->in_front + limits.beside)) {
        return 0;
    }
    t.page = malloc((t.room + limits.batch) * sizeof *t.page);
    rng_seed(&t.rng, level->fits);
    tl->run += limits.run;
    int rc = t.page ? find(&t, found) : error_memory();
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
