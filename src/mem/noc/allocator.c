/*
 * Grant and accept. Round-robin choice at a router of up to 64 inputs and outputs is a rotation and
 * a count of zeros over masks; all else goes over the list of requests, few of which there are in a
 * cycle.
 */
#include "mem/noc/allocator.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

int allocator_init(struct allocator *allocator, enum noc_allocator kind, uint32_t inputs,
                   uint32_t outputs, uint32_t iterations, bool rising)
{
    enum { MASK_BITS = 64 };
    *allocator = (struct allocator){
        .kind = kind, .inputs = inputs, .outputs = outputs, .iterations = iterations};
    rng_seed(&allocator->rng, 1);
    allocator->request = calloc((size_t)inputs * outputs, sizeof *allocator->request);
    allocator->match = calloc(inputs, sizeof *allocator->match);
    allocator->grant = calloc(outputs, sizeof *allocator->grant);
    allocator->accept = calloc(inputs, sizeof *allocator->accept);
    allocator->asked = calloc(inputs, sizeof *allocator->asked);
    allocator->wanted = calloc(outputs, sizeof *allocator->wanted);
    allocator->granted = calloc(inputs, sizeof *allocator->granted);
    allocator->masks =
        rising && kind == NOC_ALLOCATOR_ISLIP && inputs <= MASK_BITS && outputs <= MASK_BITS;
    bool whole = allocator->request && allocator->match && allocator->grant && allocator->accept &&
                 allocator->asked && allocator->wanted && allocator->granted;
    return whole ? 0 : error_memory();
}

void allocator_free(struct allocator *allocator)
{
    free(allocator->request);
    free(allocator->match);
    free(allocator->grant);
    free(allocator->accept);
    free(allocator->asked);
    free(allocator->wanted);
    free(allocator->granted);
}

/* `candidate` of `count` asks `side`, which prefers those from `pointer` on. */
static inline void offer(struct allocator *allocator, struct allocator_side *side,
                         uint32_t candidate, uint32_t pointer, uint32_t count)
{
    uint32_t distance = candidate + (candidate < pointer ? count : 0);
    if (side->round != allocator->round) {
        side->round = allocator->round;
        side->candidates = 1;
    } else {
        side->candidates++;
        bool better = allocator->kind == NOC_ALLOCATOR_PIM
                          ? rng_below(&allocator->rng, side->candidates) == 0
                          : distance < side->distance;
        if (!better) {
            return;
        }
    }
    side->choice = (uint16_t)candidate;
    side->distance = distance;
}

static inline void take(struct allocator *allocator, struct allocator_pointers *pointers,
                        uint32_t input, uint32_t output, bool first)
{
    allocator->match[allocator->matches++] =
        (struct allocator_pair){.input = (uint16_t)input, .output = (uint16_t)output};
    if (first) {
        allocator_pass(allocator, pointers, input, output);
    }
}

/* ---- lists ---- */

/* Drops the requests of matched inputs and for matched outputs. */
static void keep_unmatched(struct allocator *allocator)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < allocator->requests; i++) {
        struct allocator_pair pair = allocator->request[i];
        if (!allocator->accept[pair.input].matched && !allocator->grant[pair.output].matched) {
            allocator->request[kept++] = pair;
        }
    }
    allocator->requests = kept;
}

static void iterate(struct allocator *allocator, struct allocator_pointers *pointers, bool first)
{
    const struct allocator_pair *request = allocator->request;
    allocator->round++;
    for (uint32_t i = 0; i < allocator->requests; i++) {
        offer(allocator, &allocator->grant[request[i].output], request[i].input,
              pointers->grant[request[i].output], allocator->inputs);
    }
    for (uint32_t i = 0; i < allocator->requests; i++) {
        if (allocator->grant[request[i].output].choice == request[i].input) {
            offer(allocator, &allocator->accept[request[i].input], request[i].output,
                  pointers->accept[request[i].input], allocator->outputs);
        }
    }
    for (uint32_t i = 0; i < allocator->requests; i++) {
        uint32_t input = request[i].input, output = request[i].output;
        struct allocator_side *grant = &allocator->grant[output];
        struct allocator_side *accept = &allocator->accept[input];
        if (grant->choice == input && accept->choice == output && !accept->matched) {
            grant->matched = true;
            accept->matched = true;
            take(allocator, pointers, input, output, first);
        }
    }
}

__attribute__((noinline)) static void run_by_list(struct allocator *allocator,
                                                  struct allocator_pointers *pointers)
{
    if (allocator->requests == 1) {
        take(allocator, pointers, allocator->request[0].input, allocator->request[0].output, true);
        allocator->requests = 0;
        return;
    }
    for (uint32_t i = 0; i < allocator->iterations && allocator->requests; i++) {
        iterate(allocator, pointers, i == 0);
        keep_unmatched(allocator);
    }
    for (uint32_t i = 0; i < allocator->matches; i++) {
        allocator->grant[allocator->match[i].output].matched = false;
        allocator->accept[allocator->match[i].input].matched = false;
    }
    allocator->requests = 0;
}

/* ---- masks ---- */

static inline uint32_t lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

/* Each output that is asked for grants one input. */
static void grant_by_masks(struct allocator *allocator, const struct allocator_pointers *pointers)
{
    uint64_t outputs = 0;
    for (uint64_t inputs = allocator->asking; inputs; inputs &= inputs - 1) {
        uint32_t input = lowest(inputs);
        outputs |= allocator->asked[input];
        for (uint64_t asked = allocator->asked[input]; asked; asked &= asked - 1) {
            allocator->wanted[lowest(asked)] |= UINT64_C(1) << input;
        }
    }
    for (; outputs; outputs &= outputs - 1) {
        uint32_t output = lowest(outputs);
        uint32_t input = allocator_first_from(allocator->wanted[output], pointers->grant[output]);
        allocator->wanted[output] = 0;
        allocator->granted[input] |= UINT64_C(1) << output;
    }
}

static void iterate_by_masks(struct allocator *allocator, struct allocator_pointers *pointers,
                             bool first)
{
    uint64_t matched = 0, left = 0;
    grant_by_masks(allocator, pointers);
    for (uint64_t inputs = allocator->asking; inputs; inputs &= inputs - 1) {
        uint32_t input = lowest(inputs);
        if (allocator->granted[input]) {
            uint32_t output =
                allocator_first_from(allocator->granted[input], pointers->accept[input]);
            allocator->granted[input] = 0;
            allocator->asked[input] = 0;
            matched |= UINT64_C(1) << output;
            take(allocator, pointers, input, output, first);
        }
    }
    for (uint64_t inputs = allocator->asking; inputs; inputs &= inputs - 1) {
        uint32_t input = lowest(inputs);
        allocator->asked[input] &= ~matched;
        left |= allocator->asked[input] ? UINT64_C(1) << input : 0;
    }
    allocator->asking = left;
}

/* Apart, so that the common case, one that asks alone, saves no registers. */
__attribute__((noinline)) static void run_by_masks(struct allocator *allocator,
                                                   struct allocator_pointers *pointers)
{
    for (uint32_t i = 0; i < allocator->iterations && allocator->asking; i++) {
        iterate_by_masks(allocator, pointers, i == 0);
    }
    for (; allocator->asking; allocator->asking &= allocator->asking - 1) {
        allocator->asked[lowest(allocator->asking)] = 0;
    }
}

void allocator_run(struct allocator *allocator, struct allocator_pointers *pointers)
{
    uint64_t inputs = allocator->asking;
    allocator->matches = 0;
    if (!allocator->masks) {
        run_by_list(allocator, pointers);
    } else if (inputs & (inputs - 1)) {
        run_by_masks(allocator, pointers);
    } else if (inputs) {
        uint32_t input = lowest(inputs);
        uint64_t outputs = allocator->asked[input];
        allocator->asked[input] = 0;
        allocator->asking = 0;
        uint32_t output = allocator_give_alone(allocator, pointers, input, outputs);
        take(allocator, pointers, input, output, false);
    }
}
