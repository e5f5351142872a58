/*
 * Which paths go through the same cache. One path fills its cache. Then another path reads more
 * than the cache holds. Then the first looks whether its lines are still there. All of that happens
 * in one launch, for a launch may begin with empty caches. Lines that are gone were evicted: both
 * paths lead through that cache. If all lines stayed, the other path does not, or it read too
 * little. So a cache is filled only as far as lines stay without the other path.
 *
 * A path shows its caches together: what evicts constants may lie in front of the shared cache or
 * behind it.
 */
#include "infer/experiments.h"
#include "infer/device/sharing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen, where a member names no experiment. */
static const struct {
    unsigned warm_passes;
    double gone, strays, most, proven;
    uint64_t least_other, most_other, next_to_nothing;
} limits = {
    .warm_passes = 6, /* passes before the other path reads */
    .gone = 0.05,     /* share of the lines: the cache is shared. An H200: 97 to 100 % */
    .strays = 0.01,   /* share of the lines without the other path: more, and nothing is told */
    .most = 0.9,      /* share of the lines: fewer may have gone for another reason */
    .proven = 0.5,    /* confidence of a size whose sets were not looked at has less */
    .next_to_nothing = 128,          /* bytes that another path reads and drives nothing out by */
    .least_other = 65536,            /* bytes that the other path reads */
    .most_other = UINT64_C(1) << 22, /* bytes, the same */
};
enum { MOST_WINDOW = 512, MOST_WINDOWS = 4, MOST_RECORDS = MOST_WINDOW * MOST_WINDOWS };

static int build_request(struct trace_request *request, const struct level_info *info,
                         const struct walk_shape *shape, const struct path_info *other,
                         uint64_t bytes)
{
    size_t window = shape->count < MOST_WINDOW ? shape->count : MOST_WINDOW;
    size_t windows = window ? (shape->count + window - 1) / window : 1;
    trace_request_init(request, "chase");
    int rc = trace_request_set_text(request, "op", info->op);
    rc = rc ? rc : trace_request_set_u64(request, "bytes", shape->count * shape->stride);
    rc = rc ? rc : trace_request_set_u64(request, "stride", shape->stride);
    rc = rc ? rc : trace_request_set_u64(request, "warm", limits.warm_passes * shape->count);
    rc = rc ? rc : trace_request_set_u64(request, "window", window);
    rc = rc ? rc
            : trace_request_set_u64(request, "windows",
                                    windows > MOST_WINDOWS ? MOST_WINDOWS : windows);
    rc = rc ? rc : trace_request_set_u64(request, "spread", 1);
    if (rc == 0 && info->shared_bytes) {
        rc = trace_request_set_u64(request, "shared", info->shared_bytes);
    }
    if (rc == 0 && other) {
        uint32_t step = 32 / other->interleave;
        rc = trace_request_set_text(request, "other", other->op);
        rc = rc ? rc : trace_request_set_u64(request, "other_bytes", bytes);
        rc = rc ? rc : trace_request_set_u64(request, "other_stride", step < 4 ? 4 : step);
    }
    return rc;
}

/* One launch: of each record the least so far counts. */
static int look_once(struct lab *lab, uint32_t *least, size_t *count,
                     const struct trace_request *request)
{
    const struct trace *trace = NULL;
    size_t records = 0;
    int rc = lab_measure(lab, &trace, request);
    const uint32_t *latency = rc ? NULL : trace_u32(trace, "latency", &records);
    if (rc || !latency || records == 0 || records > MOST_RECORDS) {
        return rc ? rc : lab_undecided(lab, "a chase trace lacks records");
    }
    for (size_t i = 0; i < records; i++) {
        least[i] = i < *count && least[i] < latency[i] ? least[i] : latency[i];
    }
    *count = records;
    lab->loads += records;
    return 0;
}

int sharing_look(struct lab *lab, double *missing, const struct sharing_path *own,
                 const struct walk_shape *shape, const struct path_info *other, uint64_t bytes)
{
    struct trace_request request;
    uint32_t least[MOST_RECORDS];
    size_t count = 0, gone = 0;
    int rc = build_request(&request, own->info, shape, other, bytes);
    for (uint32_t i = 0; rc == 0 && (i == 0 || i < own->repeats); i++) {
        rc = i ? trace_request_set_u64(&request, "run", i * WALK_REPEATED) : 0;
        rc = rc ? rc : look_once(lab, least, &count, &request);
        lab->loads += limits.warm_passes * shape->count;
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        gone += walk_mirrored(&own->timing->mirror, least[i]) > own->timing->threshold;
    }
    if (rc == 0) {
        *missing = (double)gone / (double)count;
    }
    return rc;
}

static int look(struct lab *lab, double *missing, const struct level_summary *of, size_t lines,
                const struct path_info *other, uint64_t bytes)
{
    struct walk_shape shape = {.stride = of->fit.stride, .count = lines};
    const struct sharing_path own = {of->info, &of->timing, of->repeats};
    return sharing_look(lab, missing, &own, &shape, other, bytes);
}

/*
 * As many of the lines as stay where nothing else is read: all, a half or a quarter. Other data may
 * share the cache, or its sets may fill unevenly. A cache in front keeps few.
 */
static int find_staying(struct lab *lab, size_t *lines, const struct level_summary *of)
{
    double missing = 1;
    int rc = 0;
    for (size_t part = 1; rc == 0 && missing > limits.strays && part <= 4; part *= 2) {
        *lines = of->fit.count / part;
        rc = *lines ? look(lab, &missing, of, *lines, NULL, 0) : INFER_UNDECIDED;
    }
    return rc || missing <= limits.strays
               ? rc
               : lab_undecided(lab, "what fits does not stay: %.1f %% of the lines miss anyway",
                               100 * missing);
}

/* As much as twice what either holds, as far as the path reaches. */
static uint64_t other_bytes(const struct level_summary *of, const struct level_summary *by,
                            const struct path_info *path)
{
    uint64_t own = 2 * of->fit.count * of->fit.stride * path_find(of->info->op)->interleave;
    uint64_t their = 2 * by->fit.count * by->fit.stride * path->interleave;
    uint64_t bytes = (own > their ? own : their) / path->interleave;
    bytes = bytes < limits.least_other  ? limits.least_other
            : bytes > limits.most_other ? limits.most_other
                                        : bytes;
    return path->reach_bytes && bytes > path->reach_bytes ? path->reach_bytes : bytes;
}

static struct cache_result *result_of(struct lab *lab, const struct level_summary *of)
{
    return &lab->out->caches[of - lab->levels];
}

/* What was found, by numbers of levels. A path of a cache shown before goes by that one. */
struct relation {
    bool through[INFER_MAX_CACHES][INFER_MAX_CACHES]; /* [of][by]: by drives lines of `of` out */
    size_t cache[INFER_MAX_CACHES];
};

/*
 * Some lines are gone and others not, though the other path has read twice of all. Its data may
 * have moved ours, and so many do not fit where they lie now. So as many are tried as stay beside a
 * path that reads next to nothing. Without these walks the first one's word stands.
 */
static int look_again(struct lab *lab, double *missing, size_t *staying,
                      const struct level_summary *of, const struct path_info *other, uint64_t bytes)
{
    size_t lines = *staying;
    double anyway = 1, now = *missing;
    int rc = look(lab, &anyway, of, lines, other, limits.next_to_nothing);
    bool moved = rc == 0 && anyway > limits.strays;
    while (rc == 0 && anyway > limits.strays && lines > 1) {
        lines /= 2;
        rc = look(lab, &anyway, of, lines, other, limits.next_to_nothing);
    }
    if (rc == 0 && moved) {
        rc = anyway > limits.strays
                 ? lab_undecided(lab, "lines do not stay beside a path that reads next to nothing")
                 : look(lab, &now, of, lines, other, bytes);
        *missing = rc == 0 ? now : *missing;
        *staying = lines;
        return rc;
    }
    return lab_soft(rc) ? 0 : rc;
}

/* Does `by` lead through the cache `of`? */
static int compare(struct lab *lab, struct relation *relation, char told[200], size_t of,
                   size_t lines, size_t by)
{
    const struct level_summary *own = &lab->levels[of], *other = &lab->levels[by];
    const struct path_info *path = path_find(other->info->op);
    double missing = 0;
    uint64_t bytes = other_bytes(own, other, path);
    size_t staying = lines;
    int rc = look(lab, &missing, own, lines, path, bytes);
    if (rc == 0 && missing >= limits.gone && missing < limits.most) {
        rc = look_again(lab, &missing, &staying, own, path, bytes);
    }
    if (rc == 0) {
        size_t length = strlen(told);
        relation->through[of][by] = missing >= limits.gone;
        snprintf(told + length, 200 - length, ", %.0f %% by op=%s", 100 * missing, other->info->op);
        length = strlen(told);
        if (staying < lines) {
            snprintf(told + length, 200 - length, " (of %zu)", staying);
        }
    }
    return rc;
}

/* A first-level cache that is there. What fits into it may not be known: it is read through as much
 * as the other one holds. */
static bool is_first(struct lab *lab, const struct level_summary *level)
{
    return result_of(lab, level)->present && !level->info->behind[0] && level->info->beneath[0];
}

/* One cache against all paths but its own. A failure is told, and the rest goes on. */
static int compare_all(struct lab *lab, struct relation *relation, size_t of)
{
    const struct level_summary *own = &lab->levels[of];
    struct cache_result *result = result_of(lab, own);
    char told[200] = "";
    size_t lines = 0;
    int rc = find_staying(lab, &lines, own);
    for (size_t by = 0; rc == 0 && by < lab->level_count; by++) {
        const struct level_summary *other = &lab->levels[by];
        if (is_first(lab, other) && !other->same_as &&
            strcmp(other->info->op, own->info->op) != 0) {
            rc = compare(lab, relation, told, of, lines, by);
        }
    }
    result->sharing_known = rc == 0;
    if (rc == 0) {
        lab_evidence(lab, result->sharing_evidence, own->info->id,
                     "chase op=%s through %zu elements that fit: so many are gone when other paths "
                     "have read as much again%s",
                     own->info->op, lines, told[0] ? told : ": there are none");
    } else {
        result->sharing_refusal = lab_refusal(lab);
    }
    return rc && !lab_soft(rc) ? rc : 0;
}

/* Do the paths lead through one cache? Either evicts the other's lines. */
static bool is_one(const struct relation *r, size_t own, size_t other)
{
    return own == other || r->through[own][other] || r->through[other][own];
}

/* Of a path whose own cache is not known well enough to be asked, what it drives out of others says
 * as much: lines of the other path, or of a third one that the other path drives out as well. */
static bool meet(const struct lab *lab, const struct relation *r, size_t own, size_t other)
{
    bool met = false;
    for (size_t i = 0; i < lab->level_count && !met; i++) {
        size_t of = r->cache[i];
        met = r->through[of][own] && (of == other || own == other || r->through[of][other]);
    }
    return met;
}

/* Makes the lists: paths of one cache. */
static void list_all(struct lab *lab, const struct relation *r)
{
    bool known[INFER_MAX_CACHES];
    for (size_t i = 0; i < lab->level_count; i++) {
        known[i] = result_of(lab, &lab->levels[r->cache[i]])->sharing_known;
    }
    for (size_t i = 0; i < lab->level_count; i++) {
        struct cache_result *result = result_of(lab, &lab->levels[i]);
        for (size_t k = 0; k < lab->level_count; k++) {
            size_t own = r->cache[i], other = r->cache[k];
            if (k != i && (known[i] ? is_one(r, own, other) : meet(lab, r, own, other))) {
                snprintf(result->shared_with[result->shared_count++], sizeof result->shared_with[0],
                         "%s", lab->levels[k].info->id);
            }
        }
        result->sharing_known = known[i] || result->shared_count > 0;
    }
}

/*
 * What one path has told of a cache without proof, another has looked at more closely: where its
 * sets are filled unevenly the longest array that fits is no size, whatever path it is read
 * through, and its sets have so many ways.
 */
static void withdraw_unproven(struct lab *lab, const struct relation *r, size_t of, size_t by)
{
    struct cache_result *result = result_of(lab, &lab->levels[of]);
    const struct cache_result *closer = result_of(lab, &lab->levels[by]);
    bool is_open = result->size.status == ATTRIBUTE_MEASURED &&
                   result->size.confidence < limits.proven &&
                   result->sets.status != ATTRIBUTE_MEASURED;
    if (!is_one(r, r->cache[of], r->cache[by]) || !is_open ||
        closer->size.status != ATTRIBUTE_NOT_MEASURED ||
        closer->ways.status != ATTRIBUTE_MEASURED) {
        return;
    }
    char reason[160];
    snprintf(reason, sizeof reason,
             "it is the cache of op=%s, of which the longest array that fits is no size",
             lab->levels[by].info->op);
    attribute_refuse(&result->size, "B", reason);
    if (result->ways.status == ATTRIBUTE_MEASURED && result->ways.value != closer->ways.value) {
        attribute_refuse(&result->ways, "1", reason);
    }
}

static void withdraw_all(struct lab *lab, const struct relation *r)
{
    for (size_t of = 0; of < lab->level_count; of++) {
        for (size_t by = 0; by < lab->level_count; by++) {
            if (of != by) {
                withdraw_unproven(lab, r, of, by);
            }
        }
    }
}

static struct refusal why_not_compared(const struct level_summary *of,
                                       const struct cache_result *result)
{
    if (!of->info->beneath[0]) {
        return (struct refusal){.reason = "every path ends in it"};
    }
    return result->absence.status == ATTRIBUTE_NOT_ASKED
               ? result->absence
               : (struct refusal){.reason = "how much fits is not known"};
}

int sharing_dissect(struct lab *lab)
{
    struct relation relation = {0};
    for (size_t i = 0; i < lab->level_count; i++) {
        const struct level_summary *of = &lab->levels[i];
        struct cache_result *result = result_of(lab, of);
        relation.cache[i] = i;
        for (size_t k = 0; of->same_as && k < i; k++) {
            bool same = strcmp(lab->levels[k].info->id, of->same_as) == 0;
            relation.cache[i] = same ? relation.cache[k] : relation.cache[i];
        }
        lab->why.reason[0] = '\0';
        if (of->same_as) {
            continue;
        }
        if (of->known && of->fit.count && of->info->beneath[0]) {
            int rc = compare_all(lab, &relation, i);
            if (rc) {
                return rc;
            }
        } else {
            result->sharing_refusal = why_not_compared(of, result);
        }
    }
    list_all(lab, &relation);
    withdraw_all(lab, &relation);
    return 0;
}

void sharing_refuse(struct dissection *out, const struct refusal *why)
{
    for (size_t i = 0; i < out->cache_count; i++) {
        struct cache_result *result = &out->caches[i];
        if (!result->sharing_known && !result->sharing_refusal.reason[0]) {
            result->sharing_refusal = *why;
        }
    }
}
