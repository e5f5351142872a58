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
    double sooner;
} limits = {
    .small_words = 8,             /* words: any cache holds so many */
    .circle_records = 256,        /* records of a window */
    .kept_stride = 4224,          /* bytes: more than a line, and other sets */
    .kept_at = UINT32_C(3) << 20, /* bytes: nothing else walks so far from the start of a buffer */
    .kept_room = 65536,           /* bytes for each path */
    .sooner = 1.05,               /* times: noise does not put so much between so few loads */
};
enum { KEPT = 8 }; /* elements, each with a neighbour */

int circle_sample(struct level *level, struct sample *out, const char *op, struct walk_shape shape)
{
    struct walk_plan plan = level_plan(level, shape);
    plan.op = op;
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

/*
 * Does a cache of the path keep lines that L2 holds? Each element is read the first time in a
 * launch, and then its neighbour. Any cache has the neighbour now, however small it is and whatever
 * it evicts first. No other cache of the path has the element the first time: no walk goes so far
 * from the buffer's start, and first levels begin a launch empty.
 */
int circle_keeps(struct level *level, bool *keeps)
{
    uint32_t ring[2 * KEPT], latency[2][KEPT];
    const struct path_info *path = path_find(level->info->op), *first_path = path_find("ca");
    for (uint32_t i = 0; i < KEPT; i++) {
        ring[2 * i] = limits.kept_at + (uint32_t)(path - first_path) * limits.kept_room +
                      i * limits.kept_stride;
        ring[2 * i + 1] = ring[2 * i] + CHASE_WORD_BYTES;
    }
    struct walk_shape shape = {.ring = ring, .count = 2 * KEPT};
    struct sample beneath, first = {0}, again = {0};
    struct walk_plan plan = level_plan(level, shape);
    struct walk walk;
    *keeps = false;
    int rc = circle_sample(level, &beneath, level->info->beneath, shape); /* so that L2 has them */
    if (rc) {
        return rc;
    }
    sample_free(&beneath);
    plan.window = 2 * KEPT;
    rc = walk_run(level->lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < 2 * KEPT; i++) {
        latency[walk_element(&walk, i) % 2][i / 2] = walk.latency[i];
    }
    rc = sample_create(&first, latency[0], KEPT);
    rc = rc ? rc : sample_create(&again, latency[1], KEPT);
    *keeps = rc == 0 && limits.sooner * sample_quantile(&again, 0.9) < sample_quantile(&first, 0.1);
    if (*keeps) { /* no miss takes less than what comes from L2 or farther */
        level->timing.beneath_cycles = sample_quantile(&first, 0.1);
    }
    sample_free(&first);
    sample_free(&again);
    walk_free(&walk);
    return rc;
}
