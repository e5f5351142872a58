/*
 * How much fits: the longest array from offset 0 of which nothing misses any more. The length
 * doubles until it does not fit, then the edge is found by bisection; a set that holds too much
 * misses in every pass under any policy, so the edge is exact. The step of the walk is 512 B at
 * first, so that no two elements share a line; once the line is known it is the line. An array that
 * fits beyond MAX_ORDERED_BYTES is left to sampling (sweep.c): ordered passes over tens of
 * megabytes take too long.
 */
#include "infer/geometry/geometry.h"
#include "infer/fit/fit.h"
#include "infer/experiments.h"

#include <math.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned first_stride, max_ordered_count, rough_loads, rough, outermost_loads, records,
        few_lines, nearer_cycles, runs, most_interleaved;
    uint64_t max_ordered_bytes;
    double nearer;
} limits = {
    .first_stride = 512,                    /* bytes: longer than the lines of most first levels */
    .max_ordered_bytes = UINT64_C(8) << 20, /* bytes: beyond, an ordered walk takes too long */
    .max_ordered_count = 16384,             /* elements, the same */
    .rough_loads = 1500000,                 /* loads: an edge that costs more is found roughly */
    .outermost_loads = 3000000, /* loads: an outermost cache that costs more where loads are dear
                                   and victims drawn is asked by lines far apart (large/spaced.c).
                                   Blind trials: what was found took 1 655 000 at most */
    .most_interleaved = 512,    /* elements that fit, of a path whose words lie lines apart: their
                                   sets are sought one by one */
    .records = 256,             /* of a window. Chosen */
    .few_lines = 4,             /* lines, of which less says nothing. Chosen */
    .runs = 6,                  /* walks at most that compare them. Chosen */
    .nearer = 1.1,              /* times what two lines take: more is another level's */
    .nearer_cycles = 2,         /* cycles, beside that. Chosen */
    .rough = 32,                /* one part in so many: how exact a rough edge is */
};

struct edge {
    size_t fits, fails;
    bool certain;
};

static int probe_count(struct level *level, struct edge *edge, uint64_t stride, size_t count)
{
    struct walk_shape shape = {.stride = stride, .count = count};
    enum fit_verdict verdict = FIT_UNKNOWN;
    struct lab *lab = level->lab;
    if (level->late_loads && level->habits.late > 0 &&
        (lab->most_loads == 0 || level->late_loads < lab->most_loads)) {
        lab->most_loads = level->late_loads;
    }
    int rc = fit_verdict(level, &verdict, &shape);
    if (rc) {
        return rc;
    }
    if (verdict == FIT_YES) {
        edge->fits = count;
    } else {
        edge->fails = count;
        edge->certain = edge->certain && verdict == FIT_NO;
    }
    return 0;
}

static int double_until_it_fails(struct level *level, struct edge *edge, uint64_t stride)
{
    uint64_t limit = level->lab->options->max_footprint_bytes / stride;
    bool near =
        edge->fits > 1 && !level->front; /* what was found to fit after all is close to the edge */
    for (size_t step = 1; edge->fails == 0; step *= 2) {
        size_t count = near ? edge->fits + step : 2 * edge->fits;
        if (count > limit ||
            (count * stride > limits.max_ordered_bytes && count > limits.max_ordered_count)) {
            level->large = true;
            return lab_undecided(level->lab,
                                 "everything up to %llu KiB fits: too large for ordered walks",
                                 (unsigned long long)(edge->fits * stride / 1024));
        }
        int rc = probe_count(level, edge, stride, count);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/*
 * Between an array that fits and one that does not. Real capacities are round numbers more often
 * than not, so whenever a count was found to fit, the next one is tried: if that does not fit, the
 * search is over. Where each verdict takes long, a rough edge must do: the size comes from the sets
 * in the end.
 */
static int bisect(struct level *level, struct edge *edge, uint64_t stride)
{
    bool try_next = true;
    uint64_t start = level->lab->loads;
    while (edge->fails - edge->fits > 1) {
        size_t before = edge->fits;
        if (level->habits.late > 0 && level->lab->loads - start > limits.rough_loads &&
            (edge->fails - before) * limits.rough < before) {
            edge->certain = false;
            break;
        }
        size_t count = try_next ? before + 1 : before + (edge->fails - before) / 2;
        int rc = probe_count(level, edge, stride, count);
        if (rc) {
            return rc;
        }
        try_next = !try_next && edge->fits != before;
    }
    return 0;
}

/* A long noisy walk of a cache that settles slowly is not waited for until it has settled. */
static bool is_rough(const struct level *level, size_t fits)
{
    return level->habits.late > 0 && level->timing.false_slow > 0 && !level->habits.begins_empty &&
           !level->front && 2 * fits > level->max_window;
}

static int find_edge(struct level *level, struct edge *edge, uint64_t stride)
{
    int rc = double_until_it_fails(level, edge, stride);
    rc = rc ? rc : bisect(level, edge, stride);
    if (rc == 0) {
        level->fit.stride = stride;
        level->fit.count = edge->fits;
        level->fit.certain = edge->certain && !is_rough(level, edge->fits);
    }
    return rc;
}

/* The edge again, when `fits` elements turned out to fit after all, or at another stride (fits =
 * 1). */
int level_find_edge(struct level *level, uint64_t stride, size_t fits)
{
    struct edge edge = {.fits = fits, .certain = true};
    return find_edge(level, &edge, stride);
}

/*
 * The edge once more, line by line. Steps of k lines met only some of the sets, S / gcd(S, k) of
 * them; so the lines that fit are a multiple of what fitted then, by a divisor of k, if the index
 * repeats regularly. That is only where the search looks first.
 */
int level_refine_edge(struct level *level)
{
    struct edge edge = {.fits = 1, .certain = true};
    uint64_t stride = level->line.bytes;
    size_t step = (size_t)(level->fit.stride / stride), before = level->fit.count;
    int rc = 0;
    for (size_t factor = 1; rc == 0 && factor <= step && edge.fails == 0; factor++) {
        if (step % factor == 0 && before * factor > edge.fits) {
            rc = probe_count(level, &edge, stride, before * factor);
        }
        if (rc == 0 && edge.fails == 0 && step % factor == 0) {
            rc = probe_count(level, &edge, stride, before * factor + 1);
        }
    }
    return rc ? rc : find_edge(level, &edge, stride);
}

/*
 * Where a path ends, all of it may fit at a wide step, which meets some of a cache's sets alone:
 * then shorter steps. The reason of the first is kept, for a recording need not have the others.
 */
static int find_edge_in_reach(struct level *level, uint64_t *stride)
{
    int rc = level_find_edge(level, *stride, 1);
    const struct path_info *path = path_find(level->info->op);
    if (rc != INFER_UNDECIDED || !level->large || !path->reach_bytes || path->interleave > 1) {
        return rc;
    }
    struct refusal why = level->lab->why;
    while (lab_soft(rc) && level->large && *stride / 2 >= level->timing.fetch_bytes) {
        *stride /= 2;
        level->large = false;
        rc = level_find_edge(level, *stride, 1);
    }
    if (lab_soft(rc)) {
        level->large = true;
        level->lab->why = why;
        return INFER_UNDECIDED;
    }
    return rc;
}

/* Bytes from offset 0 on that the cache in front holds, as far as that is known. */
static uint64_t fit_in_front(const struct level *level)
{
    const struct level_summary *front = level->front;
    bool in_lines = front->line.bytes && front->fit.stride == front->line.bytes;
    return in_lines ? front->fit.count * front->line.bytes : 0;
}

bool capacity_applies(const struct level *level)
{
    if (level->taken_apart) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return !level->taken_apart;
}

/* Where loads are dear, and there is another way. */
static uint64_t most_loads(const struct level *level)
{
    const struct lab *lab = level->lab;
    return level->outermost && lab->options->max_cache_loads ? lab->loads + limits.outermost_loads
                                                             : 0;
}

/* The median of the walk numbered `run`. */
static int median_of_ring(struct level *level, double *out, uint64_t stride, size_t count,
                          uint32_t run)
{
    struct sample sample;
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = stride, .count = count});
    plan.warm = 4 * count;
    plan.window = level->max_window < limits.records ? level->max_window : limits.records;
    plan.windows = 4;
    plan.spread = true;
    plan.run = run;
    int rc = walk_sample(level->lab, &sample, &plan);
    if (rc == 0) {
        *out = sample_quantile(&sample, 0.5);
        sample_free(&sample);
    }
    return rc;
}

/*
 * Do all take longer than two of them? What other work adds comes and goes: the least of some walks
 * of each is compared, and one in which they are alike is enough. An older recording has them once.
 */
static int is_slower(struct level *level, bool *slower, double *near, double *median)
{
    int rc = 0;
    *near = *median = INFINITY;
    *slower = true;
    for (uint32_t run = 0; rc == 0 && *slower && run < limits.runs; run++) {
        double few = 0, all = 0;
        rc = median_of_ring(level, &few, level->fit.stride, 2, run);
        rc = rc ? rc : median_of_ring(level, &all, level->fit.stride, level->fit.count, run);
        *near = rc ? *near : fmin(*near, few);
        *median = rc ? *median : fmin(*median, all);
        *slower = *median > limits.nearer * *near + limits.nearer_cycles;
    }
    if (*median < INFINITY && lab_soft(rc)) {
        level->lab->why = (struct refusal){0};
        rc = 0;
    }
    return rc;
}

/*
 * What fits into a first level takes as long as two of its lines do. Where it takes longer, most of
 * it hits a second level, and noise is as large as the way there: then it is that one's edge.
 * Walks that a recording does not have are passed over.
 */
static int check_nearer(struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    const size_t count = level->fit.count;
    double near, median;
    bool slower = false;
    level->hides_nearer = false; /* of an earlier search */
    if (level->front || level->outermost || path->interleave > 1 || count < limits.few_lines) {
        return 0;
    }
    int rc = is_slower(level, &slower, &near, &median);
    if (rc && lab_soft(rc)) {
        level->lab->why = (struct refusal){0};
        return 0;
    }
    level->hides_nearer = rc == 0 && slower;
    if (level->hides_nearer) {
        level->fit = (struct level_fit){0};
        rc = lab_undecided(level->lab,
                           "%zu lines that fit take %.0f cycles, two of them %.0f: a nearer "
                           "cache, whose misses noise hides",
                           count, median, near);
    }
    return rc;
}

static int find_capacity(struct level *level)
{
    uint64_t first = limits.first_stride / path_find(level->info->op)->interleave;
    uint64_t stride = level->timing.fetch_bytes > first ? level->timing.fetch_bytes : first;
    int rc = SONDE_ENOTRECORDED;
    if (level->front) {
        /* The cache in front keeps few elements, but not a whole array of its neighbours; one that
         * it holds as a whole says nothing of this cache. */
        uint64_t nearest = level->timing.fetch_bytes;
        size_t kept = (size_t)(fit_in_front(level) / nearest);
        rc = level_find_edge(level, nearest, kept ? kept : 1);
        stride = rc == 0 ? nearest : stride;
        level->large = false;
    }
    rc = lab_soft(rc) ? find_edge_in_reach(level, &stride) : rc;
    if (rc) {
        return rc;
    }
    rc = check_nearer(level);
    if (rc) {
        return rc;
    }
    if (level->repeats && !level->fit.certain) {
        level->fit = (struct level_fit){0};
        return lab_undecided(level->lab, "noise hides what fits, also where walks are repeated");
    }
    uint64_t bytes = level->fit.count * level->fit.stride;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s stride=%llu: %llu B fit, %llu B more do not; %s", level->info->op,
                 (unsigned long long)stride, (unsigned long long)bytes, (unsigned long long)stride,
                 level->fit.certain
                     ? "each verdict is certain"
                     : "noise left some verdicts open, which were taken as not fitting");
    /* A first value: replaced when the line is known and the sets were found alike. */
    attribute_set(&level->result->size, (double)bytes, "B", 0.3, id);
    level->spaced_size = level->fit.stride > level->timing.fetch_bytes;
    if (level->info->shared_bytes) {
        attribute_set(&level->result->carveout_shared, level->info->shared_bytes, "B", 1, id);
    }
    return 0;
}

int level_capacity(struct level *level)
{
    level->late_loads = most_loads(level);
    int rc = find_capacity(level);
    level->late_loads = 0;
    return rc;
}

/* Of the ways (conflict.c): not where too many words would each have to be asked. */
bool ways_apply(const struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    bool is_many = path && path->interleave > 1 && level->fit.count > limits.most_interleaved;
    if (is_many) {
        lab_undecided(level->lab,
                      "too many words of the thread fit to find out which of them conflict");
    }
    return !is_many;
}
