/*
 * What a dissection is asked for.
 *
 *   selection   which experiments run on each cache, and which on the device
 *   needs       experiments that must have succeeded first, on the same cache
 *   uses        experiments whose results are taken into account
 */
#ifndef SONDE_INFER_SELECT_H
#define SONDE_INFER_SELECT_H

#include "infer/experiments.h"

struct selection {
    uint32_t on_cache[LEVEL_COUNT]; /* bits of experiments; 0: the cache is left out */
    uint32_t on_device;             /* bits of experiments on the device */
};

/* From options->only and options->skip; SONDE_EUSAGE where they name what there is not. */
int select_experiments(struct selection *out, const struct infer_options *options);

#endif
