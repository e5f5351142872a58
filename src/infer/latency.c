/*
 * Latencies of a level. hit_latency is the median of a fine-grained record in the sense of Mei and Chu (2014):
 * clock to clock around the load and the store of its result, so it contains both clock reads and that
 * store. load_to_use_latency is an untimed dependent chain divided by its length. miss_penalty is what a miss takes
 * longer than a hit, as seen through the same operator.
 */
#include "infer/level.h"

#include <math.h>
#include <stdlib.h>

#include "util/error.h"

int level_saw(struct level *level, const struct sample *latencies)
{
    struct sample all;
    int rc = sample_join(&all, &level->seen, latencies);
    if (rc == 0) {
        sample_free(&level->seen);
        level->seen = all;
    }
    return rc;
}

void level_free(struct level *level)
{
    free(level->conflict);
    sample_free(&level->seen);
    level->conflict = NULL;
}

/* Windows spread over `bytes`, warmed by ordered loads when that is few enough, else by all threads. */
static int sample_walk(struct level *level, struct sample *out, uint64_t bytes, uint64_t stride)
{
    size_t count = (size_t)(bytes / stride);
    struct walk_plan plan = level_plan(level, (struct walk_shape){.stride = stride, .count = count ? count : 1});
    plan.touch = plan.shape.count > 4096;
    plan.warm = plan.touch ? 0 : plan.shape.count;
    uint32_t window = plan.touch ? 1024 : 256;
    plan.window = level->max_window < window ? level->max_window : window;
    plan.windows = plan.touch ? 2 : 8;
    plan.spread = true;
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    if (rc == 0) {
        rc = sample_create(out, walk.latency, walk.count);
        walk_free(&walk);
    }
    return rc;
}

static uint64_t walk_stride(const struct level *level)
{
    return level->line_bytes ? level->line_bytes : level->fetch_bytes > 128 ? level->fetch_bytes : 128;
}

/* How much surely fits: half of what did, but no more than 256 KiB; where tens of megabytes do, 4 MiB. */
static uint64_t safe_bytes(const struct level *level)
{
    uint64_t bytes = level->fit_count * level->fit_stride / 2;
    if (level->large) {
        return UINT64_C(4) << 20;
    }
    return bytes > 262144 ? 262144 : bytes < 1024 ? 1024 : bytes;
}

int level_latency(struct level *level)
{
    struct sample all;
    int rc = sample_walk(level, &all, safe_bytes(level), walk_stride(level));
    if (rc) {
        return rc;
    }
    struct sample hits = sample_view(&all, -1, level->threshold);
    if (hits.count * 2 < all.count) {
        sample_free(&all);
        return lab_undecided(level->lab, "an array that fits missed in most loads");
    }
    level->hit_cycles = sample_quantile(&hits, 0.5);
    level->result->latency_count = sample_classes(level->result->latencies, INFER_MAX_LATENCIES, &hits);
    double spread = (sample_quantile(&hits, 0.75) - sample_quantile(&hits, 0.25)) / level->hit_cycles;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s through %llu KiB: %zu hits, median %.0f cycles, 5 %% %.0f, 95 %% %.0f",
                 level->info->op, (unsigned long long)safe_bytes(level) / 1024, hits.count, level->hit_cycles,
                 sample_quantile(&hits, 0.05), sample_quantile(&hits, 0.95));
    attribute_set(&level->result->hit_latency, level->hit_cycles, "cycles", spread < 0.02 ? 0.98 : 0.92, id);
    rc = level_saw(level, &all);
    sample_free(&all);
    return rc;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int level_load_to_use(struct level *level)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    uint64_t bytes = 1024, loads = 1024;
    trace_request_init(&request, "average");
    int rc = trace_request_set_text(&request, "op", level->info->op);
    rc = rc ? rc : trace_request_set_u64(&request, "bytes", bytes);
    rc = rc ? rc : trace_request_set_u64(&request, "stride", 32);
    rc = rc ? rc : trace_request_set_u64(&request, "loads", loads);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", 5);
    if (rc == 0 && level->info->shared_bytes) {
        rc = trace_request_set_u64(&request, "shared", level->info->shared_bytes);
    }
    rc = rc ? rc : lab_measure(level->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    size_t count, counted;
    const double *cycles = trace_f64(trace, "cycles", &count);
    const double *timed = trace_f64(trace, "loads", &counted);
    if (!cycles || !timed || count == 0 || count != counted || count > 64) {
        return lab_undecided(level->lab, "an average trace lacks columns");
    }
    level->lab->loads += 2 * loads * count;
    double each[64];
    for (size_t i = 0; i < count; i++) {
        each[i] = timed[i] > 0 ? cycles[i] / timed[i] : NAN;
    }
    qsort(each, count, sizeof *each, compare_double);
    double median = each[count / 2];
    if (!(median > 0) || median > level->threshold) {
        return lab_undecided(level->lab, "the untimed chain takes longer than a hit");
    }
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "average op=%s: a dependent chain in %llu B, %llu loads timed as a whole, %zu times: %.2f to %.2f "
                 "cycles a load", level->info->op, (unsigned long long)bytes, (unsigned long long)loads,
                 count, each[0], each[count - 1]);
    attribute_set(&level->result->load_to_use_latency, median, "cycles", 0.95, id);
    return 0;
}

/* What a miss takes. For the outermost cache that is the memory's latency. */
int level_penalty(struct level *level)
{
    double miss = level->miss_cycles;
    uint64_t bytes = 0;
    size_t misses = 0;
    if (!level->large) {
        struct sample all;
        bytes = 3 * level->fit_count * level->fit_stride;
        int rc = sample_walk(level, &all, bytes, walk_stride(level));
        if (rc) {
            return rc;
        }
        struct sample slow = sample_view(&all, level->threshold, level->ceiling);
        misses = slow.count;
        miss = misses >= 32 ? sample_quantile(&slow, 0.5) : miss;
        rc = misses >= 32 ? level_saw(level, &slow) : 0;
        sample_free(&all);
        if (rc) {
            return rc;
        }
    }
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: a miss takes %.0f cycles (median of %zu in %llu KiB, or of the reference walk), a hit %.0f",
                 level->info->op, miss, misses, (unsigned long long)bytes / 1024, level->hit_cycles);
    attribute_set(&level->result->miss_penalty, miss - level->hit_cycles, "cycles", 0.93, id);
    if (level->outermost) {
        attribute_set(&level->lab->out->memory_latency, miss, "cycles", 0.93, id);
    }
    return 0;
}
