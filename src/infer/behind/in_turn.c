/*
 * A cache behind another whose hits take about what L2 takes, give or take what noise makes of one
 * load. No single load tells a hit from a miss then; many do. The same lines, more than fit in
 * front, circle alone, and come again after all that the path reaches: if a cache keeps them, they
 * take longer the second time, or less where it answers later than L2. Both are asked in turn,
 * several times, so that no drift of a clock and no other work is taken for it.
 *
 * Lines that come after many others may miss elsewhere, too: translation, or a small L2. Plain
 * loads of as many lines then differ alike, and nothing is told.
 */
#include <math.h>

#include "infer/behind/behind.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned least_apart, records, least_heard;
    double least, alike, plain, sure;
} limits = {
    .least_apart = 7,  /* of the turns differ by about as much */
    .records = 512,    /* of a turn, about */
    .least_heard = 24, /* records that the cache in front did not answer */
    .least = 0.75,     /* cycles by which they differ */
    .alike = 0.5,      /* part of that, by which a turn may differ less or more */
    .plain = 0.5,      /* part of that: plain loads differ by less */
    .sure = 0.8,       /* confidence of latencies that no load shows by itself */
};
enum { TURNS = 8 };

/* What the sooner half of loads take: noise adds to few of these, and little. */
static double sooner_half(const struct sample *s)
{
    double sum = 0;
    size_t half = s->count / 2 + 1;
    for (size_t i = 0; i < half && i < s->count; i++) {
        sum += s->values[i];
    }
    return sum / (double)half;
}

struct turn {
    const char *op;
    struct walk_shape few, all;
    double above; /* cycles: what takes no longer was answered in front */
    uint32_t run;
};

/* What a plan's records take that the cache in front did not answer. */
static int ask(struct level *level, double *cycles, double *median, const struct walk_plan *plan,
               double above)
{
    struct sample all;
    int rc = walk_sample(level->lab, &all, plan);
    if (rc) {
        return rc;
    }
    struct sample heard = sample_view(&all, above, INFINITY);
    *cycles = sooner_half(&heard);
    *median = sample_quantile(&heard, 0.5);
    rc = heard.count >= limits.least_heard
             ? 0
             : lab_undecided(level->lab, "too few loads miss the cache in front");
    sample_free(&all);
    return rc;
}

/* By how much the lines take longer after all others than alone. */
static int take_turn(struct level *level, double *more, double *alone, const struct turn *turn)
{
    struct walk_plan plan = level_plan(level, turn->few);
    size_t passes = limits.records / turn->few.count + 1;
    double few = 0, after = 0, other = 0;
    plan.op = turn->op;
    plan.run = turn->run;
    plan.warm = 4 * turn->few.count;
    plan.window = (uint32_t)(passes * turn->few.count);
    plan.window = plan.window < level->max_window ? plan.window : level->max_window;
    int rc = ask(level, &few, alone, &plan, turn->above);
    plan.shape = turn->all;
    plan.warm = 2 * turn->all.count; /* from the first line on */
    plan.window =
        (uint32_t)(turn->few.count < level->max_window ? turn->few.count : level->max_window);
    rc = rc ? rc : ask(level, &after, &other, &plan, turn->above);
    *more = after - few;
    return rc;
}

/* The difference of most turns; 0: they do not agree. */
static int take_turns(struct level *level, double *more, double *alone, struct turn turn)
{
    double each[TURNS], hit[TURNS], sorted[TURNS];
    unsigned agree = 0;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < TURNS; i++) {
        turn.run = 800 + i;
        rc = take_turn(level, &each[i], &hit[i], &turn);
        sorted[i] = each[i];
    }
    if (rc) {
        return rc;
    }
    sort_double(sorted, TURNS);
    sort_double(hit, TURNS);
    *more = 0.5 * (sorted[TURNS / 2 - 1] + sorted[TURNS / 2]);
    *alone = 0.5 * (hit[TURNS / 2 - 1] + hit[TURNS / 2]);
    for (unsigned i = 0; i < TURNS; i++) {
        agree += fabs(each[i] - *more) <= limits.alike * fabs(*more);
    }
    *more = agree >= limits.least_apart && fabs(*more) >= limits.least ? *more : 0;
    return 0;
}

static int tell(struct level *level, double more, double alone)
{
    char id[24];
    struct cache_result *r = level->result;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: lines that miss in front take %.1f cycles alone and %.1f more after "
                 "all that the path reaches, each of %d times in turn, plain loads do not",
                 level->info->op, alone, more, TURNS);
    r->present = true;
    attribute_set(&r->hit_latency, alone, "cycles", limits.sure, id);
    attribute_set(&r->miss_penalty, more, "cycles", limits.sure, id);
    return lab_undecided(
        level->lab, "hits and misses are %.1f cycles apart: less than noise adds to a load", more);
}

int behind_in_turn(struct level *level, struct walk_shape few)
{
    const struct path_info *path = path_find(level->info->op);
    size_t all = few.stride ? (size_t)(path->reach_bytes / few.stride) : 0;
    struct turn turn = {.op = level->info->op,
                        .few = few,
                        .all = {.stride = few.stride, .count = all},
                        .above = level->front->timing.threshold};
    double more = 0, alone = 0, plain = 0, other;
    const struct refusal absence = level->lab->why;
    if (all < 2 * few.count) {
        return INFER_UNDECIDED;
    }
    int rc = take_turns(level, &more, &alone, turn);
    turn.op = level->info->beneath;
    turn.above = 0;
    rc = rc || more == 0 ? rc : take_turns(level, &plain, &other, turn);
    if (rc == 0 && more != 0 && fabs(plain) < limits.plain * fabs(more)) {
        return tell(level, more, alone);
    }
    level->lab->why = absence;
    return rc && !lab_soft(rc) ? rc : INFER_UNDECIDED;
}
