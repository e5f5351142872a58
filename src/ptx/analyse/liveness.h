/*
 * Where each register of a function is live. Private to ptx/.
 *
 * The range of a register is the hull [first, last] of the pcs at which its value is needed or
 * written; `pressure` the largest number of 32-bit words (and of predicates) that are live at once.
 * Liveness is exact (a bit set per block for the registers that cross blocks); when these sets
 * would take more than LIVENESS_BYTES or converge too slowly, as only a hostile text can arrange,
 * registers that cross blocks count as live everywhere.
 */
#ifndef SONDE_PTX_LIVENESS_H
#define SONDE_PTX_LIVENESS_H

#include "ptx/ir.h"

#define LIVENESS_BYTES (UINT64_C(128) << 20)
#define LIVENESS_WORK (UINT64_C(1) << 31) /* words touched until the sets are stable */

struct live_range {
    uint32_t first, last;
}; /* first > last: never used */

struct liveness {
    struct live_range *ranges; /* by register */
    uint32_t pressure;         /* 32-bit words */
    uint32_t pred_pressure;
    bool at_start; /* a register may be read before it was written */
};

/* 32-bit slots of a type: 0 for a predicate. */
uint32_t type_slots(enum isa_type type);

int liveness_compute(struct liveness *out, const struct ptx_func *func);
/* The same with words of each register as told, and not those of its type. */
int liveness_weighed(struct liveness *out, const struct ptx_func *func, const uint8_t *weight);
void liveness_free(struct liveness *live);

#endif
