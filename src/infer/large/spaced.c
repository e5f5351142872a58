/*
 * A conflicting set of a large cache, without filling it. Blocks of neighbouring lines are walked
 * that lie far apart, at a distance that is a multiple of most distances after which sets come
 * again:
 *
 *     spaced    |####|        |####|        |####|        |####|       into the same sets
 *     control   |####|        .####|        ..####        ...####      into others, in the same
 * pages
 *
 * If the distance leads back to the same sets, so many blocks do not fit, few as their lines are:
 * most loads of the spaced walk then take longer than next to all of the control, which crosses as
 * many pages and so misses as often in translation. The distance doubles until that shows, and
 * grows on while fewer blocks show it: so a set comes from few pages. The fewest blocks that show
 * it have a smallest conflicting set among them, which is found and tested as of any cache
 * (conflict.c).
 *
 * Where misses of translation alone take longer than what was taken for the threshold between hits
 * and misses, the threshold is set above the control's loads. Where few of the control's loads miss
 * translation, as the first of each block may, it stays: the cache's own misses may take less.
 *
 * Not found so: sets that come again after a distance that has other odd factors than 3 and 5, and
 * sets that are hashed over more lines than a block has (crowd.c).
 */
#include "infer/large/large.h"

#include <math.h>
#include <stdlib.h>

#include "infer/experiments.h"
#include "infer/geometry/geometry.h"
#include "infer/geometry/rows.h"
#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide), where a member names nothing else.
 */
static const struct {
    uint32_t element, shifts, warm, late_warm, more, least_blocks, largest_set;
    uint32_t block[2], blocks[2];
    uint64_t small_bytes, a_part_of, first_distance, most_bytes, most_loads;
    double share, most, slower, some, few, sure;
    unsigned slower_cycles;
} limits = {
    .element = 128,  /* bytes from line to line: a line, or a part of one */
    .shifts = 16,    /* blocks that the control is moved by at most. Chosen */
    .warm = 4,       /* passes before the record */
    .late_warm = 40, /* the same for the fewest blocks, where other lines leave slowly */
    .more = 4,       /* numbers of blocks that a set is sought among */
    .small_bytes = UINT64_C(4) << 20, /* bytes: of what fits into less, ordered walks tell more */
    .a_part_of = 8, /* part of an array that does not fit: of small caches a walk takes no more, or
                        its control would not fit either. Chosen */
    .least_blocks = 3,   /* blocks: fewer conflict nowhere */
    .largest_set = 800,  /* lines that a set is sought among one by one, at most. Chosen */
    .block = {32, 256},  /* lines of a block: in a page of 4 KiB; all slices of one row */
    .blocks = {128, 64}, /* blocks of a walk at most */
    .first_distance = UINT64_C(15) << 12, /* bytes; doubled again and again */
    .most_bytes = UINT64_C(2) << 30,      /* bytes of an offset; a quarter is left to rows.c */
    .most_loads = 4000000,                /* loads that all this may take */
    .share = 0.4,       /* share of the loads that are slower: most sets have too many lines */
    .most = 0.98,       /* quantile of the control that these are slower than */
    .slower = 1.02,     /* times that, and so many cycles more. Chosen */
    .slower_cycles = 4, /* cycles, the same */
    .some = 0.05,       /* share of the control's loads: more are misses of something else */
    .few = 0.15,        /* the same: of so few as miss translation there are as many in the spaced
                           walk, and what is more is the cache's. Chosen */
    .sure = 0.85,       /* confidence of ways that one set shows, as in crowd.c */
};

struct spacing {
    uint64_t distance;
    uint32_t block; /* lines */
    size_t blocks;
    uint32_t shifts; /* 1: into the same sets */
};

/* NULL: no memory. */
static uint32_t *lay_out(const struct spacing *s)
{
    uint32_t *ring = malloc(s->blocks * s->block * sizeof *ring), *at = ring;
    for (size_t i = 0; ring && i < s->blocks; i++) {
        uint64_t shift = i % s->shifts * s->block * (uint64_t)limits.element;
        for (uint32_t k = 0; k < s->block; k++) {
            *at++ = (uint32_t)(i * s->distance + shift + (uint64_t)k * limits.element);
        }
    }
    return ring;
}

/* Does what was there before leave it slowly? */
static bool settles_late(const struct level *level)
{
    return level->habits.late > 0 && !level->habits.begins_empty;
}

/* Latencies of a pass, when `warm` others have gone before. */
static int walk_blocks(struct level *level, struct sample *out, const struct spacing *s,
                       uint32_t warm)
{
    size_t count = s->blocks * s->block;
    uint32_t window = (uint32_t)(count < level->max_window ? count : level->max_window);
    if (window == 0) {
        return lab_undecided(level->lab, "no lines to walk");
    }
    uint32_t *ring = lay_out(s);
    if (!ring) {
        return error_memory();
    }
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = ring, .count = count});
    plan.warm = count * warm;
    plan.window = window;
    plan.windows = (uint32_t)((count + window - 1) / window);
    plan.persist = true;
    plan.filler = NULL;
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    rc = rc ? rc : sample_create(out, walk.latency, walk.count);
    if (rc == 0) {
        walk_free(&walk);
    }
    free(ring);
    return rc;
}

/* What a distance shows beside its control. */
struct showing {
    double share;     /* of the loads, slower than the control's */
    double threshold; /* above those */
    bool others;      /* the control has misses, of something else */
    bool mixed;       /* and has loads that are none: the cache's own misses may hide below those */
};

static int compare(struct level *level, struct showing *out, const struct spacing *spaced,
                   uint32_t warm)
{
    struct spacing apart = *spaced;
    struct sample own = {0}, control = {0};
    *out = (struct showing){.share = 0};
    apart.shifts = limits.shifts;
    int rc = walk_blocks(level, &control, &apart, limits.warm);
    if (rc) {
        return rc;
    }
    double most = sample_quantile(&control, limits.most), threshold = level->timing.threshold;
    double slow = sample_share(&control, threshold, INFINITY);
    out->others = slow > limits.some;
    out->mixed = out->others && slow < 1 - limits.some;
    out->threshold = fmax(threshold, limits.slower * most + limits.slower_cycles);
    sample_free(&control);
    rc = walk_blocks(level, &own, spaced, warm);
    if (rc == 0) {
        double plain = sample_share(&own, threshold, INFINITY) - slow;
        out->share = sample_share(&own, out->threshold, INFINITY);
        if (slow <= limits.few && plain > out->share) {
            out->share = plain;
            out->threshold = threshold;
            out->others = out->mixed = false;
        }
        sample_free(&own);
    }
    return rc;
}

struct search {
    struct level *level;
    struct spacing best;
    struct showing showing;
    uint64_t start, bytes;
    bool mixed; /* of the set that was found (struct showing) */
};

static bool is_spent(const struct search *s)
{
    return s->level->lab->loads - s->start > limits.most_loads;
}

static int spent(const struct search *s)
{
    return lab_undecided(s->level->lab, "no conflicting lines far apart in %llu loads",
                         (unsigned long long)limits.most_loads);
}

/* Blocks of a walk at most. */
static size_t most_blocks(const struct level *level, unsigned i)
{
    uint64_t missed = level->timing.missed_bytes;
    uint64_t some = missed / limits.a_part_of / limits.block[i] / limits.element;
    bool small = missed <= limits.small_bytes && some < limits.blocks[i];
    return small ? (size_t)some : limits.blocks[i];
}

/* The first distance at which blocks do not fit. */
static int find_distance(struct search *s, uint32_t block, size_t most)
{
    for (uint64_t distance = limits.first_distance; distance * limits.least_blocks <= s->bytes;
         distance *= 2) {
        size_t blocks = s->bytes / distance < most ? s->bytes / distance : most;
        if (distance < (uint64_t)limits.shifts * block * limits.element) {
            continue;
        }
        s->best = (struct spacing){distance, block, blocks, 1};
        int rc = is_spent(s) ? spent(s) : compare(s->level, &s->showing, &s->best, limits.warm);
        if (rc || s->showing.share > limits.share) {
            return rc;
        }
    }
    return lab_undecided(s->level->lab, "lines far apart fit together");
}

/* Farther apart, while half as many blocks show it. */
static int move_apart(struct search *s)
{
    for (;;) {
        struct spacing next = s->best;
        struct showing showing = {0};
        next.distance *= 2;
        next.blocks = next.blocks / 2 + 1;
        if (next.distance * next.blocks > s->bytes || next.blocks < limits.least_blocks) {
            return 0;
        }
        int rc = is_spent(s) ? spent(s) : compare(s->level, &showing, &next, limits.warm);
        if (rc || showing.share <= limits.share) {
            return rc;
        }
        s->best = next;
        s->showing = showing;
    }
}

/* The fewest blocks that show it. */
static int find_fewest(struct search *s)
{
    size_t fits = 1;
    uint32_t warm = settles_late(s->level) ? limits.late_warm : limits.warm;
    while (s->best.blocks - fits > 1) {
        struct spacing next = s->best;
        struct showing showing = {0};
        next.blocks = fits + (s->best.blocks - fits) / 2;
        int rc = is_spent(s) ? spent(s) : compare(s->level, &showing, &next, warm);
        if (rc) {
            return rc;
        }
        if (showing.share > limits.share) {
            s->best = next;
            s->showing = showing;
        } else {
            fits = next.blocks;
        }
    }
    return 0;
}

/* Above what loads take that miss in translation alone, as each of lines in pages of their own may.
 */
static int pass_translation(struct search *s, const struct spacing *single)
{
    struct showing showing = {0};
    int rc = compare(s->level, &showing, single, limits.warm);
    if (rc == 0 && showing.others) {
        s->level->timing.threshold = showing.threshold;
        s->mixed = showing.mixed;
    }
    return rc;
}

/* Of the blocks their first lines alone, if these are enough; else whole ones. */
static int find_set(struct search *s)
{
    struct spacing single = s->best;
    single.block = 1;
    single.blocks++;
    int rc = pass_translation(s, &single);
    rc = rc ? rc : INFER_UNDECIDED;
    for (unsigned i = 0; rc == INFER_UNDECIDED && i < 2; i++) {
        struct spacing *of = i ? &s->best : &single;
        size_t count = of->blocks * of->block;
        bool many = count > limits.largest_set * (size_t)(i ? s->best.block / limits.block[0] : 1);
        uint32_t *ring = lay_out(of);
        rc = !ring  ? error_memory()
             : many ? large_conflict_among(s->level, ring, count)
                    : level_conflict_among(s->level, ring, count, limits.sure);
        free(ring);
    }
    return rc;
}

/* From a set among the fewest blocks that show one; where lines leave slowly, that may have been
 * too few. */
static int find_set_among(struct search *s)
{
    int rc = INFER_UNDECIDED;
    for (unsigned i = 0; rc == INFER_UNDECIDED && i < limits.more; i++) {
        rc = is_spent(s) ? spent(s) : find_set(s);
        s->best.blocks += s->best.blocks / 4 + 1;
    }
    return rc;
}

static int find_conflict(struct level *level, bool *mixed)
{
    struct search s = {.level = level, .start = level->lab->loads};
    double before = level->timing.threshold;
    int rc = INFER_UNDECIDED;
    s.bytes = level->lab->options->max_footprint_bytes;
    s.bytes = (s.bytes < limits.most_bytes ? s.bytes : limits.most_bytes) / 4 * 3;
    for (unsigned i = 0; rc == INFER_UNDECIDED && i < 2 && !is_spent(&s); i++) {
        rc = find_distance(&s, limits.block[i], most_blocks(level, i));
        rc = rc ? rc : move_apart(&s);
        rc = rc ? rc : find_fewest(&s);
        if (rc == 0) {
            level->timing.threshold = s.showing.others ? s.showing.threshold : before;
            s.mixed = s.showing.mixed;
            rc = find_set_among(&s);
        }
    }
    level->timing.threshold = rc ? before : level->timing.threshold;
    *mixed = s.mixed;
    return rc;
}

/* Line, ways, sets and policy. What it leaves of the level says whether the sets were found. */
static int take_apart(struct level *level)
{
    struct level_habits habits = level->habits;
    bool large = level->large, keeps = level->keeps_hits;
    level->searched_apart = true;
    level->large = true;
    level->keeps_hits = true; /* lines that were read twice may stay (ask/after_hits.c) */
    bool mixed = false;
    int rc = find_conflict(level, &mixed);
    rc = rc ? rc : large_take_apart(level);
    level_leave_pages(level);
    if (mixed) { /* lines that miss and find their translation pass for hits: a set may be larger */
        level->result->line.confidence = fmin(level->result->line.confidence, limits.sure);
    }
    free(level->conflict.offsets);
    level->conflict = (struct level_conflict){0};
    level->large = large || rc == 0;
    level->taken_apart = rc == 0 && level->result->sets.status == ATTRIBUTE_MEASURED;
    level->habits = rc ? habits : level->habits;
    level->keeps_hits = rc == 0 || keeps;
    return rc;
}

bool spaced_applies(const struct level *level)
{
    if (!level->outermost) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return level->outermost;
}

/* Only where an array fits that takes long to walk again and again. */
int level_spaced(struct level *level)
{
    return level->timing.missed_bytes > limits.small_bytes
               ? take_apart(level)
               : lab_undecided(level->lab, "not all of %llu KiB fits",
                               (unsigned long long)level->timing.missed_bytes / 1024);
}

bool apart_applies(const struct level *level)
{
    bool applies = level->outermost && !level->searched_apart &&
                   level->result->line.status == ATTRIBUTE_NOT_MEASURED;
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

int level_apart(struct level *level)
{
    return take_apart(level);
}
