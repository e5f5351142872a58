/*
 * A level is one cache under examination. The experiments of experiments.def run on it in order;
 * each folder's experiments fill the part of the struct that bears the folder's name. What is kept
 * when the examination is over is the level's summary.
 *
 *   hit, miss   a load that this cache answers, and one that it passes on
 *   stray       a load so slow that it says nothing: an interruption
 *   front       the cache that hides this one from its path
 *   heard       a load that the cache in front did not answer, so that this one did
 *   beneath     the operator that passes this cache by
 *   element     an address of a walk; offsets are bytes of the path's own addresses (ask/walk.h)
 */
#ifndef SONDE_INFER_LEVEL_H
#define SONDE_INFER_LEVEL_H

#include "infer/ask/lab.h"
#include "infer/ask/stats.h"
#include "infer/ask/walk.h"
#include "infer/geometry/setmap.h"

/* A row of levels.def. */
struct level_info {
    const char *id, *scope, *op, *behind, *beneath;
    uint32_t shared_bytes, max_window;
    const char *doc;
};

/* presence/: what tells hits from misses. A latency in (threshold, ceiling] is a miss. */
struct level_timing {
    double threshold, ceiling, hit_cycles, miss_cycles;
    double miss_low, miss_high; /* of a median's bounds; 0, 0: none */
    double miss_between;   /* in the middle of the quartiles of what miss_cycles is the median of */
    double beneath_cycles; /* the least that a load takes which passes this cache by */
    double floor_cycles;   /* the least that a hit takes; what is sooner comes from the front */
    struct walk_mirror mirror; /* of a cache that answers later than what lies behind it: all else
                                  here, but beneath_cycles of others, is as in the mirror */
    uint64_t missed_bytes;     /* the first array, of ever longer ones, that did not fit */
    uint64_t false_misses, false_slow, hit_records; /* where everything hits: misses, all slow
                                                       records, all records */
    uint32_t fetch_bytes;
    char evidence[24];
};

/* geometry/capacity.c: the first `count` elements at `stride` fit, one more does not. */
struct level_fit {
    uint64_t stride;
    size_t count; /* 0: not known */
    bool certain;
    uint64_t held_stride; /* a regular walk that fitted, before the longest one is known */
    size_t held_count;
};

/* geometry/conflict.c: a smallest set of offsets that do not fit together, one more than the
 * ways. */
struct level_conflict {
    uint32_t *offsets; /* ascending; owned */
    size_t count;
};

/* geometry/line.c */
struct level_line {
    uint64_t bytes; /* 0: not known */
    uint32_t phase; /* where the first line begins that begins inside the buffer */
};

/* fit/: how the walks on this cache have gone so far. */
struct level_habits {
    bool begins_empty,
        beginning_known;         /* is the cache empty when a launch begins? (fit/beginning.c) */
    bool last_quiet;             /* the last walk's last round was slow only as often as by noise */
    unsigned steady, late;       /* how often misses did not go away with more warming, and did */
    unsigned prompt;             /* how often all of a long walk that fits hit at once */
    unsigned regular, irregular; /* how often two passes missed alike, and not */
    double slow_ways; /* of a set that draws its victims, by how long it takes to settle; 0: not
                         known */
};

struct level_summary {
    const struct level_info *info;
    bool known;       /* hits and misses can be told apart */
    uint32_t repeats; /* as in the level: single loads tell nothing; 0: they do */
    struct level_timing timing;
    struct level_fit fit;
    struct level_conflict conflict; /* owned by the dissection */
    struct level_line line;
    struct set_map map;
    uint64_t size_bytes;           /* what its sets hold together; 0: not known */
    size_t ways;                   /* 0: not known */
    char policy[INFER_NAME_BYTES]; /* "": not known */
    const char *same_as;           /* the cache that another path has shown; NULL: of its own */
};

struct level {
    struct lab *lab;
    const struct level_info *info;
    struct cache_result *result;
    bool outermost;
    uint32_t max_window;
    const struct level_summary *front; /* NULL: none is in front */
    const char *same_as;               /* presence/same.c: as in the summary */
    struct level_timing timing;
    struct level_habits habits;
    struct level_fit fit;
    struct level_conflict conflict;
    struct level_line line;
    struct set_map map; /* geometry/index.c, sets.c */
    uint64_t size_bytes;
    uint32_t slice_lines, slice_period; /* geometry/rows.c: lines of a row, of which a slice has one
                                           in so many, and hashes it; 0: no such slices */
    uint64_t late_loads;   /* while capacity.c runs: the loads by which a cache that settles late
                              is left; 0: no limit */
    double circled_cycles; /* of the reference's circle, once hits are timed; 0: not yet */
    double crowded_sets; /* large/drawn.c: by the share of drawn lines that were too many for their
                            sets; some hundredths off, more where a cache has parts; 0: not known */
    bool sampled_size;   /* the size is an edge of the curve (geometry/sweep.c) */
    bool by_held;        /* sets and size are what all sets hold together (geometry/held.c) */
    bool held_twice;     /* and each line was read twice */
    bool by_edge;    /* the size is the longest array that fits, which is less than its sets hold */
    bool uneven;     /* the middle half of the hits is not alike (latency/latency.c) */
    bool by_drawn;   /* the conflicting set is of drawn lines (geometry/conflict.c) */
    bool translated; /* what does not fit misses a level of translation first */
    bool spaced_size;    /* the size is of elements apart (geometry/capacity.c) */
    bool large;          /* too large for ordered walks */
    bool searched_apart; /* large/spaced.c was asked */
    bool searched_drawn; /* large/drawn.c was asked */
    bool taken_apart;    /* spaced.c has told its sets, or drawn.c all that it could */
    bool behind_apart;   /* walks behind another cache go by elements that fit there, however far
                            apart, not by its size */
    unsigned behind_quarters; /* walks behind another cache begin with so many quarters of what fits
                                 there; 0: with twice */
    bool hides_nearer;        /* hits are of two caches that noise does not tell apart */
    uint32_t repeats;         /* walks whose records' least counts, where noise is as large as
                                 what tells hits from misses (presence/begin.c); 0: 1 */
    bool keeps_hits;          /* lines of earlier walks stay until others are hit */
    bool in_pages;            /* rings lie in more pages than are translated at once, and what hits
                                 takes as long as a miss then (ask/in_pages.c) */
    struct walk_leads leads;  /* of rings in such pages; owned */
    struct filler *filler;    /* behind/filler.h; NULL: walks go alone; owned */
    struct sample seen;       /* latencies for the classes of the whole device; owned */
};

enum load_class { LOAD_HIT, LOAD_MISS, LOAD_STRAY };

static inline enum load_class level_class(const struct level *level, uint32_t cycles)
{
    return cycles <= level->timing.threshold ? LOAD_HIT
           : cycles <= level->timing.ceiling ? LOAD_MISS
                                             : LOAD_STRAY;
}

/* False: the cache in front had it, and this one was not asked. */
static inline bool level_heard(const struct level *level, uint32_t cycles)
{
    return !level->front || cycles > level->front->timing.threshold;
}

/* Of hits, that noise makes slow. */
static inline double level_slow_share(const struct level *level)
{
    return (double)level->timing.false_slow / (double)(level->timing.hit_records + 1);
}

/* What the clock says of what takes so long here: the mirror's other side. */
static inline double level_cycles(const struct level *level, double cycles)
{
    double whole = (double)(uint32_t)cycles; /* a median may end in a half, on either side */
    double there = walk_mirrored(&level->timing.mirror, (uint32_t)cycles);
    return there == whole ? cycles : there - (cycles - whole);
}

/* The same of a sample. */
int level_clock(const struct level *level, struct sample *out, const struct sample *in);

/* A plan with this level's operator, carve-out and one window. */
struct walk_plan level_plan(const struct level *level, struct walk_shape shape);
/* Makes it one by an operator; the latencies of another than the level's are no mirror's. */
void level_plan_by(struct walk_plan *plan, const struct level *level, const char *op);
/* The filler of such a plan whose ring reads each line twice by itself. */
const struct walk_filler *level_filler_of_twice(const struct level *level);
/* Ends `in_pages`: from here on no page is read ahead. */
void level_leave_pages(struct level *level);

/* Adds the latencies to level->seen. */
int level_saw(struct level *level, const struct sample *latencies);
void level_free(struct level *level);

#endif
