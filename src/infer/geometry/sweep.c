/*
 * The size sweep: median latency and share of misses against the array's size, on a fixed grid of
 * half powers of two. It shows where steps appear; sizes come from walks that decide (capacity.c).
 * For a cache too large for those, the edge is sought here by sampling: all threads touch the
 * array, then windows spread over it are timed.
 */
#include "infer/experiments.h"

#include <math.h>

#include "util/error.h"

/* Thresholds. Fixed by: the curves of the shipped models and of an H200. */
static const struct {
    unsigned sweep_stride, dear_bytes, window;
    uint64_t long_bytes, touched_bytes;
    double large_misses, all_miss;
} limits = {
    .sweep_stride = 128,                 /* bytes from load to load */
    .dear_bytes = 262144,                /* bytes: a walk of more is done for two windows only */
    .window = 128,                       /* loads of a window */
    .long_bytes = UINT64_C(4) << 20,     /* bytes: touching more is dear. Chosen */
    .touched_bytes = UINT64_C(16) << 20, /* of all arrays of a cache whose sets are known, where
                                            loads are dear: the curve ends there. Chosen */
    .large_misses =
        0.03,         /* share of the loads: with fewer a large array fits, noise beside. H200 */
    .all_miss = 0.95, /* share of the loads, noise beside: farther on the curve is flat */
};

/* Lines in a row that belong to one set, in bytes; 0: not known, or no such rows. */
static uint64_t row_bytes(const struct level *level)
{
    const struct index_result *index = &level->result->index;
    uint64_t taken = 0;
    for (size_t i = 0; i < index->mask_count; i++) {
        taken |= index->masks[i];
    }
    return taken & -taken;
}

/*
 * The stride in a path's own bytes: of local memory a word is a line of the cache. Where several
 * short lines in a row belong to one set, a longer stride would leave room in each that is met.
 */
static uint64_t path_stride(const struct level *level)
{
    uint64_t stride = limits.sweep_stride, line = level->line.bytes;
    stride = line && line < stride && row_bytes(level) > line ? line : stride;
    return stride / path_find(level->info->op)->interleave;
}

/* `bytes` of the path's addresses. */
static int sweep_point(struct level *level, struct capacity_step *step, uint64_t bytes,
                       uint32_t windows)
{
    uint64_t stride = path_stride(level);
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = stride, .count = (size_t)(bytes / stride)});
    plan.touch = plan.shape.count > 512;
    plan.warm = plan.touch ? 0 : plan.shape.count;
    uint32_t window = limits.window;
    bool long_walk = level->large || (level->outermost && bytes > limits.long_bytes);
    if (long_walk && level->lab->options->max_cache_loads) { /* each window touches all */
        window *= windows;
        windows = 1;
    }
    plan.window = level->max_window < window ? level->max_window : window;
    plan.windows = windows;
    plan.spread = true;
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    if (rc) {
        return rc;
    }
    struct sample sample;
    rc = sample_create(&sample, walk.latency, walk.count);
    walk_free(&walk);
    if (rc == 0) {
        *step = (struct capacity_step){
            .bytes = (double)bytes,
            .median_cycles = level_cycles(level, sample_quantile(&sample, 0.5)),
            .miss_share = sample_share(&sample, level->timing.threshold, INFINITY),
        };
        sample_free(&sample);
    }
    return rc;
}

/* Size of grid point i: 1 KiB of the cache times the square root of two to the i, in whole lines of
 * 128 B; in the path's own bytes. */
static uint64_t grid_bytes(const struct level *level, unsigned i)
{
    uint64_t bytes = UINT64_C(1024) << (i / 2);
    bytes = i % 2
                ? (uint64_t)((double)bytes * 1.41421356 / limits.sweep_stride) * limits.sweep_stride
                : bytes;
    return bytes / path_find(level->info->op)->interleave;
}

/* Does the curve say no more? Where the edge is known, three times what fits was walked before. */
static bool is_over(const struct level *level, const struct capacity_step *step, uint64_t fits)
{
    bool is_open = level->large || !fits;
    return is_open && step->miss_share > limits.all_miss && step->bytes > 2 * (double)fits;
}

/* Of a cache whose size its sets tell the curve shows nothing that long arrays are worth. */
static bool is_enough(const struct level *level)
{
    const struct cache_result *r = level->result;
    double touched = 0;
    for (size_t i = 0; i < r->step_count; i++) {
        touched += r->steps[i].bytes;
    }
    return level->taken_apart && r->size.status == ATTRIBUTE_MEASURED &&
           level->lab->options->max_cache_loads && touched > (double)limits.touched_bytes;
}

static int walk_grid(struct level *level)
{
    struct cache_result *r = level->result;
    uint64_t limit = level->lab->options->max_footprint_bytes;
    uint64_t fits = level->fit.count * level->fit.stride, bytes = grid_bytes(level, 0);
    if (!level->large && fits && limit > 3 * fits) {
        limit = 3 * fits;
    }
    r->step_count = 0;
    for (unsigned i = 0; r->step_count < INFER_MAX_STEPS && bytes <= limit && !is_enough(level);
         bytes = grid_bytes(level, ++i)) {
        struct capacity_step *step = &r->steps[r->step_count];
        int rc =
            sweep_point(level, step, bytes, bytes > limits.dear_bytes && !level->large ? 2 : 4);
        if (rc) {
            return r->step_count && lab_soft(rc) ? 0 : rc;
        }
        r->step_count++;
        if (is_over(level, step, fits)) {
            break;
        }
    }
    return 0;
}

/* The largest array of which next to nothing misses: between two grid points, by bisection. */
static int find_large_edge(struct level *level)
{
    struct cache_result *r = level->result;
    size_t at = 0;
    while (at < r->step_count && r->steps[at].miss_share < limits.large_misses) {
        at++;
    }
    if (at == 0 || at == r->step_count) {
        return 0;
    }
    uint64_t low = (uint64_t)r->steps[at - 1].bytes, high = (uint64_t)r->steps[at].bytes;
    while (high - low > low / 32 && high - low > limits.sweep_stride) {
        struct capacity_step step;
        uint64_t middle = (low + (high - low) / 2) / limits.sweep_stride * limits.sweep_stride;
        int rc = sweep_point(level, &step, middle, 16);
        if (rc) {
            return rc;
        }
        if (step.miss_share < limits.large_misses) {
            low = middle;
        } else {
            high = middle;
        }
    }
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s after touching the array, 16 windows spread over it: below %.0f %% "
                 "misses up to %.2f MiB, "
                 "more at %.2f MiB; a sampled edge, not a count of lines",
                 level->info->op, 100 * limits.large_misses, (double)low / 1048576,
                 (double)high / 1048576);
    attribute_set(&r->size, (double)low, "B", 0.4, id);
    level->sampled_size = true;
    return 0;
}

/* Of a cache that was taken apart its sets tell the size; where they do not, the edge is looked for
 * if long arrays cost no simulation. */
static bool wants_edge(const struct level *level)
{
    bool is_told = level->result->size.status == ATTRIBUTE_MEASURED;
    return level->large &&
           (!level->taken_apart || (!is_told && !level->lab->options->max_cache_loads));
}

int level_sweep(struct level *level)
{
    int rc = walk_grid(level);
    return rc == 0 && wants_edge(level) ? find_large_edge(level) : rc;
}
