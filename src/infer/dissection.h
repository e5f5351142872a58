/*
 * The result of a dissection as data: attributes, each with a value or with the reason why there is
 * none. Confidence is in [0, 1] and means the probability that the value is right (calibrated over
 * blind runs); evidence names the traces it rests on. Zero is never a substitute for "not
 * measured".
 */
#ifndef SONDE_INFER_DISSECTION_H
#define SONDE_INFER_DISSECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Why there is no value: it was tried and not measured, it was shown not to exist, nobody asked for
 * it, a recording has not what it takes.
 */
enum attribute_status {
    ATTRIBUTE_NOT_MEASURED,
    ATTRIBUTE_ABSENT,
    ATTRIBUTE_NOT_ASKED,
    ATTRIBUTE_NOT_RECORDED,
    ATTRIBUTE_MEASURED
};

/* One of the first four, and the words. */
struct refusal {
    enum attribute_status status;
    char reason[160];
};

struct attribute {
    enum attribute_status status;
    double value;
    const char *unit; /* static: "B", "cycles", "ns", "B/s", "entries", "1" */
    double confidence;
    double low, high;   /* 95 % bounds of an estimate; 0, 0: the value is meant exactly */
    char evidence[160]; /* id of an entry of dissection->evidence */
    char reason[160];   /* unless measured */
};

/* The reason where an attribute means nothing. */
#define NOT_APPLICABLE "not applicable"

#define INFER_NAME_BYTES 40 /* of a cache, a policy, a method */
#define INFER_MAX_CACHES 8
#define INFER_MAX_LATENCIES 16
#define INFER_MAX_STEPS 64
#define INFER_MAX_EVIDENCE 512

struct latency_class {
    double cycles, low, high, share;
}; /* median, 5 % and 95 % quantile */

struct capacity_step {
    double bytes, median_cycles, miss_share;
}; /* one point of the size sweep */

/*
 * Replacement. `name` is "" where nothing is known, and then `reason` says why. Policies that this
 * number of ways cannot tell apart from it are in `equivalent`. A policy that draws its victims has
 * their probabilities, by ways in the order of a cold fill, each give or take `error` (95 %).
 */
#define INFER_MAX_EQUIVALENT 6
#define INFER_MAX_WAYS 128
enum serial_dependence { SERIAL_UNKNOWN, SERIAL_NO, SERIAL_YES };

struct policy_result {
    char name[INFER_NAME_BYTES]; /* lru fifo plru nru srrip random biased none */
    char equivalent[INFER_MAX_EQUIVALENT][INFER_NAME_BYTES];
    size_t equivalent_count;
    double probability[INFER_MAX_WAYS], error[INFER_MAX_WAYS];
    size_t probability_count;
    uint64_t victims; /* seen, behind the probabilities */
    enum serial_dependence serial;
    double confidence;
    char evidence[24];
    struct refusal refusal; /* where there is no name */
};

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
    struct policy_result policy;
    struct index_result index;
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

/* A level of address translation, as it shows through loads of data that L2 holds. */
#define INFER_MAX_TLBS 4
#define INFER_MAX_TLB_SETS 512
#define INFER_MAX_TLB_STEPS 96
struct tlb_step {
    uint32_t pages, missed; /* in one pass of a circle of so many pages */
};

struct tlb_result {
    char id[16]; /* "l1_tlb", "l2_tlb" */
    bool present;
    struct attribute page, coverage, entries, sets, miss_penalty;
    uint32_t entries_per_set[INFER_MAX_TLB_SETS]; /* in the order in which they overflow */
    size_t set_count;
    struct tlb_step steps[INFER_MAX_TLB_STEPS]; /* beyond what fits */
    size_t step_count;
    char scope[8]; /* whom one of them serves: "sm", "cluster", "gpu"; "" where nothing is known */
    char scope_evidence[24];
    struct refusal scope_refusal;
    struct policy_result policy;
};

/*
 * A kind of access in a walk with uneven strides. `name` is a pattern of Mei et al. (2014), one
 * derived from it, or "" for a class of latencies that nothing explains. "hit", "miss", or "" where
 * nobody asks.
 */
#define INFER_MAX_PATTERNS 48
struct latency_pattern {
    char name[24], op[8];
    char cache[INFER_NAME_BYTES]; /* that has the data: "l1_data", "l2", "memory" */
    char l1_tlb[8], l2_tlb[8], page_table[8];
    bool jump;    /* comes from far away, and takes longer for that */
    size_t loads; /* seen of it */
    struct attribute latency;
};

/* Shared memory. A conflict of degree d is d rows of one bank that a warp needs at once. */
struct conflict_latency {
    uint32_t degree;
    double cycles;
};

struct shared_result {
    struct attribute banks, bank_width, latency; /* latency: all lanes read the same word */
    struct conflict_latency conflicts[32];
    size_t conflict_count;
    uint32_t modes[2]; /* widths of banks that can be asked for, bytes */
    size_t mode_count;
};

/*
 * What an SM may have outstanding. `structure` is "mshr", "prt", "request_limit", or "" where
 * nothing is known: see `reason`. What never fills has a lower bound: *_least, 0 where there is
 * none. A spike is a jump of the time: the configuration is the last before it.
 */
#define INFER_MAX_SPIKES 24
struct outstanding_spike {
    uint32_t threads, loads, more, lanes, merge, share; /* as the probe names them */
    uint32_t instructions, requests;
    double before_cycles, after_cycles;
};

struct outstanding_result {
    bool measured;
    char structure[16];
    double confidence;
    char evidence[24];
    struct refusal refusal; /* where there is no structure */
    struct attribute entries, mergers, loads_per_warp, max_requests;
    double entries_least, mergers_least, loads_per_warp_least, max_requests_least;
    double instructions_least; /* warp instructions that fit together, in any case */
    /* Do lanes of one instruction that load one line count as requests of their own? */
    bool lanes_merge_known, lanes_merge_in_table;
    double one_cycles;     /* a single load, from barrier to barrier */
    double request_cycles; /* what each further request of a warp adds: they leave one by one */
    struct outstanding_spike spikes[INFER_MAX_SPIKES];
    size_t spike_count;
};

/* Memory under load: so many lines of 128 bytes under way, and what each took. */
#define INFER_MAX_LOADED 16
struct loaded_latency {
    double requests, cycles, bytes_per_cycle, bytes_per_second; /* the last 0 without a timer */
};

struct memory_result {
    struct attribute read_bandwidth, write_bandwidth;
    struct loaded_latency loaded[INFER_MAX_LOADED];
    size_t loaded_count;
};

struct evidence_entry {
    char id[24];
    char text[400];
}; /* requests and the statistic that decided */

struct dissection {
    struct cache_result caches[INFER_MAX_CACHES];
    size_t cache_count;
    struct method_result methods[INFER_MAX_METHODS];
    size_t method_count;
    struct tlb_result tlbs[INFER_MAX_TLBS];
    size_t tlb_count;
    struct latency_pattern patterns[INFER_MAX_PATTERNS];
    size_t pattern_count;
    struct refusal pattern_refusal; /* why there are none */
    struct shared_result shared;
    struct outstanding_result outstanding;
    struct memory_result memory;
    struct attribute memory_latency;
    struct latency_class classes[INFER_MAX_LATENCIES]; /* over everything measured */
    size_t class_count;
    struct evidence_entry evidence[INFER_MAX_EVIDENCE];
    size_t evidence_count;
};

#endif
