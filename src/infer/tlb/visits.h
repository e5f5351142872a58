/*
 * Walks over the pages of one set of a level of translation (tlb/visits.c), for its policy: by a
 * rule (tlb/rule.c) or drawn (tlb/victims.c).
 */
#ifndef SONDE_INFER_TLB_VISITS_H
#define SONDE_INFER_TLB_VISITS_H

#include "infer/tlb/tlb.h"

/* FULL: one page more than the set has entries. AMONG_ALL: that, and all others that fit. TWICE:
 * twice as many, if it is known where they are. WASHED: these, and others that are read before. */
enum visits_kind { VISITS_FULL, VISITS_AMONG_ALL, VISITS_TWICE, VISITS_WASHED };

/* The pages of a walk: first those of the set. */
struct visits {
    struct tlb_lab *tl;
    const struct tlb_level *level;
    uint32_t *page; /* owned */
    size_t count, own;
    uint32_t *wash; /* others of the set, each read once in a ring, before all else; owned */
    size_t wash_count;
    size_t parts; /* of a page, visited in turn (tlb_parts) */
    struct rng rng;
};

/* `attempt` gives other orders. visits_free() what was created, also where that failed. */
int visits_create(struct visits *out, struct tlb_lab *tl, const struct tlb_level *level,
                  enum visits_kind kind, unsigned attempt);
void visits_free(struct visits *v);

/*
 * A walk in an order drawn anew: what is seen of each record, and the page's index; pages of the
 * wash come after all others. Both have room for a window, which gets shorter where it is too long.
 */
int visits_record(struct visits *v, enum tlb_sight *sight, uint32_t *index, size_t *window,
                  uint32_t rounds, uint64_t warm_rounds);

/* tlb/rule.c */
int tlb_match_rule(struct tlb_lab *tl, struct tlb_result *out, bool *matched,
                   const struct tlb_level *level);

#endif
