/*
 * Counts the victims of a set that draws them. The walk circles over one line more than the set has
 * ways, so all lines but one are resident. The line that misses evicts one line, and that line is
 * the next to miss. So each miss tells the victim of the miss before, and the way it lay in.
 *
 * Where a launch begins with an empty cache, ways are numbered in the order of the cold fill, and
 * counts add up over many windows. Elsewhere a way's number holds in one window only. Then only
 * figures that do not depend on the numbers are summed: how unequal the shares are, and whether the
 * likeliest victim depends on the one before.
 */
#include "infer/policy/victims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/fit/groups.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned wanted, max_loads, fewest, most_ways, warm_rounds, rounds_a_way, many_ways, few_differ,
        first_rounds;
    double alike, many, disturbed, rare;
} limits = {
    .wanted = 6000,      /* victims, for a share known to 0.013 */
    .max_loads = 400000, /* loads that counting may cost */
    .fewest = 300,       /* victims: with fewer nothing is told */
    .most_ways = 128,    /* ways whose shares that many victims tell. Chosen */
    .warm_rounds = 60,   /* rounds before the records */
    .rounds_a_way = 3,   /* the same a way: one way in 400 still holds an older line */
    .alike = 0.02,       /* part by which latencies of one kind differ */
    .many = 0.03,        /* share of the slow records that make a kind of latency */
    .many_ways = 20,     /* ways: a window shows few victims of so many */
    .few_differ = 4,     /* one slow record in so many may be noise */
    .first_rounds = 2,   /* rounds of a window that show whether a launch disturbed the set */
    .disturbed = 1e-3,   /* chance of that many misses in these rounds */
    .rare = 0.1,         /* share of loads that miss, below which a doubtful record is a hit */
};

/* Sorts a walk's latencies (`all`); `slow` is the part above the level's threshold. */
static int find_slow(struct sample *slow, struct sample *all, const struct level *level,
                     const struct walk *walk)
{
    int rc = sample_create(all, walk->latency, walk->count);
    if (rc == 0) {
        *slow = sample_view(all, level->timing.threshold, INFINITY);
    }
    return rc;
}

enum sight { SIGHT_HIT, SIGHT_MISS, SIGHT_DOUBT };

/* A slow record is a miss when many others took about as long. A slow record that stands alone may
 * be noise. */
static enum sight see(const struct level *level, const struct sample *slow, uint32_t cycles)
{
    if (level_class(level, cycles) == LOAD_HIT) {
        return SIGHT_HIT;
    }
    double near = limits.alike * cycles + 3;
    struct sample alike = sample_view(slow, cycles - near, cycles + near);
    double least = fmax(3, limits.many * (double)slow->count);
    return (double)alike.count >= least ? SIGHT_MISS : SIGHT_DOUBT;
}

void victims_clear(struct victim_tally *tally)
{
    memset(tally->count, 0, tally->ways * sizeof *tally->count);
    memset(tally->pair, 0, tally->ways * tally->ways * sizeof *tally->pair);
    tally->victims = tally->pairs = 0;
}

void victims_count(struct victim_tally *tally, size_t way, size_t *before)
{
    tally->count[way]++;
    tally->victims++;
    if (*before != SIZE_MAX) {
        tally->pair[*before * tally->ways + way]++;
        tally->pairs++;
    }
    *before = way;
}

/*
 * Follows a stretch from record `from` of a window up to the first doubtful record, after which a
 * line's way is unknown. Returns where it ended. Record `from` is a miss, though perhaps a slower
 * one than others: a line's first read misses in the cache behind too. `holds` is each line's way;
 * `gap` (or NULL) counts the distance from the line that came in to the victim.
 */
static size_t follow(struct victim_tally *tally, const struct level *level,
                     const struct sample *slow, const struct walk *walk, size_t window, size_t from,
                     uint32_t *holds, uint64_t *gap)
{
    size_t lost = SIZE_MAX, before = SIZE_MAX; /* the line that missed last; the victim before */
    size_t i = from;
    if (walk->shape.count == 0) {
        return walk->window;
    }
    bool rare = (double)slow->count < limits.rare * (double)walk->count;
    for (; i < walk->window; i++) {
        size_t at = window * walk->window + i, line = walk_element(walk, at);
        enum sight sight = i == from ? SIGHT_MISS : see(level, slow, walk->latency[at]);
        if (sight == SIGHT_DOUBT && rare) {
            continue;
        }
        if (sight == SIGHT_DOUBT) {
            break;
        }
        if (sight == SIGHT_HIT) {
            continue;
        }
        if (lost != SIZE_MAX && line != lost) {
            uint32_t way = holds[line];
            if (way >= tally->ways) { /* noise hid the miss with which the line came in */
                break;
            }
            holds[lost] = way;
            victims_count(tally, way, &before);
            if (gap) {
                gap[(line + walk->shape.count - lost) % walk->shape.count]++;
            }
        }
        lost = line;
    }
    return i;
}

/* True when the window's first reads all miss: it began with an empty set. */
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
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = level->conflict.offsets,
                                                                  .count = level->conflict.count});
    plan.warm = warm;
    /* Whole rounds: every window begins with the same line. */
    plan.window = (uint32_t)(level->max_window - level->max_window % level->conflict.count);
    plan.windows = windows;
    plan.run = run;
    return walk_run(level->lab, walk, &plan);
}

/* Counts all windows of a walk. `sums->cold` becomes false when a window did not begin cold. */
static int count_cold(struct victim_tally *tally, struct victim_sums *sums,
                      const struct level *level, const struct walk *walk, uint32_t *holds)
{
    size_t n = walk->shape.count;
    uint64_t since[INFER_MAX_WAYS];
    struct sample all = {0}, slow = {0};
    int rc = find_slow(&slow, &all, level, walk);
    for (size_t w = 0; rc == 0 && sums->cold && w < walk->windows; w++) {
        sums->cold = began_cold(level, walk, w);
        for (size_t i = 0; i < n; i++) {
            holds[(walk->first[w] + i) % n] = (uint32_t)i;
        }
        if (sums->cold) {
            memcpy(since, tally->count, tally->ways * sizeof *since);
            follow(tally, level, &slow, walk, w, n - 1, holds, sums->gap);
            victims_share(sums, tally, since);
        }
    }
    sample_free(&all);
    return rc;
}

/*
 * Rounds after which random eviction has removed what the set held before. While the set holds k
 * older lines, k + 1 lines of the walk miss in each round, and each evicts an older one with
 * probability k / ways.
 */
static uint64_t warm_rounds(size_t ways)
{
    return limits.warm_rounds > limits.rounds_a_way * ways ? limits.warm_rounds
                                                           : limits.rounds_a_way * ways;
}

/* Sums victims with ways numbered by a cold fill. `sums->cold` is false when the cache was not
 * empty at the start. */
static int sum_cold(struct level *level, struct victim_tally *tally, uint32_t *holds,
                    struct victim_sums *sums)
{
    uint64_t before = level->lab->loads;
    sums->cold = level->habits.begins_empty && level->max_window > 4 * level->conflict.count;
    for (uint32_t run = 0; sums->cold && tally->victims < limits.wanted; run++) {
        struct walk walk;
        int rc = run_windows(level, &walk, 0, 8, run);
        if (rc) {
            return rc;
        }
        rc = count_cold(tally, sums, level, &walk, holds);
        walk_free(&walk);
        if (rc) {
            return rc;
        }
        if (level->lab->loads - before > limits.max_loads) {
            break;
        }
    }
    if (sums->cold) {
        victims_test(sums, tally);
    } else {
        *sums = (struct victim_sums){.noisy = sums->noisy};
    }
    return 0;
}

typedef void add_stretch(struct victim_sums *sums, const struct victim_tally *tally);

static void add_share(struct victim_sums *sums, const struct victim_tally *tally)
{
    victims_share(sums, tally, NULL);
}

/* Cuts one window of a cache that is never empty into stretches. In each, the line that misses
 * first is in no way, and the others number the ways. */
static void sum_window(struct victim_tally *tally, struct victim_sums *sums, add_stretch *add,
                       const struct level *level, const struct sample *slow,
                       const struct walk *walk, size_t window, uint32_t *holds)
{
    for (size_t at = 0; at < walk->window;) {
        if (see(level, slow, walk->latency[window * walk->window + at]) != SIGHT_MISS) {
            at++;
            continue;
        }
        size_t lost = walk_element(walk, window * walk->window + at);
        uint32_t way = 0;
        for (size_t i = 0; i < walk->shape.count; i++) {
            holds[i] = i == lost ? 0 : way++;
        }
        victims_clear(tally);
        uint64_t *gap = add == add_share ? NULL : sums->gap; /* victims_test counted these */
        at = follow(tally, level, slow, walk, window, at, holds, gap) + 1;
        add(sums, tally);
    }
}

static int sum_windows(struct victim_tally *tally, struct victim_sums *sums, add_stretch *add,
                       const struct level *level, const struct walk *walk, uint32_t *holds)
{
    struct sample all = {0}, slow = {0};
    int rc = find_slow(&slow, &all, level, walk);
    for (size_t w = 0; rc == 0 && w < walk->windows; w++) {
        sum_window(tally, sums, add, level, &slow, walk, w, holds);
    }
    sample_free(&all);
    return rc;
}

/*
 * True when the walk repeats itself after some whole number of passes, but for noise: a rule does.
 * (Drawn victims of two ways may, if one of them is evicted at even distances. The shares tell
 * that case.)
 */
static bool is_periodic(const struct level *level, const struct walk *walk)
{
    size_t pass = walk->shape.count, half = walk->count / 2, misses = 0;
    for (size_t i = 0; i < half; i++) {
        misses += level_class(level, walk->latency[i]) != LOAD_HIT;
    }
    size_t strays = half / 50, few = misses / limits.few_differ;
    size_t allowed = level->timing.false_slow == 0 ? 0 : strays < few ? strays : few;
    for (size_t shift = pass; shift <= half; shift += pass) {
        size_t differing = 0;
        for (size_t i = 0; i < half && differing <= allowed; i++) {
            differing += (level_class(level, walk->latency[i]) == LOAD_HIT) !=
                         (level_class(level, walk->latency[i + shift]) == LOAD_HIT);
        }
        if (differing <= allowed) {
            return true;
        }
    }
    return false;
}

/* True when nothing disturbed the set between windows: their first rounds miss no more than the
 * others. */
static bool goes_on(const struct level *level, const struct walk *walk)
{
    size_t early = limits.first_rounds * walk->shape.count, misses = 0, at_first = 0;
    early = early < walk->window ? early : walk->window;
    for (size_t i = walk->window; i < walk->count; i++) {
        bool miss = level_class(level, walk->latency[i]) != LOAD_HIT;
        misses += miss;
        at_first += miss && i % walk->window < early;
    }
    double share = (double)early / (double)walk->window;
    return early < walk->window &&
           poisson_tail(share * (double)misses, at_first) > limits.disturbed;
}

/*
 * Sums a walk whose windows continue each other. The tests take the whole walk as one stretch. The
 * shares do so too where there is no noise, and otherwise take it in parts.
 */
static int sum_joined_walk(struct victim_tally *tally, struct victim_sums *sums,
                           const struct level *level, const struct walk *walk, uint32_t *holds)
{
    struct walk joined = *walk, parts = *walk;
    size_t most = sums->noisy ? VICTIM_GROUPS : 1, each = walk->windows / most;
    joined.window = walk->count; /* whole rounds: each window begins with the same line */
    joined.windows = 1;
    parts.window = each * walk->window;
    parts.windows = most;
    if (each == 0) {
        parts = *walk;
    }
    int rc = sum_windows(tally, sums, victims_test, level, &joined, holds);
    return rc ? rc : sum_windows(tally, sums, add_share, level, &parts, holds);
}

/*
 * Large sets show few victims in a window. Where a launch does not disturb the cache, each window
 * continues the one before, and the ways keep their numbers. Undecided where a launch disturbs it:
 * so it does local memory, which lies elsewhere in each.
 */
static int sum_joined(struct level *level, struct victim_tally *tally, uint32_t *holds,
                      struct victim_sums *sums)
{
    uint64_t before = level->lab->loads;
    const struct path_info *path = path_find(level->info->op);
    if ((path && !path->can_go_on) || level->max_window < level->conflict.count) {
        return lab_undecided(level->lab, "no window of this path continues another");
    }
    for (uint32_t run = 0;
         sums->victims < limits.wanted && level->lab->loads - before < limits.max_loads; run++) {
        struct walk_plan plan =
            level_plan(level, (struct walk_shape){.ring = level->conflict.offsets,
                                                  .count = level->conflict.count});
        plan.window = (uint32_t)(level->max_window - level->max_window % level->conflict.count);
        plan.windows = (uint32_t)(limits.max_loads / plan.window + 1);
        plan.warm = warm_rounds(tally->ways) * level->conflict.count;
        plan.persist = true;
        plan.run = 600 + run;
        struct walk walk;
        int rc = walk_run(level->lab, &walk, &plan);
        if (rc) {
            return rc;
        }
        bool joined = goes_on(level, &walk);
        rc = joined ? sum_joined_walk(tally, sums, level, &walk, holds)
                    : lab_undecided(level->lab, "launches disturb the cache");
        walk_free(&walk);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int sum_warm(struct level *level, struct victim_tally *tally, uint32_t *holds,
                    struct victim_sums *sums)
{
    uint64_t before = level->lab->loads;
    unsigned periodic = 0;
    for (uint32_t run = 0;
         sums->victims < limits.wanted && level->lab->loads - before < limits.max_loads; run++) {
        struct walk walk;
        int rc =
            run_windows(level, &walk, warm_rounds(tally->ways) * level->conflict.count, 1, run);
        if (rc) {
            return rc;
        }
        periodic += is_periodic(level, &walk);
        rc = sum_windows(tally, sums, victims_sum, level, &walk, holds);
        walk_free(&walk);
        if (rc) {
            return rc;
        }
        if (periodic > run / 2 + 1 && tally->ways > 2) {
            return lab_undecided(level->lab,
                                 "victims follow a rule that repeats, but none that is known here");
        }
    }
    return 0;
}

/* `same`: two walks from an empty set agree record by record, so victims are not drawn. */
static int repeats_exactly(struct level *level, bool *same)
{
    struct walk walk;
    *same = false;
    int rc = level->habits.begins_empty ? run_windows(level, &walk, 0, 2, 900) : 0;
    if (rc || !level->habits.begins_empty) {
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

static int sum_victims(struct level *level, struct victim_tally *tally, uint32_t *holds,
                       struct victim_sums *sums)
{
    bool same = false;
    int rc = level_learn_beginning(level);
    rc = rc ? rc : repeats_exactly(level, &same);
    if (rc == 0 && same && tally->ways > 2) {
        return lab_undecided(level->lab,
                             "no known policy predicts the misses, which repeat exactly");
    }
    rc = rc ? rc : sum_cold(level, tally, holds, sums);
    if (rc || sums->cold) {
        return rc;
    }
    if (tally->ways >= limits.many_ways && !level->habits.begins_empty && !level->filler) {
        rc = sum_joined(level, tally, holds, sums);
        if (!lab_soft(rc)) {
            return rc;
        }
        *sums = (struct victim_sums){.noisy = sums->noisy};
    }
    return sum_warm(level, tally, holds, sums);
}

int victims_measure(struct level *level, struct policy_result *out)
{
    struct victim_tally tally = {.ways = level->conflict.count - 1};
    struct victim_sums sums = {.noisy = level->timing.false_slow > 0};
    if (tally.ways == 0) {
        return lab_undecided(level->lab, "no set is known");
    }
    if (tally.ways > limits.most_ways) {
        return lab_undecided(level->lab,
                             "no known policy predicts the misses, and victims of %zu ways are too "
                             "many to be counted",
                             (size_t)tally.ways);
    }
    tally.count = calloc(tally.ways, sizeof *tally.count);
    tally.pair = calloc(tally.ways * tally.ways, sizeof *tally.pair);
    uint32_t *holds = calloc(level->conflict.count, sizeof *holds);
    int rc = tally.count && tally.pair && holds ? sum_victims(level, &tally, holds, &sums)
                                                : error_memory();
    if (rc == 0 && sums.victims < limits.fewest) {
        rc = lab_undecided(level->lab,
                           "no known policy predicts the misses, and only %llu "
                           "victims show",
                           (unsigned long long)sums.victims);
    }
    rc = rc ? rc : victims_judge(level, out, &sums, tally.ways);
    free(tally.count);
    free(tally.pair);
    free(holds);
    return rc;
}
