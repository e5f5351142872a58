/*
 * The test of an index: sets built by its own rule, from drawn lines. A rule is believed only when
 * lines that it puts into one set share one, for the eviction set and for other classes.
 */
#include "infer/geometry/index_check.h"

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind), and an H200 (hashed sets). */
static const struct {
    unsigned few_classes, large_set, members;
} limits = {
    .few_classes = 3, /* sets that must follow the rule where each costs more */
    .large_set = 32,  /* ways: a test of such a set costs more */
    .members = 7,     /* lines of each set that must be in it */
};

/* Classes that are checked: all of a few, else as many drawn ones, and the conflicting set's own.
 */
static size_t choose_classes(size_t out[INDEX_CLASSES], const struct set_map *map, size_t own,
                             size_t most, struct rng *rng)
{
    size_t count = 0;
    if (map->sets <= most) {
        for (; count < map->sets; count++) {
            out[count] = count;
        }
        return count;
    }
    out[count++] = own;
    while (count < most) {
        size_t class = (size_t)rng_below(rng, map->sets);
        bool is_new = true;
        for (size_t i = 0; i < count; i++) {
            is_new = is_new && out[i] != class;
        }
        out[count] = class;
        count += is_new;
    }
    return count;
}

static bool keeps_together(const struct eviction_set *eviction, const struct set_map *map)
{
    bool together = true;
    for (size_t i = 0; i < eviction->ways; i++) {
        together = together &&
                   set_map_class(map, eviction->member[i]) == set_map_class(map, eviction->extra);
    }
    return together;
}

/*
 * A set filled with drawn lines has shown of each of these whether it belongs there; `members`
 * of them are enough, and where sets are large, walks take long, and fewer classes are. A recording
 * that has no walks of these lines leaves the map as it is, untested.
 */
int index_check(const struct eviction_set *eviction, bool *holds, struct set_map *map,
                struct rng *rng)
{
    struct level *level = eviction->level;
    bool large = eviction->ways >= limits.large_set;
    size_t classes[INDEX_CLASSES];
    size_t count = choose_classes(classes, map, set_map_class(map, eviction->extra),
                                  large ? limits.few_classes : INDEX_CLASSES, rng);
    int rc = 0;
    *holds = keeps_together(eviction, map);
    for (size_t i = 0; i < count && rc == 0 && *holds; i++) {
        struct eviction_set other;
        rc = eviction_set_of_class(&other, level, map, classes[i], rng);
        if (rc == INFER_UNDECIDED) {
            *holds = false;
            return 0;
        }
        if (rc == 0 && map->sets == 1 && other.ways != eviction->ways) {
            *holds = false; /* a single set holds as many whichever lines they are */
            return 0;
        }
        unsigned shown =
            rc == 0 && other.ways < limits.members ? (unsigned)other.ways : limits.members;
        rc = rc ? rc : eviction_set_check(&other, holds, map, limits.members - shown, rng);
    }
    map->untested = rc == SONDE_ENOTRECORDED;
    *holds = *holds || map->untested;
    return map->untested ? 0 : rc;
}
