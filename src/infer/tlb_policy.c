/*
 * The replacement policy of a level of translation: as a cache's (policy.c), over the pages that
 * one set holds and one more. A level behind another sees only what that one does not hold; so a
 * walk visits all pages that fit and one, in an order that is shuffled only locally, and no page
 * comes again before more others than the first level has entries. The pages that do not belong to
 * the set only keep the first level busy.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/policy.h"
#include "infer/tlb.h"
#include "infer/walk.h"
#include "util/error.h"
#include "util/rng.h"

#define ROUNDS 3 /* visits of a page in a ring */
#define NOISY_MISFIT 0.02

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

/* Each visit reads another line of the page. */
static void draw_order(struct policy_order *order, const struct tlb_level *level,
                       const uint32_t *label, size_t apart, struct rng *rng)
{
    size_t pages = level->fits + 1;
    for (size_t round = 0; round < ROUNDS; round++) {
        uint32_t *line = order->line + round * pages;
        draw_round(line, pages, apart, rng);
        for (size_t i = 0; i < pages; i++) {
            order->ring[round * pages + i] =
                tlb_place(level->page, line[i]) + (uint32_t)(round + 1) * 2;
            line[i] = label[line[i]];
        }
    }
}

static int run_order(struct lab *lab, struct policy_order *order, double threshold)
{
    uint32_t most = lab->options->max_window ? lab->options->max_window : 1024;
    struct walk_plan plan = {.op = "cg",
                             .shape = {.ring = order->ring, .count = order->count},
                             .warm = POLICY_WARM_ROUNDS / ROUNDS * order->count,
                             .windows = 1,
                             .scale = TLB_UNIT_BYTES};
    plan.window = (uint32_t)(6 * order->count < most ? 6 * order->count : most);
    struct walk walk;
    int rc = walk_run(lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    order->warm = plan.warm;
    order->first = walk.first[0];
    order->records = walk.count;
    for (size_t i = 0; i < walk.count; i++) {
        order->hit[i] = walk.latency[i] <= threshold;
    }
    walk_free(&walk);
    return 0;
}

static int match(struct lab *lab, struct tlb_result *out, const struct tlb_level *level,
                 const uint32_t *label, size_t apart)
{
    struct policy_order orders[POLICY_ORDERS] = {0};
    struct rng rng;
    rng_seed(&rng, 99);
    int rc = 0;
    uint32_t most = lab->options->max_window ? lab->options->max_window : 1024;
    for (size_t i = 0; i < POLICY_ORDERS && rc == 0; i++) {
        rc = policy_order_create(&orders[i], ROUNDS * (level->fits + 1), most);
        if (rc == 0) {
            draw_order(&orders[i], level, label, apart, &rng);
            rc = run_order(lab, &orders[i], level->threshold);
        }
    }
    struct policy_case of = {.lab = lab,
                             .id = out->id,
                             .op = "cg",
                             .ways = out->entries_per_set[0],
                             .allowed = NOISY_MISFIT};
    if (rc == 0 && !policy_match(&of, &out->policy, orders)) {
        rc = lab_undecided(lab, "no known policy foretells which pages miss");
    }
    for (size_t i = 0; i < POLICY_ORDERS; i++) {
        policy_order_free(&orders[i]);
    }
    return rc;
}

int tlb_policy(struct lab *lab, struct tlb_result *out, const struct tlb_level *level,
               size_t in_front)
{
    size_t pages = level->fits + 1;
    if (out->set_count == 0 || out->entries_per_set[0] > INFER_MAX_WAYS) {
        return lab_undecided(lab, "no set of entries is known, or it is too large");
    }
    if (in_front && pages <= 2 * in_front + 4) {
        return lab_undecided(lab, "the level in front hides which pages this one holds");
    }
    struct page_walk walk = {.stride = level->page, .pages = pages, .threshold = level->threshold};
    int rc = page_walk_run(lab, &walk);
    if (rc) {
        return rc;
    }
    uint32_t *label = malloc(pages * sizeof *label), members = 0;
    for (size_t i = 0; label && i < pages; i++) {
        label[i] = walk.slow[i] ? members++ : POLICY_OTHER;
    }
    page_walk_free(&walk);
    rc = !label ? error_memory()
         : members != out->entries_per_set[0] + 1
             ? lab_undecided(lab, "the pages that miss changed")
             : match(lab, out, level, label, in_front);
    free(label);
    return rc;
}
