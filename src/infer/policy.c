/*
 * The replacement policy: which line a full set gives up. The lines of a smallest conflicting set,
 * one more than its ways, are read in an order drawn at random, each several times a round by
 * different words of one fetch unit, and every policy known here (policies.def) foretells record
 * by record what hits and what misses. One that foretells all is the policy, together with those
 * that foretell the same: a set of two ways cannot tell LRU from a tree. Where the cache is empty
 * when a walk begins, the prediction begins there; where it is not, it begins from states drawn at
 * random, of which warming leaves few.
 *
 * Where no such policy fits, the victims are counted (victims.c): drawn at random, or by a bias.
 */
#include "infer/level.h"
#include "infer/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/policy_model.h"
#include "util/error.h"

#define MAX_WORDS 8       /* reads of a line in a round */
#define STATES 48         /* beginnings that are tried where the true one is not known */
#define NOISY_MISFIT 0.03 /* of the records, where there is noise */

int policy_order_create(struct policy_order *out, size_t count, size_t most_records)
{
    out->count = count;
    out->ring = malloc(count * sizeof *out->ring);
    out->line = malloc(count * sizeof *out->line);
    out->hit = malloc(most_records * sizeof *out->hit);
    return out->ring && out->line && out->hit ? 0 : error_memory();
}

void policy_order_free(struct policy_order *order)
{
    free(order->ring);
    free(order->line);
    free(order->hit);
}

static void draw_order(struct policy_order *order, const struct level *level, uint32_t words,
                       struct rng *rng)
{
    for (size_t i = 0; i < order->count; i++) {
        order->line[i] = (uint32_t)(i % level->conflict_count);
        order->ring[i] = level->conflict[i % level->conflict_count] +
                         (uint32_t)(i / level->conflict_count % words) * 4;
    }
    for (size_t i = order->count; i-- > 1;) {
        size_t j = (size_t)rng_below(rng, i + 1);
        uint32_t line = order->line[i], offset = order->ring[i];
        order->line[i] = order->line[j];
        order->ring[i] = order->ring[j];
        order->line[j] = line;
        order->ring[j] = offset;
    }
}

static int run_order(struct level *level, struct policy_order *order, uint32_t words,
                     uint64_t warm_rounds, struct rng *rng)
{
    int rc = policy_order_create(order, level->conflict_count * words, level->max_window);
    if (rc) {
        return rc;
    }
    draw_order(order, level, words, rng);
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = order->ring, .count = order->count});
    size_t most = 8 * order->count < 2048 ? 8 * order->count : 2048;
    plan.window = (uint32_t)(most < level->max_window ? most : level->max_window);
    plan.warm = order->warm = warm_rounds * order->count;
    struct walk walk;
    rc = walk_run(level->lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    order->first = walk.first[0];
    order->records = walk.count;
    for (size_t i = 0; i < walk.count; i++) {
        order->hit[i] = level_class(level, walk.latency[i]) == LOAD_HIT;
    }
    walk_free(&walk);
    return 0;
}

/* Goes through the walk as `set` would, and counts where it differs from the record. With `told`,
 * the prediction is kept there too. */
static size_t misfit(struct policy_set *set, const struct policy_order *order, bool *told)
{
    if (order->count == 0) {
        return 0;
    }
    size_t at = (order->first + order->count - order->warm % order->count) % order->count;
    size_t differing = 0;
    for (uint64_t i = 0; i < order->warm + order->records; i++) {
        uint32_t line = order->line[at];
        bool hit = line != POLICY_OTHER && policy_set_read(set, line);
        if (i >= order->warm && line != POLICY_OTHER) {
            differing += hit != order->hit[i - order->warm];
            if (told) {
                told[i - order->warm] = hit;
            }
        }
        at = at + 1 == order->count ? 0 : at + 1;
    }
    return differing;
}

/*
 * FIFO from a beginning that is not known: with one line more than ways, what is given up is what
 * misses next, so the lines miss in turn, for ever in the same order. Misses out of turn.
 */
static size_t out_of_turn(uint32_t ways, const struct policy_order *order)
{
    uint32_t turn[INFER_MAX_WAYS + 1], lines = ways + 1;
    size_t misses = 0, differing = 0;
    if (ways > INFER_MAX_WAYS) {
        return order->records;
    }
    for (size_t i = 0; i < order->records && order->count; i++) {
        uint32_t line = order->line[(order->first + i) % order->count];
        if (line != POLICY_OTHER && !order->hit[i]) {
            differing += misses >= lines && turn[misses % lines] != line;
            turn[misses++ % lines] = line;
        }
    }
    return misses < 3 * lines ? order->records : differing;
}

/* Least misfit from any beginning that may be. The first is an empty set. */
static size_t least_misfit(enum policy_kind kind, uint32_t ways, const struct policy_order *order,
                           unsigned states)
{
    struct rng rng;
    struct policy_set set;
    rng_seed(&rng, 12345);
    size_t least = kind == POLICY_FIFO && states > 1 ? out_of_turn(ways, order) : order->records;
    for (unsigned i = 0; i < states && least > 0; i++) {
        policy_set_init(&set, kind, ways);
        if (i > 0) {
            policy_set_scramble(&set, ways + 1, &rng);
        }
        size_t differing = misfit(&set, order, NULL);
        least = differing < least ? differing : least;
    }
    return least;
}

/* Would two policies have told the same of these orders, from an empty set? */
static bool foretell_alike(enum policy_kind a, enum policy_kind b, uint32_t ways,
                           const struct policy_order orders[POLICY_ORDERS])
{
    bool alike = true;
    for (size_t i = 0; i < POLICY_ORDERS && alike; i++) {
        struct policy_set set;
        struct policy_order copy = orders[i];
        copy.hit = calloc(copy.records, sizeof *copy.hit);
        if (!copy.hit) {
            return false;
        }
        policy_set_init(&set, a, ways);
        misfit(&set, &copy, copy.hit);
        policy_set_init(&set, b, ways);
        alike = misfit(&set, &copy, NULL) == 0;
        free(copy.hit);
    }
    return alike;
}

struct match {
    bool fits[POLICY_COUNT];
    size_t misfit[POLICY_COUNT], records;
};

static void report_match(const struct policy_case *of, struct policy_result *out,
                         const struct match *match, const struct policy_order orders[POLICY_ORDERS],
                         enum policy_kind best)
{
    snprintf(out->name, sizeof out->name, "%s", policy_name(best));
    size_t second = match->records;
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        bool same = i == best || (match->fits[i] && match->misfit[i] == match->misfit[best]);
        second = !same && match->misfit[i] < second ? match->misfit[i] : second;
        if (i != best && match->fits[i] &&
            foretell_alike(best, (enum policy_kind)i, of->ways, orders) &&
            out->equivalent_count < INFER_MAX_EQUIVALENT) {
            snprintf(out->equivalent[out->equivalent_count++], sizeof out->equivalent[0], "%s",
                     policy_name((enum policy_kind)i));
        }
    }
    lab_evidence(of->lab, out->evidence, of->id,
                 "chase op=%s: %u places of one set, one line more, in %d drawn orders: %s "
                 "foretells all but %zu of %zu records, the next best all but %zu",
                 of->op, of->ways, POLICY_ORDERS, out->name, match->misfit[best], match->records,
                 second);
    out->confidence = match->misfit[best] == 0 ? 0.97 : 0.92;
}

static size_t count_records(const struct policy_order *order)
{
    size_t count = 0;
    for (size_t i = 0; i < order->records; i++) {
        count += order->line[(order->first + i) % order->count] != POLICY_OTHER;
    }
    return count;
}

bool policy_match(const struct policy_case *of, struct policy_result *out,
                  const struct policy_order orders[POLICY_ORDERS])
{
    struct match match = {0};
    enum policy_kind best = POLICY_COUNT;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        match.records += count_records(&orders[i]);
    }
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        for (size_t i = 0; i < POLICY_ORDERS; i++) {
            match.misfit[k] += least_misfit((enum policy_kind)k, of->ways, &orders[i],
                                            of->from_empty ? 1 : STATES);
        }
        match.fits[k] = (double)match.misfit[k] <= of->allowed * (double)match.records;
        if (match.fits[k] && (best == POLICY_COUNT || match.misfit[k] < match.misfit[best])) {
            best = (enum policy_kind)k;
        }
    }
    if (best != POLICY_COUNT) {
        report_match(of, out, &match, orders, best);
    }
    return best != POLICY_COUNT;
}

/* First from an empty set, as most first levels begin; if that explains nothing, from any. */
static int match_policies(struct level *level, bool *matched, uint32_t words)
{
    *matched = false;
    for (unsigned attempt = 0; attempt < 2 && !*matched; attempt++) {
        struct policy_order orders[POLICY_ORDERS] = {0};
        struct rng rng;
        rng_seed(&rng, 77);
        int rc = 0;
        for (size_t i = 0; i < POLICY_ORDERS && rc == 0; i++) {
            rc = run_order(level, &orders[i], words, attempt ? POLICY_WARM_ROUNDS : 1, &rng);
        }
        struct policy_case of = {.lab = level->lab,
                                 .id = level->info->id,
                                 .op = level->info->op,
                                 .ways = (uint32_t)level->conflict_count - 1,
                                 .allowed = level->false_slow > 0 ? NOISY_MISFIT : 0,
                                 .from_empty = attempt == 0};
        *matched = rc == 0 && policy_match(&of, &level->result->policy, orders);
        for (size_t i = 0; i < POLICY_ORDERS; i++) {
            policy_order_free(&orders[i]);
        }
        if (rc) {
            return rc;
        }
    }
    return 0;
}

int level_policy(struct level *level)
{
    struct policy_result *out = &level->result->policy;
    size_t ways = level->conflict_count - 1;
    if (ways > INFER_MAX_WAYS) {
        return lab_undecided(level->lab, "more than %d ways", INFER_MAX_WAYS);
    }
    if (ways == 1) {
        snprintf(out->name, sizeof out->name, "none");
        lab_evidence(level->lab, out->evidence, level->info->id, "a set of one way has no choice");
        out->confidence = 0.97;
        return 0;
    }
    uint32_t words = level->fetch_bytes / 4 < MAX_WORDS ? level->fetch_bytes / 4 : MAX_WORDS;
    bool matched = false;
    int rc = 0;
    if (words >= 2) {
        rc = match_policies(level, &matched, words);
    }
    return rc || matched ? rc : victims_measure(level, out);
}
