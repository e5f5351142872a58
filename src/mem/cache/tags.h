/*
 * The tags of a cache: which lines, and which of their sectors, are there and dirty; who goes when
 * a set is full. No time passes here.
 *
 *      address  =  line number * line_bytes  +  offset         sector = offset / sector_bytes
 *      set      =  index function of the address; sets may differ in their ways
 *      slot     =  first[set] + way: one number for a place in the cache
 *
 * The data array may have room for fewer lines than there are slots. Then lines of all sets share
 * it: when it is full, a line that comes in replaces one of its own set, by the policy, and one of
 * another set only where its own holds none.
 */
#ifndef SONDE_MEM_CACHE_TAGS_H
#define SONDE_MEM_CACHE_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/cache/replacement/replacement.h"
#include "mem/spec.h"

#define TAGS_NONE UINT32_MAX
#define TAGS_MAX_SECTORS 64
#define TAGS_MAX_LINES (UINT32_C(1) << 24)
#define TAGS_INDEX_PARTS 8

struct tag_line {
    uint64_t line;         /* its number */
    uint64_t valid, dirty; /* sectors, bit 0 the lowest address; dirty and not valid: known in part
                              (written.c). None of either: empty */
};

static inline bool tag_line_is_there(const struct tag_line *line)
{
    return (line->valid | line->dirty) != 0;
}

struct tags {
    const struct cache_spec *spec;
    uint32_t
        sector_bytes; /* what a bit of valid and dirty stands for: at most what a miss fetches */
    int line_shift;   /* log2 of line_bytes, or -1 */
    uint32_t index_shift; /* plain adjoining index bits: set = (address >> shift) & mask */
    uint32_t index_mask;
    bool index_plain;
    /* Index bits that are parities: the sets of the values of four address bits each, from bit
     * index_shift on, whose sum without carry is the set; no parts: not so. */
    uint32_t index_parts;
    uint16_t index_part[TAGS_INDEX_PARTS][16];
    uint32_t sets, lines;
    uint32_t data_lines, held; /* lines that the data array has room for; that it holds */
    uint32_t hand;             /* the set asked next, where a line's own has none to give */
    uint32_t ways;             /* of all sets; 0: they differ */
    uint32_t *first;           /* [sets + 1] */
    struct tag_line *slot;     /* [lines] */
    uint64_t *physical;        /* [lines]: where a line lies, for caches that know lines
                                  by virtual addresses; else NULL */
    struct replacement replacement;
    /* What a lookup asks of a set lies together, from a line of the host's cache on: the low halves
     * of its line numbers, which are compared first, how many ways are in use, the policy's state.
     */
    unsigned char *sets_asked; /* [sets], set_stride bytes each */
    size_t set_stride, filled_at, state_at;
    uint64_t *touched; /* a bit a set: it has had a line since all were emptied */
};

/* Slots of a set: from here on, so many. */
static inline uint32_t tags_first(const struct tags *tags, uint32_t set)
{
    return tags->ways ? set * tags->ways : tags->first[set];
}

static inline uint32_t tags_ways(const struct tags *tags, uint32_t set)
{
    return tags->ways ? tags->ways : tags->first[set + 1] - tags->first[set];
}

/* The ways in use. */
static inline uint32_t *tags_filled(const struct tags *tags, uint32_t set)
{
    return (uint32_t *)(void *)(tags->sets_asked + set * tags->set_stride + tags->filled_at);
}

/* SONDE_EINPUT, naming the parameter, when the geometry does not hold together. */
int tags_check(const struct cache_spec *spec);

/* `spec` has passed tags_check and is borrowed. SONDE_ENOMEM. */
int tags_init(struct tags *tags, const struct cache_spec *spec);
void tags_free(struct tags *tags);

static inline uint64_t tags_line(const struct tags *tags, uint64_t address)
{
    return tags->line_shift >= 0 ? address >> tags->line_shift : address / tags->spec->line_bytes;
}

/*
 * `address`: of the line's first byte, so that index functions that see lower bits put it in one
 * set.
 */
uint32_t tags_set(const struct tags *tags, uint64_t address);

/* The slot that holds the line in `set`, or TAGS_NONE. */
uint32_t tags_find(const struct tags *tags, uint32_t set, uint64_t line);

/* What a lookup of that address will read comes into the host's caches: worth it where tags are
 * many. */
void tags_expect(const struct tags *tags, uint64_t address);

/* The line in `slot` was used. */
void tags_use(struct tags *tags, uint32_t set, uint32_t slot);

/*
 * A slot for a line that is not there, its sectors not valid yet: the caller sets some before
 * anything else happens. *evicted: what was in it (valid == 0: nothing). *evicted_physical: its
 * place, if known.
 */
uint32_t tags_allocate(struct tags *tags, uint32_t set, uint64_t line, uint64_t physical,
                       struct tag_line *evicted, uint64_t *evicted_physical);

/* The first set from `set` on that has had a line since it was last asked for here; tags->sets:
 * none has. The caller empties it. */
uint32_t tags_next_touched(struct tags *tags, uint32_t set);

/* Empties one slot; what was in it is returned. */
struct tag_line tags_drop(struct tags *tags, uint32_t set, uint32_t slot);

/* The sectors that bytes [offset, offset + bytes) of a line touch / cover whole. */
uint64_t tags_sectors_touched(const struct tags *tags, uint32_t offset, uint32_t bytes);
uint64_t tags_sectors_covered(const struct tags *tags, uint32_t offset, uint32_t bytes);

#endif
