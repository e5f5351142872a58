/*
 * Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna, 2018), its
 * state filled from one seed by splitmix64. Not for secrets.
 */
#ifndef SONDE_UTIL_RNG_H
#define SONDE_UTIL_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_u64(struct rng *rng);
/* Uniform in [0, bound), without bias; 0 when bound is 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);
/* Uniform in [0, 1), a multiple of 2^-53. */
double rng_double(struct rng *rng);
/* Puts the numbers 0 .. count-1 into `order`, every permutation equally likely. */
void rng_permutation(uint32_t *order, struct rng *rng, uint32_t count);

/* One step of splitmix64: advances *state, returns a well-mixed number. For deriving seeds. */
uint64_t rng_splitmix64(uint64_t *state);

#endif
