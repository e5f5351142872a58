/*
 * The rule by which a set of a level of translation evicts its pages, sought as a cache's
 * (policy.c) among visits in drawn orders (tlb/visits.c). After a wash little is open of the state
 * of a set, and each policy is tried from all that it may be in then. Where there are too few pages
 * or a window is too short, the rule is sought from the recorded beginning on, with a part of the
 * visits to forget in what state the set was; that tells less.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/policy/policy.h"
#include "infer/policy/rule.h"
#include "infer/tlb/visits.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned rounds, rounds_behind, visits, most_rounds, forgotten, rings, washed_rings, attempts;
    double quiet_misfit, noisy_misfit, undecided_confidence;
} limits = {
    .rounds = 3,           /* rounds of the pages in a ring, each in an order of its own */
    .rounds_behind = 2,    /* rounds behind another level, where there are more pages */
    .visits = 120,         /* visits of the set's pages in a ring, if MOST_ROUNDS are as many */
    .most_rounds = 6,      /* rounds of a ring with a wash */
    .forgotten = 4,        /* one visit in so many: so many forget the state */
    .rings = 16,           /* rings that are recorded, where a window holds them */
    .washed_rings = 3,     /* the same with a wash */
    .quiet_misfit = 0.005, /* share of the misses that may differ */
    .noisy_misfit = 0.03,  /* the same with noise */
    .undecided_confidence = 0.7, /* confidence where another rule was not ruled out */
    .attempts = 3, /* drawings of other orders: an unknown beginning may last in some */
};

/* ---- from any state ---- */

/*
 * As an order whose round is all of it: what comes before the record, as if the level were asked
 * each time, then the record, of which a part is forgotten where that is not sure.
 */
static int take_order(struct visits *v, struct policy_order *order)
{
    uint32_t rounds = v->level->in_front ? limits.rounds_behind : limits.rounds;
    size_t before = POLICY_WARM_ROUNDS * v->count, length = rounds * v->count;
    size_t window = limits.rings * length, most = tlb_most_window(v->tl);
    window = window < most ? window : most;
    size_t forgotten = before + (v->level->in_front ? window / limits.forgotten : 0);
    enum tlb_sight *sight = calloc(window + 1, sizeof *sight);
    if (!sight) {
        return error_memory();
    }
    int rc = policy_order_create(order, before + window, before + window);
    rc = rc ? rc
            : visits_record(v, sight, order->line + before, &window, rounds, POLICY_WARM_ROUNDS);
    for (size_t i = 0; rc == 0 && i < window; i++) {
        if (before + i >= forgotten) {
            order->hit[before + i - forgotten] = sight[i] != TLB_MISS;
        }
    }
    for (size_t i = 0; rc == 0 && i < before; i++) { /* rounds of the ring */
        order->line[i] = order->line[before + i % length];
    }
    for (size_t i = 0; rc == 0 && i < before + window; i++) {
        bool hidden = i >= before && sight[i - before] == TLB_HIDDEN;
        order->line[i] = order->line[i] < v->own && !hidden ? order->line[i] : POLICY_OTHER;
    }
    order->warm = order->first = forgotten;
    order->records = before + window - forgotten;
    free(sight);
    return rc;
}

/* What may differ, as a share of the visits: a rule is told by whom it makes miss. */
static double misfit_allowed(const struct visits *v, const struct policy_order *orders)
{
    size_t misses = 0, visits = 0;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        for (size_t k = 0; k < orders[i].records; k++) {
            bool own = orders[i].line[orders[i].first + k] != POLICY_OTHER;
            visits += own;
            misses += own && !orders[i].hit[k];
        }
    }
    double share = visits ? (double)misses / (double)visits : 0;
    return (v->tl->noisy ? limits.noisy_misfit : limits.quiet_misfit) * share;
}

/* Does the rule's account of misses alone agree with every order? */
static bool misses_agree(const struct visits *v, const struct policy_rule *rule,
                         const struct policy_order *orders, double allowed, size_t *judged)
{
    uint32_t ways = (uint32_t)v->level->set_count - 1;
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        size_t visits, differing;
        if (!rule->judge_by_misses(ways, v->own, &orders[i], &visits, &differing) ||
            (double)differing > allowed * (double)visits) {
            return false;
        }
        *judged += visits;
    }
    return true;
}

/* A rule that misses alone tell needs no guess of what the set held before. */
static bool match_misses(const struct visits *v, struct tlb_result *out,
                         const struct policy_order *orders, double allowed)
{
    struct policy_result *policy = &out->policy;
    for (size_t kind = 0; kind < POLICY_COUNT; kind++) {
        const struct policy_rule *rule = policy_rule((enum policy_kind)kind);
        size_t judged = 0;
        if (!rule->judge_by_misses || !misses_agree(v, rule, orders, allowed, &judged)) {
            continue;
        }
        snprintf(policy->name, sizeof policy->name, "%s", policy_name((enum policy_kind)kind));
        lab_evidence(v->tl->lab, policy->evidence, out->id,
                     "chase op=cg: of %zu visits of %zu pages of one set of %zu, those hit whose "
                     "page is one of the last %zu that missed",
                     judged, v->own, v->level->set_count - 1, v->level->set_count - 1);
        policy->confidence = v->tl->noisy ? 0.92 : 0.95;
        return true;
    }
    return false;
}

/* As many rounds of the pages in a ring that policies have to differ somewhere. */
static uint32_t rounds_washed(const struct visits *v)
{
    size_t rounds = limits.visits / v->own;
    return (uint32_t)(rounds < limits.rounds        ? limits.rounds
                      : rounds > limits.most_rounds ? limits.most_rounds
                                                    : rounds);
}

/* Does a window hold the ring twice? From its first part on the model follows, the second counts.
 */
static bool holds_washed(const struct visits *v)
{
    size_t ring = v->wash_count + rounds_washed(v) * v->count;
    return v->wash_count >= v->level->set_count && 2 * ring <= tlb_most_window(v->tl);
}

/* An order that is all that was recorded. What counts comes after the second wash. */
static int take_washed(struct visits *v, struct policy_order *order)
{
    uint32_t rounds = rounds_washed(v);
    size_t ring = v->wash_count + rounds * v->count, window = limits.washed_rings * ring;
    size_t most = tlb_most_window(v->tl);
    window = window < most ? window : most;
    enum tlb_sight *sight = calloc(window + 1, sizeof *sight);
    if (!sight) {
        return error_memory();
    }
    order->warm = order->first = ring + v->wash_count;
    order->records = window - order->warm;
    int rc = policy_order_create(order, window, window);
    rc = rc ? rc : visits_record(v, sight, order->line, &window, rounds, rounds);
    for (size_t i = 0; rc == 0 && i < window; i++) {
        bool ours = order->line[i] < v->own || order->line[i] >= v->count;
        order->line[i] = ours && sight[i] != TLB_HIDDEN ? order->line[i] : POLICY_OTHER;
        if (i >= order->warm) {
            order->hit[i - order->warm] = sight[i] != TLB_MISS;
        }
    }
    free(sight);
    return rc;
}

static int match_rule(struct visits *v, struct tlb_result *out, bool *matched, bool washed)
{
    struct policy_order orders[POLICY_ORDERS] = {0};
    int rc = 0;
    for (size_t i = 0; i < POLICY_ORDERS && rc == 0; i++) {
        rc = washed ? take_washed(v, &orders[i]) : take_order(v, &orders[i]);
    }
    struct policy_case of = {.lab = v->tl->lab,
                             .id = out->id,
                             .op = "cg",
                             .ways = (uint32_t)v->level->set_count - 1,
                             .flushed = washed,
                             .least_misses = v->level->set_count - 1,
                             .allowed = rc ? 0 : misfit_allowed(v, orders)};
    bool many = !washed && v->own > v->level->set_count; /* else misses in turn say little */
    *matched = rc == 0 && (policy_match(&of, &out->policy, orders) ||
                           (many && match_misses(v, out, orders, of.allowed)));
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        policy_order_free(&orders[i]);
    }
    /* What is left beside the name was not ruled out, which is no proof that nothing can. */
    if (*matched && out->policy.equivalent_count > 0 && v->level->set_count > 3) {
        out->policy.confidence = fmin(out->policy.confidence, limits.undecided_confidence);
    }
    return rc;
}

static int try_washed(struct tlb_lab *tl, struct tlb_result *out, bool *matched, bool *tried,
                      const struct tlb_level *level)
{
    int rc = 0;
    *tried = true;
    unsigned attempts = tl->noisy ? 2 : 1; /* a stray may have hidden a visit */
    for (unsigned attempt = 0; rc == 0 && attempt < attempts && *tried && !*matched; attempt++) {
        struct visits v;
        rc = visits_create(&v, tl, level, VISITS_WASHED, attempt);
        *tried = rc == 0 && !level->like_data && holds_washed(&v);
        rc = *tried ? match_rule(&v, out, matched, true) : rc;
        visits_free(&v);
    }
    return rc;
}

/*
 * From a state that is known, if there are pages for that; else from any. (Where a miss takes as
 * long as missing data, a wash would bring more of these than L2 holds.) What no rule predicts
 * after a wash may have been washed by pages of other sets; but what is found without is less sure.
 */
int tlb_match_rule(struct tlb_lab *tl, struct tlb_result *out, bool *matched,
                   const struct tlb_level *level)
{
    bool washed;
    *matched = false;
    int rc = try_washed(tl, out, matched, &washed, level);
    for (unsigned attempt = 0; rc == 0 && attempt < limits.attempts && !*matched; attempt++) {
        struct visits v;
        bool full = attempt == 1;
        if (washed && !full) {
            continue;
        }
        rc = visits_create(&v, tl, level, full ? VISITS_FULL : VISITS_TWICE, attempt);
        rc = rc ? rc : match_rule(&v, out, matched, false);
        visits_free(&v);
        if (*matched && washed) {
            out->policy.confidence = fmin(out->policy.confidence, limits.undecided_confidence);
        }
    }
    return rc;
}
