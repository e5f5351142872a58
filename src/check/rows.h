/*
 * Accesses of a whole row of lanes at once, for what the host's vectors can do: the layouts of the
 * checker's words, and the loops over them (rows.c). global.c and shared.c tell what the words
 * mean.
 */
#ifndef SONDE_CHECK_ROWS_H
#define SONDE_CHECK_ROWS_H

#include "check/state.h"

/* Device memory: global.c. */
#define BLOCK_MASK ((1u << 18) - 1)
#define BYTES_SHIFT 18
#define ALL_BYTES (0xfu << BYTES_SHIFT)
#define KIND_MASK (7u << 22)
#define TAG_SHIFT 25

/* From weak to strong. */
enum {
    READ = 1u << 22,
    READ_BY_SEVERAL = 2u << 22,
    ATOMIC = 3u << 22,
    ATOMIC_BY_SEVERAL = 4u << 22,
    WRITTEN = 5u << 22
};

/* Shared memory: shared.c. */
#define TIME_SHIFT 12
#define TIME_MAX ((1u << 20) - 1)
#define WARP_SHIFT 6
#define SEVERAL (1u << 5)

static inline uint32_t warp_of(uint32_t record)
{
    return record >> WARP_SHIFT & 63;
}

/* What an access of a warp is held against in the usual cases, in which nothing is wrong. */
struct calm {
    uint32_t limit; /* every record up to it is ordered for the warp */
    uint32_t me;    /* the record of lane 0 */
    uint32_t own;   /* the bits in which a record is the lane's own: in lockstep, the warp's */
    uint32_t shift, each;
};

static inline uint32_t is_calm(const struct calm *c, uint32_t record, uint32_t lane)
{
    return (record <= c->limit) | (((record ^ (c->me | lane)) & c->own) == 0);
}

/* Granules of shared memory, and the record that each lane's access leaves there. */
struct row_list {
    uint32_t count, granule[WARP_LANES], record[WARP_LANES];
};

/* Each true when no word needs a closer look; else it has changed nothing. */
struct row_table {
    /* Reads of words of device memory that nobody else has written, or that are read by several. */
    bool (*read)(const struct watched_cta *cta, uint32_t *word, uint32_t count);
    /* Writes of words that nobody else has accessed. */
    bool (*write)(const struct watched_cta *cta, uint32_t *word, uint32_t count);
    /* Loads of all lanes from consecutive granules, from `first`, which nobody else reads. */
    bool (*load)(const struct watched_cta *cta, uint32_t first, const struct calm *c, uint32_t pc);
    /* Stores of all lanes to consecutive granules. */
    bool (*store)(const struct watched_cta *cta, uint32_t first, const struct calm *c, uint32_t pc);
    /* Loads of `count` consecutive granules by as many lanes, or by SEVERAL each: others may read
     * them, too. */
    bool (*load_settled)(const struct watched_cta *cta, uint32_t first, uint32_t count,
                         uint32_t several, const struct calm *c, uint32_t pc);
    /* Loads of the granules of a list, each named once, which others may read, too. */
    bool (*load_listed)(const struct watched_cta *cta, const struct row_list *list,
                        const struct calm *c, uint32_t pc);
    /* Stores to the granules of a list. */
    bool (*store_listed)(const struct watched_cta *cta, const struct row_list *list,
                         const struct calm *c, uint32_t pc);
};

/* The tables that this host can run, from the portable one to the best; NULL: there are no more. */
const struct row_table *rows_at(uint32_t index);
const struct row_table *rows_best(void);

#endif
