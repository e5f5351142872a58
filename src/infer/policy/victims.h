/*
 * Counts of victims, and what follows from them (victims.c, victims_judge.c). A tally's ways have
 * names that hold within one window, or, after a cold fill, in all of them.
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

/* A victim lay in `way`; `*before`: the one before it, SIZE_MAX where a window begins. */
void victims_count(struct victim_tally *tally, size_t way, size_t *before);
void victims_clear(struct victim_tally *tally);

/* Part of the stretches, for shares that a stretch or two whose names went wrong cannot move. */
#define VICTIM_GROUPS 9
struct victim_group {
    double rest_x, rest_degrees;  /* equal shares of all but the likeliest */
    double same, any;             /* pairs of victims in a stretch: of the same way, and all */
    double count[INFER_MAX_WAYS]; /* of victims; unless cold, of each stretch's likeliest on */
    uint64_t victims;
};

/* Sums over windows whose ways have nothing to do with each other. */
struct victim_sums {
    bool cold;         /* one tally over all windows, its ways in the order of a cold fill */
    bool noisy;        /* a slow hit may pass for a miss: then two ways change names */
    double x, degrees; /* equal shares: sums of chi square */
    double seen, expected, variance;  /* the likeliest way after itself */
    uint64_t victims, stretches;      /* stretches: those whose shares were added */
    uint64_t gap[INFER_MAX_WAYS + 1]; /* victims so many of the set's lines after what took their
                                       * way, in the order of the walk */
    struct victim_group group[VICTIM_GROUPS];
};

/* Adds a tally, of a window or of all, to what is tested. */
void victims_test(struct victim_sums *sums, const struct victim_tally *tally);
/* Adds a stretch to the shares: what the tally counted `since` (NULL: all). */
void victims_share(struct victim_sums *sums, const struct victim_tally *tally,
                   const uint64_t *since);
/* Both, for a stretch by itself. */
void victims_sum(struct victim_sums *sums, const struct victim_tally *tally);
/* Fills the policy when the sums decide. */
int victims_judge(struct level *level, struct policy_result *out, const struct victim_sums *sums,
                  size_t ways);

/* How a set that evicts lines at random chooses them, from walks over one line more than it holds
 * (victims.c). Fills the policy when the walks decide. */
int victims_measure(struct level *level, struct policy_result *out);

#endif
