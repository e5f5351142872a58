/*
 * The order in which a policy is sought (policy.c) behind another cache: between two visits of the
 * set's lines others keep the cache in front busy (behind/filler.h), so that most visits come
 * through. A visit that does not shows by its latency, and the set behind hears nothing of it. That
 * holds for recorded visits alone, so everything is recorded, from an empty cache on.
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
    .max_words = 8,   /* words of a line, each walked once in a round */
    .least_words = 3, /* the same where there are few others to walk between them */
    .enough = 16,     /* times the lines that evict one in front */
};

/* Others that lie in the same set in front as some of the lines. */
struct others {
    uint32_t *line; /* offsets; owned */
    size_t count;
    size_t found; /* with those that others have taken */
    uint32_t first;
    size_t once;   /* drive a line out */
    size_t lines;  /* that they are for */
    size_t behind; /* each visit */
    size_t next;   /* in turn */
};

struct crowd {
    struct others *of; /* owned; as many as lines, most of them unused */
    size_t *mine;      /* per line: which of them; owned */
    size_t count, words;
};

static void crowd_free(struct crowd *crowd)
{
    for (size_t i = 0; crowd->of && i < crowd->count; i++) {
        free(crowd->of[i].line);
    }
    free(crowd->of);
    free(crowd->mine);
}

/* Those of one line. */
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

/* An offset is in a ring once, be it that a wrong index takes a line for one of another set. */
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

/* Lines of one set in front have the same others. */
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
 * How often a line is visited in a round, and how many others follow a visit: as many as drive it
 * out in front, if there are so many, each of their words once, and if a window holds the round.
 * Returns the length of the round.
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

/* A visit, and the others behind it. Returns where the next one goes. */
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

/* Visits in a drawn order. */
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
    plan.filler = NULL; /* they are in the order */
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
