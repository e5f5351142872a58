/*
 * What a dissection is asked for: experiments on caches, experiments on the device, caches. Their
 * names are the rows of experiments.def, device/device.def and levels.def; a selection has a bit
 * for each, in this order.
 */
#include "infer/select.h"

#include <string.h>

#include "util/error.h"

const struct experiment experiments[EXPERIMENT_COUNT] = {
#define EXPERIMENT(name, function, needs, yields, doc) {#name, function, needs, yields, doc},
#include "infer/experiments.def"
};

const struct device_experiment device_experiments[DEVICE_EXPERIMENT_COUNT] = {
#define DEVICE_EXPERIMENT(name, function, refuse, doc) {#name, function, refuse, doc},
#include "infer/device/device.def"
};

const struct level_info levels[LEVEL_COUNT] = {
#define LEVEL(id, scope, op, behind, beneath, shared, window, doc)                                 \
    {id, scope, op, behind, beneath, shared, window, doc},
#include "infer/levels.def"
};

enum {
    LEVEL_BIT = EXPERIMENT_COUNT + DEVICE_EXPERIMENT_COUNT,
    ALL_COUNT = LEVEL_BIT + LEVEL_COUNT
};
_Static_assert(ALL_COUNT <= 64, "a selection has a bit for each");

#define BITS(from, count) (((UINT64_C(1) << (count)) - 1) << (from))
#define EXPERIMENT_BITS BITS(0, EXPERIMENT_COUNT)
#define LEVEL_BITS BITS(LEVEL_BIT, LEVEL_COUNT)

struct infer_experiment infer_experiment_at(size_t i)
{
    if (i >= ALL_COUNT) {
        return (struct infer_experiment){NULL, NULL};
    }
    if (i >= LEVEL_BIT) {
        return (struct infer_experiment){levels[i - LEVEL_BIT].id, levels[i - LEVEL_BIT].doc};
    }
    if (i >= EXPERIMENT_COUNT) {
        return (struct infer_experiment){device_experiments[i - EXPERIMENT_COUNT].name,
                                         device_experiments[i - EXPERIMENT_COUNT].doc};
    }
    return (struct infer_experiment){experiments[i].name, experiments[i].doc};
}

/* Bits of the names in a comma-separated list. */
static int parse_list(uint64_t *out, const char *list)
{
    *out = 0;
    while (list && *list) {
        size_t length = strcspn(list, ","), i = 0;
        while (i < ALL_COUNT && (strlen(infer_experiment_at(i).name) != length ||
                                 strncmp(infer_experiment_at(i).name, list, length) != 0)) {
            i++;
        }
        if (i == ALL_COUNT) {
            return error_set(SONDE_EUSAGE, "there is no experiment or cache '%.*s'",
                             (int)(length > 60 ? 60 : length), list);
        }
        *out |= UINT64_C(1) << i;
        list += length + (list[length] == ',');
    }
    return 0;
}

uint64_t select_with_needs(uint64_t wanted)
{
    for (size_t i = EXPERIMENT_COUNT; i-- > 0;) {
        wanted |= wanted & (UINT64_C(1) << i) ? experiments[i].needs : 0;
    }
    return wanted;
}

/*
 * Of experiments and of caches, a list that names none means all of them. Experiments on the device
 * are caches' equals here: a list of caches alone asks for none of them.
 */
static uint64_t fill_only(uint64_t only)
{
    if (!only) {
        return BITS(0, ALL_COUNT);
    }
    uint64_t filled = select_with_needs(only);
    if (!(only & BITS(0, LEVEL_BIT))) {
        filled |= EXPERIMENT_BITS;
    }
    return only & LEVEL_BITS || !(only & EXPERIMENT_BITS) ? filled : filled | LEVEL_BITS;
}

int select_experiments(uint64_t *out, const struct infer_options *options)
{
    uint64_t only, skip;
    int rc = parse_list(&only, options->only);
    rc = rc ? rc : parse_list(&skip, options->skip);
    if (rc == 0) {
        *out = fill_only(only) & ~skip;
    }
    return rc;
}

bool selects_experiment(uint64_t selected, size_t experiment)
{
    return selected >> experiment & 1;
}

bool selects_device_experiment(uint64_t selected, size_t experiment)
{
    return selected >> (EXPERIMENT_COUNT + experiment) & 1;
}

bool selects_level(uint64_t selected, size_t level)
{
    return selected >> (LEVEL_BIT + level) & 1;
}
