/*
 * The replacement policy of a level of translation: as a cache's (policy.c), over the pages that
 * one set holds and one more. A level behind another sees only what that one does not hold; so a
 * walk of one visits all pages that fit and one, in an order that is shuffled only locally, and no
 * page comes again before more others than the first level has entries. The pages that do not
 * belong to the set only keep the first level busy.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/policy/policy.h"
#include "infer/tlb/tlb.h"
#include "util/error.h"
#include "util/rng.h"

/* Thresholds. Fixed by: blind trials of translation alone (--only tlbs). */
static const struct {
    unsigned rounds, lines_apart;
    uint32_t twice_run;
    double quiet_misfit, noisy_misfit, median_confidence, reliable;
} limits = {
    .rounds = 3,               /* visits of a page in a ring */
    .twice_run = 960000,       /* requests: apart from those of all other walks. Chosen */
    .quiet_misfit = 0.02,      /* share of the records that may differ */
    .noisy_misfit = 0.05,      /* the same with noise */
    .median_confidence = 0.85, /* confidence where medians, not records, are matched */
    .lines_apart = 2,          /* units from visit to visit of a page */
    .reliable = 0.5,           /* share of the distance to the threshold that noise may take */
};

/* Shuffles within blocks that leave `apart` others at least between two visits. */
static void draw_round(uint32_t *page, size_t pages, size_t apart, struct rng *rng)
{
    size_t block = apart ? (pages - apart) / 2 : pages;
    for (size_t i = 0; i < pages; i++) {
        page[i] = (uint32_t)i;
    }
    for (size_t from = 0; from < pages; from += block) {
        size_t length = pages - from < block ? pages - from : block;
        for (size_t i = length; i-- > 1;) {
            size_t j = (size_t)rng_below(rng, i + 1);
            uint32_t other = page[from + i];
            page[from + i] = page[from + j];
            page[from + j] = other;
        }
    }
}

/* Visits anywhere in the ring: what tells policies apart is what comes twice before another once.
 */
static void shuffle(struct policy_order *order, struct rng *rng)
{
    for (size_t i = order->count; i-- > 1;) {
        size_t j = (size_t)rng_below(rng, i + 1);
        uint32_t line = order->line[i], unit = order->ring[i];
        order->line[i] = order->line[j];
        order->ring[i] = order->ring[j];
        order->line[j] = line;
        order->ring[j] = unit;
    }
}

/* Each visit reads another line of the page. */
static void draw_order(const struct tlb_lab *tl, struct policy_order *order,
                       const struct tlb_level *level, const uint32_t *label, size_t pages,
                       size_t apart, struct rng *rng)
{
    for (size_t round = 0; round < limits.rounds; round++) {
        uint32_t *line = order->line + round * pages;
        draw_round(line, pages, apart, rng);
        for (size_t i = 0; i < pages; i++) {
            order->ring[round * pages + i] =
                tlb_place(tl, level->page, line[i], round * limits.lines_apart);
            line[i] = label[line[i]];
        }
    }
    if (apart == 0) {
        shuffle(order, rng);
    }
}

/*
 * Where single loads vary, the walk is repeated in the same order until a policy has settled, and
 * the median of each visit counts; the record is that of a single round.
 */
static int run_order(struct tlb_lab *tl, struct policy_order *order, const struct tlb_level *level)
{
    uint32_t most = tlb_most_window(tl);
    struct tlb_ring ring = {order->ring, order->count};
    uint64_t passes = POLICY_WARM_ROUNDS / limits.rounds;
    order->warm = passes * order->count;
    order->first = 0;
    if (!tlb_is_reliable(tl, level)) {
        struct tlb_view view;
        int rc = tlb_view(tl, &view, &ring, NULL, 2);
        order->records = rc ? 0 : order->count;
        for (size_t i = 0; i < order->records; i++) {
            order->hit[i] = view.excess[i] <= level->threshold;
        }
        tlb_view_free(&view);
        return rc;
    }
    uint32_t window = (uint32_t)(6 * order->count < most ? 6 * order->count : most);
    double *excess = malloc(window * sizeof *excess);
    if (!excess) {
        return error_memory();
    }
    int rc = tlb_records(tl, excess, &ring, passes, window, 1);
    order->records = window;
    for (size_t i = 0; rc == 0 && i < window; i++) {
        order->hit[i] = excess[i] <= level->threshold || tlb_is_data(tl, level, excess[i]);
    }
    free(excess);
    return rc;
}

static int match(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
                 const uint32_t *label, size_t pages, size_t apart)
{
    struct policy_order orders[POLICY_ORDERS] = {0};
    struct rng rng;
    rng_seed(&rng, 99);
    int rc = 0;
    uint32_t most = tlb_most_window(tl);
    for (size_t i = 0; i < POLICY_ORDERS && rc == 0; i++) {
        size_t count = limits.rounds * pages;
        rc = policy_order_create(&orders[i], count, count > most ? count : most);
        if (rc == 0) {
            draw_order(tl, &orders[i], level, label, pages, apart, &rng);
            rc = run_order(tl, &orders[i], level);
        }
    }
    struct policy_case of = {.lab = tl->lab,
                             .id = out->id,
                             .op = "cg",
                             .ways = (uint32_t)level->set_count - 1,
                             .twice = pages > level->fits + 1,
                             .allowed = tlb_is_reliable(tl, level) ? limits.quiet_misfit
                                                                   : limits.noisy_misfit};
    if (rc == 0 && !policy_match(&of, &out->policy, orders)) {
        rc = lab_undecided(tl->lab, "no known policy predicts which pages miss");
    }
    if (!tlb_is_reliable(tl, level)) { /* medians hide what does not come again round by round */
        out->policy.confidence = fmin(out->policy.confidence, limits.median_confidence);
    }
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        policy_order_free(&orders[i]);
    }
    return rc;
}

/* Is the rule among those that were left open? */
static bool may_be(const struct policy_result *policy, const char *name)
{
    bool is = strcmp(policy->name, name) == 0;
    for (size_t i = 0; !is && i < policy->equivalent_count; i++) {
        is = strcmp(policy->equivalent[i], name) == 0;
    }
    return is;
}

/*
 * A page more than fits makes few of them miss, and some rules then do as others. Of a single set
 * any page is: twice as many tell more. What they do not tell leaves what was found.
 */
static int match_twice(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level)
{
    const size_t pages = 2 * level->set_count;
    const uint32_t run = tl->run;
    struct tlb_result twice = *out;
    uint32_t *label = malloc(pages * sizeof *label);
    if (!label) {
        return error_memory();
    }
    for (uint32_t i = 0; i < pages; i++) {
        label[i] = i;
    }
    twice.policy = (struct policy_result){0};
    tl->run += limits.twice_run;
    int rc = pages * level->page <= tl->limit_bytes ? match(tl, &twice, level, label, pages, 0)
                                                    : INFER_UNDECIDED;
    free(label);
    bool fewer = twice.policy.equivalent_count < out->policy.equivalent_count;
    if (rc == 0 && fewer && may_be(&out->policy, twice.policy.name)) {
        out->policy = twice.policy;
    }
    return tlb_end_apart(tl, NULL, run, rc);
}

static uint32_t most_entries(const struct tlb_result *out)
{
    uint32_t most = 1;
    for (size_t i = 0; i < out->set_count; i++) {
        most = out->entries_per_set[i] > most ? out->entries_per_set[i] : most;
    }
    return most;
}

int tlb_policy(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
               size_t in_front)
{
    size_t pages = level->fits + 1;
    struct lab *lab = tl->lab;
    if (level->set_count < 2 || level->set_count > INFER_MAX_WAYS + 1) {
        return lab_undecided(lab, "no set of entries is known, or it is too large");
    }
    if (level->set_count == 2 && most_entries(out) > 1) {
        return lab_undecided(lab,
                             "the set whose pages are known has one entry, and others have more");
    }
    if (level->set_count == 2) {
        strcpy(out->policy.name, "none");
        lab_evidence(lab, out->policy.evidence, out->id, "a set of one entry has no choice");
        out->policy.confidence = 0.97;
        return 0;
    }
    if (tlb_can_count(tl, level, 2 * in_front + level->set_count + 8)) {
        return tlb_visits_policy(tl, out, level);
    }
    if (in_front && pages <= 2 * in_front + 4) {
        return lab_undecided(lab, "the level in front hides which pages this one holds");
    }
    uint32_t *label = malloc(pages * sizeof *label);
    if (!label) {
        return error_memory();
    }
    for (size_t i = 0; i < pages; i++) {
        label[i] = POLICY_OTHER;
    }
    for (uint32_t i = 0; i < level->set_count; i++) {
        label[level->set[i] % pages] = i;
    }
    int rc = match(tl, out, level, label, pages, in_front);
    free(label);
    bool open = rc == 0 && out->policy.equivalent_count > 0;
    return open && level->set_count == pages && in_front == 0 ? match_twice(tl, out, level) : rc;
}
