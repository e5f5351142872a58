/*
 * Trials as points of a sweep (src/sweep): on several processes and, under mpirun, on several
 * hosts. The tables and the journal of the sweep lie in a folder, from which a run that was ended
 * goes on.
 */
#ifndef SONDE_TESTS_BLIND_SPREAD_H
#define SONDE_TESTS_BLIND_SPREAD_H

#include "blind.h"
#include "blind_wide.h"

enum { NOISE_FREE, NOISY, MODES };

struct blind_spread {
    const char *folder, *seed_text;
    const struct blind_kind *kind;
    uint64_t count, jobs;
    bool mode[MODES], mix; /* mix: one mode or the other in turn */
    bool resume;
    uint64_t (*seed_of)(const char *seed_text, uint64_t trial);
};

/* One trial of its own process: what it scored goes to a file as JSON, by the names of the tally.
 * Nonzero: it cannot be written. */
int blind_point(const struct blind_kind *kind, uint64_t seed, bool noisy, const char *path);

/*
 * All trials. `sum`: MODES tallies; `scores`: of trial i and mode m at i * MODES + m. 1: done; 0:
 * another rank tells; negative: not done, and the reason was printed.
 */
int blind_spread(struct blind_tally *sum, struct blind_score *scores,
                 const struct blind_spread *how);

#endif
