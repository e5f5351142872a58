/*
 * An L1 that global loads were seen to have and of which nothing else was told: the model's local
 * memory goes through it (models/README.md), and so what was told of that, and of the paths that
 * share its cache, is L1's. It goes into the dissection before anything is read from it.
 */
#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

static bool is_told(const json_t *cache, const char *key)
{
    return json_object_get(json_object_get(cache, key), "value") != NULL;
}

/* What a path shows of the cache that it shares, which is in words of its own otherwise. */
static void take_geometry(json_t *l1, const json_t *path)
{
    static const char *const keys[] = {"size", "line", "fetch_granularity", "sets", "ways"};
    static const char *const others[] = {"set_index", "policy", "ways_per_set"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (!is_told(l1, keys[i]) && is_told(path, keys[i])) {
            json_put(l1, keys[i], json_incref(json_object_get(path, keys[i])));
        }
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        json_t *value = json_object_get(path, others[i]);
        bool is_refused = json_object_get(json_object_get(l1, others[i]), "status") ||
                          !json_object_get(l1, others[i]);
        if (is_refused && value && !json_object_get(value, "status")) {
            json_put(l1, others[i], json_incref(value));
        }
    }
}

static void share(json_t *path)
{
    json_t *names = json_object_get(path, "shared_with");
    if (!json_is_array(names)) {
        names = json_array();
        json_put(path, "shared_with", names);
    }
    json_append(names, json_string("l1_data"));
}

void model_tell_l1(json_t *root)
{
    static const char *const paths[] = {"readonly_l1", "texture_l1", "local_l1"};
    static const char *const times[] = {"hit_latency", "miss_penalty", "hit_latencies"};
    json_t *caches = json_object_get(root, "caches");
    json_t *l1 = json_find_id(caches, "l1_data"), *local = json_find_id(caches, "local_l1");
    if (!saved_cache(root, "l1_data") || !saved_cache(root, "local_l1") ||
        is_told(l1, "hit_latency") || is_told(l1, "size") || is_told(l1, "ways") ||
        !is_told(local, "hit_latency")) {
        return;
    }
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        json_t *path = json_find_id(caches, paths[i]);
        if (path == local || (path && saved_shares(root, paths[i], "local_l1"))) {
            take_geometry(l1, path);
            share(path);
        }
    }
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        json_put(l1, times[i], json_incref(json_object_get(local, times[i])));
    }
}
