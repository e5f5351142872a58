/*
 * The kinds of access, as the latency-spectrum walk shows them.
 *
 *   spectrum   the loads of one walk with uneven strides, and what each should hit
 *   outcome    hit, miss, or open: nothing predicts it
 *   kind       what a load hits and misses in caches, TLBs and the page table
 */
#ifndef SONDE_INFER_PATTERNS_H
#define SONDE_INFER_PATTERNS_H

#include "infer/ask/lab.h"

/* ---- latency/spectrum.c: the walk, and what each of its loads should hit ---- */

/* What the dissection knows when the walk is laid out; 0 is not known, or not there. */
struct spectrum_plan {
    const char *op;
    uint64_t footprint_bytes;
    uint32_t most_records;
    uint64_t page_bytes;
    size_t tlb_pages[2];        /* that fit each level */
    uint64_t l1_bytes, l1_line; /* the cache in front of L2, where this op goes through it */
    uint64_t l2_bytes, l2_line, fetch_bytes;
};

enum outcome { OUTCOME_OPEN, OUTCOME_HIT, OUTCOME_MISS };

/* A load: what it should hit, by how far back the same line and page were read. */
struct spectrum_load {
    uint32_t offset, page;
    enum outcome l2, tlb[2], page_table; /* open: nobody asks there, or it cannot be told */
    bool jump;                           /* from the other end of the buffer */
    bool told;                           /* whether each TLB that is asked has the page */
};

struct spectrum {
    struct spectrum_load *load; /* owned */
    size_t count, room;
    uint32_t pages; /* in the footprint */
};

/* SONDE_ENOMEM, or INFER_UNDECIDED with the reason in lab->why. */
int spectrum_create(struct spectrum *out, struct lab *lab, const struct spectrum_plan *plan);
/* Loads that L1 answered may not have asked a TLB: where that makes a difference, what follows is
 * not told any more. */
int spectrum_settle(struct spectrum *spectrum, const struct spectrum_plan *plan, const bool *in_l1);
void spectrum_free(struct spectrum *spectrum);

#endif
