/*
 * A toy GPU for tests of inference: caches of data, and caches of constants beside them, in front
 * of a memory, written without any of the simulator's code, that answers trace requests. Latencies
 * are constants per level; noise comes on top. What a dissection should find is what the
 * configuration says.
 */
#ifndef SONDE_TESTS_TOY_GPU_H
#define SONDE_TESTS_TOY_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"

enum toy_policy {
    TOY_LRU,
    TOY_FIFO,
    TOY_PLRU,
    TOY_NRU,
    TOY_SRRIP,
    TOY_RANDOM,
    TOY_BIASED,
    TOY_POLICIES, /* of which random GPUs have one */
    TOY_LRU_LATE
};
enum toy_index { TOY_MODULO, TOY_XOR, TOY_HASH, TOY_MAP, TOY_PERMUTED, TOY_LONG, TOY_FAR };

struct toy_cache {
    bool present;
    uint32_t line_bytes, sector_bytes, sets, ways;
    enum toy_policy policy; /* PLRU wants a power of two of ways */
    enum toy_index
        index; /* XOR and FAR want a power of two of sets, MAP 4, PERMUTED 5; HASH is uneven */
    uint32_t extra_ways; /* set 0 has so many ways more */
    uint32_t hit_cycles;
};

/* Translation by LRU sets, page number modulo sets; a miss takes so many cycles more. */
struct toy_tlb {
    uint64_t page_bytes;                           /* 0: none */
    uint32_t sets, entries_per_set, extra_entries; /* of set 0 */
    uint32_t miss_cycles;
};

struct toy_noise {
    uint32_t jitter_cycles; /* up to so many more, most often few */
    double outlier_share;   /* of all loads */
    double drift;           /* slow change of all latencies, relative amplitude */
};

struct toy_config {
    struct toy_cache l1, l2;
    uint32_t memory_cycles;
    uint32_t far_cycles; /* every other 4 KiB of L2 is so much farther away; 0: all alike */
    bool keeps_l1;       /* between launches */
    uint32_t l1_lines;   /* of an LRU L1 so many lines have data, the latest; 0: all */
    struct toy_noise noise;
    uint64_t seed;
    bool shuffle;                  /* latencies of each trace are permuted: they tell nothing */
    struct toy_tlb l1_tlb, l2_tlb; /* every load past L1 */
    uint32_t max_window;           /* refuses longer windows; 0: no limit */
    struct toy_cache constant_l1, constant_l15; /* in front of L2; empty when a launch begins */
    bool unified;                               /* textures and read-only loads go through L1 */
};

struct toy_gpu;
struct toy_gpu *toy_create(const struct toy_config *config);
void toy_destroy(struct toy_gpu *toy);
struct trace_source toy_source(struct toy_gpu *toy);
uint64_t toy_loads(const struct toy_gpu *toy); /* simulated so far */
uint64_t toy_requests(const struct toy_gpu *toy);

#endif
