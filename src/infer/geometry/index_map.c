/*
 * A map of residues: line numbers modulo a period, each residue in some set, none with a rule. The
 * period is the distance after which the pattern of lines in one set repeats. Then set after set is
 * built from the lines a period apart that share a residue, and the residues that have no set yet
 * are walked past it: those that disturb it belong to it. A pattern that repeats sooner in this set
 * than in others gives a period that is a part of the true one; then multiples are tried.
 */
#include "infer/behind/filler.h"
#include "infer/geometry/index_map.h"

#include "infer/geometry/index_check.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    unsigned first_extent, multiples, load_budget;
} limits = {
    .first_extent = 64,     /* residues that are tried first */
    .multiples = 3,         /* multiples of the period that must agree */
    .load_budget = 6000000, /* loads that a map may cost */
};
#define MAX_EXTENT 4096
#define NO_CLASS UINT16_MAX

struct pattern {
    bool member[MAX_EXTENT + 1]; /* distance from the set's line */
    uint32_t extent;             /* so far */
};

/* The smallest distance by which the pattern repeats at least twice; 0: none. */
static uint32_t find_period(const struct pattern *pattern)
{
    for (uint32_t period = 1; 2 * period <= pattern->extent; period++) {
        bool repeats = pattern->member[period];
        for (uint32_t i = 0; repeats && i + period <= pattern->extent; i++) {
            repeats = pattern->member[i] == pattern->member[i + period];
        }
        if (repeats) {
            return period;
        }
    }
    return 0;
}

static int extend(struct pattern *pattern, const struct eviction_set *eviction, uint32_t extent)
{
    uint32_t *memory = calloc(2 * (size_t)extent, sizeof *memory);
    if (!memory) {
        return error_memory();
    }
    uint32_t *lines = memory, *found = memory + extent;
    size_t count = 0, found_count = 0;
    for (uint32_t i = pattern->extent + 1; i <= extent; i++) {
        lines[count++] = eviction->extra + i;
    }
    int rc = eviction_set_members(eviction, found, &found_count, lines, count);
    for (size_t i = 0; i < found_count; i++) {
        pattern->member[found[i] - eviction->extra] = true;
    }
    pattern->extent = extent;
    free(memory);
    return rc;
}

/* Behind another cache: are they in the set whichever lines keep the one in front busy? */
static int drop_disturbed(const struct eviction_set *eviction, uint32_t *found, size_t *count)
{
    struct filler *filler = eviction->level->filler;
    unsigned first = filler ? filler->turn : 0;
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; filler && rc == 0 && i < *count; i++) {
        bool in = true;
        for (unsigned turn = 1; rc == 0 && in && turn < FILLER_TURNS; turn++) {
            filler_turn(filler, (first + turn) % FILLER_TURNS);
            rc = eviction_set_any(eviction, &in, &found[i], 1);
        }
        found[kept] = found[i];
        kept += in;
    }
    if (filler) {
        filler_turn(filler, first);
        *count = kept;
    }
    return rc;
}

/* The residues without a class that lie in this set's set. */
static int claim(const struct eviction_set *eviction, struct set_map *map, size_t class)
{
    uint32_t *memory = calloc(2 * (size_t)map->period, sizeof *memory);
    if (!memory) {
        return error_memory();
    }
    uint32_t *lines = memory, *found = memory + map->period;
    size_t count = 0, found_count = 0;
    for (uint32_t i = 0; i < map->period; i++) {
        if (map->class_of[i] == NO_CLASS) {
            lines[count++] = i;
        }
    }
    int rc = eviction_set_members(eviction, found, &found_count, lines, count);
    rc = rc ? rc : drop_disturbed(eviction, found, &found_count);
    for (size_t i = 0; i < found_count; i++) {
        map->class_of[found[i]] = (uint16_t) class;
    }
    free(memory);
    return rc;
}

/*
 * A class's eviction set. Behind another cache a set of fewer lines than the conflicting set has
 * may have lines of its own among the fillers: then other fillers are taken.
 */
static int find_eviction_set(struct eviction_set *eviction, struct level *level,
                             const struct set_map *map, size_t class)
{
    int rc = INFER_UNDECIDED;
    bool whole = false;
    for (unsigned turn = 0; (rc == 0 || rc == INFER_UNDECIDED) && !whole && turn < FILLER_TURNS;
         turn++) {
        if (level->filler) {
            filler_turn(level->filler, turn);
        }
        rc = eviction_set_of_class(eviction, level, map, class, NULL);
        whole = !level->filler || (rc == 0 && eviction->ways + 1 == level->conflict.count);
    }
    return rc;
}

/* Gives each residue its set. */
static int partition(const struct eviction_set *first, struct set_map *map, uint32_t period)
{
    struct level *level = first->level;
    uint64_t start = level->lab->loads;
    *map = (struct set_map){.period = period};
    for (uint32_t i = 0; i < period; i++) {
        map->class_of[i] = NO_CLASS;
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < period; i++) {
        if (map->class_of[i] != NO_CLASS) {
            continue;
        }
        struct eviction_set eviction;
        size_t class = map->sets++;
        map->class_of[i] = (uint16_t) class;
        rc = find_eviction_set(&eviction, level, map, class);
        rc = rc ? rc : claim(&eviction, map, class);
        if (rc == 0 && level->lab->loads - start > limits.load_budget) {
            rc = lab_undecided(level->lab, "a map of %u residues takes more than %d loads", period,
                               limits.load_budget);
        }
    }
    return rc;
}

static int try_period(const struct eviction_set *eviction, bool *found, uint32_t period,
                      struct rng *rng)
{
    struct set_map *map = &eviction->level->map;
    int rc = partition(eviction, map, period);
    if (rc == INFER_UNDECIDED) {
        return 0;
    }
    return rc ? rc : index_check(eviction, found, map, rng);
}

int index_find_map(const struct eviction_set *eviction, bool *found, struct rng *rng)
{
    struct pattern *pattern = calloc(1, sizeof *pattern);
    uint32_t limit = line_limit(eviction->level), period = 0;
    int rc = 0;
    *found = false;
    if (!pattern) {
        return error_memory();
    }
    pattern->member[0] = true;
    for (uint32_t extent = limits.first_extent;
         rc == 0 && period == 0 && extent <= MAX_EXTENT && eviction->extra + extent < limit;
         extent *= 2) {
        rc = extend(pattern, eviction, extent);
        period = find_period(pattern);
    }
    free(pattern);
    for (uint32_t i = 1; rc == 0 && period && !*found && i <= limits.multiples; i++) {
        rc = i * period <= SETMAP_MAX_SETS ? try_period(eviction, found, i * period, rng) : 0;
    }
    return rc;
}
