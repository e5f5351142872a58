/*
 * One cache under examination: what tells its hits from its misses, and what is known of it so far.
 * The experiments of experiments.def run on a level in order, each adding its part.
 */
#ifndef SONDE_INFER_LEVEL_H
#define SONDE_INFER_LEVEL_H

#include "infer/ask/lab.h"
#include "infer/geometry/setmap.h"
#include "infer/ask/stats.h"
#include "infer/ask/walk.h"

struct level_info {
    const char *id, *scope, *op, *behind, *beneath;
    uint32_t shared_bytes, max_window;
    const char *doc;
};

/* What is kept of a cache when its examination is over: for the caches behind it, and for
 * experiments on the device as a whole. Offsets and strides are the path's own (walk.h). */
struct level_summary {
    const struct level_info *info;
    bool known; /* hits and misses can be told apart */
    double threshold, ceiling, hit_cycles, miss_cycles;
    uint64_t fit_stride;
    size_t fit_count; /* 0: not known */
    size_t ways;      /* 0: not known */
    char policy[12];  /* "": not known */
    struct set_map map;
    uint32_t fetch_bytes;
    uint64_t line_bytes;                            /* 0: not known */
    uint64_t false_misses, false_slow, hit_records; /* as in struct level */
    const char *same_as;                            /* the same */
    uint32_t *conflict;                             /* the same; owned by the dissection */
    size_t conflict_count;
};

struct level {
    struct lab *lab;
    const struct level_info *info;
    struct cache_result *result;
    bool outermost;
    uint32_t max_window;

    /* reference: a latency in (threshold, ceiling] is a miss; above, a stray that says nothing */
    double threshold, ceiling, hit_cycles, miss_cycles;
    double beneath_cycles; /* what a load takes at least that passes this cache by */
    double floor_cycles;   /* a hit of this cache takes so long; sooner comes the cache in front */
    const struct level_summary *front; /* NULL: none is in front */
    struct escort *escort;             /* behind/filler.h; NULL: walks go alone; owned */
    const char *same_as;               /* the cache that another path has shown; NULL: of its own */
    uint64_t false_misses, false_slow,
        hit_records; /* misses, and all slow records, where everything hits */
    bool last_quiet; /* groups.c: the last walk's last round was slow no more often than by noise */
    uint32_t fetch_bytes;
    char reference[24]; /* evidence */

    /* capacity: the first `fit_count` elements at `fit_stride` fit, one more does not */
    uint64_t fit_stride;
    size_t fit_count;
    bool fit_certain;
    uint64_t held_stride; /* a regular walk that fitted, before the longest one is known */
    size_t held_count;

    /* conflict: a smallest set of offsets that do not fit together, ascending; owned. It is one
     * more than the ways. */
    uint32_t *conflict;
    size_t conflict_count;

    uint64_t line_bytes;
    uint32_t line_phase; /* where the first line begins that begins inside the buffer */
    struct set_map map;  /* index.c, sets.c */
    bool begins_empty, beginning_known; /* is the cache empty when a launch begins? (groups.c) */
    uint64_t size_bytes;
    bool large;       /* too large for ordered walks */
    unsigned steady;  /* how often misses did not go away with more warming */
    unsigned late;    /* how often misses did go away with more warming */
    unsigned prompt;  /* how often all of a long walk that fits hit at once */
    double slow_ways; /* of a set that draws its victims, by how long it takes to settle; 0: not
                         known */
    unsigned regular, irregular; /* how often two passes missed alike, and not */

    struct sample seen; /* latencies for the classes of the whole device; owned */
};

enum load_class { LOAD_HIT, LOAD_MISS, LOAD_STRAY };

static inline enum load_class level_class(const struct level *level, uint32_t cycles)
{
    return cycles <= level->threshold ? LOAD_HIT
           : cycles <= level->ceiling ? LOAD_MISS
                                      : LOAD_STRAY;
}

/* False: the cache in front had it, and this one was not asked. */
static inline bool level_heard(const struct level *level, uint32_t cycles)
{
    return !level->front || cycles > level->front->threshold;
}

/* A plan with this level's operator, carve-out and one window. */
struct walk_plan level_plan(const struct level *level, struct walk_shape shape);

/* ---- fit.c: does a set of addresses fit into the cache together? ---- */

enum fit_verdict { FIT_YES, FIT_NO, FIT_UNKNOWN };

struct fit {
    enum fit_verdict verdict;
    size_t count;     /* elements */
    uint32_t *misses; /* per element; owned */
    uint32_t
        *seen; /* per element: in which stretch of hits it was one; behind another cache; owned */
    uint64_t records, total; /* recorded loads, misses among them */
    bool noisy;              /* decided by statistics, not by a pass without a miss */
};

/*
 * Passes of a walk of `count` elements after which what still misses does not fit, but for a chance
 * of exp(-left), where sets draw their victims; 0: not known.
 */
double fit_settling_passes(const struct level *level, size_t count, double left);

int fit_test(struct level *level, struct fit *out, const struct walk_shape *shape);
void fit_free(struct fit *fit);
/* Misses per element of one more walk, added to `misses` without judging; `run` tells repeats
 * apart. */
int fit_count_misses(struct level *level, uint32_t *misses, const struct walk_shape *shape,
                     uint32_t run);
/* Only the verdict. */
int fit_verdict(struct level *level, enum fit_verdict *out, const struct walk_shape *shape);

/* ---- the experiments; each returns 0, INFER_UNDECIDED or an error ---- */

/* begin.c: the reference, however the path gives it; latencies of loads in a circle that was walked
 * a few times before; whether these come back sooner than a share of what passes the path's caches
 * by; whether what L2 holds comes back sooner the second time. */
int level_begin(struct level *level);
int level_circle(struct level *level, struct sample *out, const char *op, struct walk_shape shape);
int level_check_sooner(struct level *level, const struct sample *own, double share);
int level_keeps(struct level *level, bool *keeps);
/* Is its path another than plain loads', though it reads the same memory? */
bool level_is_apart(const struct level *level);
/* same.c: takes over the geometry, if it is the cache of a path that was examined before. */
int level_find_same(struct level *level);
int behind_begin(struct level *level);    /* behind.c */
int behind_ways(struct level *level);     /* behind/ways.c */
int level_reference(struct level *level); /* reference.c */
int level_capacity(struct level *level);  /* capacity.c */
int level_find_edge(struct level *level, uint64_t stride, size_t fits);
int level_refine_edge(struct level *level); /* the same in steps of the line */
int level_ways(struct level *level);        /* conflict.c */
int level_refine_ways(
    struct level *level); /* the conflicting set in steps of the line, if it is found easily */
int level_find_line(struct level *level);   /* behind.c: as line.c, but behind another cache */
int level_line(struct level *level);        /* line.c */
int level_sets(struct level *level);        /* sets.c */
int level_sets_hashed(struct level *level); /* sets_hashed.c */
int level_policy(struct level *level);      /* policy.c */
int level_index(struct level *level);       /* index.c */
int level_latency(struct level *level);     /* latency.c */
int level_load_to_use(struct level *level);
int level_penalty(struct level *level);
int level_ports(struct level *level); /* latency/broadcast.c */
int level_sweep(struct level *level); /* sweep.c */
int level_evict(struct level *level); /* evict.c */
int level_cold(struct level *level);  /* cold.c */

/* victims.c: how a set that gives up lines at random chooses them, from walks over one line more
 * than it holds. */
int victims_measure(struct level *level, struct policy_result *out);

int level_mei(struct level *level);     /* mei.c */
int level_average(struct level *level); /* average.c */

/* A new entry of the dissection's methods, all attributes refused with `reason` so far; NULL when
 * there is no room. */
struct method_result *level_method(struct level *level, const char *name, const char *reason);

/* Adds the latencies to level->seen. */
int level_saw(struct level *level, const struct sample *latencies);
void level_free(struct level *level);

#endif
