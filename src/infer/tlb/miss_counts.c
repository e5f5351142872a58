/*
 * Who misses how often. A set of pages is walked in rounds, each in an order of its own, and of
 * each page it is counted how often it misses: single records count, so this is for devices on
 * which they can be told apart (tlb_can_count). Whatever the policy, in a set that is too full at
 * least one page misses in every round, for ever; orders that differ show others of its pages. A
 * policy that draws its victims shows all of them in time, at equal rates.
 *
 * Nor is a set that is not too full at rest at once: what was there before may stay in it for long,
 * with one of the walk's pages outside. Between windows, the launch itself reads a page or two.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/fit/fit.h"
#include "infer/tlb/tlb.h"
#include "util/error.h"
#include "util/rng.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned lines_apart, few_beside, most_hidden_passes, settled, settled_least, orders,
        fit_passes, front_times;
    double hidden, stray_hidden;
} limits = {
    .lines_apart = 2, /* units from visit to visit of a page in a ring */
    .hidden =
        0.75, /* share of what misses of the level in front take: noise makes no load sooner */
    .few_beside = 8,         /* pages beside twice the entries in front */
    .stray_hidden = 1e-4,    /* share of the records that noise hides */
    .most_hidden_passes = 8, /* passes without a miss that hidden visits may cost */
    .settled = 7,            /* share of the misses before: less is settling */
    .settled_least = 16,     /* misses: fewer do not tell whether they settle */
    .orders = 3,             /* orders that must not fit: some policies never settle in some */
    .fit_passes = 12,        /* passes of a window */
    .front_times = 4,        /* times the entries in front: it holds few of so many parts. Chosen */
};

bool tlb_can_count(const struct tlb_lab *tl, const struct tlb_level *level, size_t pages)
{
    return !tl->rough && tlb_is_reliable(tl, level) &&
           pages * TLB_COUNT_ROUNDS * (tl->twice ? 2 : 1) <= tlb_most_window(tl);
}

enum tlb_sight tlb_see(const struct tlb_lab *tl, const struct tlb_level *level, double excess)
{
    bool data = excess > level->threshold && tlb_is_data(tl, level, excess);
    double own = !data ? excess : excess <= tl->data_most ? 0 : excess - tl->data_cycles;
    if (data || excess <= level->threshold) {
        return level->before > 0 && own < limits.hidden * level->before ? TLB_HIDDEN : TLB_HIT;
    }
    if (excess < level->least) { /* noise makes no miss sooner */
        return TLB_HIT;
    }
    bool both = tl->data_cycles > 0 && excess - tl->data_cycles >= level->least &&
                excess - tl->data_most <= level->most; /* the data are missing, too */
    return excess <= level->most || both ? TLB_MISS : TLB_DOUBT;
}

int tlb_miss_counts_create(struct tlb_miss_counts *out, const struct tlb_lab *tl, size_t count)
{
    *out = (struct tlb_miss_counts){.tl = tl, .count = count};
    out->misses = calloc(count, sizeof *out->misses);
    out->heard = calloc(count, sizeof *out->heard);
    if (!out->misses || !out->heard) {
        tlb_miss_counts_free(out);
        error_memory();
        return SONDE_ENOMEM;
    }
    rng_seed(&out->rng, 4711 + tl->run);
    return 0;
}

void tlb_miss_counts_free(struct tlb_miss_counts *counts)
{
    free(counts->misses);
    free(counts->heard);
    counts->misses = NULL;
    counts->heard = NULL;
}

size_t tlb_parts(const struct tlb_level *level, size_t pages)
{
    size_t parts = 1, most = 1;
    if (level->in_front && level->page > level->front_page) {
        most = (size_t)(level->page / level->front_page);
    }
    while (parts < most && pages * parts < limits.front_times * level->in_front) {
        parts *= 2;
    }
    return parts;
}

uint32_t tlb_place_in_part(const struct tlb_lab *tl, const struct tlb_level *level, size_t parts,
                           size_t page, size_t round)
{
    uint64_t part = level->page / parts, units = part / TLB_UNIT_BYTES;
    uint64_t line = tlb_place(tl, part, page, round * limits.lines_apart) - page * units;
    return (uint32_t)((page * parts + round % parts) * units + line);
}

/*
 * Rounds of a ring, each of all pages in an order drawn anew, and in other parts of them. A page is
 * visited `times` in a row, by lines of its own.
 */
static int draw_ring(struct tlb_ring *ring, uint32_t *index, struct tlb_miss_counts *counts,
                     const struct tlb_level *level, const uint32_t *page, uint32_t rounds,
                     size_t times)
{
    size_t n = counts->count, parts = tlb_parts(level, n);
    ring->count = n * rounds * times;
    ring->unit = malloc(ring->count * sizeof *ring->unit);
    if (!ring->unit) {
        return error_memory();
    }
    for (uint32_t round = 0; round < rounds; round++) {
        rng_permutation(index + round * n, &counts->rng, (uint32_t)n);
        for (size_t i = 0; i < n; i++) {
            uint32_t which = page ? page[index[round * n + i]] : index[round * n + i];
            uint32_t first = tlb_place_in_part(counts->tl, level, parts, which, round);
            for (size_t k = 0; k < times; k++) {
                ring->unit[(round * n + i) * times + k] = tlb_near(first, k);
            }
        }
    }
    return 0;
}

/* Rounds without a miss that prove the fit, where the level in front hides some. */
static double rounds_wanted(const struct tlb_lab *tl, double hidden_share)
{
    double more = hidden_share > 0 ? log(limits.stray_hidden) / log(fmin(hidden_share, 0.5)) : 0;
    return (tl->noisy ? 2 : 1) + ceil(fmin(more, limits.most_hidden_passes));
}

static void count_window(struct tlb_miss_counts *counts, const struct tlb_lab *tl,
                         const struct tlb_level *level, const struct tlb_count_plan *plan,
                         const double *excess, const uint32_t *index, size_t first, size_t window)
{
    size_t n = counts->count, length = n * plan->rounds, hidden = 0, slow = 0, run = 0, longest = 0;
    size_t skip = plan->skip * n < window ? plan->skip * n : 0;
    for (size_t i = 0; i < window; i++) {
        enum tlb_sight sight = tlb_see(tl, level, excess[i]);
        hidden += sight == TLB_HIDDEN;
        counts->heard[index[(first + i) % length]] |= sight != TLB_HIDDEN;
        run = sight == TLB_MISS ? 0 : run + 1;
        longest = run > longest ? run : longest;
        if (sight == TLB_MISS && i >= skip) {
            counts->misses[index[(first + i) % length]]++;
            slow++;
        }
    }
    double share = (double)hidden / (double)window;
    /* Any stretch of two rounds less one has a whole round in it. */
    double wanted = (rounds_wanted(tl, share) + (plan->rounds > 1)) * (double)n;
    counts->clean = counts->clean || (double)longest >= fmin(wanted, (double)window);
    counts->slow += slow;
    counts->rounds += (double)(window - skip) / (double)n;
    counts->rate = (double)slow * (double)n / (double)(window - skip);
}

/* The first visit of each page tells; what is visited again just after it is at hand. */
static void keep_first_visits(double *excess, size_t count, size_t times)
{
    for (size_t i = 0; times > 1 && i < count; i++) {
        excess[i] = excess[i * times];
    }
}

int tlb_count_misses(struct tlb_lab *tl, struct tlb_miss_counts *counts,
                     const struct tlb_level *level, const uint32_t *page,
                     const struct tlb_count_plan *wanted)
{
    struct tlb_count_plan in_parts = *wanted, *plan = &in_parts;
    const size_t parts = tlb_parts(level, counts->count);
    plan->rounds = plan->rounds > parts ? plan->rounds : (uint32_t)parts;
    size_t times = tl->twice ? 2 : 1, n = counts->count, most = tlb_most_window(tl) / times;
    size_t window = n * plan->passes < most ? n * plan->passes : most - most % n;
    uint32_t *index = calloc(n * plan->rounds, sizeof *index);
    double *excess = malloc(window * plan->windows * times * sizeof *excess);
    struct tlb_ring ring = {0};
    if (!index || !excess || window == 0) {
        free(index);
        free(excess);
        return error_memory();
    }
    int rc = draw_ring(&ring, index, counts, level, page, plan->rounds, times);
    /* Rounds of the ring, not of the pages. */
    uint64_t warm = (plan->warm + plan->rounds - 1) / plan->rounds;
    rc = rc ? rc : tlb_records(tl, excess, &ring, warm, (uint32_t)(window * times), plan->windows);
    counts->clean = false;
    if (rc == 0) {
        keep_first_visits(excess, window * plan->windows, times);
    }
    memset(counts->heard, 0, n * sizeof *counts->heard);
    for (size_t w = 0; rc == 0 && w < plan->windows; w++) {
        count_window(counts, tl, level, plan, excess + w * window, index, w * window, window);
    }
    /* A page that the level in front always has need not be in this one. Among few that is usual.
     */
    bool few = n * parts <= 2 * level->in_front + limits.few_beside, heard = true;
    for (size_t i = 0; rc == 0 && i < n && !few; i++) {
        heard = heard && counts->heard[i];
    }
    counts->kept = counts->clean && !heard;
    counts->clean = counts->clean && heard;
    free(ring.unit);
    free(excess);
    free(index);
    return rc;
}

/*
 * How many pages there are that miss, from how many were seen to: `slow` misses fell on `seen` of
 * them, and if on all alike, seen = all (1 - exp(-slow / all)).
 */
double tlb_miss_counts_members(const struct tlb_miss_counts *counts)
{
    double seen = 0, slow = (double)counts->slow, low, high = (double)counts->count;
    for (size_t i = 0; i < counts->count; i++) {
        seen += counts->misses[i] > 0;
    }
    low = seen;
    for (int i = 0; i < 40 && high - low > 0.5; i++) {
        double all = (low + high) / 2;
        *(all * (1 - exp(-slow / all)) < seen ? &low : &high) = all;
    }
    return high;
}

/* ---- does it fit? ---- */

/*
 * The walk fits as soon as rounds go by without a miss. It does not when so many pages missed so
 * often that what kept them out would have been drawn long ago.
 */
int tlb_count_fits(struct tlb_lab *tl, bool *fits, const struct tlb_level *level,
                   const uint32_t *page, size_t count)
{
    static const uint16_t ladder[] = {6, 6, 12, 24, 24, 60, 120, 240, 480};
    struct tlb_miss_counts counts;
    double before = 0;
    int rc = tlb_miss_counts_create(&counts, tl, count);
    *fits = false;
    for (size_t k = 0; rc == 0 && k < sizeof ladder / sizeof *ladder && !*fits; k++) {
        struct tlb_count_plan plan = {.warm = ladder[k],
                                      .passes = limits.fit_passes,
                                      .rounds = !level->in_front ? 4
                                                : k % 2          ? 2
                                                                 : 1,
                                      .windows = 1};
        if (k == 0 || counts.rate < before / 2) { /* then it was not at rest */
            memset(counts.misses, 0, count * sizeof *counts.misses);
            counts.slow = 0;
        }
        before = counts.rate;
        rc = tlb_count_misses(tl, &counts, level, page, &plan);
        *fits = rc == 0 && counts.clean;
        tl->twice = tl->twice ||
                    (rc == 0 && counts.kept && count * 2 * TLB_COUNT_ROUNDS <= tlb_most_window(tl));
        double victims = counts.rate * (ladder[k] + limits.fit_passes);
        if (k + 1 >= limits.orders &&
            victims > limits.settled * tlb_miss_counts_members(&counts) + limits.settled_least) {
            break;
        }
    }
    tlb_miss_counts_free(&counts);
    return rc;
}
