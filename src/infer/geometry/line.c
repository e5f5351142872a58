/*
 * The line: how far the bytes reach that one tag covers. From a smallest conflicting set {a0 ..
 * aw}, an address x = a0 + d lies in the line of a0 exactly if
 *   - {x, a1 .. aw} does not fit: x is in the same set, and in none of the other lines; and
 *   - {a0, x, a2 .. aw} fits: a0 and x together need no more room than a0 alone.
 * The line is one interval around a0, so each end is found by bisection. This holds for sectored
 * caches (the fetch unit plays no part), any policy, any index, from direct mapped to fully
 * associative.
 */
#include "infer/experiments.h"
#include "infer/geometry/geometry.h"
#include "infer/fit/groups.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned step_bytes, max_line_bytes, page_bytes;
} limits = {
    .step_bytes = 4,         /* bytes: an edge of a line is found to a word */
    .max_line_bytes = 65536, /* bytes: longer lines are not looked for */
    .page_bytes = 4096,      /* bytes: the least page of translation */
};

/* The verdict on the conflicting set with `from` replaced by `to`. */
static int verdict_replaced(struct level *level, enum fit_verdict *out, size_t replaced,
                            uint32_t by)
{
    size_t n = level->conflict.count;
    uint32_t *ring = malloc(n * sizeof *ring);
    if (!ring) {
        return error_memory();
    }
    memcpy(ring, level->conflict.offsets, n * sizeof *ring);
    ring[replaced] = by;
    sort_u32(ring, n);
    bool twice = false;
    for (size_t i = 1; i < n; i++) {
        twice = twice || ring[i] == ring[i - 1];
    }
    *out = FIT_YES;
    int rc = twice ? 0 : groups_verdict(level, out, ring, n);
    free(ring);
    return rc;
}

/* Is `x` in the line of member `own`? `other` is some other member. */
static int same_line(struct level *level, bool *same, size_t own, size_t other, uint32_t x)
{
    enum fit_verdict verdict = FIT_UNKNOWN;
    int rc = verdict_replaced(level, &verdict, own, x);
    *same = false;
    if (rc == 0 && verdict == FIT_NO) {
        rc = verdict_replaced(level, &verdict, other, x);
        *same = verdict == FIT_YES;
    }
    if (rc == 0 && verdict == FIT_UNKNOWN) {
        return lab_undecided(level->lab, "noise hides whether two addresses share a line");
    }
    return rc;
}

/* From member `own` of the conflicting set upwards (sign 1) or downwards (-1). */
struct direction {
    size_t own, other;
    int sign;
};

/* One more distance between those that lie in the line and those that do not. */
static int try_at(struct level *level, uint32_t *inside, uint32_t *outside,
                  const struct direction *member, uint32_t distance)
{
    uint32_t at = level->conflict.offsets[member->own];
    bool same = false;
    int rc = same_line(level, &same, member->own, member->other,
                       member->sign < 0 ? at - distance : at + distance);
    if (rc == 0) {
        *(same ? inside : outside) = distance;
    }
    return rc;
}

/* Bisection in whole steps. */
static int narrow_end(struct level *level, uint32_t *inside, uint32_t *outside,
                      const struct direction *member, uint32_t step)
{
    int rc = 0;
    while (rc == 0 && *outside - *inside > step) {
        uint32_t half = (*outside - *inside) / 2 / step * step;
        rc = try_at(level, inside, outside, member, *inside + (half ? half : step));
    }
    return rc;
}

/* How far the line reaches: the first distance not in it. */
static int find_end(struct level *level, uint32_t *distance, const struct direction *member)
{
    int sign = member->sign;
    uint32_t at = level->conflict.offsets[member->own];
    uint32_t inside = 0, outside = level->timing.fetch_bytes;
    uint32_t most = sign < 0 && at < limits.max_line_bytes ? at : limits.max_line_bytes;
    bool same = true;
    while (same) {
        if (outside > most) { /* the array's own beginning bounds the search */
            outside = most + limits.step_bytes;
            break;
        }
        int rc = same_line(level, &same, member->own, member->other,
                           sign < 0 ? at - outside : at + outside);
        if (rc) {
            return rc;
        }
        if (same) {
            inside = outside;
            outside *= 2;
        }
    }
    /* Lines mostly end where units of fetching do: these first, and then the words around. */
    int rc = narrow_end(level, &inside, &outside, member, level->timing.fetch_bytes);
    uint32_t likely = sign < 0 ? inside + limits.step_bytes : outside - limits.step_bytes;
    rc = rc || outside - inside == limits.step_bytes
             ? rc
             : try_at(level, &inside, &outside, member, likely);
    rc = rc ? rc : narrow_end(level, &inside, &outside, member, limits.step_bytes);
    *distance = outside;
    return rc;
}

static int measure_line(struct level *level, uint32_t *start, uint32_t *end, size_t own,
                        size_t other)
{
    uint32_t up, down;
    int rc = find_end(level, &up, &(struct direction){own, other, 1});
    rc = rc ? rc : find_end(level, &down, &(struct direction){own, other, -1});
    if (rc == 0) {
        *start = level->conflict.offsets[own] - down + limits.step_bytes;
        *end = level->conflict.offsets[own] + up;
    }
    return rc;
}

/*
 * Does the line of another member end where one line's bounds predict it, in whole lines? Its
 * words beyond either end and those within are tried.
 */
static int ends_as_predicted(struct level *level, bool *holds, size_t own, size_t other,
                             uint32_t start, uint32_t bytes)
{
    uint32_t at = level->conflict.offsets[own], before = at - start % bytes;
    uint32_t first = at - before % bytes, end = first + bytes;
    const uint32_t beyond[] = {first - limits.step_bytes, end},
                   within[] = {first, end - limits.step_bytes};
    *holds = at > start % bytes && before % bytes + limits.step_bytes <= at;
    int rc = 0;
    for (size_t i = 0; i < 2 && rc == 0 && *holds; i++) {
        bool same = false;
        rc = same_line(level, &same, own, other, beyond[i]);
        *holds = !same;
        if (rc == 0 && *holds && within[i] != at) {
            rc = same_line(level, holds, own, other, within[i]);
        }
    }
    return rc;
}

static int find_line(struct level *level)
{
    size_t last = level->conflict.count - 1;
    uint32_t start, end, start2 = 0, end2 = 0;
    bool alike = false;
    int rc = measure_line(level, &start, &end, last, 0);
    rc = rc ? rc : ends_as_predicted(level, &alike, last - 1, last, start, end - start);
    if (rc == 0 && alike) {
        start2 = start;
        end2 = end;
    } else if (rc == 0) {
        rc = measure_line(level, &start2, &end2, last - 1, last);
    }
    if (rc) {
        return rc;
    }
    uint32_t bytes = end - start, bytes2 = end2 - start2;
    /* A line that begins before the array shows only its rest. */
    bool agree = bytes == bytes2 || (start2 == 0 && bytes2 < bytes);
    if (!agree || end % bytes != end2 % bytes) {
        return lab_undecided(level->lab, "two lines measured differently: %u B and %u B", bytes,
                             bytes2);
    }
    if (level->outermost && bytes >= limits.page_bytes) {
        level->translated = true;
        return lab_undecided(level->lab,
                             "what is slow reaches as far as a page, %u B: it is translation that "
                             "misses before this cache does",
                             bytes);
    }
    if (bytes % level->timing.fetch_bytes != 0) {
        return lab_undecided(level->lab, "a line of %u B is no multiple of the fetch unit of %u B",
                             bytes, level->timing.fetch_bytes);
    }
    level->line.bytes = bytes;
    level->line.phase = end % bytes;
    char id[24];
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: around offset %u the bytes %u to %u, around offset %u as many, stand for one "
        "another in a conflicting set of %zu and need no more room together than alone",
        level->info->op, level->conflict.offsets[last], start, end - 1,
        level->conflict.offsets[last - 1], level->conflict.count);
    attribute_set(&level->result->line, bytes, "B", 0.97, id);
    if (level->by_drawn &&
        bytes < level->fit.stride) { /* no set is full where lines are too many */
        struct attribute *size = &level->result->size;
        lab_evidence(level->lab, id, level->info->id,
                     "the %zu addresses that fit are one to a line of %u B each: %zu B, where "
                     "steps of %u B had said %.0f",
                     (size_t)level->fit.count, bytes, (size_t)level->fit.count * bytes,
                     (unsigned)level->fit.stride, size->value);
        attribute_set(size, (double)level->fit.count * bytes, "B", size->confidence, id);
    }
    return 0;
}

/* Once more, where lines of earlier walks may have kept others out (ask/after_hits.c). */
static int find_again(struct level *level)
{
    const struct refusal why = level->lab->why;
    const struct level_fit fit = level->fit;
    level->keeps_hits = true;
    int rc = level->large ? 0 : level_find_edge(level, level->fit.stride, 1);
    rc = rc || level->large ? rc : level_ways(level);
    rc = rc ? rc : find_line(level);
    if (lab_soft(rc)) {
        level->keeps_hits = false;
        level->fit = fit;
        level->lab->why = why;
        rc = INFER_UNDECIDED;
    }
    return rc;
}

int level_line(struct level *level)
{
    int rc = find_line(level);
    bool kept =
        (level->outermost || !level->front) && !level->habits.begins_empty && !level->translated;
    if (rc == INFER_UNDECIDED && kept) {
        rc = find_again(level);
    }
    if (lab_soft(rc)) { /* what fits was counted in steps that need not be lines */
        attribute_refuse_as(&level->result->size, "B", &level->lab->why);
    }
    return rc;
}
