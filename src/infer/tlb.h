/* Address translation as it shows in latencies: tlb.c finds the levels, tlb_sets.c their sets. */
#ifndef SONDE_INFER_TLB_H
#define SONDE_INFER_TLB_H

#include "infer/lab.h"

#define TLB_UNIT_BYTES 128 /* what an offset of a walk over pages counts */

/* Which of so many pages, `stride` bytes apart, take longer than `threshold`. */
struct page_walk {
    uint64_t stride;
    size_t pages;
    bool twice; /* two lines a page */
    double threshold;
    bool *slow; /* per page: in more than stray records; owned */
    size_t slow_count;
    double slow_share;        /* of the records */
    double low, median, high; /* of the records: 1 %, 50 %, 99 % */
};

int page_walk_run(struct lab *lab, struct page_walk *walk);
void page_walk_free(struct page_walk *walk);

struct tlb_level {
    double threshold; /* above it an access misses this level */
    size_t fits;      /* pages, `page` bytes apart */
    uint64_t page;
};

/* tlb_sets.c: fills sets, entries_per_set of `out`. */
int tlb_sets(struct lab *lab, struct tlb_result *out, const struct tlb_level *level);

/* tlb_policy.c: fills policy. A level with `in_front` entries is before this one. */
int tlb_policy(struct lab *lab, struct tlb_result *out, const struct tlb_level *level,
               size_t in_front);

/* Where the element of page i lies, in units. */
uint32_t tlb_place(uint64_t stride, size_t i);

int tlb_dissect(struct lab *lab);
void tlb_refuse(struct dissection *out, const char *reason);

#endif
