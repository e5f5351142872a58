/*
 * The replacement policy: which line a full set gives up. The lines of a smallest conflicting set,
 * one more than its ways, are read in an order drawn at random, each several times a round by
 * different words of one fetch unit, and every policy known here (policies.def) foretells record
 * by record what hits and what misses. One that foretells all is the policy, together with those
 * that foretell the same: a set of two ways cannot tell LRU from a tree. Where the cache is empty
 * when a walk begins, the prediction begins there; where it is not, it begins from states drawn at
 * random. Of those little is left: each round begins with as many other lines of the set as it has
 * ways, which push out whatever it held.
 *
 * Where no such policy fits, the victims are counted (victims.c): drawn at random, or by a bias.
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
#include "infer/policy/model.h"
#include "util/error.h"

#define MAX_WORDS 8 /* reads of a line in a round */
#define STATES 48   /* beginnings that are tried where the true one is not known */
#define MOST_STATES 400
#define TRIED_READS 150000000 /* reads of ways, for those more */
#define IMPOSSIBLE 1000       /* one in so many records */
#define STRAY_MISFIT 0.0012   /* of the records, where no noise was seen yet */
#define UNSEEN 1000000        /* lines that a set held before begin with this number */
#define NOISY_MISFIT 0.003    /* of the records: what a drawn order has more than the others */
#define DOUBTFUL 0.5          /* a structure that failed when it was put to the test is below */
#define CLEARLY 3             /* times the misfit: another policy is ruled out */
#define FAR 20                /* times the misfit: no accident */
#define FEW_RECORDS 200       /* one in so many */
#define FEW_MISSES 20         /* the same, of what missed */
#define THIN 0.7              /* where it is not */
#define CONTRADICTED 0.6      /* by orders of more lines */

/*
 * Goes through the walk as `set` would, and counts where it differs from the record. With `told`,
 * the prediction is kept there too. Noise makes a hit slow, but no miss fast: where that holds
 * (`one_sided`), misses foretold that were hits rule the policy out, but for a stray one. What
 * reaches `most` is not followed to its end.
 */
static size_t misfit(struct policy_set *set, const struct policy_order *order, bool *told,
                     bool one_sided, size_t most)
{
    if (order->count == 0) {
        return 0;
    }
    size_t at = (order->first + order->count - order->warm % order->count) % order->count;
    size_t differing = 0, impossible = 0;
    for (uint64_t i = 0; i < order->warm + order->records && differing < most; i++) {
        bool unheard = i >= order->warm && order->unheard && order->unheard[i - order->warm];
        uint32_t line = unheard ? POLICY_OTHER : order->line[at];
        bool hit = line != POLICY_OTHER && policy_set_read(set, line);
        if (i >= order->warm && line != POLICY_OTHER) {
            differing += hit != order->hit[i - order->warm];
            impossible += !hit && order->hit[i - order->warm];
            if (one_sided && impossible * IMPOSSIBLE > order->records) {
                return order->records;
            }
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
    return misses < 2 * lines ? order->records : differing;
}

/*
 * New lines alone fill the ways in turn, so that what NRU and SRRIP remember after many of them is
 * how far they have come: ways before that are just filled. Of used bits one more is set, that of
 * the last way or the one before, which was filled when all others were set.
 */
static uint64_t flushed_age(enum policy_kind kind, uint32_t ways, uint32_t way, unsigned number)
{
    uint32_t kept = ways - 1 - number % 2;
    return kind == POLICY_SRRIP ? (way < number ? 2 : 3)
           : kind == POLICY_NRU ? way == kept || way < number / 2
                                : 0;
}

/*
 * A beginning that may be; the first is an empty set. An empty set fills its ways in their order,
 * and then knows nothing of what was before, but for the used bits that it began with: those of the
 * last ways of which all are set make it begin anew so much earlier.
 */
static void begin(struct policy_set *set, enum policy_kind kind, const struct policy_case *of,
                  unsigned number, struct rng *rng)
{
    policy_set_init(set, kind, of->ways);
    if ((number > 0 || of->flushed) && !of->from_empty) {
        policy_set_scramble(set, UNSEEN, rng);
    }
    for (uint32_t way = 0; of->from_empty && way < number; way++) {
        set->age[of->ways - 1 - way] = 1;
    }
    for (uint32_t way = 0; of->flushed && way < of->ways; way++) {
        set->age[way] = flushed_age(kind, of->ways, way, number);
    }
}

/* Used bits that nobody saw take longest to be forgotten: then more are tried, as far as time goes.
 */
static unsigned beginnings(enum policy_kind kind, const struct policy_case *of,
                           const struct policy_order *order)
{
    if (of->from_empty) {
        return of->kept_state && kind == POLICY_NRU ? of->ways : 1;
    }
    if (of->flushed && kind != POLICY_PLRU) {
        return kind == POLICY_NRU ? 2 * of->ways : kind == POLICY_SRRIP ? of->ways : 1;
    }
    uint64_t most = TRIED_READS / ((order->warm + order->records + 1) * of->ways);
    bool more = kind == POLICY_NRU && most > STATES;
    return !more ? STATES : most < MOST_STATES ? (unsigned)most : MOST_STATES;
}

static size_t least_misfit(enum policy_kind kind, const struct policy_case *of,
                           const struct policy_order *order)
{
    struct rng rng;
    struct policy_set set;
    rng_seed(&rng, 12345);
    size_t least = kind == POLICY_FIFO && !of->from_empty && !of->flushed
                       ? out_of_turn(of->ways, order)
                       : order->records;
    for (unsigned i = 0; i < beginnings(kind, of, order) && least > 0; i++) {
        begin(&set, kind, of, i, &rng);
        size_t differing = misfit(&set, order, NULL, of->one_sided, least);
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
        misfit(&set, &copy, copy.hit, false, SIZE_MAX);
        policy_set_init(&set, b, ways);
        alike = misfit(&set, &copy, NULL, false, 1) == 0;
        free(copy.hit);
    }
    return alike;
}

struct match {
    bool fits[POLICY_COUNT];
    bool by_exception; /* in two orders alone, or with a few records more than allowed */
    size_t misfit[POLICY_COUNT], records, misses;
};

/* Notes in `out` what the orders cannot tell from the best; returns the least misfit of all others.
 */
static size_t find_alike(const struct policy_case *of, struct policy_result *out,
                         const struct match *match, const struct policy_order orders[POLICY_ORDERS],
                         enum policy_kind best)
{
    size_t second = match->records;
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        enum policy_kind other = (enum policy_kind)i;
        bool alike = i != best && match->fits[i] && foretell_alike(best, other, of->ways, orders);
        if (alike && out->equivalent_count < INFER_MAX_EQUIVALENT) {
            snprintf(out->equivalent[out->equivalent_count++], sizeof out->equivalent[0], "%s",
                     policy_name(other));
        }
        second = i != best && !alike && match->misfit[i] < second ? match->misfit[i] : second;
    }
    return second;
}

static void report_match(const struct policy_case *of, struct policy_result *out,
                         const struct match *match, const struct policy_order orders[POLICY_ORDERS],
                         enum policy_kind best)
{
    snprintf(out->name, sizeof out->name, "%s", policy_name(best));
    size_t second = find_alike(of, out, match, orders, best);
    lab_evidence(of->lab, out->evidence, of->id,
                 "chase op=%s: %u places of one set, %s, in %d drawn orders: %s foretells all but "
                 "%zu of %zu records, the next best all but %zu",
                 of->op, of->ways, of->flushed ? "twice as many lines" : "one line more",
                 POLICY_ORDERS, out->name, match->misfit[best], match->records, second);
    bool thin = second < CLEARLY * (match->misfit[best] + 1) || match->by_exception;
    out->confidence = thin ? THIN : match->misfit[best] == 0 ? 0.97 : 0.92;
}

/* Records that concern the set; of these, misses. */
static size_t count_records(const struct policy_order *order, size_t *misses)
{
    size_t count = 0;
    *misses = 0;
    for (size_t i = 0; i < order->records; i++) {
        bool ours = order->line[(order->first + i) % order->count] != POLICY_OTHER &&
                    !(order->unheard && order->unheard[i]);
        count += ours;
        *misses += ours && !order->hit[i];
    }
    return count;
}

/* Is every state tried that the set may begin in? */
static bool is_known(const struct policy_case *of)
{
    return of->from_empty || of->kept_state || of->flushed;
}

/*
 * Does a policy foretell the orders? Of used bits nobody may have tried the beginning of one order;
 * two that they foretell record by record are no accident.
 */
static void match_policy(struct match *match, enum policy_kind kind, const struct policy_case *of,
                         const struct policy_order orders[POLICY_ORDERS])
{
    size_t sum = 0, worst = 0, worst_records = 0, misses;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        size_t misfit = least_misfit(kind, of, &orders[i]);
        sum += misfit;
        worst_records = misfit >= worst ? count_records(&orders[i], &misses) : worst_records;
        worst = misfit > worst ? misfit : worst;
    }
    match->misfit[kind] = sum;
    match->fits[kind] = (double)sum <= of->allowed * (double)match->records;
    if (!match->fits[kind] && kind == POLICY_NRU && !is_known(of)) {
        double rest = (double)(match->records - worst_records);
        match->fits[kind] = rest > 0 && (double)(sum - worst) <= of->allowed * rest;
        match->by_exception = match->fits[kind];
    }
}

/*
 * One that foretells all but a few records, of which every other misses many, is no accident; noise
 * that has not been seen yet may have made those few slow.
 */
static enum policy_kind nearly_all(struct match *match, size_t ways)
{
    size_t best = 0;
    bool clear = true;
    for (size_t k = 1; k < POLICY_COUNT; k++) {
        best = match->misfit[k] < match->misfit[best] ? k : best;
    }
    size_t misfit = match->misfit[best];
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        match->fits[k] = match->misfit[k] < CLEARLY * (misfit + 1);
        clear = clear && (match->fits[k] || match->misfit[k] >= FAR * (misfit + 1));
    }
    match->by_exception = true;
    bool few = misfit * FEW_RECORDS <= match->records && misfit * FEW_MISSES <= match->misses &&
               match->misses > ways;
    return clear && few ? (enum policy_kind)best : POLICY_COUNT;
}

/* Do all that do not fit miss many more records? */
static bool is_alone(const struct match *match, enum policy_kind best)
{
    bool alone = true;
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        alone =
            alone && (match->fits[k] || match->misfit[k] >= CLEARLY * (match->misfit[best] + 1));
    }
    return alone;
}

bool policy_match(const struct policy_case *of, struct policy_result *out,
                  const struct policy_order orders[POLICY_ORDERS])
{
    struct match match = {0};
    enum policy_kind best = POLICY_COUNT;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        size_t misses;
        match.records += count_records(&orders[i], &misses);
        match.misses += misses;
    }
    if (match.misses < of->least_misses) { /* too little was given up to tell anything */
        return false;
    }
    for (size_t k = 0; k < POLICY_COUNT; k++) {
        match_policy(&match, (enum policy_kind)k, of, orders);
        if (match.fits[k] && (best == POLICY_COUNT || match.misfit[k] < match.misfit[best])) {
            best = (enum policy_kind)k;
        }
    }
    if (best == POLICY_COUNT || (match.by_exception && !is_alone(&match, best))) {
        best = nearly_all(&match, of->ways);
    }
    if (best != POLICY_COUNT) {
        report_match(of, out, &match, orders, best);
    }
    return best != POLICY_COUNT;
}

/* A bound on the share of records that noise makes slow. */
static double noise_share(const struct level *level)
{
    double seen = (double)level->timing.false_slow,
           records = (double)(level->timing.hit_records + 1);
    return seen > 0 ? (seen + 4 * sqrt(seen) + 4) / records + NOISY_MISFIT : STRAY_MISFIT;
}

/* Draws orders and looks which policies foretell them. With filler accesses, from an empty set
 * alone, for what came through before the records is not known. */
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

/* Keeps in `out` what is in both, if anything is. */
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
        out->confidence = fmin(out->confidence, CONTRADICTED);
    }
}

/*
 * With one line more than ways, next to every visit hits in a large set, and policies that differ
 * in what they do with misses look alike. So twice as many lines are visited where several policies
 * are left.
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
    size_t count = own + policy_find_others(lines + own, level, own);
    if (count == own) {
        return 0;
    }
    struct policy_pool mixed = *pool;
    mixed.line = lines;
    mixed.count = count;
    mixed.wash_count = 0; /* they are among the lines */
    int rc = match_orders(level, &matched, &more, &mixed, from_empty);
    if (rc == 0 && matched) {
        narrow(out, &more);
    }
    return lab_soft(rc) ? 0 : rc;
}

/* First from an empty set, as most first levels begin; if that explains nothing, from any. */
static int match_policies(struct level *level, bool *matched, uint32_t words)
{
    uint32_t wash[POLICY_WASHES * HOME_MAX_WAYS];
    size_t ways = level->conflict.count - 1;
    struct policy_pool pool = {
        .words = words, .line = level->conflict.offsets, .count = ways + 1, .wash = wash};
    unsigned attempts = level->filler ? level->habits.begins_empty : 2;
    int rc = 0;
    *matched = false;
    for (unsigned attempt = 0; rc == 0 && attempt < attempts && !*matched; attempt++) {
        if (attempt && ways <= HOME_MAX_WAYS) {
            bool room = level->max_window >= POLICY_WASHES * ways + 2 * pool.count; /* for visits */
            size_t wanted = room ? POLICY_WASHES * ways : ways;
            size_t others = policy_find_others(wash, level, wanted);
            pool.wash_count = others < ways ? 0 : others < wanted ? ways : others;
        }
        rc = match_orders(level, matched, &level->result->policy, &pool, attempt == 0);
        rc = rc || !*matched ? rc : break_ties(level, &pool, attempt == 0);
    }
    return rc;
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
        level->timing.fetch_bytes / 4 < MAX_WORDS ? level->timing.fetch_bytes / 4 : MAX_WORDS;
    bool matched = false;
    int rc = 0;
    rc = level->filler ? level_learn_beginning(level) : 0;
    if (rc == 0 && words >= 2) {
        rc = match_policies(level, &matched, words);
    }
    rc = rc || matched ? rc : victims_measure(level, out);
    /* Shares of victims fit any cache, unlike a rule that foretells every record. Where no index
     * tells other lines of the set, only the conflicting addresses say that it is one set. */
    if (rc == 0 && !matched && level->map.sets == 0) {
        out->confidence = fmin(out->confidence, 0.7);
    }
    const struct attribute *sets = &level->result->sets;
    if (rc == 0 && sets->status == ATTRIBUTE_MEASURED && sets->confidence < DOUBTFUL) {
        out->confidence = fmin(out->confidence, DOUBTFUL); /* nor do they lie in one set for sure */
    }
    return rc;
}
