/*
 * The ways: the size of a smallest set of addresses that do not fit together, less one. When one
 * element more than fits is walked, exactly one cache set holds exactly one line too many; its
 * members are found by
 *   1. who ever missed in that walk (Mei's third step; enough for LRU, FIFO, random; where lines
 *      are let go slowly, more than a few walks of it come after the next);
 *   2. equal spacing, tried for every divisor of the capacity (enough for index functions that
 * repeat);
 *   3. who misses together when lines are drawn at random (geometry/co_miss.c);
 *   4. any equal spacing, where sets differ;
 *   5. group testing: an element belongs to the set exactly if the walk fits without it (any
 * policy, any index; policies that resist thrashing, such as SRRIP, never show more than two
 * members);
 *   6. drawn lines, fewer than fit, or lines far apart: where data are for fewer lines than the
 *      tags reach, the above show no set, or all lines as one.
 * Whichever way a set was found, it is checked in walks of its own: it must not fit, and
 * must fit without any one member. So the ways follow from "w fit, w + 1 do not" and from nothing
 * else.
 */
#include "infer/geometry/geometry.h"
#include "infer/experiments.h"
#include "infer/behind/behind.h"
#include "infer/geometry/co_miss.h"
#include "infer/fit/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/rng.h"
#include "util/sort.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned check_all, check_some, group_budget, ways_budget, max_passes, few_passes, min_passes,
        most_spacings, most_ways, most_slow, roughly, common_multiple, drawn_unit, drawn_range,
        few_whole, drawn_less, drawn_budget, draws, narrow_least, narrow_walks, narrow_warm,
        narrow_loads, narrow_most;
    uint64_t far_bytes;
    double drawn_sure;
} limits = {
    .check_all = 40,                /* lines: sets up to this size are checked member by member */
    .check_some = 12,               /* members of larger ones that are checked */
    .group_budget = 3000000,        /* loads that group testing may cost */
    .ways_budget = 8000000,         /* loads that all attempts together may cost */
    .max_passes = 33,               /* repeats of a walk to see which lines miss */
    .few_passes = 2,                /* the same, where each takes long */
    .min_passes = 3,                /* passes: fewer tell nothing */
    .drawn_unit = 128,              /* bytes from place to place of drawn lines, at least. Chosen */
    .drawn_range = 64,              /* times as many places as lines. Chosen */
    .few_whole = 8,                 /* lines, of which too few are drawn to fill a set. Chosen */
    .far_bytes = UINT64_C(2) << 20, /* bytes in which lines lie apart: translation keeps up */
    .drawn_less = 16, /* part of the lines that fit, by which those drawn are fewer. Chosen */
    .drawn_budget = 1500000, /* loads, after which no more lines are drawn. Chosen */
    .draws = 3,              /* Chosen */
    .narrow_least = 24,      /* lines: fewer are tried one by one */
    .narrow_walks = 16,      /* walks that show which of them miss */
    .narrow_warm = 8,        /* passes before each but the first. Chosen */
    .narrow_loads = 200000, /* loads before the first, for what was there before to leave. Chosen */
    .narrow_most = 400,     /* passes of these at most. Chosen */
    .drawn_sure = 0.8,      /* confidence of ways found so, as where the edge is certain */
    .most_spacings = 2500,  /* spacings of a lattice that are tried */
    .most_ways = 512,       /* ways: more are not looked for */
    .most_slow = 128,       /* the same, where each verdict takes long */
    .roughly = 16,          /* one in so many more elements may fit where the edge is rough */
    .common_multiple =
        3840, /* lines: a multiple of 32, 48, 64, 80, 96, 128, 160, 192, 256 and more */
};

struct ring {
    uint32_t *offsets;
    size_t count;
};

/* The verdict on `ring` without the members [from, to). */
static int verdict_without(struct level *level, enum fit_verdict *out, const struct ring *ring,
                           size_t from, size_t to)
{
    uint32_t *rest = malloc((ring->count + 1) * sizeof *rest);
    if (!rest) {
        return error_memory();
    }
    memcpy(rest, ring->offsets, from * sizeof *rest);
    memcpy(rest + from, ring->offsets + to, (ring->count - to) * sizeof *rest);
    int rc = groups_verdict(level, out, rest, ring->count - (to - from));
    free(rest);
    return rc;
}

static void ring_drop(struct ring *ring, size_t from, size_t to)
{
    memmove(ring->offsets + from, ring->offsets + to, (ring->count - to) * sizeof *ring->offsets);
    ring->count -= to - from;
}

/* Drop what is not needed for the set not to fit: chunks first, then one by one. */
static int ring_reduce(struct level *level, struct ring *ring)
{
    uint64_t start = level->lab->loads;
    for (size_t chunk = ring->count / 2; chunk >= 1; chunk /= 2) {
        for (size_t at = 0; at + 1 < ring->count && at < ring->count;) {
            size_t end = at + chunk < ring->count ? at + chunk : ring->count;
            enum fit_verdict verdict = FIT_UNKNOWN;
            int rc = verdict_without(level, &verdict, ring, at, end);
            if (rc) {
                return rc;
            }
            if (verdict == FIT_NO) {
                ring_drop(ring, at, end);
            } else {
                at = end;
            }
            if (level->lab->loads - start > limits.group_budget) {
                return lab_undecided(level->lab, "no smallest conflicting set found in %d loads",
                                     limits.group_budget);
            }
        }
    }
    return 0;
}

/*
 * Does each member matter? All are tried in small sets, a sample of them in large ones: one drawn
 * from each of some stretches, for what does not belong may lie as regularly as any fixed step.
 */
static int ring_is_minimal(struct level *level, bool *minimal, const struct ring *ring)
{
    size_t checks = ring->count <= limits.check_all ? ring->count : limits.check_some;
    struct rng rng;
    rng_seed(&rng, ring->count);
    *minimal = true;
    for (size_t i = 0; i < checks && *minimal; i++) {
        size_t from = i * ring->count / checks, end = (i + 1) * ring->count / checks;
        size_t at = from + (size_t)rng_below(&rng, end - from);
        enum fit_verdict verdict = FIT_UNKNOWN;
        int rc = verdict_without(level, &verdict, ring, at, at + 1);
        if (rc) {
            return rc;
        }
        *minimal = verdict == FIT_YES;
    }
    return 0;
}

struct suspect {
    uint32_t offset, misses;
};

static int compare_suspects(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    return x->misses != y->misses ? order_u64(x->misses, y->misses)
                                  : order_u64(x->offset, y->offset);
}

/*
 * How many misses make an element suspect. Members of the one set that is too full miss about
 * equally often, what noise or settling put on others is less: a third of what those have that come
 * close to the most.
 */
static uint32_t least_misses(const uint32_t *misses, size_t count, bool noisy)
{
    uint32_t most = 0;
    uint64_t sum = 0, members = 0;
    for (size_t i = 0; i < count; i++) {
        most = misses[i] > most ? misses[i] : most;
    }
    for (size_t i = 0; i < count; i++) {
        bool close = misses[i] && misses[i] >= most / 3;
        sum += close ? misses[i] : 0;
        members += close;
    }
    uint32_t least = members ? (uint32_t)(sum / members / 3) : 1;
    uint32_t lowest = noisy ? 2 : 1;
    return least < lowest ? lowest : least;
}

/* The ring of the suspects, those with the fewest misses first; does it not fit? */
static int ring_of_suspects(struct level *level, struct ring *out, bool *conflict,
                            const uint32_t *misses, size_t count, uint32_t least)
{
    struct suspect *suspects = malloc((count + 1) * sizeof *suspects);
    enum fit_verdict verdict = FIT_YES;
    if (!suspects) {
        return error_memory();
    }
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (misses[i] >= least) {
            suspects[out->count++] = (struct suspect){(uint32_t)(i * level->fit.stride), misses[i]};
        }
    }
    qsort(suspects, out->count, sizeof *suspects, compare_suspects);
    for (size_t i = 0; i < out->count; i++) {
        out->offsets[i] = suspects[i].offset;
    }
    free(suspects);
    int rc = groups_verdict(level, &verdict, out->offsets, out->count);
    *conflict = verdict == FIT_NO;
    return rc;
}

/* More and more walks, `passes` at most, and now and then a look at who missed. */
static int watch_misses(struct level *level, struct ring *out, struct fit *fit,
                        const struct walk_shape *shape, uint32_t passes)
{
    uint64_t start = level->lab->loads;
    bool conflict = false;
    size_t shown = 0;
    for (uint32_t pass = 0; pass < passes && !conflict; pass++) {
        bool look = (pass & (pass - 1)) == 0 || pass + 1 == passes;
        uint32_t least = least_misses(fit->misses, shape->count, fit->noisy);
        int rc =
            look ? ring_of_suspects(level, out, &conflict, fit->misses, shape->count, least) : 0;
        if (rc == 0 && look && !conflict && fit->noisy && pass < 2) {
            rc = ring_of_suspects(level, out, &conflict, fit->misses, shape->count, 1);
        }
        if (rc || conflict) {
            return rc;
        }
        if (look && pass > limits.min_passes && out->count == shown && level->habits.late == 0) {
            break; /* nobody new shows */
        }
        shown = look ? out->count : shown;
        if (level->lab->loads - start > limits.group_budget) {
            break;
        }
        rc = fit_count_misses(level, fit->misses, shape, pass);
        if (rc) {
            return rc;
        }
    }
    out->count = conflict ? out->count : 0;
    return 0;
}

/*
 * 1. Who missed in the walk of one element too many. Random replacement shows its members one by
 * one, so the walk is repeated until they stand out. Empty when those that missed do fit together.
 */
static int see_misses(struct level *level, struct ring *out, uint32_t passes)
{
    struct fit fit;
    struct walk_shape shape = {.stride = level->fit.stride, .count = level->fit.count + 1};
    int rc = fit_test(level, &fit, &shape);
    if (rc) {
        return rc;
    }
    if (fit.verdict == FIT_YES) { /* the edge was found too low */
        fit_free(&fit);
        out->count = 0;
        return level_find_edge(level, level->fit.stride, level->fit.count + 1);
    }
    rc = watch_misses(level, out, &fit, &shape, passes);
    fit_free(&fit);
    return rc;
}

static int by_first_misses(struct level *level, struct ring *out)
{
    return see_misses(level, out, limits.few_passes);
}

static int by_misses(struct level *level, struct ring *out)
{
    return see_misses(level, out, limits.max_passes);
}

/* `count` elements, `step` apart: do they not fit? */
static int ring_of_spacing(struct level *level, struct ring *out, bool *conflict, size_t count,
                           size_t step)
{
    enum fit_verdict verdict = FIT_UNKNOWN;
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        out->offsets[i] = (uint32_t)(i * step * level->fit.stride);
    }
    int rc = groups_verdict(level, &verdict, out->offsets, count);
    *conflict = verdict == FIT_NO;
    return rc;
}

/* Do lines of before leave it one by one, so that each verdict takes long? */
static bool settles_slowly(const struct level *level)
{
    return level->habits.late > 0 && !level->habits.begins_empty;
}

/* 2. Equally spaced lines: with w ways, capacity / w apart. */
static int by_spacing(struct level *level, struct ring *out)
{
    size_t fits = level->fit.count,
           most = settles_slowly(level) ? limits.most_slow : limits.most_ways;
    bool conflict = false;
    int rc = 0;
    for (size_t ways = 1; rc == 0 && !conflict && ways <= fits && ways <= most; ways++) {
        if (fits % ways == 0) {
            rc = ring_of_spacing(level, out, &conflict, ways + 1, fits / ways);
        }
    }
    out->count = conflict ? out->count : 0;
    return rc;
}

/*
 * 4. Where sets differ, the capacity says little of their number: then any spacing, the widest
 * first; as many elements as it takes to go a little beyond what fits.
 */
static int by_any_spacing(struct level *level, struct ring *out)
{
    size_t fits = level->fit.count;
    uint64_t start = level->lab->loads;
    bool conflict = false;
    int rc = 0;
    if (fits > limits.most_spacings) {
        out->count = 0;
        return 0;
    }
    for (size_t step = fits / 2; rc == 0 && !conflict && step >= 1; step--) {
        size_t count = (level->fit.certain ? fits : fits + fits / limits.roughly) / step + 2;
        if (count <= fits + 1) {
            rc = ring_of_spacing(level, out, &conflict, count, step);
        }
        if (level->lab->loads - start > limits.group_budget) {
            break;
        }
    }
    out->count = conflict ? out->count : 0;
    return rc;
}

struct members {
    struct level *level;
    const struct ring *whole;
    struct ring *found;
    uint64_t start;
};

static int search_members(struct members *m, size_t from, size_t to)
{
    struct level *level = m->level;
    if (level->lab->loads - m->start > limits.group_budget) {
        return lab_undecided(level->lab, "no smallest conflicting set found in %d loads",
                             limits.group_budget);
    }
    enum fit_verdict verdict = FIT_UNKNOWN;
    int rc = verdict_without(level, &verdict, m->whole, from, to);
    if (rc || verdict != FIT_YES) {
        return rc;
    }
    if (to - from == 1) {
        m->found->offsets[m->found->count++] = m->whole->offsets[from];
        return 0;
    }
    size_t middle = from + (to - from) / 2;
    rc = search_members(m, from, middle);
    return rc ? rc : search_members(m, middle, to);
}

/* 5. Group testing over everything. `out` is empty when no member shows (several lines too many).
 */
static int by_groups(struct level *level, struct ring *out)
{
    struct ring whole = {.count = level->fit.count + 1};
    whole.offsets = malloc(whole.count * sizeof *whole.offsets);
    if (!whole.offsets) {
        return error_memory();
    }
    for (size_t i = 0; i < whole.count; i++) {
        whole.offsets[i] = (uint32_t)(i * level->fit.stride);
    }
    out->count = 0;
    struct members m = {level, &whole, out, level->lab->loads};
    int rc = search_members(&m, 0, whole.count);
    enum fit_verdict verdict = FIT_YES;
    rc = rc ? rc : groups_verdict(level, &verdict, out->offsets, out->count);
    if (rc == 0 && verdict != FIT_NO) {
        memcpy(out->offsets, whole.offsets, whole.count * sizeof *whole.offsets);
        out->count = whole.count;
    }
    free(whole.offsets);
    return rc;
}

/* Co-misses are too few where a window does not hold the lines twice. */
static int by_co_misses(struct level *level, struct ring *out)
{
    if (2 * level->fit.count > level->max_window) {
        return settles_slowly(level) ? by_any_spacing(level, out) : 0;
    }
    return co_miss_find(level, out->offsets, &out->count);
}

typedef int ring_finder(struct level *, struct ring *);
static const struct {
    ring_finder *find;
    const char *how;
} finders[] = {
    {by_first_misses, "they are those that missed"},
    {by_spacing, "they are equally spaced"},
    {by_co_misses, "they miss together"},
    {by_misses, "they are those that missed"},
    {by_spacing, "they are equally spaced"},
    {by_any_spacing, "they are equally spaced"},
    {by_groups, "found by group testing"},
};
/* From the first of some on, up to the last. */
enum { QUICK, CO_MISSES = 2, EASY, EASY_END = 5, SPACED_END, ALL_END };

static int find_ring(struct level *level, struct ring *ring, const char **how, size_t first,
                     size_t end)
{
    for (size_t i = first; i < end; i++) {
        bool minimal = false;
        size_t fits = level->fit.count;
        uint32_t *room = realloc(ring->offsets, (fits + 1) * sizeof *room);
        if (!room) {
            return error_memory();
        }
        ring->offsets = room;
        int rc = finders[i].find(level, ring);
        if (rc == 0 && level->fit.count != fits) { /* the edge moved: again */
            i = first - 1;
            continue;
        }
        if (rc == 0 && ring->count) {
            rc = ring_is_minimal(level, &minimal, ring);
        }
        if (rc == 0 && ring->count && !minimal && (ring->count <= 1024 || i + 1 == ALL_END)) {
            rc = ring_reduce(level, ring);
            rc = rc ? rc : ring_is_minimal(level, &minimal, ring);
        }
        if (rc == 0 && minimal && ring->count > 1) { /* one address conflicts with nothing */
            *how = finders[i].how;
            return 0;
        }
        if (rc && rc != INFER_UNDECIDED) {
            return rc;
        }
    }
    return lab_undecided(level->lab, "no smallest set of conflicting addresses shows");
}

/* Takes the ring over as the level's conflicting set. */
static void keep_conflict(struct level *level, struct ring *ring, const char *how,
                          double confidence)
{
    char id[24];
    sort_u32(ring->offsets, ring->count);
    free(level->conflict.offsets);
    level->conflict.offsets = ring->offsets;
    level->conflict.count = ring->count;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: %zu addresses (%u, %u, ... %u) do not fit together, and fit without "
                 "any one of them; %s",
                 level->info->op, ring->count, ring->offsets[0], ring->offsets[1],
                 ring->offsets[ring->count - 1], how);
    attribute_set(&level->result->ways, (double)(ring->count - 1), "1", confidence, id);
}

static int find_conflict(struct level *level, size_t first, size_t end, double confidence)
{
    struct ring ring = {0};
    const char *how = "";
    char text[120];
    int rc = find_ring(level, &ring, &how, first, end);
    if (rc) {
        free(ring.offsets);
        return rc;
    }
    if (!ring.offsets || ring.count < 2) {
        free(ring.offsets);
        return lab_undecided(level->lab, "no smallest conflicting set");
    }
    snprintf(text, sizeof text, "%s among the %zu at stride %llu of which one is too many", how,
             level->fit.count + 1, (unsigned long long)level->fit.stride);
    keep_conflict(level, &ring, text, confidence);
    return 0;
}

/* The shortest beginning of the ring that does not fit: its last element is in the set. */
static int cut_ring(struct level *level, struct ring *ring)
{
    size_t fits = 0, fails = ring->count;
    int rc = 0;
    while (rc == 0 && fails - fits > 1) {
        enum fit_verdict verdict = FIT_UNKNOWN;
        size_t middle = fits + (fails - fits) / 2;
        rc = groups_verdict(level, &verdict, ring->offsets, middle);
        *(verdict == FIT_NO ? &fails : &fits) = middle;
    }
    ring->count = fails;
    return rc;
}

/* Which of them miss in a walk that reads each twice in a row: with that every policy gives all
 * lines of a set up that has too many. */
static int count_missing(struct level *level, uint32_t *misses, const struct ring *ring,
                         unsigned walks)
{
    size_t count = 2 * ring->count;
    uint32_t *twice = malloc(count * sizeof *twice);
    if (!twice) {
        return error_memory();
    }
    for (size_t i = 0; i < ring->count; i++) {
        twice[2 * i] = ring->offsets[i];
        twice[2 * i + 1] = ring->offsets[i] + CHASE_WORD_BYTES;
    }
    struct walk_plan plan = level_plan(level, (struct walk_shape){.ring = twice, .count = count});
    uint64_t passes = walks ? limits.narrow_warm : limits.narrow_loads / count;
    plan.warm = count * (passes < limits.narrow_most ? passes : limits.narrow_most);
    plan.window = count < level->max_window ? (uint32_t)(level->max_window / count * count)
                                            : level->max_window;
    plan.windows = (uint32_t)((count + plan.window - 1) / plan.window);
    plan.persist = true;
    plan.filler = level_filler_of_twice(level);
    plan.run = 600 + walks;
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        size_t element = walk_element(&walk, i);
        misses[element / 2] += element % 2 == 0 && level_class(level, walk.latency[i]) == LOAD_MISS;
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    free(twice);
    return rc;
}

static void keep_missing(struct ring *out, const struct ring *ring, const uint32_t *misses)
{
    out->count = 0;
    for (size_t i = 0; i < ring->count; i++) {
        if (misses[i] > 0) {
            out->offsets[out->count++] = ring->offsets[i];
        }
    }
}

/*
 * Of a ring in which one set has a line too many, the lines that miss at all, if they do not fit
 * either: mostly that set, and nothing else. Walks go on while others show.
 */
static int narrow_ring(struct level *level, struct ring *ring)
{
    struct ring fewer = {.offsets = malloc((ring->count + 1) * sizeof *fewer.offsets)};
    uint32_t *misses = calloc(ring->count + 1, sizeof *misses);
    enum fit_verdict verdict = FIT_UNKNOWN;
    if (!fewer.offsets || !misses) {
        free(fewer.offsets);
        free(misses);
        return error_memory();
    }
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < limits.narrow_walks; i++) {
        size_t before = fewer.count;
        rc = count_missing(level, misses, ring, i);
        keep_missing(&fewer, ring, misses);
        if (fewer.count == before && i > 0) {
            break;
        }
    }
    rc = rc ? rc : groups_verdict(level, &verdict, fewer.offsets, fewer.count);
    if (rc == 0 && verdict == FIT_NO) {
        memcpy(ring->offsets, fewer.offsets, fewer.count * sizeof *ring->offsets);
        ring->count = fewer.count;
    }
    if (rc && lab_soft(rc)) { /* a recording may lack it, and the ring is as it was */
        level->lab->why = (struct refusal){0};
        rc = 0;
    }
    free(fewer.offsets);
    free(misses);
    return rc;
}

int level_conflict_among(struct level *level, const uint32_t *offsets, size_t count,
                         double confidence)
{
    struct ring ring = {.offsets = malloc((count + 1) * sizeof *offsets), .count = count};
    enum fit_verdict verdict = FIT_UNKNOWN;
    bool minimal = false;
    if (!ring.offsets) {
        return error_memory();
    }
    memcpy(ring.offsets, offsets, count * sizeof *offsets);
    int rc = ring.count <= limits.narrow_least ? 0 : narrow_ring(level, &ring);
    rc = rc ? rc : groups_verdict(level, &verdict, ring.offsets, ring.count);
    if (rc == 0 && verdict == FIT_NO) {
        rc = cut_ring(level, &ring);
        rc = rc || ring.count <= limits.narrow_least ? rc : narrow_ring(level, &ring);
        rc = rc ? rc : ring_reduce(level, &ring);
        rc = rc || ring.count < 2 ? rc : ring_is_minimal(level, &minimal, &ring);
    }
    if (rc == 0 && minimal) {
        keep_conflict(level, &ring, "found among lines that missed", confidence);
        return 0;
    }
    free(ring.offsets);
    return rc ? rc : lab_undecided(level->lab, "no smallest set of lines that miss shows");
}

/* `count` different lines drawn from a range that is many times as long as they are; NULL: no
 * memory, or no such range. */
static uint32_t *draw_lines(const struct level *level, size_t count, uint64_t seed)
{
    uint64_t unit = level->timing.fetch_bytes > limits.drawn_unit ? level->timing.fetch_bytes
                                                                  : limits.drawn_unit;
    uint64_t places = level->lab->options->max_footprint_bytes / unit;
    uint64_t wanted = (uint64_t)count * limits.drawn_range;
    places = places < wanted ? places : wanted;
    uint32_t *lines = places >= 2 * count ? malloc(count * sizeof *lines) : NULL;
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; lines && i < count; i++) { /* one of each stretch, in order */
        uint64_t from = i * places / count, end = (i + 1) * places / count;
        lines[i] = (uint32_t)((from + rng_below(&rng, end - from)) * unit);
    }
    for (size_t i = count; lines && i > 1; i--) {
        size_t other = (size_t)rng_below(&rng, i);
        uint32_t line = lines[i - 1];
        lines[i - 1] = lines[other];
        lines[other] = line;
    }
    return lines;
}

/* A conflicting set among those that missed, or, for some policies show few of a set, among all. */
static int conflict_of_drawn(struct level *level, const uint32_t *lines, size_t count, bool all)
{
    struct fit fit;
    int rc = fit_test(level, &fit, &(struct walk_shape){.ring = lines, .count = count});
    if (rc) {
        return rc;
    }
    uint32_t *missed = malloc((count + 1) * sizeof *missed);
    size_t found = 0;
    for (size_t i = 0; missed && i < count; i++) {
        if (all || fit.misses[i] > 0) {
            missed[found++] = lines[i];
        }
    }
    bool crowded = fit.verdict == FIT_NO && found > 2;
    rc = !missed   ? error_memory()
         : crowded ? level_conflict_among(level, missed, found, limits.drawn_sure)
                   : INFER_UNDECIDED;
    free(missed);
    fit_free(&fit);
    return rc;
}

/*
 * 6. A cache may have data for fewer lines than its tags reach: then what is one too many conflicts
 * with all others, and no set shows at the edge. Drawn lines, fewer than fit, fill some sets
 * nevertheless with more than their ways.
 */
static int ways_among_drawn(struct level *level)
{
    size_t count = level->fit.count - level->fit.count / limits.drawn_less;
    const struct refusal why = level->lab->why;
    const uint64_t most = level->lab->loads + limits.drawn_budget;
    int rc = INFER_UNDECIDED;
    for (unsigned i = 0; rc == INFER_UNDECIDED && i <= limits.draws && count >= 2; i++) {
        if (level->lab->loads > most) {
            break;
        }
        bool all = i == limits.draws;
        uint32_t *lines = draw_lines(level, count, all ? 1 : i + 1);
        rc = lines ? conflict_of_drawn(level, lines, count, all) : INFER_UNDECIDED;
        free(lines);
    }
    if (rc && lab_soft(rc)) { /* an older recording, too */
        level->lab->why = why;
        rc = INFER_UNDECIDED;
    }
    level->by_drawn = rc == 0;
    return rc;
}

/* The same among as many lines as fit, two, four, eight .. steps apart. */
static int ways_among_far(struct level *level)
{
    size_t count = level->fit.count;
    const struct refusal why = level->lab->why;
    uint64_t reach = level->lab->options->max_footprint_bytes;
    uint32_t *lines = malloc(count * sizeof *lines);
    int rc = INFER_UNDECIDED;
    if (!lines) {
        return error_memory();
    }
    reach = reach < limits.far_bytes ? reach : limits.far_bytes;
    for (uint64_t step = 2; rc == INFER_UNDECIDED && step * level->fit.stride * count <= reach;
         step *= 2) {
        for (size_t i = 0; i < count; i++) {
            lines[i] = (uint32_t)(i * step * level->fit.stride);
        }
        rc = conflict_of_drawn(level, lines, count, false);
    }
    free(lines);
    if (rc && lab_soft(rc)) {
        level->lab->why = why;
        rc = INFER_UNDECIDED;
    }
    level->by_drawn = rc == 0;
    return rc;
}

static bool may_draw(const struct level *level)
{
    return !settles_slowly(level) && !level->outermost && !level->front && level->fit.certain;
}

/*
 * All elements up to the edge conflict in a cache of one set, and as well in one that has data for
 * fewer lines than its tags reach. In the latter drawn lines, fewer than fit, show a set, or lines
 * so far apart that they meet some sets alone.
 */
static int doubt_whole(struct level *level)
{
    bool whole = level->conflict.count == level->fit.count + 1;
    if (!whole || level->fit.count <= limits.few_whole || !may_draw(level)) {
        return 0;
    }
    int rc = ways_among_drawn(level);
    rc = rc == INFER_UNDECIDED ? ways_among_far(level) : rc;
    return rc == INFER_UNDECIDED ? 0 : rc;
}

/*
 * Where the easy ways fail at the first stride, they may succeed at one that is a multiple of
 * nearly every line there is: then each step is a whole number of lines, and the index repeats in
 * whole steps.
 */
int level_ways(struct level *level)
{
    const struct {
        uint64_t stride;
        size_t from, end;
    } tries[] = {
        {0, QUICK, EASY},     {limits.common_multiple, QUICK, CO_MISSES},
        {0, EASY, EASY_END},  {limits.common_multiple, EASY, SPACED_END},
        {0, CO_MISSES, EASY}, {0, EASY, ALL_END},
    };
    enum { TRIES = sizeof tries / sizeof *tries, QUICK_TRIES = 2, DRAWN_AFTER = TRIES - 2 };
    uint64_t first = level->fit.stride;
    if (level->front && first == level->timing.fetch_bytes) {
        return behind_ways(level);
    }
    /* Each of the hundreds of verdicts of group testing must be right: not where noise makes them a
     * matter of chance. */
    size_t count = level->habits.late > 0 && level->timing.false_slow > 0 ? TRIES - 1 : TRIES;
    int rc = level_learn_beginning(level);
    if (rc) {
        return rc;
    }
    bool slow = settles_slowly(level);
    rc = INFER_UNDECIDED;
    uint64_t start = level->lab->loads;
    for (size_t i = slow ? 0 : QUICK_TRIES; i < count && rc == INFER_UNDECIDED; i++) {
        if (slow && i > QUICK_TRIES && tries[i].from == CO_MISSES) {
            continue; /* it was tried */
        }
        if (level->lab->loads - start > limits.ways_budget) {
            break;
        }
        uint64_t stride = tries[i].stride ? tries[i].stride : first;
        rc = stride == level->fit.stride ? 0 : level_find_edge(level, stride, 1);
        level->large = false; /* at the first stride it was not */
        rc = rc ? rc
                : find_conflict(level, tries[i].from, tries[i].end, level->fit.certain ? 0.8 : 0.6);
        if (rc == INFER_UNDECIDED && i == DRAWN_AFTER && may_draw(level)) {
            rc = ways_among_drawn(level);
        }
    }
    rc = rc ? rc : doubt_whole(level);
    if (rc == INFER_UNDECIDED) {
        char reason[160];
        snprintf(reason, sizeof reason,
                 "%zu addresses %llu B apart fit, but not how long a line is: "
                 "%.80s",
                 level->fit.count, (unsigned long long)level->fit.stride, level->lab->why.reason);
        attribute_refuse(&level->result->size, "B", reason);
    }
    return rc;
}

int level_refine_ways(struct level *level)
{
    if (level->by_drawn) { /* no set shows at the edge */
        return 0;
    }
    int rc = find_conflict(level, EASY, EASY_END, 0.8);
    return rc == INFER_UNDECIDED ? 0 : rc;
}
