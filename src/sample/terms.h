/*
 * What work costs: cycles of whichever part of the GPU it keeps busy, were nothing done beside it.
 * Only how the terms compare matters: they say which launches, or blocks, did alike.
 */
#ifndef SONDE_SAMPLE_TERMS_H
#define SONDE_SAMPLE_TERMS_H

#include <stdint.h>

enum { TERM_INSNS, TERM_SECTORS, TERM_MISSING, TERM_PASSES, TERM_COUNT };

/* Warp instructions; sectors that accesses ask for; lines that the last cache would not have;
 * passes of shared memory's banks. */
static inline void terms_weigh(double term[TERM_COUNT], uint64_t insns, uint64_t sectors,
                               uint64_t missing, uint64_t passes)
{
    const double missing_weight = 8; /* cycles: a line of 128 bytes at 16 bytes a cycle */
    term[TERM_INSNS] = (double)insns;
    term[TERM_SECTORS] = (double)sectors;
    term[TERM_MISSING] = missing_weight * (double)missing;
    term[TERM_PASSES] = (double)passes;
}

#endif
