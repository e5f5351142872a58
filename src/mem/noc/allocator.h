/*
 * A separable allocator: each cycle inputs ask for outputs, and a matching is chosen in which every
 * input and every output stands at most once. Outputs choose one of the inputs that ask (grant),
 * inputs one of the outputs that granted (accept); further iterations do the same with what is
 * left.
 *
 * iSLIP (McKeown, The iSLIP Scheduling Algorithm for Input-Queued Switches, 1999) chooses by
 * round-robin pointers, which move past a choice only when it was accepted in the first iteration.
 * PIM (Anderson et al., High-Speed Switch Scheduling for Local-Area Networks, 1993) chooses at
 * random.
 */
#ifndef SONDE_MEM_NOC_ALLOCATOR_H
#define SONDE_MEM_NOC_ALLOCATOR_H

#include "mem/spec.h"
#include "util/rng.h"

struct allocator_pair {
    uint16_t input, output;
};

/* Where a router's allocator stands between cycles: the next input or output to be preferred. */
struct allocator_pointers {
    uint16_t *grant, *accept;
};

/* One for all routers of a network: room to work in. */
struct allocator {
    enum noc_allocator kind;
    bool masks; /* requests are kept as masks, see allocator_init() */
    uint32_t inputs, outputs, iterations;
    uint32_t requests, matches;
    struct allocator_pair *request; /* room for inputs x outputs */
    uint64_t asking;                /* masks: inputs that ask */
    uint64_t *asked;              /* masks: by input, the outputs; zero of those that do not ask */
    uint64_t *wanted, *granted;   /* masks: by output, inputs; by input, outputs; room, zero */
    struct allocator_pair *match; /* room for inputs */
    struct allocator_side {
        uint32_t round;      /* in which it was last chosen for */
        uint16_t candidates; /* seen in this round */
        uint16_t choice;
        uint32_t distance; /* of the choice: pointer and those behind it first */
        bool matched;
    } * grant, *accept;
    uint32_t round;
    struct rng rng;
};

/*
 * `rising`: requests of a cycle come in rising order of their inputs. Then iSLIP of up to 64 inputs
 * and outputs works on masks; matches are the same, in the same order. SONDE_ENOMEM. To be freed
 * also after an error.
 */
int allocator_init(struct allocator *allocator, enum noc_allocator kind, uint32_t inputs,
                   uint32_t outputs, uint32_t iterations, bool rising);
void allocator_free(struct allocator *allocator);

/* One that works on masks: `input` asks for each output of a set, which is not empty. */
static inline void allocator_request_all(struct allocator *allocator, uint32_t input,
                                         uint64_t outputs)
{
    allocator->asked[input] |= outputs;
    allocator->asking |= UINT64_C(1) << input;
}

static inline void allocator_request(struct allocator *allocator, uint32_t input, uint32_t output)
{
    if (allocator->masks) {
        allocator_request_all(allocator, input, UINT64_C(1) << output);
        return;
    }
    allocator->request[allocator->requests++] =
        (struct allocator_pair){.input = (uint16_t)input, .output = (uint16_t)output};
}

/* Whether there is something to run for. */
static inline bool allocator_asked(const struct allocator *allocator)
{
    return (allocator->asking | allocator->requests) != 0;
}

/* The first of a set that is not empty, from `pointer` on and then from the start. */
static inline uint32_t allocator_first_from(uint64_t set, uint32_t pointer)
{
    uint64_t behind_pointer = set >> pointer << pointer;
    return (uint32_t)__builtin_ctzll(behind_pointer ? behind_pointer : set);
}

/* `input` gets `output` in the first iteration: either prefers the next one from now on. */
static inline void allocator_pass(const struct allocator *allocator,
                                  struct allocator_pointers *pointers, uint32_t input,
                                  uint32_t output)
{
    pointers->grant[output] = (uint16_t)(input + 1 == allocator->inputs ? 0 : input + 1);
    pointers->accept[input] = (uint16_t)(output + 1 == allocator->outputs ? 0 : output + 1);
}

/* What one that works on masks gives to an input that alone asks, for each output of a set that is
 * not empty; nothing need be requested. */
static inline uint32_t allocator_give_alone(const struct allocator *allocator,
                                            struct allocator_pointers *pointers, uint32_t input,
                                            uint64_t outputs)
{
    uint32_t output = allocator_first_from(outputs, pointers->accept[input]);
    allocator_pass(allocator, pointers, input, output);
    return output;
}

/* Fills `match` from the requests made since the last call, and forgets these. */
void allocator_run(struct allocator *allocator, struct allocator_pointers *pointers);

#endif
