/*
 * Counts victims per way (victims.c) and tests how a set chooses them (victims_judge.c).
 *
 *   victim   the way whose line was evicted
 *   stretch  consecutive records in which each victim's way is known
 *   cold     the walk begins with an empty set, so way i holds the i-th line read. All windows
 *            then number the ways alike. Otherwise the numbers hold in one stretch only.
 */
#ifndef SONDE_INFER_VICTIMS_H
#define SONDE_INFER_VICTIMS_H

#include "infer/level.h"

struct victim_tally {
    size_t ways;
    uint64_t *count; /* per way; owned */
    uint64_t *pair;  /* per way and the one before it; owned */
    uint64_t victims, pairs;
};

/* Counts a victim in `way`. `*before` is the way of the victim before, SIZE_MAX where there is
 * none; it becomes `way`. */
void victims_count(struct victim_tally *tally, size_t way, size_t *before);
void victims_clear(struct victim_tally *tally);

/* Stretches are dealt to groups. Where noise is, the outermost groups are left out of a mean, so a
 * stretch whose ways were numbered wrongly does not move it. */
#define VICTIM_GROUPS 9
struct victim_group {
    double rest_x, rest_degrees;  /* chi square of equal shares of all ways but the likeliest */
    double same, any;             /* pairs of victims in a stretch: of one way, and all pairs */
    double thrice, any_three;     /* and three of them */
    double count[INFER_MAX_WAYS]; /* victims per way; unless cold, ways sorted by their count */
    uint64_t victims;
};

/* Sums over windows, each of which may number the ways anew. */
struct victim_sums {
    bool cold;         /* one tally for all windows, ways in the order of a cold fill */
    bool noisy;        /* a slow hit may pass for a miss, which swaps the numbers of two ways */
    double x, degrees; /* chi square of equal shares, and its degrees of freedom */
    double seen, expected, variance; /* victims of the likeliest way right after one of it */
    double again, expected_again, variance_again; /* the same of all ways, each after itself */
    double rarest;  /* of the way that follows itself least for its share: probability by chance */
    uint64_t tried; /* ways of all tallies that could be so */
    uint64_t victims, stretches;      /* victims tested; stretches added to the groups */
    uint64_t gap[INFER_MAX_WAYS + 1]; /* victims by how many lines of the walk lie between the line
                                       * that came in and the line evicted */
    struct victim_group group[VICTIM_GROUPS];
};

/* Adds a tally, of one window or of all, to the tests' sums. */
void victims_test(struct victim_sums *sums, const struct victim_tally *tally);
/* Adds a stretch to the group with the fewest victims: what the tally counted beyond `since` (NULL:
 * all). */
void victims_share(struct victim_sums *sums, const struct victim_tally *tally,
                   const uint64_t *since);
/* victims_test and victims_share of one stretch. */
void victims_sum(struct victim_sums *sums, const struct victim_tally *tally);
/* Names the policy from the sums: `random` or `biased`, with its shares. Undecided when the victims
 * follow a rule. */
int victims_judge(struct level *level, struct policy_result *out, const struct victim_sums *sums,
                  size_t ways);

/* Measures how a set that draws its victims chooses them, from walks over one line more than it has
 * ways. Fills the policy when the walks decide. */
int victims_measure(struct level *level, struct policy_result *out);

#endif
