/*
 * Chooses filler accesses and walks them at the end of each pass. Each set in front that a ring
 * uses gets so many of them that they evict the ring's lines before the next pass: one more than
 * the ways in all where the oldest line goes, a few times as many where victims are drawn or where
 * lines that were used twice stay longer. Some lines may stay all the same. Then the cache behind
 * sees fewer loads, and a walk needs longer.
 *
 * The sets behind of the ring's own lines get no filler accesses. The index tells which lines lie
 * in them. While there is no index, only one set is known: the one whose parts, left out, make room
 * for all others. While an index is sought, lines without a known set come last, those of one
 * residue together. So few sets are at risk. A set that then seems to hold less than another is
 * tried with other filler accesses (filler_turn). What is wrong all the same mostly fails the check
 * of the index.
 */
#include "infer/behind/filler.h"

#include <stdlib.h>
#include <string.h>

#include "infer/geometry/members.h"
#include "infer/policy/rule.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned most_words;
    double short_sets;
} limits = {
    .most_words = 8,    /* words of a line, walked one after the other */
    .short_sets = 0.02, /* share of the sets in front that keep a line by chance */
};
enum { NO_CLASS = UINT16_MAX }; /* as in index_map.c */
enum { CLASSES = 1 << 16 };     /* that a number can be */

static bool goes_by_age(const char *policy)
{
    return strcmp(policy, "lru") == 0 || strcmp(policy, "fifo") == 0 || strcmp(policy, "none") == 0;
}

static bool goes_in_turn(const char *policy)
{
    return strcmp(policy, "plru") == 0 || strcmp(policy, "nru") == 0;
}

static bool may_be_drawn(const char *policy)
{
    return policy[0] == '\0' || policy_is_drawn(policy);
}

void filler_free(struct filler *filler)
{
    if (filler) {
        free(filler->outside);
        free(filler);
    }
}

void filler_forget_outside(struct filler *filler)
{
    free(filler->outside);
    filler->outside = NULL;
    filler->outside_count = 0;
}

static size_t reach_of(const struct filler *filler)
{
    return (size_t)(filler->level->lab->options->max_footprint_bytes / filler->front->line.bytes);
}

void filler_turn(struct filler *filler, unsigned number)
{
    filler->turn = number;
}

int filler_room(uint32_t **out, const struct filler *filler)
{
    *out = malloc((limits.most_words * reach_of(filler) + 1) * sizeof **out);
    return *out ? 0 : error_memory();
}

/* ---- choosing ---- */

/* What is sought for one ring. */
struct choice {
    const struct filler *filler;
    bool blind;        /* which lines share a set in front is not known */
    bool *used;        /* per line in front; owned */
    bool *guarded;     /* per class behind; owned */
    uint32_t *lacking; /* per set in front: lines; owned */
};

/* Was the index looked at so far? One of address bits was up to a limit alone. */
static bool is_beyond(const struct filler *filler, size_t line)
{
    return filler->front->map.limit && line >= filler->front->map.limit;
}

static size_t front_set(const struct choice *choice, size_t line)
{
    return choice->blind ? 0 : set_map_class(&choice->filler->front->map, line);
}

/* Lines that the cache in front holds: where sets are hashed far more than the longest array that
 * fits. */
static size_t front_holds(const struct level_summary *front)
{
    uint64_t fits = front->fit.count * front->fit.stride, holds = front->size_bytes;
    return (size_t)((holds > fits ? holds : fits) / front->line.bytes) + 1;
}

/*
 * Times as many lines that evict every other one: at least twice as many. If a hash gives the sets
 * so many by chance, few of these have less than their ways of them.
 */
static size_t front_times(const struct level_summary *front)
{
    double ways = front->ways ? (double)front->ways : 1;
    size_t times = 2;
    while (1 - poisson_tail((double)times * ways, (uint64_t)ways) > limits.short_sets) {
        times++;
    }
    return times;
}

/* Without a known index the cache in front is taken for one set, some times as large. */
static size_t front_ways(const struct choice *choice, size_t set)
{
    const struct level_summary *front = choice->filler->front;
    size_t all = front_holds(front);
    if (choice->blind) {
        return front_times(front) * all;
    }
    size_t ways = front->map.ways[set] ? front->map.ways[set] : front->ways;
    return ways ? ways : all;
}

static size_t class_behind(const struct filler *filler, uint64_t offset)
{
    const struct level *level = filler->level;
    return set_map_class(&level->map, line_of(level, offset));
}

static bool is_conflicting(const struct filler *filler, uint64_t offset)
{
    const struct level *level = filler->level;
    for (size_t i = 0; i < level->conflict.count; i++) {
        if (line_of(level, level->conflict.offsets[i]) == line_of(level, offset)) {
            return true;
        }
    }
    return false;
}

/* Are they all in the conflicting set? Then what lies outside of that is known without an index. */
static bool guards_conflict(const struct filler *filler, const struct walk_shape *ring,
                            size_t guarded)
{
    bool all = filler->outside != NULL;
    for (size_t i = 0; all && i < guarded; i++) {
        all = is_conflicting(filler, ring->ring[i]);
    }
    return all;
}

static void choice_free(struct choice *choice)
{
    free(choice->used);
    free(choice->guarded);
    free(choice->lacking);
    choice->used = choice->guarded = NULL;
    choice->lacking = NULL;
}

static int choice_create(struct choice *out, const struct filler *filler,
                         const struct walk_shape *ring, size_t guarded, size_t times)
{
    size_t lines = reach_of(filler), line_bytes = (size_t)filler->front->line.bytes;
    bool blind = filler->front->map.sets == 0;
    for (size_t i = 0; i < ring->count; i++) {
        blind = blind || is_beyond(filler, ring->ring[i] / line_bytes);
    }
    size_t sets = blind ? 1 : filler->front->map.sets;
    *out = (struct choice){.filler = filler,
                           .blind = blind,
                           .used = calloc(lines + 1, sizeof *out->used),
                           .guarded = calloc(CLASSES, sizeof *out->guarded),
                           .lacking = calloc(sets + 1, sizeof *out->lacking)};
    if (!out->used || !out->guarded || !out->lacking) {
        choice_free(out);
        (void)error_memory();
        return SONDE_ENOMEM;
    }
    for (size_t i = 0; i < ring->count; i++) {
        size_t line = ring->ring[i] / line_bytes;
        if (line < lines && !out->used[line]) {
            out->used[line] = true;
            out->lacking[front_set(out, line)]++;
        }
        out->guarded[class_behind(filler, ring->ring[i])] |= i < guarded;
    }
    for (size_t set = 0; set < sets; set++) {
        size_t ways = front_ways(out, set) + filler->favoured;
        size_t enough = times * filler->rounds * ways + 1;
        size_t there = out->lacking[set];
        out->lacking[set] = there && there < enough ? (uint32_t)(enough - there) : 0;
    }
    return 0;
}

/* Takes a line, if its set still lacks one. */
static bool takes(struct choice *choice, uint64_t offset)
{
    size_t line = (size_t)(offset / choice->filler->front->line.bytes);
    if (line >= reach_of(choice->filler) || (!choice->blind && is_beyond(choice->filler, line))) {
        return false;
    }
    size_t set = front_set(choice, line);
    if (choice->used[line] || choice->lacking[set] == 0) {
        return false;
    }
    choice->used[line] = true;
    choice->lacking[set]--;
    return true;
}

struct candidate {
    uint32_t offset, order;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->order != y->order ? order_u64(x->order, y->order) : order_u64(x->offset, y->offset);
}

/* Lines of one residue come together, residues in another order each turn. */
static uint32_t place_of(uint32_t residue, unsigned turn)
{
    uint64_t mixed = (residue + UINT64_C(1)) * (2 * turn + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return 1 + (turn ? (uint32_t)(mixed >> 33) : residue);
}

/* Lines of other classes, those of known ones first. */
static int take_by_index(struct choice *choice, uint32_t *out, size_t *count)
{
    const struct filler *filler = choice->filler;
    const struct set_map *map = &filler->level->map;
    size_t lines = reach_of(filler), candidates = 0;
    struct candidate *all = malloc((lines + 1) * sizeof *all);
    if (!all) {
        return error_memory();
    }
    for (size_t line = 0; line < lines; line++) {
        uint32_t offset = (uint32_t)(line * filler->front->line.bytes);
        size_t class = class_behind(filler, offset);
        bool risky = !map->linear && class == NO_CLASS;
        uint32_t residue = map->period ? line_of(filler->level, offset) % map->period : 0;
        if (!choice->guarded[class] && choice->lacking[front_set(choice, line)]) {
            all[candidates++] =
                (struct candidate){offset, risky ? place_of(residue, filler->turn) : 0};
        }
    }
    qsort(all, candidates, sizeof *all, compare_candidates);
    for (size_t i = 0; i < candidates; i++) {
        if (takes(choice, all[i].offset)) {
            out[(*count)++] = all[i].offset;
        }
    }
    free(all);
    return 0;
}

/*
 * Where there are too few lines they are walked again, by other words. By then most of them are
 * evicted, and they evict others as they come back.
 */
static void take_again(struct choice *choice, uint32_t *out, size_t *count)
{
    const struct level_summary *front = choice->filler->front;
    size_t lines = *count;
    for (uint32_t word = 1; word < front->timing.fetch_bytes / 4 && word < limits.most_words;
         word++) {
        for (size_t i = 0; i < lines; i++) {
            size_t set = front_set(choice, out[i] / front->line.bytes);
            if (choice->lacking[set]) {
                choice->lacking[set]--;
                out[(*count)++] = out[i] + 4 * word;
            }
        }
    }
}

int filler_find(const struct filler *filler, uint32_t *out, size_t *count,
                const struct walk_shape *ring, size_t guarded, size_t times)
{
    struct choice choice;
    bool again = times == 1;
    int rc = choice_create(&choice, filler, ring, guarded, times);
    *count = 0;
    if (rc) {
        return rc;
    }
    if (guards_conflict(filler, ring, guarded)) {
        for (size_t i = 0; i < filler->outside_count; i++) {
            if (takes(&choice, filler->outside[i])) {
                out[(*count)++] = filler->outside[i];
            }
        }
    } else if (filler->level->map.sets) {
        rc = take_by_index(&choice, out, count);
    }
    if (again) {
        take_again(&choice, out, count);
    }
    choice_free(&choice);
    return rc;
}

/* ---- walking ---- */

/* Whole passes, as many as a window holds; a walk of less than one as it is. */
static void stretch(struct walk_plan *plan, size_t own, size_t all, uint32_t most)
{
    size_t passes = plan->window / own, rest = plan->window % own;
    uint64_t records = (uint64_t)plan->window * plan->windows;
    plan->warm = plan->warm / own * all + plan->warm % own;
    if (passes * all + rest <= most) {
        plan->window = (uint32_t)(passes * all + rest);
        return;
    }
    passes = most / all;
    plan->window = passes ? (uint32_t)(passes * all) : most;
    size_t each = passes ? passes * own : own;
    plan->windows = (uint32_t)((records + each - 1) / each);
}

/* The records of the ring, which comes first in what was walked. */
static int keep_own(struct lab *lab, struct walk *walk, const struct walk_shape *ring)
{
    size_t all = walk->shape.count;
    uint32_t *element = malloc((all + 1) * sizeof *element);
    if (!element) {
        return error_memory();
    }
    for (size_t i = 0; i < all; i++) {
        element[i] = i < ring->count ? (uint32_t)i : WALK_FILLER;
    }
    int rc = walk_keep(lab, walk, element, ring, walk->window);
    free(element);
    return rc;
}

/* As walk_run(). */
static int run_with_filler(struct lab *lab, struct walk *out, const struct walk_plan *plan)
{
    const struct walk_shape *ring = &plan->shape;
    const struct filler *filler = (const struct filler *)plan->filler; /* its base */
    struct walk_plan own = *plan;
    size_t room = ring->count + limits.most_words * reach_of(filler) + 1, fillers = 0;
    uint32_t *offsets = malloc(room * sizeof *offsets);
    if (!offsets) {
        return error_memory();
    }
    memcpy(offsets, ring->ring, ring->count * sizeof *offsets);
    int rc = filler_find(filler, offsets + ring->count, &fillers, ring,
                         plan->guarded ? plan->guarded : ring->count, 1);
    own.filler = NULL;
    own.shape = (struct walk_shape){.ring = offsets, .count = ring->count + fillers};
    if (fillers) {
        stretch(&own, ring->count, own.shape.count, filler->level->max_window);
    }
    rc = rc ? rc : walk_run(lab, out, &own);
    if (rc == 0) {
        rc = fillers ? keep_own(lab, out, ring) : 0;
        out->shape = *ring;
        if (rc) {
            walk_free(out);
        }
    }
    free(offsets);
    return rc;
}

int filler_create(struct level *level, uint32_t *outside, size_t outside_count)
{
    const struct level_summary *front = level->front;
    struct filler *filler = front && front->line.bytes ? calloc(1, sizeof *filler) : NULL;
    if (!filler) {
        free(outside);
        return front && front->line.bytes
                   ? error_memory()
                   : lab_undecided(level->lab, "the lines of %s, in front, are not known",
                                   level->info->behind);
    }
    *filler = (struct filler){.base.run = run_with_filler,
                              .level = level,
                              .front = front,
                              .rounds = goes_by_age(front->policy)    ? 1
                                        : goes_in_turn(front->policy) ? 2
                                                                      : 4,
                              .favoured = may_be_drawn(front->policy) ? 2 : 0,
                              .outside = outside,
                              .outside_count = outside_count};
    filler_free(level->filler);
    level->filler = filler;
    return 0;
}
