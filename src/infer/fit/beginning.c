/*
 * Is the cache empty when a launch begins? Then lines that were walked a moment ago all miss.
 */
#include "infer/fit/fit.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned lines, runs;
} limits = {
    .lines = 12, /* lines of a walk */
    .runs = 3,   /* launches */
};

int level_learn_beginning(struct level *level)
{
    if (level->habits.beginning_known) {
        return 0;
    }
    size_t fits = level->fit.count ? level->fit.count : level->fit.held_count;
    uint64_t stride = level->fit.count ? level->fit.stride : level->fit.held_stride;
    size_t count = fits < 2 * limits.lines ? (fits + 1) / 2 : limits.lines;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = stride, .count = count});
    plan.window = (uint32_t)count;
    plan.windows = 1;
    bool empty = count > 0;
    for (unsigned i = 0; i < limits.runs && empty; i++) {
        struct walk walk;
        plan.run = 300 + i;
        int rc = walk_run(level->lab, &walk, &plan);
        if (rc) {
            return rc;
        }
        for (size_t k = 0; k < walk.count; k++) {
            empty = empty && level_class(level, walk.latency[k]) != LOAD_HIT;
        }
        walk_free(&walk);
    }
    level->habits.begins_empty = empty;
    level->habits.beginning_known = true;
    return 0;
}
