/*
 * Blind trials: a hierarchy is drawn at random as a model file, simulated, dissected by what `sonde
 * dissect` does, and the answer is scored against the file. The drawing knows which attributes can
 * be told at all.
 */
#ifndef SONDE_TESTS_BLIND_H
#define SONDE_TESTS_BLIND_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "model/model.h"
#include "trace/source.h"

/* What a drawing knows beside the model itself. */
struct blind_hierarchy {
    char *yaml; /* free() it */
    struct model *model;
    /* A structure with one size, number of sets and number of ways; and which of them shows. */
    bool l1_regular, l2_regular;
};

/* The same hierarchy for the same seed. False: the drawing was refused, with the error's text. */
bool blind_draw(struct blind_hierarchy *out, uint64_t seed);
void blind_forget(struct blind_hierarchy *hierarchy);

/* Noise like a real GPU's: jitter, outliers, a slow drift. */
struct blind_noise {
    double jitter_cycles; /* up to so many more, most often few */
    double outlier_share; /* of all loads */
    double drift;         /* slow change of all latencies, relative amplitude */
};
void blind_draw_noise(struct blind_noise *out, uint64_t seed);

/* A source that answers with noise what `inner` answers without. */
struct noise_source;
struct noise_source *noise_source_create(struct trace_source inner, const struct blind_noise *noise,
                                         uint64_t seed);
void noise_source_destroy(struct noise_source *source);
struct trace_source noise_source_get(struct noise_source *source);

#define BLIND_BINS 8 /* of confidence */

struct blind_tally {
    uint64_t trials, failed;        /* failed: no dissection at all */
    uint64_t right, wrong, missing; /* of identifiable attributes */
    uint64_t untold, told;          /* others: not measured, or given all the same */
    uint64_t sure, surely_wrong;    /* all values given with more than 0.9 */
    uint64_t at_seed;               /* the trial under way */
    uint64_t bin_given[BLIND_BINS], bin_right[BLIND_BINS]; /* the reliability curve */
};

extern const double blind_bin_edges[BLIND_BINS + 1];

void blind_add(struct blind_tally *sum, const struct blind_tally *more);

/* Scores a dissection; what is not right is printed, or everything when `loud`. */
void blind_judge(struct blind_tally *tally, const struct blind_hierarchy *hierarchy,
                 const struct blind_noise *noise, json_t *dissection, uint64_t seed, bool loud);

#endif
