/* xoshiro256** and splitmix64, from their published definitions. */
#include "util/rng.h"

uint64_t rng_splitmix64(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        rng->state[i] = rng_splitmix64(&seed);
    }
}

static uint64_t rotate_left(uint64_t value, int count)
{
    return value << count | value >> (64 - count);
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    if (bound == 0) {
        return 0;
    }
    /* Draws below 2^64 mod bound would make small results more likely: they are drawn again. */
    uint64_t reject_below = (0 - bound) % bound;
    uint64_t draw;
    do {
        draw = rng_u64(rng);
    } while (draw < reject_below);
    return draw % bound;
}

double rng_double(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

void rng_permutation(uint32_t *order, struct rng *rng, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = (uint32_t)rng_below(rng, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}
