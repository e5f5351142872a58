/*
 * What a point is known by when a sweep goes on, here or on another host: all that its outcome
 * depends on. Models, files that are run and those that their arguments name count by what they
 * contain and by their last name, not by where they lie; workloads by what is built in. A file into
 * which points write is an argument like any other.
 */
#ifndef SONDE_SWEEP_KEY_H
#define SONDE_SWEEP_KEY_H

#include <stdint.h>

#include "sweep/spec/spec.h"

struct model;

/* A key for each point, free() them. A model or file that cannot be read counts by its name alone:
 * its points will say so. */
int sweep_keys(uint64_t **out, const struct sweep_spec *spec, const struct sweep_points *points);

/* A model as a sweep names it, as model_load() takes it: a path is as seen from the
 * specification's folder. free() it. */
int sweep_model_path(char **out, const struct sweep_spec *spec, const char *name);

/* Every parameter of a model, but for its name and description. 0: no memory. */
uint64_t sweep_model_hash(const struct model *model);

#endif
