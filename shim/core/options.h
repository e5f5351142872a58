/* What `sonde run` hands to the libraries through the environment (docs/man/sonde-run.1). */
#ifndef SONDE_SHIM_CORE_OPTIONS_H
#define SONDE_SHIM_CORE_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *device; /* SONDE_DEVICE: sim:NAME or sim:PATH.yaml */
    bool functional;    /* SONDE_FUNCTIONAL */
    const char
        *check; /* SONDE_CHECK: FORMAT or FORMAT:FILE of the checker's report; NULL: no check */
    const char *suppress; /* SONDE_CHECK_SUPPRESS: reports that are not wanted */
    const char *profile;  /* SONDE_PROFILE: FORMAT or FORMAT:FILE; NULL: no profile */
    const char *timeline; /* SONDE_TIMELINE: a file */
    const char *stats;    /* SONDE_STATS: a file */
    bool cold;            /* SONDE_COLD */
    double sample;        /* SONDE_SAMPLE: the error that is asked for; 0: no samples */
    uint64_t seed;        /* SONDE_SEED: of what is drawn */
    bool summary;         /* SONDE_SUMMARY */
    bool details;         /* SONDE_SUMMARY=2: more of each kernel that was timed */
    bool has_kernels;
    regex_t kernels;     /* SONDE_KERNELS: whose launches count as chosen */
    uint64_t skip;       /* SONDE_SKIP: of those, so many are passed over */
    uint64_t count;      /* SONDE_COUNT: and so many are timed; 0: all */
    uint64_t max_cycles; /* SONDE_MAX_CYCLES: of timed launches in all; 0: no limit */
    uint32_t threads;    /* SONDE_THREADS */
    const char *status;  /* SONDE_STATUS: INODE:PATH of the pipe where what does not hold is told */
};

/* Reads them once. */
const struct options *options(void);

#endif
