/*
 * Membership in one set, by a reference eviction set. Lines are numbered as in setmap.h.
 *
 *   eviction set   as many lines of one set as it has ways (its members), and one line more (extra)
 *   class          the lines that a map puts into one set
 *   span           lines are drawn below this number
 */
#ifndef SONDE_INFER_MEMBERS_H
#define SONDE_INFER_MEMBERS_H

#include "infer/level.h"
#include "util/rng.h"

#define EVICTION_SET_MAX_WAYS 600

struct eviction_set {
    struct level *level;
    uint32_t extra;                         /* a line of the set that is no member */
    uint32_t member[EVICTION_SET_MAX_WAYS]; /* ascending */
    size_t ways;
};

static inline uint32_t line_of(const struct level *level, uint64_t offset)
{
    uint64_t before = level->line.phase ? level->line.bytes - level->line.phase : 0;
    return (uint32_t)((offset + before) / level->line.bytes);
}

/* The set in which the level's conflicting lines are. */
int eviction_set_of_conflict(struct eviction_set *out, struct level *level);
/*
 * The set of a class, if the lines that the map puts there share one; INFER_UNDECIDED if not. They
 * are its first ones; with `rng` drawn ones (draw_span).
 */
int eviction_set_of_class(struct eviction_set *out, struct level *level, const struct set_map *map,
                          size_t class, struct rng *rng);

/* Is one of these lines in the set? They may lie in any sets, and be many. */
int eviction_set_any(const struct eviction_set *eviction, bool *in, const uint32_t *lines,
                     size_t count);
/* Those of `lines` that are in the set, by one walk where that shows them, and by group testing;
 * `found` has room for all. */
int eviction_set_members(const struct eviction_set *eviction, uint32_t *found, size_t *found_count,
                         const uint32_t *lines, size_t count);

/*
 * Does the map say of lines drawn at random whether they are in the set? Of those that are
 * in it, `members` are walked, each alone.
 */
int eviction_set_check(const struct eviction_set *eviction, bool *holds, const struct set_map *map,
                       unsigned members, struct rng *rng);

/*
 * Lines are drawn below this one: as far as the map claims to know, on pages as long as memory has
 * them in one piece, and several times what the cache holds.
 */
uint32_t draw_span(const struct level *level, const struct set_map *map);

/* The first `count` lines of a class, from `from` on; fewer where `limit` ends. Returns how many.
 */
size_t class_lines(uint32_t *out, const struct set_map *map, size_t class, uint32_t from,
                   size_t count, uint32_t limit);
/* Lines that may be asked for. */
uint32_t line_limit(const struct level *level);
/* The same of those that a map puts into classes: a list of lines ends. */
uint32_t class_limit(const struct level *level, const struct set_map *map);

#endif
