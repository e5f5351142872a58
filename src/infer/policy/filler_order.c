/*
 * Draws an order for the set of a cache behind another one. Between two reads of the set's lines,
 * filler accesses (behind/filler.h) evict the lines from the front cache, so that most reads reach
 * the set. A read that hits in the front cache shows by its latency and does not change the set.
 * Latencies are known of recorded reads only, so every read is recorded, from an empty cache on.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/behind/filler.h"
#include "infer/policy/policy.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned max_words, least_words, enough;
} limits = {
    .max_words = 8,   /* words of a line, each read once in a round */
    .least_words = 3, /* the same where there are few filler lines */
    .enough = 16, /* filler lines sought, times those that evict one line from the front cache */
};

/* Filler lines that share a set of the front cache with some of the lines. */
struct others {
    uint32_t *line; /* offsets; owned */
    size_t count;
    size_t found;   /* before those were dropped that another group has too */
    uint32_t first; /* offset of the first one found */
    size_t once;    /* filler lines that evict a line from the front cache */
    size_t lines;   /* lines of the pool that these fillers serve */
    size_t behind;  /* filler accesses after each read of a line */
    size_t next;    /* the filler line that is read next */
};

struct crowd {
    struct others *of;   /* room for one a line, most of them unused; owned */
    size_t *mine;        /* per line of the pool: its index in `of`; owned */
    size_t count, words; /* used in `of`; words read of each filler line */
};

static void crowd_free(struct crowd *crowd)
{
    for (size_t i = 0; crowd->of && i < crowd->count; i++) {
        free(crowd->of[i].line);
    }
    free(crowd->of);
    free(crowd->mine);
}

/* Finds the filler lines of one line. */
static int find_others(struct others *out, const struct level *level, uint32_t line)
{
    struct walk_shape alone = {.ring = &line, .count = 1};
    *out = (struct others){.lines = 1};
    int rc = filler_room(&out->line, level->filler);
    rc = rc ? rc : filler_find(level->filler, out->line, &out->once, &alone, 1, 1);
    rc = rc ? rc : filler_find(level->filler, out->line, &out->count, &alone, 1, limits.enough);
    uint32_t *fitting = rc ? NULL : realloc(out->line, (out->count + 1) * sizeof *fitting);
    out->line = fitting ? fitting : out->line;
    out->found = out->count;
    out->first = rc || out->count == 0 ? 0 : out->line[0];
    return rc;
}

/* Drops filler lines that the pool or another group has already: a ring holds each offset once. A
 * line is found twice where the index function is not quite right. */
static void drop_taken(struct others *own, const struct crowd *crowd,
                       const struct policy_pool *pool, uint64_t line_bytes)
{
    size_t kept = 0;
    for (size_t k = 0; k < own->count; k++) {
        bool taken = false;
        for (size_t i = 0; i < pool->count && !taken; i++) {
            taken = pool->line[i] / line_bytes == own->line[k] / line_bytes;
        }
        for (size_t i = 0; i < crowd->count && !taken; i++) {
            for (size_t n = 0; n < crowd->of[i].count && !taken; n++) {
                taken = crowd->of[i].line[n] == own->line[k];
            }
        }
        own->line[kept] = own->line[k];
        kept += !taken;
    }
    own->count = kept;
}

/* Lines that share a set of the front cache share one group of filler lines. */
static void join_crowd(struct crowd *crowd, size_t line, struct others *own,
                       const struct policy_pool *pool, uint64_t line_bytes)
{
    size_t i = 0;
    while (i < crowd->count &&
           (crowd->of[i].found != own->found || crowd->of[i].first != own->first)) {
        i++;
    }
    crowd->mine[line] = i;
    if (i < crowd->count) {
        crowd->of[i].lines++;
        free(own->line);
    } else {
        drop_taken(own, crowd, pool, line_bytes);
        crowd->of[crowd->count++] = *own;
    }
}

static int crowd_create(struct crowd *out, const struct level *level,
                        const struct policy_pool *pool)
{
    uint32_t words = level->front->timing.fetch_bytes / 4;
    *out = (struct crowd){.of = calloc(pool->count, sizeof *out->of),
                          .mine = calloc(pool->count, sizeof *out->mine),
                          .words = words < limits.max_words ? words : limits.max_words};
    if (!out->of || !out->mine) {
        return error_memory();
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < pool->count; i++) {
        struct others own;
        rc = find_others(&own, level, pool->line[i]);
        if (rc) {
            free(own.line);
        } else {
            join_crowd(out, i, &own, pool, level->front->line.bytes);
        }
    }
    return rc;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Plans a round: how many words of each line are read, and how many filler accesses follow each
 * read. That is as many as evict a line from the front cache, unless the filler lines have fewer
 * words or the round would exceed a window. Returns the length of the round in reads.
 */
static size_t plan_visits(struct crowd *crowd, size_t *words, const struct level *level,
                          const struct policy_pool *pool)
{
    for (*words = pool->words;; --*words) {
        size_t room = level->max_window / (pool->count * *words), length = 0;
        bool enough = true;
        for (size_t i = 0; i < crowd->count; i++) {
            struct others *o = &crowd->of[i];
            size_t supply = o->count * crowd->words / (o->lines * *words);
            o->behind = least_of(least_of(o->once, supply), room ? room - 1 : 0);
            enough = enough && 2 * o->behind >= o->once;
            length += o->lines * *words * (1 + o->behind);
        }
        if (*words <= limits.least_words || enough) {
            return length;
        }
    }
}

/* Puts a read and its filler accesses into the order. Returns the position of the next read. */
static size_t put_visit(struct policy_order *order, size_t at, uint32_t line, uint32_t offset,
                        struct others *others)
{
    order->line[at] = line;
    order->ring[at++] = offset;
    for (size_t k = 0; k < others->behind; k++, others->next++) {
        size_t word = others->next / others->count;
        order->line[at] = POLICY_OTHER;
        order->ring[at++] = others->line[others->next % others->count] + (uint32_t)word * 4;
    }
    return at;
}

/* Draws the order of all reads. */
static int fill(struct policy_order *order, const struct policy_pool *pool, struct crowd *crowd,
                size_t words, struct rng *rng)
{
    size_t lines = pool->count, visits = lines * words, at = 0;
    uint32_t *drawn = malloc(visits * sizeof *drawn);
    if (!drawn) {
        return error_memory();
    }
    rng_permutation(drawn, rng, visits);
    for (size_t i = 0; i < visits; i++) {
        uint32_t line = (uint32_t)(drawn[i] % lines), word = (uint32_t)(drawn[i] / lines);
        at = put_visit(order, at, line, pool->line[line] + word * 4, &crowd->of[crowd->mine[line]]);
    }
    free(drawn);
    return 0;
}

static int record(struct level *level, struct policy_order *order)
{
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = order->ring, .count = order->count});
    plan.filler = NULL; /* the order holds its filler accesses */
    plan.window = level->max_window;
    return policy_order_walk(order, level, &plan);
}

int policy_filler_order(struct level *level, struct policy_order *order,
                        const struct policy_pool *pool, struct rng *rng)
{
    struct crowd crowd;
    size_t words = 0;
    int rc = crowd_create(&crowd, level, pool);
    if (rc == 0) {
        size_t length = plan_visits(&crowd, &words, level, pool);
        rc = policy_order_create(order, length, level->max_window);
    }
    order->unheard = rc ? NULL : calloc(level->max_window, sizeof *order->unheard);
    if (rc == 0 && !order->unheard) {
        rc = error_memory();
    }
    rc = rc ? rc : fill(order, pool, &crowd, words, rng);
    rc = rc ? rc : record(level, order);
    crowd_free(&crowd);
    return rc;
}
