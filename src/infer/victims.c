/*
 * Victims of a set that draws them. A walk in a circle over one line more than a set has ways, all
 * of them resident but one: whatever misses takes the way of the line that misses next, since that
 * one alone was given up. So each miss after the first tells the victim before it, and, from a cold
 * fill on, which way it lay in (ways are numbered in the order in which they were filled; nothing
 * else of them shows). Counted over many windows this gives each way's share, and with pairs of
 * successive victims whether they depend on each other.
 */
#include "infer/level.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define WANTED 6000 /* victims, for a share known to 0.013 */
#define MAX_LOADS 400000
#define FEWEST 300
#define WARM_ROUNDS 100
#define FULL_TABLE_WAYS                                                                            \
    8 /* up to here all pairs of ways are tested, else the likeliest's alone                       \
       */
#define DOUBT 1e-4

struct tally {
    size_t ways;
    uint64_t *count; /* per way */
    uint64_t *pair;  /* per way and the one before it */
    uint64_t victims, pairs;
};

/* One window. `holds` says which way each line lies in. */
static void follow(struct tally *tally, const struct level *level, const struct walk *walk,
                   size_t window, size_t from, uint32_t *holds)
{
    size_t lost = SIZE_MAX,
           before = SIZE_MAX; /* the line that missed last; its way's predecessor */
    for (size_t i = from; i < walk->window; i++) {
        size_t at = window * walk->window + i, line = walk_element(walk, at);
        if (level_class(level, walk->latency[at]) != LOAD_MISS) {
            continue;
        }
        if (lost != SIZE_MAX && line != lost) {
            uint32_t way = holds[line];
            if (way >= tally->ways) { /* noise hid the miss with which the line came in */
                lost = line;
                before = SIZE_MAX;
                continue;
            }
            holds[lost] = way;
            tally->count[way]++;
            tally->victims++;
            if (before != SIZE_MAX) {
                tally->pair[before * tally->ways + way]++;
                tally->pairs++;
            }
            before = way;
        }
        lost = line;
    }
}

/* Did the window begin with an empty set? Then its first lines all miss. */
static bool began_cold(const struct level *level, const struct walk *walk, size_t window)
{
    size_t ways = walk->shape.count - 1;
    for (size_t i = 0; i < ways; i++) {
        if (level_class(level, walk->latency[window * walk->window + i]) == LOAD_HIT) {
            return false;
        }
    }
    return true;
}

static int run_windows(struct level *level, struct walk *walk, uint64_t warm, uint32_t windows,
                       uint32_t run)
{
    struct walk_plan plan = level_plan(
        level, (struct walk_shape){.ring = level->conflict, .count = level->conflict_count});
    plan.warm = warm;
    /* Whole rounds: every window begins with the same line. */
    plan.window = (uint32_t)(level->max_window - level->max_window % level->conflict_count);
    plan.windows = windows;
    plan.run = run;
    return walk_run(level->lab, walk, &plan);
}

/* All windows of a walk; false when one of them did not begin cold. */
static bool count_cold(struct tally *tally, const struct level *level, const struct walk *walk,
                       uint32_t *holds)
{
    size_t n = walk->shape.count;
    for (size_t w = 0; w < walk->windows; w++) {
        if (!began_cold(level, walk, w)) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            holds[(walk->first[w] + i) % n] = (uint32_t)i;
        }
        follow(tally, level, walk, w, n - 1, holds);
    }
    return true;
}

static int count_victims(struct level *level, struct tally *tally, uint32_t *holds, bool *cold)
{
    size_t n = level->conflict_count;
    struct walk walk;
    uint64_t before = level->lab->loads;
    *cold = level->max_window > 4 * n;
    for (uint32_t run = 0; *cold && tally->victims < WANTED; run++) {
        int rc = run_windows(level, &walk, 0, 8, run);
        if (rc) {
            return rc;
        }
        *cold = count_cold(tally, level, &walk, holds);
        walk_free(&walk);
        if (level->lab->loads - before > MAX_LOADS) {
            break;
        }
    }
    if (*cold) {
        return 0;
    }
    /* One window of a cache that is never empty: its ways have no order. */
    int rc = run_windows(level, &walk, WARM_ROUNDS * n, 1, 0);
    if (rc == 0) {
        memset(tally->count, 0, tally->ways * sizeof *tally->count);
        memset(tally->pair, 0, tally->ways * tally->ways * sizeof *tally->pair);
        tally->victims = tally->pairs = 0;
        size_t first = 0;
        while (first < walk.count && level_class(level, walk.latency[first]) != LOAD_MISS) {
            first++;
        }
        /* The line that misses first holds nothing; the others are numbered as they lie. */
        size_t lost = first < walk.count ? walk_element(&walk, first) : 0;
        for (size_t i = 0, way = 0; i < n; i++) {
            holds[i] = i == lost ? 0 : (uint32_t)way++;
        }
        follow(tally, level, &walk, 0, first, holds);
        walk_free(&walk);
    }
    return rc;
}

/* P(chi square of so many degrees of freedom > x), by Wilson and Hilferty's approximation. */
static double chi_square_tail(double x, double degrees)
{
    double spread = 2 / (9 * degrees);
    double z = (cbrt(x / degrees) - (1 - spread)) / sqrt(spread);
    return 0.5 * erfc(z / sqrt(2));
}

static double chance_of_uniform(const struct tally *tally)
{
    double expected = (double)tally->victims / (double)tally->ways, x = 0;
    for (size_t i = 0; i < tally->ways; i++) {
        double d = (double)tally->count[i] - expected;
        x += d * d / expected;
    }
    return chi_square_tail(x, (double)tally->ways - 1);
}

/* The table of a way and its predecessor, cut down to "the likeliest or another" for many ways. */
static double chance_of_independent(const struct tally *tally)
{
    size_t ways = tally->ways, likeliest = 0;
    for (size_t i = 0; i < ways; i++) {
        likeliest = tally->count[i] > tally->count[likeliest] ? i : likeliest;
    }
    size_t classes = ways <= FULL_TABLE_WAYS ? ways : 2;
    double table[FULL_TABLE_WAYS][FULL_TABLE_WAYS] = {0}, row[FULL_TABLE_WAYS] = {0},
           column[FULL_TABLE_WAYS] = {0}, x = 0;
    for (size_t i = 0; i < ways; i++) {
        for (size_t j = 0; j < ways; j++) {
            size_t a = classes == ways ? i : i == likeliest,
                   b = classes == ways ? j : j == likeliest;
            double n = (double)tally->pair[i * ways + j];
            table[a][b] += n;
            row[a] += n;
            column[b] += n;
        }
    }
    for (size_t a = 0; a < classes; a++) {
        for (size_t b = 0; b < classes; b++) {
            double expected = row[a] * column[b] / (double)tally->pairs;
            if (expected < 3) {
                return 1; /* too few for the test */
            }
            x += (table[a][b] - expected) * (table[a][b] - expected) / expected;
        }
    }
    double degrees = (double)(classes - 1) * (double)(classes - 1);
    return chi_square_tail(x, degrees);
}

/*
 * Where the set's beginning is not known, a rule from there looks like a bias with memory; and
 * shares more equal than chance makes them come from a rule.
 */
static int report(struct level *level, struct policy_result *out, const struct tally *tally,
                  bool cold)
{
    double uniform = chance_of_uniform(tally);
    double independent = tally->ways > 1 ? chance_of_independent(tally) : 1;
    bool biased = uniform < DOUBT, serial = independent < DOUBT;
    if (uniform > 1 - DOUBT || (serial && !cold)) {
        return lab_undecided(level->lab, "victims follow a rule, but none that is known here, or "
                                         "one that cannot be told where the set is never empty");
    }
    snprintf(out->name, sizeof out->name, "%s", biased || serial ? "biased" : "random");
    out->probability_count = tally->ways;
    out->victims = tally->victims;
    for (size_t i = 0; i < tally->ways; i++) {
        double p = (double)tally->count[i] / (double)tally->victims;
        out->probability[i] = p;
        out->error[i] = 1.96 * sqrt(fmax(p * (1 - p), 1e-6) / (double)tally->victims);
    }
    out->serial = serial ? SERIAL_YES : SERIAL_NO;
    lab_evidence(level->lab, out->evidence, level->info->id,
                 "chase op=%s: %llu victims in walks over %zu lines of one set, %s: equal shares "
                 "by chance %.2g, independent of the one before by chance %.2g",
                 level->info->op, (unsigned long long)tally->victims, tally->ways + 1,
                 cold ? "ways numbered by cold fill" : "ways in no order", uniform, independent);
    out->confidence = level->false_slow > 0 ? 0.8 : tally->victims >= WANTED ? 0.95 : 0.85;
    return 0;
}

/* Two walks from an empty set that agree record by record are not drawn at random. */
static int repeats_exactly(struct level *level, bool *same)
{
    struct walk walk;
    *same = false;
    int rc = run_windows(level, &walk, 0, 2, 900);
    if (rc) {
        return rc;
    }
    if (began_cold(level, &walk, 0) && began_cold(level, &walk, 1)) {
        *same = true;
        for (size_t i = 0; i < walk.window; i++) {
            *same = *same && level_class(level, walk.latency[i]) ==
                                 level_class(level, walk.latency[walk.window + i]);
        }
    }
    walk_free(&walk);
    return 0;
}

int victims_measure(struct level *level, struct policy_result *out)
{
    struct tally tally = {.ways = level->conflict_count - 1};
    tally.count = calloc(tally.ways, sizeof *tally.count);
    tally.pair = calloc(tally.ways * tally.ways, sizeof *tally.pair);
    uint32_t *holds = calloc(level->conflict_count, sizeof *holds);
    bool cold = false, same = false;
    if (!tally.count || !tally.pair || !holds) {
        free(tally.count);
        free(tally.pair);
        free(holds);
        return error_memory();
    }
    int rc = repeats_exactly(level, &same);
    if (rc == 0 && same) {
        rc =
            lab_undecided(level->lab, "no known policy foretells the misses, which repeat exactly");
    }
    rc = rc ? rc : count_victims(level, &tally, holds, &cold);
    if (rc == 0 && tally.victims < FEWEST) {
        rc = lab_undecided(level->lab,
                           "no known policy foretells the misses, and only %llu "
                           "victims show",
                           (unsigned long long)tally.victims);
    }
    rc = rc ? rc : report(level, out, &tally, cold);
    free(tally.count);
    free(tally.pair);
    free(holds);
    return rc;
}
