/*
 * What a dissection is asked for.
 *
 *   selection   a bit for each experiment on caches, experiment on the device, and cache
 *   needs       experiments that must have succeeded first, on the same cache
 */
#ifndef SONDE_INFER_SELECT_H
#define SONDE_INFER_SELECT_H

#include "infer/experiments.h"

/* From options->only and options->skip; SONDE_EUSAGE where they name what there is not. */
int select_experiments(uint64_t *out, const struct infer_options *options);
/* The selection, and what its experiments on caches need. */
uint64_t select_with_needs(uint64_t wanted);

bool selects_experiment(uint64_t selected, size_t experiment);
bool selects_device_experiment(uint64_t selected, size_t experiment);
bool selects_level(uint64_t selected, size_t level);

#endif
