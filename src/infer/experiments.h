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

#define EXPERIMENT(name, function, applies, kind, needs, uses, yields, doc)                        \
    int function(struct level *level);                                                             \
    bool applies(const struct level *level);
#include "infer/experiments.def"

#define DEVICE_EXPERIMENT(name, function, refuse, caches, needs, uses, when, doc)                  \
    int function(struct lab *lab);                                                                 \
    void refuse(struct dissection *out, const struct refusal *why);
#include "infer/device/device.def"

enum {
#define EXPERIMENT(name, function, applies, kind, needs, uses, yields, doc) EXPERIMENT_##name,
#include "infer/experiments.def"
    EXPERIMENT_COUNT
};

/* What an experiment may fill: attributes, and what is no single number. */
enum {
#define ATTRIBUTE(field, unit) CACHE_ATTRIBUTE_##field,
#include "infer/attributes.def"
    CACHE_ATTRIBUTE_COUNT,
    CACHE_ATTRIBUTE_policy = CACHE_ATTRIBUTE_COUNT,
    CACHE_ATTRIBUTE_index
};
#define ALL_YIELDS (~UINT32_C(0))

enum {
#define DEVICE_EXPERIMENT(name, function, refuse, caches, needs, uses, when, doc)                  \
    DEVICE_EXPERIMENT_##name,
#include "infer/device/device.def"
    DEVICE_EXPERIMENT_COUNT
};

enum {
#define LEVEL(id, scope, op, behind, beneath, shared, window, doc) LEVEL_##id,
#include "infer/levels.def"
    LEVEL_COUNT
};
#define ALL_LEVELS ((UINT32_C(1) << LEVEL_COUNT) - 1)

enum experiment_kind { PATH, STRUCTURE, RECIPE }; /* experiments.def */

struct experiment {
    const char *name;
    int (*run)(struct level *level);
    bool (*applies)(const struct level *level);
    enum experiment_kind kind;
    uint32_t needs, uses; /* bits of experiments */
    uint32_t yields;      /* bits of attributes */
    const char *doc;
};

struct device_experiment {
    const char *name;
    int (*run)(struct lab *lab);
    void (*refuse)(struct dissection *out, const struct refusal *why);
    uint32_t caches; /* bits of levels */
    uint32_t needs;  /* bits of experiments on these */
    uint32_t uses;   /* bits of experiments on the device */
    enum { UNASKED, NAMED } when;
    const char *doc;
};

extern const struct experiment experiments[EXPERIMENT_COUNT];
extern const struct device_experiment device_experiments[DEVICE_EXPERIMENT_COUNT];
extern const struct level_info levels[LEVEL_COUNT];

#endif
