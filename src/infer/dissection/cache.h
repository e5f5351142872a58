/*
 * A cache.
 *
 *   line          what a tag stands for
 *   fetch         what a miss brings in: a line or a part of one
 *   set, way      lines of one set replace each other; a set has so many ways
 *   scope         whom one such cache serves: an SM, a cluster of SMs, the GPU
 *   path          the loads of one operator, which pass through a cache or by it
 */
#ifndef SONDE_INFER_DISSECTION_CACHE_H
#define SONDE_INFER_DISSECTION_CACHE_H

#include "infer/dissection/latency.h"
#include "infer/dissection/policy.h"

#define INFER_MAX_CACHES 8
#define INFER_MAX_STEPS 64

struct capacity_step {
    double bytes, median_cycles, miss_share;
}; /* one point of the size sweep */

/*
 * Which set an address belongs to. kind "bits" and "xor" have one mask of address bits per index
 * bit, up to row space; "modulo" the number of lines after which it repeats; "none" is a single
 * set. Address bits from `bit_limit` on were not looked at.
 */
#define INFER_MAX_MASKS 24
#define INFER_MAX_RESIDUES 4096
struct index_result {
    char kind[12]; /* "" where nothing is known: see `reason` */
    uint64_t masks[INFER_MAX_MASKS];
    size_t mask_count;
    uint64_t modulus;
    uint16_t map[INFER_MAX_RESIDUES]; /* "map": the set of each residue */
    size_t map_count;
    uint32_t bit_limit;
    double confidence;
    char evidence[24];
    struct refusal refusal; /* where there is no kind */
};

struct cache_result {
    char id[INFER_NAME_BYTES]; /* of levels.def */
    char scope[8];             /* "sm", "cluster", "gpu" */
    bool present;
    struct refusal absence;   /* why it is not known to be present */
    uint32_t path_interleave; /* bytes of the cache to one of the path that showed it; 0: 1 */
    struct attribute size, line, fetch_granularity, sets, ways, hit_latency, miss_penalty;
    struct attribute load_to_use_latency; /* average of an untimed dependent chain */
    struct attribute carveout_shared;     /* shared memory asked for while size was measured */
    struct attribute address_penalty;     /* of each further word that a warp's lanes want */
    struct attribute count;               /* how many of it there are */
    struct capacity_step steps[INFER_MAX_STEPS];
    size_t step_count;
    struct latency_class latencies[INFER_MAX_LATENCIES]; /* distribution of hits */
    size_t latency_count;
    struct latency_class misses[INFER_MAX_LATENCIES]; /* the same of misses; of the outermost */
    size_t miss_count;
    struct policy_result policy;
    struct index_result index;
    uint32_t row_lines, row_period; /* lines of a set lie in every so many-th row of so many, which
                                       slices share out among them; 0: no rows were found */
    uint32_t row_apart; /* lines of a set in a row are so many apart: slices in turn; 1: hashed */
    char shared_with[INFER_MAX_CACHES]
                    [INFER_NAME_BYTES]; /* ids of caches whose paths lead through this one */
    size_t shared_count;
    bool sharing_known; /* else: see the reason */
    char sharing_evidence[24];
    struct refusal sharing_refusal;
    uint16_t ways_per_set[INFER_MAX_RESIDUES]; /* where they differ: in the order of the index */
    size_t ways_per_set_count;
};

/*
 * What a published recipe gives for a cache, beside the general inference: "mei" (Mei and Chu 2014,
 * four steps), "saavedra" (1995) and "wong" (2010), the latter two from averages. periodic is 1
 * when every pass misses alike, as LRU does, else 0.
 */
#define INFER_MAX_METHODS 32
struct method_result {
    char name[INFER_NAME_BYTES], cache[INFER_NAME_BYTES];
    struct attribute size, line, sets, ways, periodic;
};

#endif
