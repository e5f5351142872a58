/*
 * Loads in a small circle: what the reference of every path begins with.
 */
#include "infer/presence/presence.h"

#include <stdlib.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned small_words, circle_records;
    uint32_t kept_stride, kept_at, kept_room;
    double sooner, quiet_cycles, hit_share, drift;
} limits = {
    .small_words = 8,             /* words: any cache holds so many */
    .circle_records = 256,        /* records of a window */
    .kept_stride = 4224,          /* bytes: more than a line, and other sets */
    .kept_at = UINT32_C(3) << 20, /* bytes: nothing else walks so far from the start of a buffer */
    .kept_room = 65536,           /* bytes for each path */
    .sooner = 1.05,               /* times: noise does not put so much between so few loads */
    .hit_share = 0.98,            /* share of the loads that circle, that are hits for certain */
    .drift = 1.01,                /* times these: a clock's drift */
    .quiet_cycles = 2,            /* cycles, where loads that circle all take the same */
};
enum { ELEMENTS = 8 }; /* elements, each with a neighbour */

int circle_sample(struct level *level, struct sample *out, const char *op, struct walk_shape shape)
{
    struct walk_plan plan = level_plan(level, shape);
    level_plan_by(&plan, level, op);
    plan.warm = 4 * shape.count;
    plan.window =
        level->max_window < limits.circle_records ? level->max_window : limits.circle_records;
    plan.windows = 4;
    plan.spread = true;
    return walk_sample(level->lab, out, &plan);
}

int circle_check_sooner(struct level *level, const struct sample *own, double share)
{
    struct sample beneath;
    struct walk_shape shape = {.stride = CHASE_WORD_BYTES, .count = limits.small_words};
    int rc = circle_sample(level, &beneath, level->info->beneath, shape);
    if (rc) {
        return rc;
    }
    double median = sample_quantile(own, 0.5), other = sample_quantile(&beneath, 0.5);
    level->timing.beneath_cycles = sample_quantile(&beneath, 0.1);
    level->result->present = sample_quantile(own, 0.9) < share * level->timing.beneath_cycles;
    sample_free(&beneath);
    return level->result->present
               ? 0
               : lab_absent(level->lab,
                            "no such cache shows: loads take %.0f cycles through it, %.0f past "
                            "it",
                            median, other);
}

bool path_is_apart(const struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    return path && !path->can_chain && path->reach_bytes == 0;
}

static bool is_quiet(const struct sample *s)
{
    return sample_quantile(s, 0.9) <= sample_quantile(s, 0.1) + 1;
}

/*
 * First and second reads as one walk gave them, and loads that circle in little. A cache makes the
 * second reads clearly sooner; one that answers later than L2 makes them clearly later, and as late
 * as the loads that circle. Where there is none, both take the same, and as long as those. All else
 * decides nothing: latencies in no order are of two kinds here, too.
 */
static enum kept kept_by(const struct sample *first, const struct sample *again,
                         const struct sample *both, const struct sample *circling)
{
    double slowest_again = sample_quantile(again, 0.9), soonest_first = sample_quantile(first, 0.1);
    double lower = sample_quantile(both, 0.25), upper = sample_quantile(both, 0.75);
    if (limits.sooner * slowest_again < soonest_first) {
        return KEPT;
    }
    double soonest_again = sample_quantile(again, 0.1), slowest_first = sample_quantile(first, 0.9);
    double apart = is_quiet(again) && is_quiet(circling) ? limits.quiet_cycles
                                                         : (limits.sooner - 1) * slowest_first;
    if (slowest_first + apart < soonest_again &&
        slowest_again <= limits.sooner * sample_quantile(circling, 0.5)) {
        return KEPT_LATER;
    }
    bool alike = upper <= limits.sooner * lower && slowest_again >= soonest_first &&
                 limits.sooner * sample_quantile(circling, 0.5) >= lower;
    return alike ? KEPT_NOT : KEPT_UNCLEAR;
}

/* Hits come before misses in the mirror; no miss takes less there than a hit does by the clock. */
static void look_in_mirror(struct level *level, const struct sample *first,
                           const struct sample *circling)
{
    struct level_timing *t = &level->timing;
    double own = sample_quantile(circling, 0.5), sooner = sample_quantile(first, 0.5);
    double slowest = sample_quantile(circling, limits.hit_share);
    double spread = slowest - sample_quantile(circling, 1 - limits.hit_share);
    char id[24];
    t->mirror = (struct walk_mirror){
        .upto = (uint32_t)(limits.drift * slowest + limits.quiet_cycles + spread),
        .sum = (uint32_t)(own + sooner + 0.5)};
    t->beneath_cycles = own + sooner - sample_quantile(first, 0.9);
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: what is read the first time in a launch takes %.0f cycles, and %.0f "
                 "from then on: the cache answers later than what lies behind it. In the walks "
                 "below, up to %u cycles are %u less what the clock said",
                 level->info->op, sooner, own, t->mirror.upto, t->mirror.sum);
}

/* What of first reads (latency[0]) and second reads (latency[1]) follows. */
static int judge_kept(struct level *level, enum kept *kept, uint32_t latency[2][ELEMENTS],
                      const struct sample *circling)
{
    struct sample first = {0}, again = {0}, both = {0};
    int rc = sample_create(&first, latency[0], ELEMENTS);
    rc = rc ? rc : sample_create(&again, latency[1], ELEMENTS);
    rc = rc ? rc : sample_join(&both, &first, &again);
    if (rc == 0) {
        *kept = kept_by(&first, &again, &both, circling);
    }
    if (rc == 0 && *kept == KEPT) { /* no miss takes less than what comes from L2 or farther */
        level->timing.beneath_cycles = sample_quantile(&first, 0.1);
    }
    if (rc == 0 && *kept == KEPT_LATER) {
        look_in_mirror(level, &first, circling);
    }
    sample_free(&first);
    sample_free(&again);
    sample_free(&both);
    return rc;
}

/*
 * Does a cache of the path keep lines that L2 holds? Each element is read the first time in a
 * launch, and then its neighbour. Any cache has the neighbour now, however small it is and whatever
 * it evicts first. No other cache of the path has the element the first time: no walk goes so far
 * from the buffer's start, and first levels begin a launch empty.
 */
int circle_keeps(struct level *level, enum kept *kept, const struct sample *circling)
{
    uint32_t ring[2 * ELEMENTS], latency[2][ELEMENTS];
    const struct path_info *path = path_find(level->info->op), *first_path = path_find("ca");
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        ring[2 * i] = limits.kept_at + (uint32_t)(path - first_path) * limits.kept_room +
                      i * limits.kept_stride;
        ring[2 * i + 1] = ring[2 * i] + CHASE_WORD_BYTES;
    }
    struct walk_shape shape = {.ring = ring, .count = 2 * ELEMENTS};
    struct sample beneath;
    struct walk_plan plan = level_plan(level, shape);
    struct walk walk;
    *kept = KEPT_UNCLEAR;
    int rc = circle_sample(level, &beneath, level->info->beneath, shape); /* so that L2 has them */
    if (rc) {
        return rc;
    }
    sample_free(&beneath);
    plan.window = 2 * ELEMENTS;
    rc = walk_run(level->lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < 2 * ELEMENTS; i++) {
        latency[walk_element(&walk, i) % 2][i / 2] = walk.latency[i];
    }
    rc = judge_kept(level, kept, latency, circling);
    walk_free(&walk);
    return rc;
}
