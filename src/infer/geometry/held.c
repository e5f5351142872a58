/*
 * How many lines a cache holds when every set is full. Far more lines than fit are read one after
 * the other, and then back again from the last one on, at another word of each:
 *
 *     read   0 1 2 ... n-2 n-1 | n-1 n-2 ... 2 1 0
 *                                 h   h  . h  . .      h: still held
 *
 * On the way back each set still has its last lines, as many as it has ways, and comes to them
 * before any other takes their place: of LRU, FIFO and all policies under which a line that was
 * never read again leaves in the order in which it came. So the hits are all the lines that the
 * cache holds, whatever chooses a set. That is not assumed: other lines must give the same number,
 * to a line, and it must be a multiple of the ways. Victims that are drawn give another number each
 * time.
 *
 * Each window is recorded in a walk of its own, for records are written through the same cache.
 */
#include "infer/geometry/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide). */
static const struct {
    unsigned rounds, draws;
    double first, spread, spread_ways, sure, unordered;
    uint64_t loads;
} limits = {
    .rounds = 6,       /* numbers of lines that are tried */
    .draws = 3,        /* beginnings that must agree */
    .first = 2,        /* times what fits in order: what may be held, at first */
    .spread = 1,       /* times what is held: lines that are read, and more the fewer ways there */
    .spread_ways = 11, /* are, for a set of w ways to be full though sets are met by chance */
    .sure = 0.95,      /* confidence of what three beginnings tell to a line. Chosen */
    .unordered = 0.45, /* the same where lines leave in another order than they came, or in one that
                          is not known. Blind trials */
    .loads = 2500000,  /* loads that all this may take */
};

/* Lines from `first` on, and back. NULL: no memory. */
static uint32_t *lay_out(const struct level *level, size_t first, size_t lines)
{
    uint32_t *ring = malloc(2 * lines * sizeof *ring);
    for (size_t i = 0; ring && i < lines; i++) {
        uint32_t line = (uint32_t)((first + i) * level->line.bytes);
        ring[lines + i] = line;
        ring[lines - 1 - i] = line + CHASE_WORD_BYTES;
    }
    return ring;
}

static int count_held(struct level *level, size_t *held, size_t first, size_t lines)
{
    uint32_t *ring = lay_out(level, first, lines);
    if (!ring) {
        return error_memory();
    }
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = ring, .count = 2 * lines});
    plan.warm = 2 * lines;
    plan.window = (uint32_t)(lines < level->max_window ? lines : level->max_window);
    plan.windows = (uint32_t)((lines + plan.window - 1) / plan.window);
    struct walk walk;
    int rc = walk_run(level->lab, &walk, &plan);
    *held = 0;
    for (size_t i = 0; rc == 0 && i < walk.count; i++) {
        *held += walk_element(&walk, i) < lines && level_class(level, walk.latency[i]) == LOAD_HIT;
    }
    if (rc == 0) {
        walk_free(&walk);
    }
    free(ring);
    return rc;
}

/* Is there memory, and are there loads, for so many lines from several beginnings? */
static bool can_read(const struct level *level, size_t lines, uint64_t start)
{
    uint64_t windows = (lines + level->max_window - 1) / level->max_window;
    uint64_t loads = limits.draws * windows * (2 * (uint64_t)lines + level->max_window);
    uint64_t bytes = (uint64_t)limits.draws * lines * level->line.bytes;
    return bytes <= level->lab->options->max_footprint_bytes && bytes <= UINT32_MAX &&
           level->lab->loads - start + loads <= limits.loads;
}

/* So many lines that each set has more than it holds, and what is held of them. */
static int find_enough(struct level *level, size_t *lines, size_t *held, uint64_t start)
{
    double ways = (double)(level->conflict.count - 1), most = limits.first * (double)*lines;
    for (unsigned round = 0; round < limits.rounds; round++) {
        *lines = (size_t)(most * (limits.spread + limits.spread_ways / sqrt(ways)));
        if (!can_read(level, *lines, start)) {
            break;
        }
        int rc = count_held(level, held, 0, *lines);
        if (rc || (double)*held <= most) {
            return rc;
        }
        most = 1.1 * (double)*held;
    }
    return lab_undecided(level->lab, "reading %zu lines to and fro takes too long", *lines);
}

int level_held(struct level *level, size_t *held)
{
    uint64_t start = level->lab->loads;
    size_t lines = level->fit.count, ways = level->conflict.count - 1, again = 0;
    *held = 0;
    int rc = find_enough(level, &lines, held, start);
    if (rc == 0 && (*held == 0 || *held % ways != 0)) {
        return lab_undecided(level->lab, "%zu lines that are held are no multiple of the ways",
                             *held);
    }
    for (size_t i = 1; rc == 0 && i < limits.draws; i++) {
        rc = count_held(level, &again, i * lines, lines);
        if (rc == 0 && again != *held) {
            rc = lab_undecided(level->lab, "of %zu lines read to and fro %zu are held, and %zu",
                               lines, *held, again);
        }
    }
    return rc;
}

void level_tell_held(struct level *level, size_t held)
{
    char id[24];
    struct cache_result *r = level->result;
    size_t ways = level->conflict.count - 1, sets = held / ways;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: of lines read one after the other and then back %zu are still held, "
                 "the same of others; with %zu ways that is %zu sets",
                 level->info->op, held, ways, sets);
    level->size_bytes = held * level->line.bytes;
    attribute_set(&r->size, (double)level->size_bytes, "B", limits.sure, id);
    attribute_set(&r->sets, (double)sets, "1", limits.sure, id);
    level->by_held = true;
}

void level_doubt_held(struct level *level)
{
    struct cache_result *r = level->result;
    const char *name = r->policy.confidence > 0 ? r->policy.name : "";
    if (level->by_held && strcmp(name, "lru") != 0 && strcmp(name, "fifo") != 0) {
        r->sets.confidence = fmin(r->sets.confidence, limits.unordered);
        r->size.confidence = fmin(r->size.confidence, limits.unordered);
    }
}
