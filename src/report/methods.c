/*
 * Where a published recipe contradicts the dissection. Both are kept: the recipe's value is what
 * its paper would have told of this GPU.
 */
#include <math.h>
#include <string.h>

#include "report/parts.h"

static const struct cache_result *cache_of(const struct dissection *d,
                                           const struct method_result *method)
{
    for (size_t i = 0; i < d->cache_count; i++) {
        if (strcmp(d->caches[i].id, method->cache) == 0) {
            return d->caches[i].present ? &d->caches[i] : NULL;
        }
    }
    return NULL;
}

/* Sizes are found by the line; those that are estimates have bounds. */
static bool differs(const struct cache_result *cache, const struct attribute *here, double value)
{
    if (here->high > 0) {
        return value < here->low || value > here->high;
    }
    bool by_line = here == &cache->size && cache->line.status == ATTRIBUTE_MEASURED;
    return fabs(value - here->value) > (by_line ? cache->line.value : 0);
}

const struct attribute *report_contradiction(const struct dissection *d,
                                             const struct method_result *method,
                                             const struct attribute *value)
{
    const struct cache_result *cache = cache_of(d, method);
    if (!cache || value->status != ATTRIBUTE_MEASURED) {
        return NULL;
    }
    const struct {
        const struct attribute *said, *here;
    } both[] = {{&method->size, &cache->size},
                {&method->line, &cache->line},
                {&method->sets, &cache->sets},
                {&method->ways, &cache->ways}};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        if (both[i].said == value) {
            bool known = both[i].here->status == ATTRIBUTE_MEASURED;
            return known && differs(cache, both[i].here, value->value) ? both[i].here : NULL;
        }
    }
    return NULL;
}
