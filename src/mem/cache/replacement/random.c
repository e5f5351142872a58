/* Each way with the same probability, whatever happened before. */
#include "mem/cache/replacement/replacement.h"

static size_t random_state_bytes(uint32_t ways)
{
    (void)ways;
    return 0;
}

static uint32_t random_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)state;
    return (uint32_t)rng_below(&replacement->rng, ways);
}

const struct replacement_ops replacement_RANDOM = {.state_bytes = random_state_bytes,
                                                   .init = replacement_init_nothing,
                                                   .on_hit = replacement_ignore,
                                                   .on_fill = replacement_ignore,
                                                   .victim = random_victim};
