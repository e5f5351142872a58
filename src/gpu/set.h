/*
 * A set of SMs, or of DRAM's channels, by their numbers: few of many, looked through in order.
 */
#ifndef SONDE_GPU_SET_H
#define SONDE_GPU_SET_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define GPU_SET_MAX 1024 /* as many as model/param.def allows of either */
#define GPU_SET_BITS 64
#define GPU_SET_END UINT32_MAX

struct gpu_set {
    uint64_t word[GPU_SET_MAX / GPU_SET_BITS];
    uint32_t words; /* beyond them all is 0 */
};

static inline void gpu_set_clear(struct gpu_set *set)
{
    memset(set->word, 0, set->words * sizeof set->word[0]);
    set->words = 0;
}

static inline void gpu_set_add(struct gpu_set *set, uint32_t number)
{
    uint32_t word = number / GPU_SET_BITS;
    assert(number < GPU_SET_MAX);
    set->word[word] |= UINT64_C(1) << number % GPU_SET_BITS;
    set->words = set->words > word ? set->words : word + 1;
}

static inline void gpu_set_remove(struct gpu_set *set, uint32_t number)
{
    set->word[number / GPU_SET_BITS] &= ~(UINT64_C(1) << number % GPU_SET_BITS);
}

/* Takes all that is in `from`, which is empty then. */
static inline void gpu_set_take(struct gpu_set *set, struct gpu_set *from)
{
    for (uint32_t i = 0; i < from->words; i++) {
        set->word[i] |= from->word[i];
    }
    set->words = set->words > from->words ? set->words : from->words;
    gpu_set_clear(from);
}

/* The first number in the set that is not below `from`; GPU_SET_END: none. */
static inline uint32_t gpu_set_next(const struct gpu_set *set, uint32_t from)
{
    uint32_t word = from / GPU_SET_BITS;
    if (word >= set->words) {
        return GPU_SET_END;
    }
    uint64_t rest = set->word[word] >> from % GPU_SET_BITS << from % GPU_SET_BITS;
    while (rest == 0 && ++word < set->words) {
        rest = set->word[word];
    }
    return rest ? word * GPU_SET_BITS + (uint32_t)__builtin_ctzll(rest) : GPU_SET_END;
}

#endif
