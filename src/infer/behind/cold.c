/*
 * What does a miss fetch, of a cache behind another that holds all that its path reaches? No walk
 * makes such a cache miss twice. But it is empty when a kernel begins, unless it keeps lines from
 * launch to launch. A walk through all, once, misses at the first word of every fetch, and the
 * other words hit.
 *
 *      misses   x . . . x . . . x . . .       a fetch is four times what the cache in front fetches
 */
#include <stdio.h>
#include <stdlib.h>

#include "infer/experiments.h"
#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned runs, most_units, fewest;
    double beyond, held;
} limits = {
    .runs = 3,        /* launches */
    .beyond = 1.5,    /* times a hit, that a miss takes at least: L2 is farther away than that */
    .most_units = 64, /* fetch units of the cache in front, of one fetch */
    .fewest = 8,      /* fetches */
    .held = 0.95,     /* share of the fetches that follow the period */
};

/* How often each element was missed in a few launches, and what that took. */
static int count_cold(struct level *level, uint8_t *missed, uint32_t *slow, size_t *slow_count,
                      struct walk_shape shape)
{
    double threshold = limits.beyond * level->result->hit_latency.value;
    struct walk_plan plan = level_plan(level, shape);
    plan.warm = 0;
    plan.window = (uint32_t)shape.count;
    for (uint32_t run = 0; run < limits.runs; run++) {
        struct walk walk;
        plan.run = run;
        int rc = walk_run(level->lab, &walk, &plan);
        if (rc) {
            return rc;
        }
        for (size_t i = 0; i < walk.count && i < shape.count; i++) {
            if (walk.latency[i] > threshold) {
                missed[walk_element(&walk, i)]++;
                slow[(*slow_count)++] = walk.latency[i];
            }
        }
        walk_free(&walk);
    }
    return 0;
}

/* After how many elements the next one misses; 0: they do not miss evenly. */
static size_t find_period(const uint8_t *missed, size_t count)
{
    for (size_t units = limits.most_units; units >= 1; units /= 2) {
        size_t first = 0, between = 0, fetches = count / units;
        for (size_t i = 0; i < count; i++) {
            bool misses = 2 * missed[i] > limits.runs;
            first += misses && i % units == 0;
            between += misses && i % units != 0;
        }
        if (first >= limits.fewest && (double)first >= limits.held * (double)fetches &&
            (double)between <= (1 - limits.held) * (double)first) {
            return units;
        }
    }
    return 0;
}

static int report(struct level *level, const uint8_t *missed, const uint32_t *slow,
                  size_t slow_count, struct walk_shape shape)
{
    size_t units = find_period(missed, shape.count);
    if (units == 0) {
        return lab_undecided(level->lab, slow_count ? "a cold walk misses at uneven distances"
                                                    : "it keeps its lines from launch to launch");
    }
    struct sample misses;
    int rc = sample_create(&misses, slow, slow_count);
    if (rc) {
        return rc;
    }
    double median = sample_quantile(&misses, 0.5), hit = level->result->hit_latency.value;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s once through %zu elements %llu B apart, from cold, %u times: every "
                 "%zuth misses, and takes %.0f cycles (median)",
                 level->info->op, shape.count, (unsigned long long)shape.stride, limits.runs, units,
                 median);
    attribute_set(&level->result->fetch_granularity, (double)(units * shape.stride), "B", 0.93, id);
    struct attribute *penalty = &level->result->miss_penalty, miss = {.value = median};
    attribute_set(penalty, median - hit, "cycles", 0.88, id);
    sample_bound_median(&miss, &misses);
    penalty->low = miss.high > miss.low ? miss.low - hit : 0;
    penalty->high = miss.high > miss.low ? miss.high - hit : 0;
    sample_free(&misses);
    return 0;
}

bool cold_applies(const struct level *level)
{
    bool applies = level->info->behind[0] && level->result->present && !level->timing.fetch_bytes;
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

int level_cold(struct level *level)
{
    uint64_t reach = level->lab->options->max_footprint_bytes;
    struct walk_shape shape = {.stride = level->front->timing.fetch_bytes};
    if (level->result->hit_latency.status != ATTRIBUTE_MEASURED || shape.stride == 0) {
        return lab_undecided(level->lab, "the cache does not show");
    }
    shape.count = (size_t)(reach / shape.stride);
    shape.count = shape.count < level->max_window ? shape.count : level->max_window;
    uint8_t *missed = calloc(shape.count + 1, sizeof *missed);
    uint32_t *slow = calloc(limits.runs * shape.count + 1, sizeof *slow);
    size_t slow_count = 0;
    if (!missed || !slow) {
        free(missed);
        free(slow);
        return error_memory();
    }
    int rc = count_cold(level, missed, slow, &slow_count, shape);
    rc = rc ? rc : report(level, missed, slow, slow_count, shape);
    free(missed);
    free(slow);
    return rc;
}
