/*
 * The result of a cache: its name, the reasons in what has no value, and what was found in a path's
 * addresses in the cache's own bytes.
 */
#include "infer/result.h"

#include <stdio.h>
#include <string.h>

static const struct {
    size_t offset;
    const char *unit;
} attributes[] = {
#define ATTRIBUTE(field, unit) {offsetof(struct cache_result, field), unit},
#include "infer/attributes.def"
};

static struct attribute *attribute_at(struct cache_result *result, size_t i)
{
    return (struct attribute *)((char *)result + attributes[i].offset);
}

void result_refuse(struct cache_result *result, uint32_t yields, const struct refusal *why)
{
    for (size_t i = 0; i < CACHE_ATTRIBUTE_COUNT; i++) {
        if (yields & (1u << i)) {
            attribute_refuse_open(attribute_at(result, i), attributes[i].unit, why);
        }
    }
    struct policy_result *policy = &result->policy;
    if (yields & (1u << CACHE_ATTRIBUTE_policy) && !policy->name[0] && !policy->refusal.reason[0]) {
        policy->refusal = *why;
    }
    struct index_result *index = &result->index;
    if (yields & (1u << CACHE_ATTRIBUTE_index) && !index->kind[0] && !index->refusal.reason[0]) {
        index->refusal = *why;
    }
}

/* No latency of the memory: the reason is the one that hid the outermost cache's misses. */
void result_refuse_memory(struct dissection *out, const struct cache_result *outermost)
{
    const struct attribute *penalty = &outermost->miss_penalty;
    struct refusal why = {.reason = "no walk misses the outermost cache"};
    if (penalty->status != ATTRIBUTE_MEASURED && penalty->reason[0]) {
        why.status = penalty->status;
        snprintf(why.reason, sizeof why.reason, "%s", penalty->reason);
    }
    attribute_refuse_open(&out->memory_latency, "cycles", &why);
}

/*
 * What was found in the addresses of a path of which each byte stands for several of the cache, in
 * the cache's own bytes. A line that holds no second word of the path, and what rests on where
 * lines end, stays open.
 */
void result_scale(struct cache_result *r, const struct level *level, uint32_t interleave)
{
    if (interleave == 1) {
        return;
    }
    r->path_interleave = interleave;
    if (r->present) {
        attribute_refuse(&r->fetch_granularity, "B",
                         "the path's words lie too far apart to share what a miss fetches");
    }
    for (size_t i = 0; i < r->step_count; i++) {
        r->steps[i].bytes *= interleave;
    }
    if (level->same_as) {
        return; /* what was taken over is in the cache's own bytes */
    }
    for (size_t i = 0; i < CACHE_ATTRIBUTE_COUNT; i++) {
        struct attribute *attribute = attribute_at(r, i);
        if (strcmp(attributes[i].unit, "B") == 0 && i != CACHE_ATTRIBUTE_carveout_shared) {
            attribute->value *= interleave;
        }
    }
    for (size_t i = 0; i < r->index.mask_count; i++) {
        r->index.masks[i] *= interleave;
    }
    if (level->line.bytes == level->timing.fetch_bytes) {
        char reason[160];
        snprintf(reason, sizeof reason, "lines of %llu B and less look alike through this path",
                 (unsigned long long)level->line.bytes * interleave);
        attribute_refuse(&r->line, "B", reason);
        if (r->sets.status == ATTRIBUTE_MEASURED) {
            attribute_refuse(&r->sets, "1", reason);
        }
    }
}

void result_name(struct cache_result *result, const struct level_info *info)
{
    snprintf(result->id, sizeof result->id, "%s", info->id);
    snprintf(result->scope, sizeof result->scope, "%s", info->scope);
    for (size_t a = 0; a < CACHE_ATTRIBUTE_COUNT; a++) {
        attribute_refuse(attribute_at(result, a), attributes[a].unit, "");
    }
}
