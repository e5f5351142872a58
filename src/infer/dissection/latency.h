/*
 * Latencies, as classes and as kinds of access.
 *
 *   class       latencies that no gap sets apart, with their share of the loads
 *   pattern     a kind of access in the latency-spectrum walk: what it hits and misses
 *   jump        an access far from the one before, which takes longer for that
 */
#ifndef SONDE_INFER_DISSECTION_LATENCY_H
#define SONDE_INFER_DISSECTION_LATENCY_H

#include "infer/dissection/attribute.h"

#define INFER_MAX_LATENCIES 16

struct latency_class {
    double cycles, low, high, share;
}; /* median, 5 % and 95 % quantile */

/*
 * A kind of access in the latency-spectrum walk. `name` is a pattern of Mei et al. (2014), one
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

#endif
