/*
 * A toy SM for tests of inference: what one block's loads take when some structure keeps what is
 * outstanding, written without any of the simulator's code. It answers requests of the probe
 * `threads`. Every load takes `latency_cycles` from its start; requests start one at a time, in
 * order, and one that finds the structure full waits, as do those behind it.
 */
#ifndef SONDE_TESTS_TOY_SM_H
#define SONDE_TESTS_TOY_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"

enum toy_structure { TOY_UNBOUNDED, TOY_MSHR, TOY_PRT, TOY_REQUEST_LIMIT, TOY_STRUCTURES };

struct toy_sm_config {
    enum toy_structure structure;
    uint32_t entries;
    uint32_t mergers;    /* MSHR: further requests to a line that is on its way */
    double again_cycles; /* what one takes that found none, once the line is there; 0: as a miss */
    bool table_beside;   /* beside a limit: further requests to a line wait as in a table */
    bool lanes_merge_there;  /* MSHR: lanes of one instruction count as requests of their own */
    uint32_t loads_per_warp; /* in flight; 0: no limit */
    double latency_cycles, request_cycles, issue_cycles, overhead_cycles;
    double answer_cycles; /* from one answer to the next, at least */
    double hit_cycles;    /* what a load takes that a first level answers; 0: there is none */
    uint32_t late_warp;   /* where most lanes load, its first requests leave */
    double late_cycles;   /* so much later */
    bool late_always;     /* however few lanes load */
    uint32_t slow_warp;   /* at the usual distance of lines, its first line and those behind take */
    double slower_cycles; /* so much longer */
    double memory_cycles; /* a load of a cold line; 0: as any */
    struct {              /* blocks of more single loads of cold lines, of few warps and of many, */
        uint32_t loads;   /* (0: none such) */
        double few_warps, many_warps; /* end so many cycles later */
    } crowd;
    struct {
        double jitter_cycles, outlier_share, drift;
    } noise;
    uint64_t seed;
};

struct toy_sm;
struct toy_sm *toy_sm_create(const struct toy_sm_config *config);
void toy_sm_destroy(struct toy_sm *toy);
struct trace_source toy_sm_source(struct toy_sm *toy);
uint64_t toy_sm_launches(const struct toy_sm *toy);
/* Requests that the probe would not have taken: nobody should make one. */
uint64_t toy_sm_refused(const struct toy_sm *toy);

#endif
