/* What several replacement policies share. */
#include "mem/cache/replacement/replacement.h"

void replacement_ignore(void *state, uint32_t ways, uint32_t way)
{
    (void)state;
    (void)ways;
    (void)way;
}

void replacement_init_nothing(void *state, uint32_t ways)
{
    (void)state;
    (void)ways;
}

/*
 * The probabilities of the ways that take part are scaled to add up to 1; if none is left (a
 * small set of an unequal cache whose first ways never go), each way is as likely as another.
 */
uint32_t replacement_draw(struct replacement *replacement, uint32_t ways, uint32_t without)
{
    const double *probability = replacement->spec->probability;
    double sum = 0;
    uint32_t last = 0;
    for (uint32_t way = 0; way < ways; way++) {
        if (way != without && probability[way] > 0) {
            sum += probability[way];
            last = way;
        }
    }
    if (sum <= 0) {
        return (uint32_t)rng_below(&replacement->rng, ways);
    }
    double left = rng_double(&replacement->rng) * sum;
    for (uint32_t way = 0; way < last; way++) {
        if (way != without) {
            left -= probability[way];
            if (left < 0) {
                return way;
            }
        }
    }
    return last; /* also where rounding leaves a remainder */
}
