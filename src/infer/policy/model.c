/* See policy/model.h. Free ways are filled first, in their order, whatever the policy. */
#include "infer/policy/model.h"

#include <string.h>

static const char *const names[] = {
#define POLICY(id, name, doc) name,
#include "infer/policy/policies.def"
};

const char *policy_name(enum policy_kind kind)
{
    return names[kind];
}

void policy_set_init(struct policy_set *set, enum policy_kind kind, uint32_t ways)
{
    memset(set, 0, sizeof *set);
    set->kind = kind;
    set->ways = ways;
    for (uint32_t i = 0; i < ways; i++) {
        set->line[i] = POLICY_FREE;
    }
}

void policy_set_scramble(struct policy_set *set, uint32_t first, struct rng *rng)
{
    for (uint32_t i = 0; i < set->ways; i++) {
        set->line[i] = first + i;
        set->age[i] = rng_below(rng, set->kind == POLICY_SRRIP ? 4
                                     : set->kind == POLICY_NRU ? 2
                                                               : 1000);
    }
    for (size_t i = 0; i < sizeof set->upper / sizeof *set->upper; i++) {
        set->upper[i] = rng_below(rng, 2);
    }
    set->clock = 1000;
}

static uint32_t leaves_of(uint32_t ways)
{
    uint32_t leaves = 1;
    while (leaves < ways) {
        leaves *= 2;
    }
    return leaves;
}

/* The first way with its bit set loses all others' when it was the last one clear. */
static void use_bit(struct policy_set *set, uint32_t way)
{
    bool all = true;
    set->age[way] = 1;
    for (uint32_t i = 0; i < set->ways; i++) {
        all = all && set->age[i];
    }
    for (uint32_t i = 0; all && i < set->ways; i++) {
        set->age[i] = i == way;
    }
}

/*
 * Hits are numbered in the order of going. A line that comes in takes a place just behind the last
 * hit but one, the later of two lines the one in front.
 */
static uint64_t late_place(struct policy_set *set, bool fill)
{
    enum { PLACES = 1 << 20, FIRST = 3 }; /* between two hits; no place is below 0 */
    set->hits += !fill;
    uint64_t hit = (FIRST + set->hits) * PLACES;
    return fill ? hit - 2 * PLACES + 1 + set->clock % (PLACES - 1) : hit;
}

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    set->clock++;
    switch (set->kind) {
    case POLICY_LRU:
        set->age[way] = set->clock;
        break;
    case POLICY_FIFO:
        set->age[way] = fill ? set->clock : set->age[way];
        break;
    case POLICY_PLRU:
        for (uint32_t node = leaves_of(set->ways) + way; node > 1; node /= 2) {
            set->upper[node / 2] = node % 2 == 0;
        }
        break;
    case POLICY_NRU:
        use_bit(set, way);
        break;
    case POLICY_LRU_LATE:
        set->age[way] = late_place(set, fill);
        break;
    default:
        set->age[way] = fill ? 2 : 0;
        break;
    }
}

/* A half without ways is never entered. */
static uint32_t tree_victim(const struct policy_set *set)
{
    uint32_t leaves = leaves_of(set->ways), node = 1, first = 0;
    for (uint32_t half = leaves / 2; half >= 1; half /= 2) {
        bool up = set->upper[node] && first + half < set->ways;
        first += up ? half : 0;
        node = 2 * node + up;
    }
    return first;
}

static uint32_t distant_victim(struct policy_set *set)
{
    for (;;) {
        for (uint32_t i = 0; i < set->ways; i++) {
            if (set->age[i] >= 3) {
                return i;
            }
        }
        for (uint32_t i = 0; i < set->ways; i++) {
            set->age[i]++;
        }
    }
}

static uint32_t victim_of(struct policy_set *set)
{
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < set->ways; i++) {
        if (set->line[i] == POLICY_FREE) {
            return i;
        }
        oldest = set->age[i] < set->age[oldest] ? i : oldest;
    }
    return set->kind == POLICY_PLRU    ? tree_victim(set)
           : set->kind == POLICY_SRRIP ? distant_victim(set)
                                       : oldest; /* NRU: the first 0 */
}

bool policy_set_read(struct policy_set *set, uint32_t line)
{
    for (uint32_t i = 0; i < set->ways; i++) {
        if (set->line[i] == line) {
            use(set, i, false);
            return true;
        }
    }
    uint32_t way = victim_of(set);
    set->line[way] = line;
    use(set, way, true);
    return false;
}
