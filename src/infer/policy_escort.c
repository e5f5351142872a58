/*
 * The order in which a policy is sought (policy.c) behind another cache: between two visits of the
 * set's lines others keep the cache in front busy (escort.h), so that most visits come through. A
 * visit that does not shows by its latency, and the set behind hears nothing of it. That holds for
 * recorded visits alone, so everything is recorded, from an empty cache on.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/escort.h"
#include "infer/policy.h"
#include "util/error.h"

#define MAX_WORDS 8   /* visits of a line in a round */
#define LEAST_WORDS 3 /* where there are few others to walk between them */
#define ENOUGH 16     /* times the lines that drive the set's out in front */

/* Others to walk, each several times by its words. */
struct others {
    uint32_t *line; /* offsets; owned */
    size_t count, words;
    size_t once; /* drive the set's lines out */
};

static int others_find(struct others *out, const struct level *level,
                       const struct policy_pool *pool)
{
    struct walk_shape set = {.ring = pool->line, .count = pool->count};
    uint32_t words = level->front->fetch_bytes / 4;
    *out = (struct others){.words = words < MAX_WORDS ? words : MAX_WORDS};
    int rc = escort_room(&out->line, level->escort);
    rc = rc ? rc : escort_find(level->escort, out->line, &out->once, &set, set.count, 1);
    return rc ? rc : escort_find(level->escort, out->line, &out->count, &set, set.count, ENOUGH);
}

/* How often a line is visited in a round, and how many others come between two visits: as many as
 * drive it out in front, if there are so many, and if a window holds the round. */
static void plan_visits(size_t *words, size_t *between, const struct others *others,
                        const struct level *level, const struct policy_pool *pool)
{
    size_t lines = pool->count;
    for (*words = pool->words;; --*words) {
        size_t visits = lines * *words, supply = others->count * others->words / visits;
        size_t room = level->max_window / visits;
        *between = others->once < supply ? others->once : supply;
        *between = room && *between > room - 1 ? room - 1 : *between;
        if (*words <= LEAST_WORDS || 2 * *between >= others->once) {
            return;
        }
    }
}

/* Visits in a drawn order, others between them in turn. */
static void fill(struct policy_order *order, const struct policy_pool *pool,
                 const struct others *others, size_t words, size_t between, struct rng *rng)
{
    size_t lines = pool->count, visits = lines * words, step = between + 1, next = 0;
    for (size_t i = 0; i < visits; i++) {
        order->line[i * step] = (uint32_t)(i % lines);
        order->ring[i * step] = pool->line[i % lines] + (uint32_t)(i / lines) * 4;
        for (size_t k = 1; k < step; k++, next++) {
            order->line[i * step + k] = POLICY_OTHER;
            order->ring[i * step + k] =
                others->line[next % others->count] + (uint32_t)(next / others->count) * 4;
        }
    }
    for (size_t i = visits; i-- > 1;) {
        size_t j = (size_t)rng_below(rng, i + 1);
        uint32_t line = order->line[i * step], offset = order->ring[i * step];
        order->line[i * step] = order->line[j * step];
        order->ring[i * step] = order->ring[j * step];
        order->line[j * step] = line;
        order->ring[j * step] = offset;
    }
}

static int record(struct level *level, struct policy_order *order)
{
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = order->ring, .count = order->count});
    plan.escort = NULL; /* they are in the order */
    plan.window = level->max_window;
    return policy_order_walk(order, level, &plan);
}

int policy_escorted_order(struct level *level, struct policy_order *order,
                          const struct policy_pool *pool, struct rng *rng)
{
    struct others others;
    size_t words = 0, between = 0;
    int rc = others_find(&others, level, pool);
    if (rc == 0) {
        plan_visits(&words, &between, &others, level, pool);
        rc = policy_order_create(order, pool->count * words * (between + 1), level->max_window);
    }
    order->unheard = rc ? NULL : calloc(level->max_window, sizeof *order->unheard);
    if (rc == 0 && !order->unheard) {
        rc = error_memory();
    } else if (rc == 0) {
        fill(order, pool, &others, words, between, rng);
        rc = record(level, order);
    }
    free(others.line);
    return rc;
}
