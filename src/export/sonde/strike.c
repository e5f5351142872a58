/*
 * What the loader refuses of a model that was written is struck from the dissection, which is
 * written again: a policy or an index alone, then all of a cache's geometry, then the cache. Each
 * value may be right and not bear what stands beside it, of the same dissection or of the base.
 */
#include <stdio.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* A model's section, and what of a dissection it is written from. */
static const struct {
    const char *section, *list, *id;
} sources[] = {
    {"carveout", "caches", "l1_data"},
    {"l1_data", "caches", "l1_data"},
    {"l1_data", "caches", "local_l1"},
    {"texture_l1", "caches", "texture_l1"},
    {"constant_l1", "caches", "constant_l1"},
    {"constant_l15", "caches", "constant_l15"},
    {"l2", "caches", "l2"},
    {"tlb_l1", "tlbs", "l1_tlb"},
    {"tlb_l2", "tlbs", "l2_tlb"},
    {"vm", "tlbs", "l1_tlb"},
    {"l2", "caches", "l1_data"},
    {"l2", "caches", "local_l1"},
    {"sm", "caches", "readonly_l1"},
    {"sm", "caches", "l1_data"},
    {"sm", "caches", "texture_l1"},
    {"dram", "caches", "l2"},
};

/* The member of `owner`, if it is there, is not measured. */
static bool forget(json_t *owner, const char *key)
{
    json_t *told = json_object_get(owner, key);
    if (!told || strcmp(saved_text(told, "status", ""), "not measured") == 0) {
        return false;
    }
    json_put(owner, key,
             json_pack("{s:s, s:s, s:s, s:s}", "status", "not measured", "reason",
                       "the model's loader", "kind", "unknown", "name", "unknown"));
    return true;
}

static bool forget_geometry(json_t *cache)
{
    static const char *const keys[] = {"size", "line",   "fetch_granularity", "sets",
                                       "ways", "count",  "set_index",         "policy",
                                       "page", "entries"};
    bool any = false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        any = forget(cache, keys[i]) || any;
    }
    json_object_del(cache, "ways_per_set");
    json_object_del(cache, "entries_per_set");
    return any;
}

/* All of a cache. */
static bool forget_cache(json_t *cache)
{
    if (strcmp(saved_text(cache, "status", ""), "not measured") == 0) {
        return false;
    }
    json_put(cache, "present", json_false());
    json_put(cache, "status", json_string("not measured"));
    json_object_del(cache, "shared_with");
    return true;
}

/* The least of a cache that `path` is about, and that is still told. */
static bool strike_cache(json_t *cache, const char *path)
{
    if (!cache) {
        return false;
    }
    return (strstr(path, ".replacement") && forget(cache, "policy")) ||
           (strstr(path, "index") && forget(cache, "set_index")) || forget_geometry(cache) ||
           forget_cache(cache);
}

static bool strike_rates(json_t *root)
{
    json_t *memory = json_object_get(root, "memory");
    bool any = json_object_del(json_object_get(root, "device"), "memory_bandwidth_reported") == 0;
    any = forget(memory, "read_bandwidth") || any;
    any = forget(memory, "write_bandwidth") || any;
    return forget(root, "outstanding") || any;
}

bool model_strike(json_t *root, char *path, size_t size, const char *problem)
{
    const char *begin = strstr(problem, ": ");
    int length = begin ? (int)strcspn(begin + 2, ":") : 0;
    snprintf(path, size, "%.*s", length, begin ? begin + 2 : "");
    size_t section = strcspn(path, ".");
    bool any = false;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !any; i++) {
        bool is_it = strlen(sources[i].section) == section &&
                     strncmp(sources[i].section, path, section) == 0;
        const json_t *list = json_object_get(root, sources[i].list);
        any = is_it && strike_cache(json_find_id(list, sources[i].id), path);
    }
    if (!any && strncmp(path, "sm", section) == 0) {
        any = forget(root, "shared_memory");
    }
    return any || strike_rates(root);
}
