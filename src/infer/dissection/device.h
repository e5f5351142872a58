/*
 * What the device-level experiments find: shared memory, what an SM may have outstanding, memory
 * under load.
 *
 *   bank           a column of shared memory; lanes that need other rows of one bank conflict
 *   outstanding    requests that have left an SM and are not answered yet
 *   MSHR, PRT      a table of outstanding lines, a table of outstanding instructions
 *   under load     so many lines are under way at once
 */
#ifndef SONDE_INFER_DISSECTION_DEVICE_H
#define SONDE_INFER_DISSECTION_DEVICE_H

#include "infer/dissection/attribute.h"

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

#define INFER_MAX_PACES 4
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
    /* What else a block does whose loads are timed: 0 where that was not measured. */
    struct outstanding_pace {
        const char *op;     /* of trace/instructions.def */
        double cycles;      /* of one that waits for the one before */
        double lanes;       /* a cycle, of all warps that a block may have, */
        double least_lanes; /* and at least: loops lose some */
    } paces[INFER_MAX_PACES];
    size_t pace_count;
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

#endif
