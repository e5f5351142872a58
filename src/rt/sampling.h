/* Launches that are sampled, step by step, for those that begin and end launches. */
#ifndef SONDE_RT_SAMPLING_H
#define SONDE_RT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct exec_launch;
struct rt;
struct rt_kernel;

enum sampling_what {
    SAMPLING_NOT,       /* nobody asks for samples */
    SAMPLING_WHOLE,     /* it happens with timing, and says nothing of others */
    SAMPLING_MEASURES,  /* it happens with timing */
    SAMPLING_ESTIMATES, /* it has happened, without */
};
struct sampling {
    enum sampling_what what;
    uint64_t ticket, estimated_cycles;
    uint64_t warp_insns, thread_insns; /* as executed without timing */
};

/* A launch that is prepared begins. `alone`: nothing else is on the GPU, or comes beside it. 0, or
 * an error that ends it. */
int sampling_begin(struct rt *rt, struct sampling *sampling, struct rt_kernel *kernel,
                   struct exec_launch *run, bool alone);
/* It has ended with timing after so many cycles; SONDE_ENOMEM. */
int sampling_end(struct rt *rt, const struct sampling *sampling, const struct rt_kernel *kernel,
                 uint64_t cycles);
void sampling_destroy(struct rt *rt);

#endif
