/*
 * What a dissection is asked for. Names are the rows of experiments.def, device/device.def and
 * levels.def. What is named brings what it needs and uses: experiments on the same cache, caches
 * that an experiment on the device looks at, and the cache in front of one that it hides. "all"
 * names what runs when nothing is named.
 */
#include "infer/select.h"

#include <string.h>

#include "util/error.h"

const struct experiment experiments[EXPERIMENT_COUNT] = {
#define EXPERIMENT(name, function, applies, kind, needs, uses, yields, doc)                        \
    {#name, function, applies, kind, needs, uses, yields, doc},
#include "infer/experiments.def"
};

const struct device_experiment device_experiments[DEVICE_EXPERIMENT_COUNT] = {
#define DEVICE_EXPERIMENT(name, function, refuse, caches, needs, uses, when, doc)                  \
    {#name, function, refuse, caches, needs, uses, when, doc},
#include "infer/device/device.def"
};

const struct level_info levels[LEVEL_COUNT] = {
#define LEVEL(id, scope, op, behind, beneath, shared, window, doc)                                 \
    {#id, scope, op, behind, beneath, shared, window, doc},
#include "infer/levels.def"
};

_Static_assert(EXPERIMENT_COUNT < 32 && DEVICE_EXPERIMENT_COUNT < 32 && LEVEL_COUNT < 32,
               "sets of them are bits of 32");
_Static_assert(CACHE_ATTRIBUTE_index < 32, "what experiments yield are bits of 32");
_Static_assert(LEVEL_COUNT <= INFER_MAX_CACHES, "the result has room for each cache");
#define LEVEL(id, ...) _Static_assert(sizeof #id <= INFER_NAME_BYTES, "no name is cut");
#include "infer/levels.def"

#define ALL_EXPERIMENTS ((UINT32_C(1) << EXPERIMENT_COUNT) - 1)

static bool has(uint32_t bits, size_t i)
{
    return bits >> i & 1;
}

struct infer_experiment infer_experiment_at(size_t i)
{
    if (i < EXPERIMENT_COUNT) {
        return (struct infer_experiment){experiments[i].name, experiments[i].doc};
    }
    i -= EXPERIMENT_COUNT;
    if (i < DEVICE_EXPERIMENT_COUNT) {
        return (struct infer_experiment){device_experiments[i].name, device_experiments[i].doc};
    }
    i -= DEVICE_EXPERIMENT_COUNT;
    return i < LEVEL_COUNT ? (struct infer_experiment){levels[i].id, levels[i].doc}
                           : (struct infer_experiment){NULL, NULL};
}

/* What a list names. */
struct named {
    uint32_t experiments, on_device, caches;
    bool all; /* what runs unasked, besides */
};

static bool add_name(struct named *named, const char *name, size_t length)
{
    size_t i = 0;
    struct infer_experiment at = infer_experiment_at(i);
    if (length == 3 && strncmp(name, "all", length) == 0) {
        named->all = true;
        return true;
    }
    while (at.name && (strlen(at.name) != length || strncmp(at.name, name, length) != 0)) {
        at = infer_experiment_at(++i);
    }
    if (!at.name) {
        return false;
    }
    if (i < EXPERIMENT_COUNT) {
        named->experiments |= 1u << i;
    } else if (i < EXPERIMENT_COUNT + DEVICE_EXPERIMENT_COUNT) {
        named->on_device |= 1u << (i - EXPERIMENT_COUNT);
    } else {
        named->caches |= 1u << (i - EXPERIMENT_COUNT - DEVICE_EXPERIMENT_COUNT);
    }
    return true;
}

static int parse_list(struct named *out, const char *list)
{
    *out = (struct named){0};
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (!add_name(out, list, length)) {
            return error_set(SONDE_EUSAGE,
                             "there is no experiment or cache '%.*s'; sonde dissect --experiments "
                             "tells",
                             (int)(length > 60 ? 60 : length), list);
        }
        list += length + (list[length] == ',');
    }
    return 0;
}

/* Rows need and use earlier ones alone. */
static uint32_t with_needs(uint32_t wanted)
{
    for (size_t i = EXPERIMENT_COUNT; i-- > 0;) {
        wanted |= has(wanted, i) ? experiments[i].needs | experiments[i].uses : 0;
    }
    return wanted;
}

/*
 * Who asks for the capacity wants the size. The longest array that fits is one of spaced elements
 * at first; how much each stands for is not known before the sets are.
 */
static uint32_t with_sets(uint32_t named)
{
    return has(named, EXPERIMENT_capacity) ? named | 1u << EXPERIMENT_sets : named;
}

/* What runs on the device when nobody names anything. */
static uint32_t unasked_on_device(void)
{
    uint32_t unasked = 0;
    for (size_t i = 0; i < DEVICE_EXPERIMENT_COUNT; i++) {
        unasked |= device_experiments[i].when == UNASKED ? 1u << i : 0;
    }
    return unasked;
}

static uint32_t on_device_with_uses(uint32_t wanted)
{
    for (size_t i = DEVICE_EXPERIMENT_COUNT; i-- > 0;) {
        wanted |= has(wanted, i) ? device_experiments[i].uses : 0;
    }
    return wanted;
}

/*
 * A list of caches alone means all experiments on them, one of experiments alone all caches. An
 * experiment on the device that looks at all caches keeps to those that are named.
 */
static void fill_only(struct selection *out, const struct named *only)
{
    bool is_all = only->all || (!only->experiments && !only->on_device && !only->caches);
    uint32_t wanted = is_all || !(only->experiments | only->on_device)
                          ? ALL_EXPERIMENTS
                          : with_needs(with_sets(only->experiments));
    uint32_t caches = is_all ? ALL_LEVELS : only->caches ? only->caches : wanted ? ALL_LEVELS : 0;
    out->on_device = on_device_with_uses(only->on_device) | (is_all ? unasked_on_device() : 0);
    for (size_t l = 0; l < LEVEL_COUNT; l++) {
        out->on_cache[l] = has(caches, l) ? wanted : 0;
        for (size_t d = 0; d < DEVICE_EXPERIMENT_COUNT && !is_all; d++) {
            bool is_wide = device_experiments[d].caches == ALL_LEVELS && only->caches;
            uint32_t looks_at = is_wide ? only->caches : device_experiments[d].caches;
            if (has(only->on_device, d) && has(looks_at, l)) {
                out->on_cache[l] |= with_needs(device_experiments[d].needs);
            }
        }
    }
}

/* The structure of a cache in front: without it, what it hides cannot be told. */
static void add_fronts(struct selection *out, uint32_t skipped)
{
    uint32_t structure = 0;
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        structure |= experiments[i].kind == STRUCTURE ? 1u << i : 0;
    }
    for (size_t l = LEVEL_COUNT; l-- > 0;) {
        for (size_t front = 0; front < l && out->on_cache[l]; front++) {
            if (strcmp(levels[l].behind, levels[front].id) == 0) {
                out->on_cache[front] |= with_needs(structure) & ~skipped;
            }
        }
    }
}

int select_experiments(struct selection *out, const struct infer_options *options)
{
    struct named only, skip;
    int rc = parse_list(&only, options->only);
    rc = rc ? rc : parse_list(&skip, options->skip);
    if (rc) {
        return rc;
    }
    fill_only(out, &only);
    out->on_device &= ~skip.on_device;
    for (size_t l = 0; l < LEVEL_COUNT; l++) {
        out->on_cache[l] = has(skip.caches, l) ? 0 : out->on_cache[l] & ~skip.experiments;
    }
    add_fronts(out, skip.experiments);
    return 0;
}
