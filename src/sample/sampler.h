/*
 * Which launches of a program are simulated with timing, and what those say of the others.
 *
 * Launches that did alike are a stratum: of one kernel and shape, with the same instructions,
 * accesses and footprint within a few per cent (as the clusters of Principal Kernel Analysis,
 * Baddouh et al., MICRO 2021, and Sieve, Naderan-Tahan et al., ISPASS 2023). Of each stratum the
 * first ones are timed, then others drawn at random, ever farther apart, and more while the times
 * spread so much that the total would be less certain than was asked for (two-level sampling by
 * the spread within a stratum: STEM+ROOT, Ahn et al., 2025). A launch that is not timed is
 * estimated by its size times the stratum's cycles for a unit of size.
 */
#ifndef SONDE_SAMPLE_SAMPLER_H
#define SONDE_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLER_CONFIDENCE 0.95

struct sampler;

struct sampler_spec {
    double error;  /* half the interval's width that is asked for, of the estimate */
    uint64_t seed; /* of what is drawn */
};

/* A launch, as functional execution has counted it. */
struct sampler_launch {
    const char *kernel;
    uint64_t code;  /* kernels of one name that differ in it are told apart */
    uint64_t shape; /* what launches of one stratum have in common: a hash */
    uint64_t ctas, warp_insns, thread_insns;
    uint64_t accesses, sectors, lines, missing, visits, passes; /* trail.h */
    const uint64_t *blocks;
    uint32_t length;
};

/* Cycles of all launches: those that were simulated and estimates of the others. With 95 of 100
 * such intervals the total of a full simulation is between low and high. */
struct sampler_total {
    uint64_t launches, timed; /* timed: simulated, for whatever reason */
    uint64_t whole;           /* of these: because they cannot be sampled */
    uint32_t strata;
    uint32_t variant; /* of a kernel: 1; 2 ..: other code of the same name */
    uint64_t inside;  /* of the timed: those of whose blocks not all were simulated */
    uint64_t skipped; /* blocks of these */
    double cycles, low, high;
    double timed_cycles; /* that were simulated */
    uint64_t warp_insns; /* of launches that functional execution has counted */
};

/* Cycles of a launch, of which those of `skipped` blocks are estimated, with half an interval. */
struct sampler_measure {
    double cycles, skipped_cycles, half;
    uint64_t skipped;
};

int sampler_create(struct sampler **out, const struct sampler_spec *spec); /* SONDE_ENOMEM */
void sampler_destroy(struct sampler *sampler);                             /* NULL is allowed */
const struct sampler_spec *sampler_spec(const struct sampler *sampler);

/*
 * A launch has come. *timed: it is to be simulated, and then sampler_measured() to be called with
 * *ticket, or sampler_whole() if other launches ran beside it; else *cycles is what it is
 * estimated at as of now, and it is counted. SONDE_ENOMEM.
 */
int sampler_see(struct sampler *sampler, const struct sampler_launch *launch, uint64_t *ticket,
                bool *timed, uint64_t *cycles);
void sampler_measured(struct sampler *sampler, uint64_t ticket,
                      const struct sampler_measure *measure);
/* In place of sampler_measured(): it was stopped after so many cycles, which are counted, and say
 * nothing of others. */
void sampler_stopped(struct sampler *sampler, uint64_t ticket, double cycles);
/* A launch that was simulated and says nothing of others. */
int sampler_whole(struct sampler *sampler, const char *kernel, uint64_t code, uint64_t cycles);

/* All kernels, in the order of their first launch, and all together. */
size_t sampler_kernels(const struct sampler *sampler);
const char *sampler_kernel(const struct sampler *sampler, size_t i, struct sampler_total *out);
void sampler_all(const struct sampler *sampler, struct sampler_total *out);

#endif
