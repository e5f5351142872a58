/* Grant and accept, over the list of requests: routers are small and few of their inputs ask in a
 * cycle, so lists beat matrices. */
#include "mem/noc/allocator.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

int allocator_init(struct allocator *allocator, enum noc_allocator kind, uint32_t inputs,
                   uint32_t outputs, uint32_t iterations)
{
    *allocator = (struct allocator){
        .kind = kind, .inputs = inputs, .outputs = outputs, .iterations = iterations};
    rng_seed(&allocator->rng, 1);
    allocator->request = calloc((size_t)inputs * outputs, sizeof *allocator->request);
    allocator->match = calloc(inputs, sizeof *allocator->match);
    allocator->grant = calloc(outputs, sizeof *allocator->grant);
    allocator->accept = calloc(inputs, sizeof *allocator->accept);
    bool whole = allocator->request && allocator->match && allocator->grant && allocator->accept;
    return whole ? 0 : error_memory();
}

void allocator_free(struct allocator *allocator)
{
    free(allocator->request);
    free(allocator->match);
    free(allocator->grant);
    free(allocator->accept);
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

static uint16_t behind(uint32_t index, uint32_t count)
{
    return (uint16_t)(index + 1 == count ? 0 : index + 1);
}

static void take(struct allocator *allocator, struct allocator_pointers *pointers, uint32_t input,
                 uint32_t output, bool first)
{
    allocator->match[allocator->matches++] =
        (struct allocator_pair){.input = (uint16_t)input, .output = (uint16_t)output};
    if (first) {
        pointers->grant[output] = behind(input, allocator->inputs);
        pointers->accept[input] = behind(output, allocator->outputs);
    }
}

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

void allocator_run(struct allocator *allocator, struct allocator_pointers *pointers)
{
    allocator->matches = 0;
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
