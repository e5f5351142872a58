/*
 * Draws and records orders. A round reads each line of the set several times, by different words of
 * one fetch unit, in a shuffled order. Where the set's first state is not known, each round begins
 * with a wash. Where a line has one word of the thread, a round reads that word of all lines in one
 * order and then in another, with a wash before each.
 */
#include <stdlib.h>

#include "infer/level.h"
#include "infer/policy/policy.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned most_records, rounds;
} limits = {
    .most_records = 2048, /* records of an order */
    .rounds = 8,          /* rounds that are recorded, if there is room */
};

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
    free(order->unheard);
}

static void shuffle(uint32_t *line, uint32_t *ring, size_t count, struct rng *rng)
{
    for (size_t i = count; i-- > 1;) {
        size_t j = (size_t)rng_below(rng, i + 1);
        uint32_t swapped_line = line[i], swapped_offset = ring[i];
        line[i] = line[j];
        ring[i] = ring[j];
        line[j] = swapped_line;
        ring[j] = swapped_offset;
    }
}

/* The wash from `at` on; returns where it ends. */
static size_t put_wash(struct policy_order *order, const struct policy_pool *pool, size_t at)
{
    for (size_t i = 0; i < pool->wash_count; i++) {
        order->line[at + i] = (uint32_t)(pool->count + i);
        order->ring[at + i] = pool->wash[i];
    }
    return at + pool->wash_count;
}

static void draw(struct policy_order *order, const struct policy_pool *pool, struct rng *rng)
{
    size_t at = put_wash(order, pool, 0), all = pool->count * pool->words,
           part = pool->in_turn || pool->turns ? pool->count : all;
    for (size_t from = 0; from < all; from += part) {
        at = from && pool->turns ? put_wash(order, pool, at) : at;
        for (size_t i = 0; i < part; i++) {
            size_t word = pool->turns ? 0 : (from + i) / pool->count;
            order->line[at + i] = (uint32_t)((from + i) % pool->count);
            order->ring[at + i] = pool->line[(from + i) % pool->count] + (uint32_t)word * 4;
        }
        shuffle(order->line + at, order->ring + at, part, rng);
        at += part;
    }
}

int policy_run_order(struct level *level, struct policy_order *order,
                     const struct policy_pool *pool, uint64_t warm_rounds, struct rng *rng)
{
    size_t washes = pool->turns ? pool->words : 1;
    size_t count = pool->count * pool->words + pool->wash_count * washes;
    int rc = policy_order_create(order, count, level->max_window);
    if (rc) {
        return rc;
    }
    draw(order, pool, rng);
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = order->ring, .count = order->count});
    size_t most = limits.rounds * order->count < limits.most_records ? limits.rounds * order->count
                                                                     : limits.most_records;
    plan.window = (uint32_t)(most < level->max_window ? most : level->max_window);
    plan.warm = order->warm = warm_rounds * order->count;
    plan.turns = pool->turns ? pool->words : 0;
    return policy_order_walk(order, level, &plan);
}

int policy_order_walk(struct policy_order *order, struct level *level, const struct walk_plan *plan)
{
    struct walk walk;
    int rc = walk_run(level->lab, &walk, plan);
    if (rc) {
        return rc;
    }
    order->first = walk.first[0];
    order->records = walk.count;
    for (size_t i = 0; i < walk.count; i++) {
        order->hit[i] = level_class(level, walk.latency[i]) == LOAD_HIT;
    }
    for (size_t i = 0; order->unheard && i < walk.count; i++) {
        order->unheard[i] = walk.latency[i] <= level->front->timing.threshold;
    }
    walk_free(&walk);
    return 0;
}
