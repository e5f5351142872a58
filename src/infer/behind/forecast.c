/*
 * The number of sets of a cache behind another whose index no rule predicts, from how many of its
 * path's lines hit when they are read in some order, and then back again, over and over. Which
 * loads the cache in front kept is seen in each record, and the replacement of one set is known
 * (policy/). So the loads that were heard are read in modelled caches of so many sets, to which a
 * hash gives the lines by chance: what hits there in the mean, and how much that differs from one
 * hash to the next, says how likely each number of sets is. Where victims are drawn they are drawn
 * there as well, by their shares. One number must be far likelier than all others.
 *
 * held.c asks the same without a model: there all sets must be full, and give back whole sets.
 * Taken for granted here: sets hold as many lines each, and a hash spreads them no better than
 * chance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/behind/behind.h"
#include "infer/experiments.h"
#include "infer/policy/rule.h"
#include "util/error.h"
#include "util/rng.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned passes, near, hashes, bisected, most_lines, loads;
    double least_odds, most_off, misfit, sure, fewest, most;
} limits = {
    .passes = 3,        /* times there and back: two before the records */
    .near = 6,          /* numbers of sets on either side that are compared */
    .hashes = 12,       /* drawn for each of them */
    .bisected = 3,      /* the same while the number is looked for */
    .most_lines = 3072, /* that are read */
    .loads = 8192,      /* of all orders, there and back once */
    .least_odds = 0.8,  /* of the likeliest number */
    .most_off = 3,      /* deviations from what it predicts */
    .misfit = 0.002,    /* share of the hits that the model may be off by */
    .sure = 0.85,       /* confidence, times these odds: sets may differ */
    .fewest = 0.5,      /* times the sets that so many hits would fill: at least, */
    .most = 3,          /* and at most */
};
enum { LEAST_ORDERS = 4, MOST_ORDERS = 16 };

/* Several times there and back, as they were recorded. */
struct period {
    uint32_t *ring;
    bool *heard; /* of each load; of the last time alone, where a window holds no more */
};

struct forecast {
    struct level *level;
    struct period period[MOST_ORDERS];
    size_t orders;
    size_t lines, count; /* that are read; loads there and back */
    size_t recorded;     /* times there and back that a window holds: all, or the last */
    double hits;         /* of all periods */
    uint32_t ways;
    enum policy_kind kind; /* POLICY_COUNT: victims are drawn */
    struct policy_set *set;
    uint32_t *set_of; /* by lines */
    struct rng rng;
};

/* ---- measuring ---- */

static int record(struct forecast *f, struct period *period, unsigned turn)
{
    struct level *level = f->level;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = period->ring, .count = f->count});
    struct walk walk;
    uint32_t *order = malloc((f->lines + 1) * sizeof *order);
    if (!order) {
        return error_memory();
    }
    rng_permutation(order, &f->rng, (uint32_t)f->lines);
    behind_lay_out(period->ring, order, f->lines, level->line.bytes);
    free(order);
    plan.filler = NULL; /* these are all lines that there are */
    plan.warm = (limits.passes - f->recorded) * f->count;
    plan.window = (uint32_t)(f->recorded * f->count);
    plan.windows = 1;
    plan.run = 720 + turn;
    int rc = walk_run(level->lab, &walk, &plan);
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        bool is_last = i + f->count >= walk.count;
        period->heard[i] = level_heard(level, walk.latency[i]);
        f->hits += is_last && period->heard[i] && level_class(level, walk.latency[i]) == LOAD_HIT;
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    return rc;
}

/* ---- predicting ---- */

static bool read_line(struct forecast *f, uint32_t line)
{
    struct policy_set *set = &f->set[f->set_of[line]];
    const double *probability = f->level->result->policy.probability;
    return f->kind == POLICY_COUNT ? policy_set_read_drawn(set, line, probability, &f->rng)
                                   : policy_set_read(set, line);
}

/* Hits of one period, after those before it, in caches of so many sets and this hash. */
static size_t hits_of(struct forecast *f, const struct period *period, size_t sets)
{
    size_t hits = 0, all = limits.passes * f->count;
    enum policy_kind kind = f->kind == POLICY_COUNT ? POLICY_LRU : f->kind;
    for (size_t i = 0; i < sets; i++) {
        policy_set_init(&f->set[i], kind, f->ways);
    }
    for (size_t i = 0; i < all; i++) {
        size_t at = i % f->count;
        if (period->heard[i % (f->recorded * f->count)]) {
            uint32_t line = (uint32_t)(period->ring[at] / f->level->line.bytes);
            bool hit = read_line(f, line);
            hits += hit && i + f->count >= all;
        }
    }
    return hits;
}

/* What hits in all periods, by one hash. */
static double draw_hits(struct forecast *f, size_t sets)
{
    double hits = 0;
    for (size_t i = 0; i < f->lines; i++) {
        f->set_of[i] = (uint32_t)rng_below(&f->rng, sets);
    }
    for (size_t i = 0; i < f->orders; i++) {
        hits += (double)hits_of(f, &f->period[i], sets);
    }
    return (1 - 0.5 * level_slow_share(f->level)) * hits;
}

static double mean_hits(struct forecast *f, size_t sets, unsigned hashes, double *squares)
{
    double sum = 0, sum_squares = 0;
    for (unsigned i = 0; i < hashes; i++) {
        double hits = draw_hits(f, sets);
        sum += hits;
        sum_squares += hits * hits;
    }
    *squares = sum_squares / hashes - sum / hashes * (sum / hashes);
    return sum / hashes;
}

/* The number of sets that predicts about as many hits. */
static size_t nearest(struct forecast *f)
{
    double full = f->hits / (2.0 * (double)f->orders * f->ways), unused;
    size_t low = (size_t)fmax(1, limits.fewest * full),
           high = (size_t)fmin((double)f->lines, limits.most * full + 2);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(mean_hits(f, middle, limits.bisected, &unused) > f->hits ? &high : &low) = middle;
    }
    return low;
}

/* Of the numbers around `middle`: the likeliest, its odds, and by how many deviations it is off. */
struct choice {
    size_t sets;
    double odds, off;
};

static void choose(struct forecast *f, struct choice *out, size_t middle)
{
    enum { MOST = 32 };
    size_t first = middle > limits.near ? middle - limits.near : 1;
    size_t last = middle + limits.near < f->lines ? middle + limits.near : f->lines;
    double mean[MOST], squares[MOST], sum = 0, best = 0;
    size_t count = last - first + 1;
    for (size_t i = 0; i < count; i++) {
        mean[i] = mean_hits(f, first + i, limits.hashes, &squares[i]);
    }
    double misfit = (limits.misfit + 0.25 * level_slow_share(f->level)) * f->hits;
    for (size_t i = 0; i < count; i++) {
        size_t before = i ? i - 1 : i, after = i + 1 < count ? i + 1 : i;
        double variance = (squares[before] + squares[i] + squares[after]) / 3 + 1 + misfit * misfit;
        double off = (f->hits - mean[i]) / sqrt(variance);
        double odds = exp(-0.5 * off * off) / sqrt(variance);
        sum += odds;
        if (odds > best) {
            best = odds;
            *out = (struct choice){first + i, odds, fabs(off)};
        }
    }
    out->odds = sum > 0 ? out->odds / sum : 0;
}

/* ---- the experiment ---- */

/* Of the path's lines the first ones, as many as a window holds there and back. */
static size_t lines_of(const struct level *level)
{
    uint64_t reach = path_find(level->info->op)->reach_bytes, line = level->line.bytes;
    uint64_t lines = line ? reach / line : 0, most = level->max_window / 2;
    most = most < limits.most_lines ? most : limits.most_lines;
    return (size_t)(lines < most ? lines : most);
}

/* Of the set whose policy is known. */
static uint32_t ways_of(const struct level *level)
{
    return level->conflict.count ? (uint32_t)(level->conflict.count - 1) : 0;
}

static void forecast_free(struct forecast *f)
{
    for (size_t i = 0; i < f->orders; i++) {
        free(f->period[i].ring);
        free(f->period[i].heard);
    }
    free(f->set);
    free(f->set_of);
}

static int forecast_create(struct forecast *f, struct level *level)
{
    const struct cache_result *r = level->result;
    bool drawn = r->policy.probability_count > 0;
    *f = (struct forecast){.level = level,
                           .lines = lines_of(level),
                           .ways = ways_of(level),
                           .kind = drawn ? POLICY_COUNT : policy_named(r->policy.name)};
    f->count = 2 * f->lines;
    f->recorded = limits.passes * f->count <= level->max_window ? limits.passes : 1;
    f->orders = f->count ? limits.loads / f->count : 0;
    f->orders = f->orders < LEAST_ORDERS  ? LEAST_ORDERS
                : f->orders > MOST_ORDERS ? MOST_ORDERS
                                          : f->orders;
    f->set = malloc((f->lines + 1) * sizeof *f->set);
    f->set_of = malloc((f->lines + 1) * sizeof *f->set_of);
    bool room = f->set && f->set_of;
    for (size_t i = 0; i < f->orders; i++) {
        f->period[i].ring = malloc((f->count + 1) * sizeof *f->period[i].ring);
        f->period[i].heard = calloc(f->recorded * f->count + 1, sizeof *f->period[i].heard);
        room = room && f->period[i].ring && f->period[i].heard;
    }
    rng_seed(&f->rng, 31);
    return room ? 0 : error_memory();
}

bool forecast_applies(const struct level *level)
{
    const struct policy_result *policy = &level->result->policy;
    size_t lines = lines_of(level), ways = ways_of(level);
    bool is_open = level->front && level->result->sets.status != ATTRIBUTE_MEASURED;
    bool has_room = ways >= 2 && ways <= INFER_MAX_WAYS && lines > 0;
    bool has_rule = policy->confidence > 0 && policy->equivalent_count == 0 &&
                    (policy->probability_count ? policy->probability_count == ways
                                               : policy_named(policy->name) != POLICY_COUNT);
    if (!is_open || !has_room || !has_rule) {
        lab_undecided(level->lab, "no sets behind another cache, or not which lines they evict");
    }
    return is_open && has_room && has_rule;
}

/* Tells what was found. */
static void tell(const struct forecast *f, const struct choice *choice)
{
    struct level *level = f->level;
    struct cache_result *r = level->result;
    double sure = limits.sure * choice->odds;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %zu lines read in %zu drawn orders and back hit %.0f times: as %zu "
                 "sets of %u ways do by %s, if a hash gives them their lines by chance (%.0f %% of "
                 "what numbers beside it make likely)",
                 level->info->op, f->lines, f->orders, f->hits, choice->sets, f->ways,
                 r->policy.name, 100 * choice->odds);
    level->size_bytes = choice->sets * f->ways * level->line.bytes;
    attribute_set(&r->size, (double)level->size_bytes, "B", sure, id);
    attribute_set(&r->sets, (double)choice->sets, "1", sure, id);
    if (r->ways.status != ATTRIBUTE_MEASURED) {
        attribute_set(&r->ways, f->ways, "1", sure, id);
    }
}

int level_forecast(struct level *level)
{
    struct forecast f;
    struct choice choice = {0};
    int rc = forecast_create(&f, level);
    for (unsigned i = 0; rc == 0 && i < f.orders; i++) {
        rc = record(&f, &f.period[i], i);
    }
    if (rc == 0 && f.hits > 0) {
        choose(&f, &choice, nearest(&f));
    }
    bool is_told = choice.odds >= limits.least_odds && choice.off <= limits.most_off;
    if (rc == 0 && is_told) {
        tell(&f, &choice);
    } else if (rc == 0) {
        rc = lab_undecided(level->lab,
                           "%.0f of %zu lines read to and fro hit: %zu sets are %.0f "
                           "%% likely, and off by %.1f deviations",
                           f.hits, f.orders * f.count, choice.sets, 100 * choice.odds, choice.off);
    }
    forecast_free(&f);
    return rc;
}
