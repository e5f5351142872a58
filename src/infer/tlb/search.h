/*
 * The search for a level of translation, by walks over more and more pages.
 */
#ifndef SONDE_INFER_TLB_SEARCH_H
#define SONDE_INFER_TLB_SEARCH_H

#include "infer/tlb/tlb.h"

/* The search for a level: how far walks have come. */
struct tlb_search {
    double before, noise; /* excess of hits, and how far it reaches above that */
    size_t pages;         /* of the last walk without misses */
    uint64_t stride, reach;
    size_t slow;        /* of the walk that shows the level */
    double penalty;     /* of the level it came to, before that was measured */
    double median, low; /* of their excess; the cheapest tenth */
    bool like_data;     /* they take as long as missing data, and are no such thing */
    double high;        /* what elements exceed hits by, but for a few */
    bool stray;         /* what was slow was so by accident */
    bool far;           /* lines differ, and misses take far longer than that */
    double data_share;
    double low_record,
        high_record; /* of single records: the cheapest tenth, the dearest twentieth */
};

/* Each returns 0, INFER_UNDECIDED or an error. */

/* The first level and its page: of the smallest pages that show. */
int tlb_find_first(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level);
/* The next level that shows, with its page. */
int tlb_find_page(struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level);

/* Is what a miss takes so little that records' noise is about as long? */
bool tlb_is_within_noise(const struct tlb_lab *tl, double penalty);

/* What a walk says of the level's misses, in place of the walk that showed it. */
void tlb_believe(const struct tlb_lab *tl, struct tlb_search *search, struct tlb_level *level,
                 double low, double middle, double high);

#endif
