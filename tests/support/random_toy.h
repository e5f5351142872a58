/*
 * Random hierarchies for the tests of inference, and what a dissection of each must say.
 */
#ifndef SONDE_TESTS_RANDOM_TOY_H
#define SONDE_TESTS_RANDOM_TOY_H

#include "infer/infer.h"
#include "support/toy_gpu.h"

/* Is a cache among these that settles late after other data (SRRIP, random)? With noise on top
 * little shows of it. */
bool random_toy_settles_late(const struct toy_config *config);

/* A hierarchy drawn from `seed`; with noise like a real GPU's, or without. */
void random_toy(struct toy_config *out, uint64_t seed, bool noisy);

struct verdicts {
    unsigned right, wrong,
        missing; /* identifiable attributes: as configured, otherwise, not measured */
    unsigned sure,
        surely_wrong; /* of all values given: confidence above 0.9; and wrong nevertheless */
};

/* Dissects and compares attribute by attribute; prints each that is not right when `loud`. */
void random_toy_judge(struct verdicts *sum, const struct toy_config *config, uint64_t seed,
                      bool loud);

#endif
