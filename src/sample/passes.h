/*
 * How often shared memory's banks are passed, estimated from some of the accesses.
 *
 * Each instruction has a sample of its own: its first access in a launch, and then one after gaps
 * that are drawn around a length. The length doubles while one look after the other says the same,
 * over launches too, and is what it was at first again when one does not. A look stands for the
 * accesses since the one before it, which are counted: where an instruction's passes do not vary,
 * nothing of the sample is left in the sum, and where they change, no part of a launch has more
 * weight for having been looked at more often.
 */
#ifndef SONDE_SAMPLE_PASSES_H
#define SONDE_SAMPLE_PASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/container/vec.h"
#include "util/rng.h"

struct exec_access;

/* Of the instruction at one pc. */
struct passes_sample {
    bool known;        /* looked at, in this launch or one before */
    bool seen;         /* in this one */
    uint32_t last;     /* passes of the last look */
    uint32_t same;     /* looks since one that said something else, or the length grew */
    uint32_t length;   /* of gaps, on average */
    uint32_t drawn;    /* the gap on its way */
    uint64_t accesses; /* of this launch, up to the last look */
    uint64_t passes;   /* estimated, of these */
};

struct passes {
    struct passes_sample *sample;
    uint32_t *left; /* accesses that go by before the next is looked at: struct exec_counts */
    uint32_t length;
    VEC(uint32_t) seen; /* pcs that have been looked at in this launch */
    struct rng rng;
};

/* Of a program of so many instructions. SONDE_ENOMEM; to be freed in any case. */
int passes_create(struct passes *all, uint32_t length);
void passes_free(struct passes *all);
/* A launch begins. */
void passes_begin(struct passes *all);
/* The access is told. SONDE_ENOMEM. */
int passes_look(struct passes *all, uint32_t pc, const struct exec_access *access);
/* Passes of the launch so far. */
double passes_sum(const struct passes *all);

#endif
