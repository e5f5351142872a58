/*
 * How much fits: the longest array from offset 0 of which nothing misses any more. The length doubles until it does not
 * fit, then the edge is found by bisection; a set that holds too much misses in every pass under any policy, so the
 * edge is exact. The step of the walk is 128 B at first and the line once that is known. An array that
 * fits beyond MAX_ORDERED elements is left to sampling (sweep.c): ordered passes over tens of megabytes take
 * too long.
 */
#include "infer/level.h"

#include "util/error.h"

#define FIRST_STRIDE 128
#define MAX_ORDERED 65536

struct edge { size_t fits, fails; bool certain; };

static int probe_count(struct level *level, struct edge *edge, uint64_t stride, size_t count)
{
    struct walk_shape shape = {.stride = stride, .count = count};
    enum fit_verdict verdict;
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
    size_t count = 8;
    while (edge->fails == 0) {
        if (count > limit || count > MAX_ORDERED) {
            level->large = true;
            return lab_undecided(level->lab, "everything up to %llu KiB fits: too large for ordered walks",
                                 (unsigned long long)(edge->fits * stride / 1024));
        }
        int rc = probe_count(level, edge, stride, count);
        if (rc) {
            return rc;
        }
        count *= 2;
    }
    return 0;
}

/*
 * Between an array that fits and one that does not. Real capacities are round numbers more often than not, so
 * whenever a count was found to fit, the next one is tried: if that does not fit, the search is over.
 */
static int bisect(struct level *level, struct edge *edge, uint64_t stride)
{
    bool try_next = true;
    while (edge->fails - edge->fits > 1) {
        size_t before = edge->fits;
        size_t count = try_next ? before + 1 : before + (edge->fails - before) / 2;
        int rc = probe_count(level, edge, stride, count);
        if (rc) {
            return rc;
        }
        try_next = !try_next && edge->fits != before;
    }
    return 0;
}

int level_fit_edge(struct level *level, uint64_t stride, size_t hint)
{
    struct edge edge = {.certain = true};
    int rc = 0;
    if (hint > 1) {     /* an edge is expected here: two walks if the expectation is right */
        rc = probe_count(level, &edge, stride, hint);
        rc = rc || edge.fails ? rc : probe_count(level, &edge, stride, hint + 1);
    }
    if (edge.fits == 0 && edge.fails) {
        edge = (struct edge){.certain = true};
    }
    rc = rc ? rc : edge.fails ? 0 : double_until_it_fails(level, &edge, stride);
    rc = rc ? rc : bisect(level, &edge, stride);
    if (rc) {
        return rc;
    }
    if (edge.fits < 1) {
        return lab_undecided(level->lab, "not even %llu B fit", (unsigned long long)stride);
    }
    level->fit_stride = stride;
    level->fit_count = edge.fits;
    level->fit_certain = edge.certain;
    return 0;
}

int level_capacity(struct level *level)
{
    uint64_t stride = level->fetch_bytes > FIRST_STRIDE ? level->fetch_bytes : FIRST_STRIDE;
    int rc = level_fit_edge(level, stride, 0);
    if (rc) {
        return rc;
    }
    uint64_t bytes = level->fit_count * level->fit_stride;
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s stride=%llu: %llu B fit, %llu B more do not; %s",
                 level->info->op, (unsigned long long)stride, (unsigned long long)bytes,
                 (unsigned long long)stride, level->fit_certain ? "each verdict is certain" :
                 "noise left some verdicts open, which were taken as not fitting");
    /* A first value: replaced when the line is known and the sets were found alike. */
    attribute_set(&level->result->size, (double)bytes, "B", level->fit_certain ? 0.6 : 0.4, id);
    if (level->info->shared_bytes) {
        attribute_set(&level->result->carveout_shared, level->info->shared_bytes, "B", 1, id);
    }
    return 0;
}
