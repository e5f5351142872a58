/*
 * Address translation.
 *
 *   TLB         a cache of translations, on one of two levels
 *   page        the bytes that one entry translates
 *   coverage    the bytes that all entries translate
 *   step        one point of the curve of misses over pages
 */
#ifndef SONDE_INFER_DISSECTION_TLB_H
#define SONDE_INFER_DISSECTION_TLB_H

#include "infer/dissection/policy.h"

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
    struct refusal absence; /* unless present: it does not exist, or it is not known whether */
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

#endif
