/*
 * Each way with its own probability, drawn independently at each miss: the first reading of what
 * Mei et al. (2014, section 4.3) report of Fermi's L1, [1/6, 1/2, 1/6, 1/6]. The second is
 * biased_alternating.c.
 */
#include "mem/cache/replacement/replacement.h"

static size_t biased_state_bytes(uint32_t ways)
{
    (void)ways;
    return 0;
}

static uint32_t biased_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)state;
    return replacement_draw(replacement, ways, UINT32_MAX);
}

const struct replacement_ops replacement_BIASED = {.state_bytes = biased_state_bytes,
                                                   .init = replacement_init_nothing,
                                                   .on_hit = replacement_ignore,
                                                   .on_fill = replacement_ignore,
                                                   .victim = biased_victim};
