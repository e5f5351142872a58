/* What the benchmarks of the timed simulator run: the workloads of timing.def at its sizes. */
#ifndef SONDE_BENCH_TIMED_H
#define SONDE_BENCH_TIMED_H

#include <stdint.h>

struct timed {
    const char *name;
    uint32_t size;
};

/*
 * Calls measure(ctx, what) for each of `count` texts - "NAME" of timing.def, or "WORKLOAD=SIZE" -,
 * for all of timing.def if there are none, until one fails. SONDE_EUSAGE for another text.
 */
int timed_each(int (*measure)(void *ctx, const struct timed *what), void *ctx, char **texts,
               int count);

#endif
