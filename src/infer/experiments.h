/*
 * The experiments, as their tables declare them: those on each cache (experiments.def) and those on
 * the device as a whole (device/device.def). A file that defines one includes this header; so a row
 * is all that a new experiment adds here.
 *
 * Each function returns 0, INFER_UNDECIDED (the reason is in lab->why) or an error.
 */
#ifndef SONDE_INFER_EXPERIMENTS_H
#define SONDE_INFER_EXPERIMENTS_H

#include "infer/level.h"

#define EXPERIMENT(name, function, needs, yields, doc) int function(struct level *level);
#include "infer/experiments.def"

#define DEVICE_EXPERIMENT(name, function, refuse, doc)                                             \
    int function(struct lab *lab);                                                                 \
    void refuse(struct dissection *out, const char *reason);
#include "infer/device/device.def"

enum {
#define EXPERIMENT(name, function, needs, yields, doc) EXPERIMENT_##name,
#include "infer/experiments.def"
    EXPERIMENT_COUNT
};

enum {
#define ATTRIBUTE(field, unit) CACHE_ATTRIBUTE_##field,
#include "infer/attributes.def"
    CACHE_ATTRIBUTE_COUNT
};

enum {
#define DEVICE_EXPERIMENT(name, function, refuse, doc) DEVICE_EXPERIMENT_##name,
#include "infer/device/device.def"
    DEVICE_EXPERIMENT_COUNT
};

enum {
#define LEVEL(id, scope, op, behind, beneath, shared, window, doc) +1
    LEVEL_COUNT = 0
#include "infer/levels.def"
};

struct experiment {
    const char *name;
    int (*run)(struct level *level);
    uint32_t needs;  /* bits of experiments that must have succeeded on the same cache */
    uint32_t yields; /* bits of attributes that it may fill */
    const char *doc;
};

struct device_experiment {
    const char *name;
    int (*run)(struct lab *lab);
    void (*refuse)(struct dissection *out, const char *reason);
    const char *doc;
};

extern const struct experiment experiments[EXPERIMENT_COUNT];
extern const struct device_experiment device_experiments[DEVICE_EXPERIMENT_COUNT];
extern const struct level_info levels[LEVEL_COUNT];

#endif
