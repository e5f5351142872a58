/*
 * Co-miss groups: lines that miss together share a set. About as many lines as fit are drawn at
 * random. Some sets get a few lines too many, others a few too few, and other sets in each draw. In
 * a circular walk all lines of an overfull set miss now and then; the lines of the other sets
 * settle and hit. So lines of one set miss in the same draws, whatever the policy and the index.
 * Where victims are drawn among many ways, a few lines too many are detected far sooner than the
 * single one of conflict.c.
 *
 * A group is built around one line. First come the lines whose misses correlate with its own. Then
 * come those whose misses are likelier by the group's rates than by the mean of the draws, until
 * nothing changes. The group is a guess: walks test how many of its lines fit together (groups.c).
 *
 *   draw    one walk over lines drawn at random
 *   rate    misses of a line in a draw's window
 *   odds    log odds that a line belongs to the group
 */
#include "infer/geometry/co_miss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/fit/groups.h"
#include "util/error.h"
#include "util/rng.h"
#include "util/sort.h"

#define DRAWS 96 /* at most; looked at after each BATCH */
/* Thresholds. Fixed by: blind trials: noisy caches of 64 to 128 ways that draw their victims. */
static const struct {
    unsigned batch, most_lines, settle_passes, shown_passes, first_group, rounds, seeds,
        least_members;
    double least_rate, sure;
} limits = {
    .batch = 16,         /* draws between two looks at them */
    .most_lines = 6144,  /* lines, among which are drawn */
    .settle_passes = 48, /* passes before the window, unless a launch begins with an empty cache */
    .shown_passes = 12,  /* passes of a window */
    .least_rate = 0.03,  /* misses of a line in a window: noise, and what settles late */
    .first_group = 6,    /* lines beside the first, before the rates are known better */
    .rounds = 8,         /* rounds until a group no longer changes */
    .seeds = 3,          /* lines that are tried as the first of a group */
    .least_members = 4,  /* lines: fewer are no set */
    .sure = 2.0,         /* log odds of a member */
};
#define ABSENT UINT8_MAX

struct co_misses {
    struct level *level;
    size_t lines, draws;
    uint8_t *misses;    /* of each draw's lines, ABSENT: not drawn; owned */
    double mean[DRAWS]; /* misses of a line that was drawn */
    double rate[DRAWS]; /* of the set under construction; negative: not known */
    double *odds;       /* of each line, to be of that set; owned */
    uint32_t *member;   /* lines, the likeliest first; owned */
    bool *tried;        /* as a first line, or with one; owned */
    size_t members;
};

static uint8_t *row(const struct co_misses *c, size_t draw)
{
    return c->misses + draw * c->lines;
}

static bool co_misses_create(struct co_misses *c, struct level *level)
{
    uint64_t limit = level->lab->options->max_footprint_bytes / level->fit.stride;
    size_t lines = level->fit.count + level->fit.count / 2;
    *c = (struct co_misses){.level = level, .lines = lines < limit ? lines : (size_t)limit};
    c->misses = malloc(DRAWS * c->lines + 1);
    c->odds = malloc((c->lines + 1) * sizeof *c->odds);
    c->member = malloc((c->lines + 1) * sizeof *c->member);
    c->tried = calloc(c->lines + 1, sizeof *c->tried);
    return c->misses && c->odds && c->member && c->tried;
}

static void co_misses_free(struct co_misses *c)
{
    free(c->misses);
    free(c->odds);
    free(c->member);
    free(c->tried);
}

/* ---- draws ---- */

static struct walk_plan plan_draw(const struct co_misses *c, const uint32_t *ring, size_t count)
{
    const struct level *level = c->level;
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = ring, .count = count});
    size_t most = level->max_window / count,
           passes = most < limits.shown_passes ? most : limits.shown_passes;
    plan.window = (uint32_t)(passes * count);
    plan.warm = (level->habits.begins_empty ? 3 : limits.settle_passes) * count;
    plan.windows =
        level->habits.begins_empty ? (uint32_t)((limits.shown_passes + passes - 1) / passes) : 1;
    plan.run = 400 + (uint32_t)c->draws;
    return plan;
}

static void count_draw(struct co_misses *c, const struct walk *walk, size_t count)
{
    uint8_t *misses = row(c, c->draws);
    uint64_t sum = 0;
    for (size_t i = 0; i < walk->count; i++) {
        size_t line = walk->shape.ring[walk_element(walk, i)] / c->level->fit.stride;
        bool miss = level_class(c->level, walk->latency[i]) == LOAD_MISS;
        misses[line] += miss && misses[line] + 1 < ABSENT;
        sum += miss;
    }
    c->mean[c->draws++] = fmax((double)sum / (double)count, limits.least_rate);
}

static int draw_once(struct co_misses *c, uint32_t *ring, struct rng *rng)
{
    size_t count = 0;
    uint8_t *misses = row(c, c->draws);
    for (size_t i = 0; i < c->lines; i++) {
        bool drawn = rng_below(rng, c->lines) < c->level->fit.count;
        misses[i] = drawn ? 0 : ABSENT;
        ring[count] = (uint32_t)(i * c->level->fit.stride);
        count += drawn;
    }
    if (count == 0 || count > c->level->max_window) {
        return lab_undecided(c->level->lab, "too many lines for a window");
    }
    struct walk_plan plan = plan_draw(c, ring, count);
    struct walk walk;
    int rc = walk_run(c->level->lab, &walk, &plan);
    if (rc == 0) {
        count_draw(c, &walk, count);
        walk_free(&walk);
    }
    return rc;
}

static int draw_batch(struct co_misses *c, struct rng *rng)
{
    uint32_t *ring = malloc((c->lines + 1) * sizeof *ring);
    int rc = 0;
    if (!ring) {
        return error_memory();
    }
    for (size_t i = 0; rc == 0 && i < limits.batch && c->draws < DRAWS; i++) {
        rc = draw_once(c, ring, rng);
    }
    free(ring);
    return rc;
}

/* ---- a set ---- */

/* How alike two lines' misses are, in the draws that have both. */
static double likeness(const struct co_misses *c, size_t a, size_t b)
{
    double both = 0, own = 0, others = 0;
    for (size_t d = 0; d < c->draws; d++) {
        uint8_t x = row(c, d)[a], y = row(c, d)[b];
        if (x != ABSENT && y != ABSENT) {
            both += (x - c->mean[d]) * (y - c->mean[d]);
            own += (x - c->mean[d]) * (x - c->mean[d]);
            others += (y - c->mean[d]) * (y - c->mean[d]);
        }
    }
    return own > 0 && others > 0 ? both / sqrt(own * others) : 0;
}

/* Log odds that a line's misses come by the set's rates, and not by the mean of each draw. */
static double odds_of(const struct co_misses *c, size_t line)
{
    double odds = 0;
    for (size_t d = 0; d < c->draws; d++) {
        uint8_t x = row(c, d)[line];
        if (x != ABSENT && c->rate[d] >= 0) {
            odds += x * log(c->rate[d] / c->mean[d]) - (c->rate[d] - c->mean[d]);
        }
    }
    return odds;
}

static void take_rates(struct co_misses *c)
{
    for (size_t d = 0; d < c->draws; d++) {
        uint64_t sum = 0, present = 0;
        for (size_t i = 0; i < c->members; i++) {
            uint8_t x = row(c, d)[c->member[i]];
            sum += x != ABSENT ? x : 0;
            present += x != ABSENT;
        }
        c->rate[d] = present ? fmax((double)sum / (double)present, limits.least_rate) : -1;
    }
}

/* The likeliest lines, `most` of them at most, with odds above `least`. */
static void take_members(struct co_misses *c, size_t most, double least)
{
    c->members = 0;
    for (uint32_t i = 0; i < c->lines; i++) {
        size_t at = c->members;
        if (c->odds[i] <= least || (at == most && c->odds[i] <= c->odds[c->member[at - 1]])) {
            continue;
        }
        at -= at == most;
        for (c->members = at + 1; at > 0 && c->odds[c->member[at - 1]] < c->odds[i]; at--) {
            c->member[at] = c->member[at - 1];
        }
        c->member[at] = i;
    }
}

static void build_set(struct co_misses *c, size_t first)
{
    for (size_t i = 0; i < c->lines; i++) {
        c->odds[i] = i == first ? 2 : likeness(c, first, i);
    }
    take_members(c, 1 + limits.first_group, 0);
    for (unsigned round = 0; round < limits.rounds; round++) {
        take_rates(c);
        for (size_t i = 0; i < c->lines; i++) {
            c->odds[i] = odds_of(c, i);
        }
        take_members(c, round < 4 ? (size_t)limits.first_group << (round + 1) : c->lines,
                     limits.sure);
    }
}

/* The line that missed most among those that have not been tried. */
static size_t next_first(const struct co_misses *c)
{
    size_t first = c->lines;
    uint64_t most = 0;
    for (size_t i = 0; i < c->lines; i++) {
        uint64_t sum = 0;
        for (size_t d = 0; d < c->draws && !c->tried[i]; d++) {
            sum += row(c, d)[i] != ABSENT ? row(c, d)[i] : 0;
        }
        first = sum > most ? i : first;
        most = sum > most ? sum : most;
    }
    return first;
}

/* ---- what fits of it ---- */

static void member_offsets(const struct co_misses *c, uint32_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (uint32_t)(c->member[i] * c->level->fit.stride);
    }
    sort_u32(out, count);
}

/*
 * The first members of which one is too many. What was drawn of a set is about what fits of it, so
 * the search begins there, in steps that double.
 */
static int count_members(const struct co_misses *c, uint32_t *offsets, size_t *count)
{
    size_t low = 1, high = c->members + 1, step = 1;
    size_t most = c->level->fit.count + 1;
    size_t at = (size_t)((double)c->members * (double)c->level->fit.count / (double)c->lines + 0.5);
    high = high < most ? high : most + 1;
    *count = 0;
    while (high - low > 1) {
        at = at <= low ? low + 1 : at >= high ? high - 1 : at;
        enum fit_verdict verdict = FIT_UNKNOWN;
        member_offsets(c, offsets, at);
        int rc = groups_verdict(c->level, &verdict, offsets, at);
        if (rc || verdict == FIT_UNKNOWN) {
            return rc;
        }
        if (verdict == FIT_YES) {
            low = at;
            at = *count ? low + (high - low) / 2 : low + step;
        } else {
            high = *count = at;
            at = low > 1 ? low + (high - low) / 2 : high > step ? high - step : 1;
        }
        step *= 2;
    }
    if (*count) {
        member_offsets(c, offsets, *count);
    }
    return 0;
}

static int find_set(struct co_misses *c, uint32_t *offsets, size_t *count)
{
    int rc = 0;
    memset(c->tried, 0, c->lines * sizeof *c->tried);
    for (unsigned i = 0; i < limits.seeds && rc == 0 && *count == 0; i++) {
        size_t first = next_first(c);
        if (first == c->lines) {
            break;
        }
        build_set(c, first);
        c->tried[first] = true;
        for (size_t k = 0; k < c->members; k++) {
            c->tried[c->member[k]] = true;
        }
        if (c->members >= limits.least_members) {
            rc = count_members(c, offsets, count);
        }
    }
    return rc;
}

int co_miss_find(struct level *level, uint32_t *offsets, size_t *count)
{
    struct co_misses c;
    struct rng rng;
    *count = 0;
    if (level->front || level->fit.count < 2 * limits.least_members ||
        level->fit.count > limits.most_lines) {
        return 0;
    }
    rng_seed(&rng, 1618034);
    int rc = co_misses_create(&c, level) ? 0 : error_memory();
    while (rc == 0 && *count == 0 && c.draws < DRAWS) {
        rc = draw_batch(&c, &rng);
        rc = rc ? rc : find_set(&c, offsets, count);
    }
    co_misses_free(&c);
    return lab_soft(rc) ? 0 : rc; /* others may find it */
}
