/*
 * Do these addresses fit into the cache together?
 *
 *   pass      once around the ring of a walk
 *   fits      after enough passes no element misses but by noise
 *   settle    where sets draw their victims, what fits may miss for many passes before it holds
 *   round     one walk; each round warms longer than the one before
 *   clean     without a miss
 */
#ifndef SONDE_INFER_FIT_H
#define SONDE_INFER_FIT_H

#include "infer/level.h"

enum fit_verdict { FIT_YES, FIT_NO, FIT_UNKNOWN };

struct fit {
    enum fit_verdict verdict;
    size_t count;     /* elements */
    uint32_t *misses; /* per element; owned */
    uint32_t
        *seen; /* per element: in which stretch of hits it was one; behind another cache; owned */
    uint64_t records, total; /* recorded loads, misses among them */
    bool noisy;              /* decided by statistics, not by a pass without a miss */
};

/*
 * Passes of a walk of `count` elements after which what still misses does not fit, but for a chance
 * of exp(-left), where sets draw their victims; 0: not known.
 */
double fit_settling_passes(const struct level *level, size_t count, double left);

/* beginning.c: fills habits.begins_empty. */
int level_learn_beginning(struct level *level);

int fit_test(struct level *level, struct fit *out, const struct walk_shape *shape);
void fit_free(struct fit *fit);
/* Misses per element of one more walk, added to `misses` without judging; `run` tells repeats
 * apart. */
int fit_count_misses(struct level *level, uint32_t *misses, const struct walk_shape *shape,
                     uint32_t run);
/* Only the verdict. */
int fit_verdict(struct level *level, enum fit_verdict *out, const struct walk_shape *shape);

#endif
