/* Operands where rounding is hard: see hard.c. */
#ifndef SONDE_TESTS_VECTORS_HARD_H
#define SONDE_TESTS_VECTORS_HARD_H

#include <stdbool.h>
#include <stdint.h>

#include "util/rng.h"
#include "vectors/forms.h"

/* Which operand: its kind's fill and bits, which operand of the kind, its lane, and what the kind's
 * first two operands are in this lane (of those that were drawn). */
struct hard_place {
    enum fill fill;
    uint32_t bits, slice, lane;
    uint64_t seed, first, second;
};

/* False: there is nothing hard about this fill. */
bool hard_operand(uint64_t *out, const struct hard_place *at, struct rng *rng);

#endif
