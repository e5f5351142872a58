/*
 * The likeliest way goes at evenly spaced misses of the set, the others are drawn by their
 * probabilities in between: "it is updated every two cache misses" (Mei et al., 2014, on Fermi's
 * L1) taken at its word. The frequencies are those of biased.c, but one victim depends on the
 * last.
 *
 * Spacing: a counter gains the likeliest way's probability at each miss, and the miss that makes
 * it reach 1 is that way's. Fixed point with 2^32 for 1, so that 1/2 alternates exactly, for
 * ever.
 */
#include "mem/cache/replacement/replacement.h"

struct alternation {
    uint32_t gained;
};

static size_t alternating_state_bytes(uint32_t ways)
{
    (void)ways;
    return sizeof(struct alternation);
}

static uint32_t alternating_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    struct alternation *alternation = state;
    const double *probability = replacement->spec->probability;
    uint32_t likeliest = 0;
    for (uint32_t way = 1; way < ways; way++) {
        if (probability[way] > probability[likeliest]) {
            likeliest = way;
        }
    }
    const double one = 4294967296.0;
    uint64_t gained = alternation->gained + (uint64_t)(probability[likeliest] * one + 0.5);
    alternation->gained = (uint32_t)gained;
    bool reached = gained >= UINT64_C(1) << 32;
    return reached || ways == 1 ? likeliest : replacement_draw(replacement, ways, likeliest);
}

const struct replacement_ops replacement_BIASED_ALTERNATING = {.state_bytes =
                                                                   alternating_state_bytes,
                                                               .init = replacement_init_nothing,
                                                               .on_hit = replacement_ignore,
                                                               .on_fill = replacement_ignore,
                                                               .victim = alternating_victim};
