/*
 * Inside of a long launch: which of its blocks are simulated, and how long the others would take.
 *
 * Blocks are handed out in order. Stretches of as many as the GPU holds are measured by the times
 * at which their first and last block find room; where the rates of two agree, blocks are skipped,
 * after which the machine, still full, has a stretch to settle before the next is measured. A skip
 * grows while rates stay what they were (as PKP of Principal Kernel Analysis, MICRO 2021, ends a
 * kernel when its rate is stable), and ends where blocks have another mix of work (as the
 * homogeneous regions of TBPoint, Huang et al., IPDPS 2014). The launch's beginning and end, where
 * the GPU fills and empties, are simulated.
 */
#ifndef SONDE_SAMPLE_INSIDE_H
#define SONDE_SAMPLE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/terms.h"

/* What a block costs. */
struct inside_block {
    float term[TERM_COUNT];
};

struct inside;

/* Whether a launch may be sampled inside at all, where so much is asked for. */
bool inside_may_be(double error);
/* `blocks`: in the order in which they are handed out; copied. `resident`: that the GPU holds at a
 * time. *out is NULL where the launch is too short, or `error`, as asked for the total, is below
 * what skips can promise. */
int inside_create(struct inside **out, const struct inside_block *blocks, uint64_t count,
                  uint64_t resident, double error);
void inside_destroy(struct inside *inside); /* NULL is allowed */

/* Block `next` would be handed out at this cycle: how many are skipped from there on. */
uint64_t inside_next(struct inside *inside, uint64_t next, uint64_t cycle);
/* A block that was simulated has ended. */
void inside_ended(struct inside *inside, uint64_t block);
/* The last skip was not possible, and none will be. */
void inside_refuse(struct inside *inside);
/* The cycles of what was skipped, with half an interval of 95 %; how many blocks. */
void inside_result(const struct inside *inside, double *cycles, double *half, uint64_t *skipped);

#endif
