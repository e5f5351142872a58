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

/* Sums over windows whose ways have nothing to do with each other. */
struct victim_sums {
    bool cold;         /* one tally over all windows, its ways in the order of a cold fill */
    double x, degrees; /* equal shares: sums of chi square */
    double seen, expected, variance; /* the likeliest way after itself */
    double rest_x, rest_degrees;     /* equal shares of all but the likeliest */
    double same, any;                /* pairs of victims in a window: of the same way, and all */
    uint64_t victims, windows;
    double
        probability[INFER_MAX_WAYS]; /* sums of shares; unless cold, of each window's largest on */
};

/* Adds a tally, of a window or of all, to the sums. */
void victims_sum(struct victim_sums *sums, const struct victim_tally *tally);
/* Fills the policy when the sums decide. */
int victims_judge(struct level *level, struct policy_result *out, const struct victim_sums *sums,
                  size_t ways);

#endif
