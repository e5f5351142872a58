/*
 * The experiment `policy`: which line a full set evicts. It reads the lines of a smallest
 * conflicting set, one more than its ways, in drawn orders (order.c). It then looks for rules that
 * predict every record (match.c), first from an empty set, then from any state. In the second case
 * each round begins with a wash.
 *
 * Where no rule predicts the records, it counts the victims (victims.c): the set may draw them,
 * with equal or unequal shares.
 */
#include "infer/experiments.h"
#include "infer/policy/policy.h"
#include "infer/policy/victims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/fit/groups.h"
#include "infer/geometry/members.h"
#include "util/error.h"

static const struct {
    uint32_t words, turns, sampled;
    double stray_misfit, noisy_misfit, doubtful, contradicted, no_index;
} limits = {
    .turns = 2,             /* reads of a line in a round, where it has one word of the thread */
    .sampled = 1024,        /* loads of the set, for their classes. Chosen */
    .words = 8,             /* reads of a line in a round, of different words */
    .stray_misfit = 0.0012, /* share of records that strays may change where no noise was seen */
    .noisy_misfit = 0.003,  /* share of records: a drawn order may have so much more noise */
    .doubtful = 0.5,        /* confidence: that of a structure that failed its test is lower */
    .contradicted = 0.6,    /* confidence where orders of more lines name another rule */
    .no_index = 0.7, /* confidence of shares where no index says that the lines are one set */
};

enum { MOST_CLASSES = 8 }; /* of loads of one set: hits, and misses of as many places */

/* An upper bound of the share of records that noise makes slow. */
static double noise_share(const struct level *level)
{
    double seen = (double)level->timing.false_slow,
           records = (double)(level->timing.hit_records + 1);
    return seen > 0 ? (seen + 4 * sqrt(seen) + 4) / records + limits.noisy_misfit
                    : limits.stray_misfit;
}

/* Draws orders and compares the rules with them. With filler accesses this begins with an empty set
 * only, since nobody knows which reads reached the set before the records. */
static int match_orders(struct level *level, bool *matched, struct policy_result *out,
                        const struct policy_pool *pool, bool from_empty)
{
    struct policy_order orders[POLICY_ORDERS] = {0};
    struct rng rng;
    int rc = 0;
    rng_seed(&rng, 77);
    bool flushed = !from_empty && pool->wash_count >= POLICY_WASHES * (level->conflict.count - 1);
    for (size_t i = 0; i < POLICY_ORDERS && rc == 0; i++) {
        uint64_t warm = from_empty ? 1 : POLICY_WARM_ROUNDS;
        rc = level->filler ? policy_filler_order(level, &orders[i], pool, &rng)
                           : policy_run_order(level, &orders[i], pool, warm, &rng);
        if (rc == 0 && flushed) { /* followed from the wash of a round before the last */
            orders[i].warm = orders[i].count + orders[i].first;
        }
    }
    struct policy_case of = {.lab = level->lab,
                             .id = level->info->id,
                             .op = level->info->op,
                             .ways = (uint32_t)level->conflict.count - 1,
                             .allowed = noise_share(level),
                             .one_sided = true,
                             .from_empty = from_empty,
                             .flushed = flushed,
                             .kept_state = level->filler};
    *matched = rc == 0 && policy_match(&of, out, orders);
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        policy_order_free(&orders[i]);
    }
    return rc;
}

static bool names(const struct policy_result *result, const char *name)
{
    bool named = strcmp(result->name, name) == 0;
    for (size_t i = 0; i < result->equivalent_count; i++) {
        named = named || strcmp(result->equivalent[i], name) == 0;
    }
    return named;
}

/* Keeps in `out` the names that both results have. If they share none, lowers its confidence. */
static void narrow(struct policy_result *out, const struct policy_result *more)
{
    struct policy_result both = *more;
    both.equivalent_count = 0;
    both.name[0] = '\0';
    for (size_t i = 0; i <= more->equivalent_count; i++) {
        const char *name = i == 0 ? more->name : more->equivalent[i - 1];
        if (!names(out, name)) {
            continue;
        }
        if (!both.name[0]) {
            memcpy(both.name, name, sizeof both.name);
        } else {
            memcpy(both.equivalent[both.equivalent_count++], name, sizeof both.name);
        }
    }
    if (both.name[0]) {
        *out = both;
    } else {
        out->confidence = fmin(out->confidence, limits.contradicted);
    }
}

/*
 * In a large set nearly every read hits when there is one line more than ways, and policies that
 * differ in their misses look alike. Where several policies are left, twice as many lines are read.
 * Where no other lines of the set are known, its own are read in turn: then the line that was read
 * first of all misses in each turn.
 */
static int break_ties(struct level *level, const struct policy_pool *pool, bool from_empty)
{
    struct policy_result more = {0}, *out = &level->result->policy;
    size_t own = level->conflict.count;
    uint32_t lines[2 * INFER_MAX_WAYS + 2];
    bool matched = false;
    if (out->equivalent_count == 0 || own <= 3) {
        return 0;
    }
    memcpy(lines, level->conflict.offsets, own * sizeof *lines);
    size_t more_lines = pool->wash_count < own ? pool->wash_count : own;
    memcpy(lines + own, pool->wash, more_lines * sizeof *lines);
    int rc = more_lines < own ? policy_find_others(lines + own, &more_lines, level, own) : 0;
    size_t count = own + more_lines;
    struct policy_pool mixed = *pool;
    mixed.line = lines;
    mixed.count = count;
    mixed.wash_count = 0; /* its lines are among these */
    mixed.in_turn = count == own;
    rc = rc ? rc : match_orders(level, &matched, &more, &mixed, from_empty);
    if (rc == 0 && matched) {
        narrow(out, &more);
    }
    return lab_soft(rc) ? 0 : rc;
}

/* Tries an empty set first, since most L1 caches begin a launch empty; then any state. */
static int match_policies(struct level *level, bool *matched, uint32_t words, bool turns)
{
    uint32_t wash[POLICY_WASHES * EVICTION_SET_MAX_WAYS];
    size_t ways = level->conflict.count - 1;
    struct policy_pool pool = {.words = words,
                               .line = level->conflict.offsets,
                               .count = ways + 1,
                               .wash = wash,
                               .turns = turns};
    unsigned attempts = level->filler ? level->habits.begins_empty : 2;
    int rc = 0;
    *matched = false;
    for (unsigned attempt = 0; rc == 0 && attempt < attempts && !*matched; attempt++) {
        if (attempt && ways <= EVICTION_SET_MAX_WAYS) {
            bool room = level->max_window >= POLICY_WASHES * ways + 2 * pool.count;
            size_t wanted = room ? POLICY_WASHES * ways : ways;
            size_t others = 0;
            rc = policy_find_others(wash, &others, level, wanted);
            pool.wash_count = others < ways ? 0 : others < wanted ? ways : others;
        }
        rc = rc ? rc : match_orders(level, matched, &level->result->policy, &pool, attempt == 0);
        rc = rc || !*matched ? rc : break_ties(level, &pool, attempt == 0);
    }
    return rc;
}

/* What loads of the conflicting set take, in a drawn order of so many words of each line. */
static int sample_set(struct level *level, struct sample *out, uint32_t words)
{
    uint32_t lines = (uint32_t)level->conflict.count, count = words * lines;
    uint32_t *ring = malloc(2 * (size_t)count * sizeof *ring);
    struct rng rng;
    if (!ring) {
        return error_memory();
    }
    uint32_t *order = ring + count;
    rng_seed(&rng, count);
    rng_permutation(order, &rng, count);
    for (uint32_t i = 0; i < count; i++) {
        ring[i] = level->conflict.offsets[order[i] % lines] + order[i] / lines * CHASE_WORD_BYTES;
    }
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = ring, .count = count});
    plan.warm = 4 * (uint64_t)count;
    plan.window = level->max_window < limits.sampled ? level->max_window : limits.sampled;
    plan.windows = 1;
    plan.filler = level_filler_of_twice(level); /* each word is read once in a round */
    int rc = walk_sample(level->lab, out, &plan);
    free(ring);
    return rc;
}

/*
 * Where the outermost cache has parts, what the reader's own misses may be found in another one,
 * far sooner than in memory, and pass for a hit. The lines of one set are all of one slice, and
 * their hits alike: whatever takes longer may be a miss. A rule that predicts the records then says
 * so.
 */
static int match_nearer(struct level *level, bool *matched, uint32_t words)
{
    struct sample sample = {0};
    double thresholds[MOST_CLASSES], before = level->timing.threshold;
    int rc = sample_set(level, &sample, words);
    size_t count = rc ? 0 : sample_thresholds(thresholds, MOST_CLASSES, &sample);
    sample_free(&sample);
    for (size_t i = 0; rc == 0 && !*matched && i < count && thresholds[i] < before; i++) {
        level->timing.threshold = thresholds[i];
        rc = match_policies(level, matched, words, false);
    }
    level->timing.threshold = before;
    return lab_soft(rc) ? 0 : rc;
}

bool policy_applies(const struct level *level)
{
    bool is_hidden = level->info->behind[0] && !level->filler;
    if (is_hidden) {
        lab_undecided(level->lab, "the cache in front keeps part of the accesses from it");
    }
    return !is_hidden;
}

int level_policy(struct level *level)
{
    struct policy_result *out = &level->result->policy;
    size_t ways = level->conflict.count - 1;
    if (ways > INFER_MAX_WAYS) {
        return lab_undecided(level->lab, "more than %d ways", INFER_MAX_WAYS);
    }
    if (ways == 1) {
        snprintf(out->name, sizeof out->name, "none");
        lab_evidence(level->lab, out->evidence, level->info->id, "a set of one way has no choice");
        out->confidence = 0.97;
        return 0;
    }
    uint32_t words =
        level->timing.fetch_bytes / 4 < limits.words ? level->timing.fetch_bytes / 4 : limits.words;
    bool matched = false;
    int rc = 0;
    rc = level->filler ? level_learn_beginning(level) : 0;
    bool turns = words < 2 && path_find(level->info->op)->interleave > 1;
    if (rc == 0 && (words >= 2 || turns)) {
        rc = match_policies(level, &matched, turns ? limits.turns : words, turns);
        rc = turns && rc == SONDE_ENOTRECORDED ? 0 : rc; /* an older recording */
    }
    if (rc == 0 && !matched && level->outermost && words >= 2) {
        rc = match_nearer(level, &matched, words);
    }
    if (rc == 0 && !matched && level->repeats) { /* of repeated walks each has other victims */
        return lab_undecided(level->lab, "no known policy predicts what misses, and noise hides "
                                         "single victims");
    }
    rc = rc || matched ? rc : victims_measure(level, out);
    /* Shares of victims fit any cache, unlike a rule that predicts every record. Where no index
     * tells other lines of the set, only the conflicting addresses say that it is one set. */
    if (rc == 0 && !matched && level->map.sets == 0) {
        out->confidence = fmin(out->confidence, limits.no_index);
    }
    const struct attribute *sets = &level->result->sets;
    if (rc == 0 && sets->status == ATTRIBUTE_MEASURED && sets->confidence < limits.doubtful) {
        out->confidence =
            fmin(out->confidence, limits.doubtful); /* nor do they lie in one set for sure */
    }
    return rc;
}
