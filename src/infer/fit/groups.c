/*
 * Verdicts on groups of addresses. A group lies in the ring in one piece. A pass over it without a
 * miss shows that all of it is in the cache: it fits, whatever the policy and the noise. A set with
 * more lines than ways misses in every pass. Only what has not settled yet stands between the two:
 * a random policy evicts other lines slowly. So a group does not fit when every pass misses more
 * often than noise explains, and one of two things holds: one line misses in each of many passes,
 * or the warm-up was so long that the rate of the misses rules out settling (fit.c). Each round
 * warms longer than the one before.
 *
 * Where a launch begins with an empty cache nothing has to be evicted, and a short warm-up is
 * enough.
 */
#include "infer/fit/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind) and drawn toy GPUs (unit.infer.random); of left,
 * 6 counted one toy of 110 one way too small. */
static const struct {
    unsigned repeats, most_loads, steady_passes, steady_warm;
    double by_noise, patience, told, open_odds, left, left_of_many;
} limits = {
    .repeats = 8,          /* walks of a round that lacks certainty alone */
    .most_loads = 3000000, /* loads of a test */
    .by_noise = 1e-8,      /* chance: less likely is no noise */
    .patience = 9.0,       /* misses that a place is given to be found by the line it waits for */
    .told = 0.8, /* share of the passes that show lines of the set, where some are not heard */
    .open_odds =
        1e-6,    /* odds that a watched group behind another cache is disturbed all the same */
    .left = 8.0, /* exp(-left) is the chance that something of one group has not settled */
    .left_of_many = 10.0, /* the same of several groups, whose verdicts nothing else confirms */
    .steady_passes = 8,   /* passes in which the same line misses */
    .steady_warm = 12,    /* passes before those */
};
enum { ROUNDS = 6 };

static const uint16_t warm_of[ROUNDS] = {2, 14, 60, 200, 600, 1400};
static const uint8_t passes_of[ROUNDS] = {2, 8, 8, 10, 12, 12};

struct group {
    size_t first, size;
    uint64_t passes, dirty, clean, slow; /* in the round under way; whole or dirty passes */
    size_t heard;                        /* hits of different elements in the stretch under way */
    uint32_t stretch;
    size_t settled; /* number of the last window in which a pass was clean, plus one */
};

struct tally {
    struct group *group;
    uint32_t *slow;            /* per element, in the round under way */
    uint32_t *passed;          /* per element: records */
    enum fit_verdict *verdict; /* per group */
    size_t groups, open;       /* groups; those without one */
    bool watched;              /* others are walked past them */
    uint32_t *heard;           /* per element: the last stretch in which it hit */
    uint32_t stretches;
    bool more; /* one of them lacks nothing but passes to be certain of */
};

/* A bound on the share of hits that noise makes slow. */
static double slow_bound(const struct level *level)
{
    double seen = (double)level->timing.false_slow;
    return (seen + 3 * sqrt(seen) + 3) / (double)(level->timing.hit_records + 1);
}

static int tally_create(struct tally *tally, const struct group_walk *walk)
{
    tally->group = calloc(walk->groups + 1, sizeof *tally->group);
    tally->slow = calloc(walk->count + 1, sizeof *tally->slow);
    tally->passed = calloc(walk->count + 1, sizeof *tally->passed);
    tally->heard = calloc(walk->count + 1, sizeof *tally->heard);
    tally->verdict = calloc(walk->groups + 1, sizeof *tally->verdict);
    tally->groups = tally->open = walk->groups;
    tally->watched = walk->count > 0 && walk->group[walk->count - 1] == GROUP_NONE;
    if (!tally->verdict || !tally->group || !tally->slow || !tally->passed || !tally->heard) {
        return error_memory();
    }
    for (size_t i = 0; i < walk->groups; i++) {
        tally->verdict[i] = FIT_UNKNOWN;
    }
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->group[i] != GROUP_NONE) {
            struct group *g = &tally->group[walk->group[i]];
            g->first = g->size ? g->first : i;
            g->size++;
        }
    }
    return 0;
}

static void tally_free(struct tally *tally)
{
    free(tally->group);
    free(tally->verdict);
    free(tally->slow);
    free(tally->passed);
    free(tally->heard);
}

static void tally_clear(struct tally *tally, const struct group_walk *walk)
{
    memset(tally->slow, 0, walk->count * sizeof *tally->slow);
    memset(tally->passed, 0, walk->count * sizeof *tally->passed);
    for (size_t i = 0; i < walk->groups; i++) {
        struct group *g = &tally->group[i];
        g->passes = g->dirty = g->clean = g->slow = g->settled = 0;
    }
}

static void restart(struct tally *tally, struct group *g)
{
    g->stretch = ++tally->stretches;
    g->heard = 0;
}

/* A hit behind the cache in front counts once in a stretch without misses. */
static void hear(struct tally *tally, const struct level *level, struct group *g, size_t element,
                 uint32_t cycles, bool hit)
{
    if (!hit) {
        restart(tally, g);
    } else if (tally->heard[element] != g->stretch && level_heard(level, cycles)) {
        tally->heard[element] = g->stretch;
        g->heard++;
    }
}

/*
 * Counts the part of a window that lies in one pass over one group. What is slow after a clean pass
 * is noise. Where a cache in front answers a part of each pass, several passes make a clean one.
 * That holds only if all that is walked is judged, so that nothing else comes in between.
 */
static void count_stretch(struct tally *tally, struct group *g, struct level *level, size_t window,
                          size_t records, size_t slow)
{
    if (g->settled == window + 1) {
        level->timing.hit_records += records;
        level->timing.false_slow += slow;
    }
    bool clean = g->heard == g->size;
    g->slow += slow;
    g->dirty += slow > 0;
    g->clean += clean;
    g->passes += slow > 0 || records == g->size;
    g->settled = clean ? window + 1 : g->settled;
    if (clean || !level->front || tally->watched) {
        restart(tally, g);
    }
}

static void count_records(struct tally *tally, struct level *level, const struct group_walk *groups,
                          const struct walk *walk)
{
    for (size_t w = 0; w < walk->windows; w++) {
        size_t records = 0, slow = 0;
        for (size_t i = 0; i < groups->groups; i++) {
            restart(tally, &tally->group[i]);
        }
        for (size_t i = 0; i < walk->window; i++) {
            size_t at = w * walk->window + i, element = walk_element(walk, at);
            uint32_t group = groups->group[element];
            if (group == GROUP_NONE) {
                continue;
            }
            struct group *g = &tally->group[group];
            bool hit = level_class(level, walk->latency[at]) == LOAD_HIT;
            tally->slow[element] += !hit;
            tally->passed[element]++;
            records++;
            slow += !hit;
            hear(tally, level, g, element, walk->latency[at], hit);
            if (element + 1 == g->first + g->size || i + 1 == walk->window) {
                count_stretch(tally, g, level, w, records, slow);
                records = slow = 0;
            }
        }
    }
}

/* Did one line miss each time, so often that chance would not have it? */
static bool misses_steadily(const struct tally *tally, const struct group *g, unsigned round)
{
    if (warm_of[round] < limits.steady_warm) {
        return false;
    }
    for (size_t i = g->first; i < g->first + g->size; i++) {
        if (tally->passed[i] >= limits.steady_passes && tally->slow[i] == tally->passed[i]) {
            return true;
        }
    }
    return false;
}

/* Passes after which a round's misses will stay; 0: not known, or no fewer than in the last round.
 */
static uint64_t known_passes(const struct level *level, size_t groups, unsigned round)
{
    double left = groups > 1 ? limits.left_of_many : limits.left;
    double enough = fit_settling_passes(level, groups * level->conflict.count, left);
    bool known = level->conflict.count && !level->front && round > 1;
    return known && enough > warm_of[1] && enough < warm_of[ROUNDS - 1] ? (uint64_t)enough + 1 : 0;
}

static uint64_t warm_in(const struct level *level, size_t groups, unsigned round)
{
    uint64_t known = known_passes(level, groups, round);
    return known ? known : warm_of[round];
}

static bool has_settled(const struct level *level, const struct tally *tally, const struct group *g,
                        unsigned round)
{
    double rate = (double)g->slow / (double)(g->passes * g->size);
    uint64_t warm = warm_in(level, tally->groups, round);
    return (level->habits.begins_empty && round >= 1) || rate * (double)warm > limits.patience ||
           known_passes(level, tally->groups, round) > 0 || misses_steadily(tally, g, round);
}

/*
 * A watched group behind another cache. In some passes the cache in front answers the lines that
 * are walked past the group; then the group hits although it does not fit with them. So no single
 * pass decides. Each pass counts by the chance that noise, or such lines, make it.
 */
static enum fit_verdict judge_watched(const struct level *level, struct tally *tally,
                                      const struct group *g, unsigned round)
{
    double noise = 1 - pow(1 - fmin(slow_bound(level), 1), (double)g->size);
    noise = fmin(fmax(noise, 1e-3), limits.told / 2);
    double odds = (double)g->dirty * log(limits.told / noise) +
                  (double)g->clean * log((1 - limits.told) / (1 - noise));
    if (-odds > -log(limits.open_odds)) {
        return FIT_YES;
    }
    bool fails = odds > -log(limits.by_noise);
    tally->more = tally->more || !fails;
    return fails && has_settled(level, tally, g, round) ? FIT_NO : FIT_UNKNOWN;
}

static enum fit_verdict judge(const struct level *level, struct tally *tally, const struct group *g,
                              unsigned round)
{
    if (level->front && tally->watched) {
        return judge_watched(level, tally, g, round);
    }
    if (g->clean > 0) {
        return FIT_YES;
    }
    if (g->dirty < 2) {
        return FIT_UNKNOWN;
    }
    double bound = slow_bound(level), size = (double)g->size;
    double dirty = pow(1 - pow(1 - fmin(bound, 1), size), (double)g->dirty);
    double many = poisson_tail(bound * size * (double)g->passes, g->slow);
    bool certain = fmin(dirty, many) < limits.by_noise;
    if (!has_settled(level, tally, g, round)) {
        return FIT_UNKNOWN;
    }
    tally->more = tally->more || !certain;
    return certain ? FIT_NO : FIT_UNKNOWN;
}

static void judge_all(const struct level *level, struct tally *tally, size_t groups, unsigned round)
{
    tally->more = false;
    tally->open = 0;
    for (size_t i = 0; i < groups; i++) {
        if (tally->verdict[i] == FIT_UNKNOWN) {
            /* The analyzer loses sight of what tally_free() frees. NOLINTNEXTLINE(*-unix.Malloc) */
            tally->verdict[i] = judge(level, tally, &tally->group[i], round);
        }
        tally->open += tally->verdict[i] == FIT_UNKNOWN;
    }
}

/*
 * Each group has its clean passes at a time of its own. All of them fit together only if these
 * coincide: then the round that decided was slow no more often than by noise.
 */
static bool is_quiet(const struct level *level, const struct tally *tally,
                     const struct group_walk *walk)
{
    uint64_t slow = 0, records = 0;
    for (size_t i = 0; i < walk->count; i++) {
        slow += tally->slow[i];
        records += tally->passed[i];
    }
    return poisson_tail(slow_bound(level) * (double)records, slow) >= limits.by_noise;
}

/*
 * Long rings are recorded in windows that each go on where the one before ended. A watched group at
 * the beginning of a ring that is too long for a window gets windows over itself alone, one in each
 * walk.
 */
static bool is_watched(const struct level *level, const struct group_walk *walk)
{
    return walk->count > level->max_window / 2 && walk->groups == 1 &&
           walk->group[walk->count - 1] == GROUP_NONE;
}

static struct walk_plan plan_round(const struct level *level, const struct group_walk *walk,
                                   const struct tally *tally, unsigned round, unsigned repeat)
{
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = walk->ring, .count = walk->count});
    size_t window = level->max_window, passes = passes_of[round];
    if (walk->count * passes > window && walk->count * 4 <= window) {
        passes = window / walk->count;
    }
    size_t records = walk->count * passes;
    while (plan.guarded < walk->count && walk->group[plan.guarded] != GROUP_NONE) {
        plan.guarded++;
    }
    plan.warm = walk->count * warm_in(level, walk->groups, round);
    plan.run = 200 + 16 * round + repeat;
    if (is_watched(level, walk)) {
        plan.window = (uint32_t)(tally->group[0].size < window ? tally->group[0].size : window);
        plan.windows = 1;
    } else {
        plan.windows = (uint32_t)((records + window - 1) / window);
        plan.window = (uint32_t)((records + plan.windows - 1) / plan.windows);
    }
    return plan;
}

static int run_round(struct level *level, struct tally *tally, const struct group_walk *groups,
                     unsigned round)
{
    bool watched = is_watched(level, groups);
    unsigned repeats = watched ? passes_of[round] : limits.repeats;
    tally_clear(tally, groups);
    for (unsigned i = 0; i < repeats && tally->open > 0; i++) {
        if (i > 0 && !watched && !tally->more) {
            break;
        }
        struct walk_plan plan = plan_round(level, groups, tally, round, i);
        struct walk walk;
        int rc = walk_run(level->lab, &walk, &plan);
        if (rc) {
            return rc;
        }
        count_records(tally, level, groups, &walk);
        walk_free(&walk);
        judge_all(level, tally, groups->groups, round);
    }
    return 0;
}

int groups_test(struct level *level, enum fit_verdict *verdicts, const struct group_walk *walk)
{
    struct tally tally = {0};
    uint64_t before = level->lab->loads;
    int rc = level_learn_beginning(level);
    rc = rc ? rc : tally_create(&tally, walk);
    for (unsigned round = 0; rc == 0 && round < ROUNDS && tally.open > 0; round++) {
        uint64_t next = (uint64_t)walk->count * warm_in(level, walk->groups, round);
        if (round > 1 && level->lab->loads - before + next > limits.most_loads) {
            break;
        }
        rc = run_round(level, &tally, walk, round);
    }
    level->habits.last_quiet = rc == 0 && is_quiet(level, &tally, walk);
    for (size_t i = 0; rc == 0 && i < walk->groups; i++) {
        verdicts[i] = tally.verdict[i];
    }
    tally_free(&tally);
    return rc;
}

int groups_verdict(struct level *level, enum fit_verdict *out, const uint32_t *ring, size_t count)
{
    static const uint32_t one[GROUP_MOST];
    if (count < 2) {
        *out = FIT_YES;
        return 0;
    }
    if (count > GROUP_MOST || count > level->max_window / 4) {
        return fit_verdict(level, out, &(struct walk_shape){.ring = ring, .count = count});
    }
    int rc = groups_test(level, out, &(struct group_walk){ring, one, count, 1});
    if (rc == SONDE_ENOTRECORDED) { /* an older recording has the walks of fit.c */
        return fit_verdict(level, out, &(struct walk_shape){.ring = ring, .count = count});
    }
    return rc;
}
