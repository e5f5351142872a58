/* Launches that are sampled, step by step, for those that begin and end launches. */
#ifndef SONDE_RT_SAMPLING_H
#define SONDE_RT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct exec_launch;
struct gpu_skips;
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
    /* MEASURES: who leaves out blocks; NULL: all are simulated. */
    const struct gpu_skips *skips;
    struct sampling_inside *inside;
};

/* A launch that is prepared begins. `alone`: nothing else is on the GPU, or comes beside it. 0, or
 * an error that ends it. */
int sampling_begin(struct rt *rt, struct sampling *sampling, struct rt_kernel *kernel,
                   struct exec_launch *run, bool alone);
/* It has been simulated: what was left out would have taken so many cycles more. */
uint64_t sampling_skipped(const struct sampling *sampling);
/* It has ended with timing after so many cycles, those included; `status`: 0, or why it was stopped
 * there. SONDE_ENOMEM. */
int sampling_end(struct rt *rt, struct sampling *sampling, const struct rt_kernel *kernel,
                 uint64_t cycles, int status);
void sampling_forget(struct sampling *sampling); /* what it owns goes */
void sampling_destroy(struct rt *rt);

#endif
