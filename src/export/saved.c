/* See saved.h. */
#include "export/saved.h"

#include <math.h>
#include <string.h>

#include "util/container/map.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/text/printable.h"

#define SCHEMA "sonde.dissection/1"
#define LARGEST_FILE                                                                               \
    ((size_t)64 << 20) /* of an H200's 40 KiB, with room for generations to come                   \
                        */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+ "
#define LARGEST_WHOLE 9007199254740992.0 /* 2^53: whole numbers are exact up to here */

/* A character that is not printable would end a comment, steer a terminal, or be no XML. */
static int tidy_text(json_t *string)
{
    const char *text = json_string_value(string);
    struct strbuf tidy = {0};
    bool changed = false;
    for (size_t bytes; *text; text += bytes) {
        bytes = printable_bytes(text);
        changed = changed || bytes == 0;
        if (bytes == 0) {
            strbuf_append_char(&tidy, '?');
            bytes = 1;
        } else {
            strbuf_printf(&tidy, "%.*s", (int)bytes, text);
        }
    }
    int rc = changed && json_string_set(string, strbuf_text(&tidy)) != 0 ? error_memory() : 0;
    strbuf_free(&tidy);
    return rc;
}

/* All texts of a document; what no name of the schema holds is refused in names. */
static int tidy(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    int rc = json_is_string(value) ? tidy_text(value) : 0;
    json_object_foreach(value, key, member)
    {
        if (rc == 0 && key[strspn(key, NAME_CHARACTERS)] != '\0') {
            rc = error_set(SONDE_EINPUT, "no dissection: a member is called \"%s\"", key);
        }
        rc = rc < 0 ? rc : tidy(member);
    }
    json_array_foreach(value, i, member)
    {
        rc = rc < 0 ? rc : tidy(member);
    }
    return rc;
}

/* Elements of a list are found by their ids: no two have the same. */
static int check_ids(const char *name, const json_t *list)
{
    struct map ids = {0};
    size_t i;
    json_t *element;
    int rc = 0;
    json_array_foreach(list, i, element)
    {
        const char *id = json_string_value(json_object_get(element, "id"));
        if (rc < 0 || !id) {
            continue;
        }
        rc = map_find(&ids, id)
                 ? error_set(SONDE_EINPUT, "no dissection: two of \"%s\" are '%s'", name, id)
                 : map_put(&ids, id, element);
    }
    map_free(&ids);
    return rc;
}

static int check_all_ids(json_t *root)
{
    const char *name;
    json_t *list;
    int rc = 0;
    json_object_foreach(root, name, list)
    {
        rc = rc < 0 ? rc : check_ids(name, list);
    }
    return rc;
}

int saved_read(json_t **out, const char *path)
{
    json_t *root = NULL;
    int rc = json_from_file(&root, path, LARGEST_FILE);
    if (rc < 0) {
        return rc;
    }
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema) {
        rc = error_set(SONDE_EINPUT, "%s: no dissection: it has no \"schema\"", path);
    } else if (strcmp(schema, SCHEMA) != 0) {
        rc = error_set(SONDE_EINPUT, "%s: the schema is '%s', this version reads '%s'", path,
                       schema, SCHEMA);
    } else if (!json_is_array(json_object_get(root, "caches")) ||
               !json_is_object(json_object_get(root, "device"))) {
        rc =
            error_set(SONDE_EINPUT, "%s: no dissection: \"caches\" or \"device\" is missing", path);
    } else {
        rc = tidy(root);
        rc = rc < 0 ? rc : check_all_ids(root);
        rc = rc < 0 ? error_prefix(rc, "%s", path) : 0;
    }
    if (rc < 0) {
        json_decref(root);
        return rc;
    }
    *out = root;
    return 0;
}

static const json_t *present(const json_t *root, const char *list, const char *id)
{
    const json_t *found = json_find_id(json_object_get(root, list), id);
    return json_is_true(json_object_get(found, "present")) ? found : NULL;
}

const json_t *saved_cache(const json_t *root, const char *id)
{
    return present(root, "caches", id);
}

bool saved_is_absent(const json_t *root, const char *id)
{
    const json_t *cache = json_find_id(json_object_get(root, "caches"), id);
    return cache && json_is_false(json_object_get(cache, "present")) &&
           strcmp(saved_text(cache, "status", "absent"), "absent") == 0;
}

bool saved_shares(const json_t *root, const char *id, const char *other)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(saved_cache(root, id), "shared_with"), i, name)
    {
        const char *text = json_string_value(name);
        if (text && strcmp(text, other) == 0) {
            return true;
        }
    }
    return false;
}

bool saved_is_of_cluster(const json_t *cache)
{
    const char *scope = saved_text(cache, "scope", "");
    uint64_t count;
    bool is_single = strcmp(scope, "gpu") == 0 && saved_u64(&count, cache, "count") && count == 1;
    return is_single || strcmp(scope, "cluster") == 0;
}

const json_t *saved_tlb(const json_t *root, const char *id)
{
    return present(root, "tlbs", id);
}

bool saved_value(struct saved_value *out, const json_t *owner, const char *key)
{
    const json_t *attribute = json_object_get(owner, key);
    const json_t *value = json_object_get(attribute, "value");
    if (!json_is_number(value)) {
        return false;
    }
    const char *evidence = json_string_value(json_object_get(attribute, "evidence"));
    *out = (struct saved_value){
        .value = json_number_value(value),
        .confidence = json_number_of(attribute, "confidence"),
        .evidence = evidence ? evidence : "",
    };
    return true;
}

bool saved_u64(uint64_t *out, const json_t *owner, const char *key)
{
    struct saved_value value;
    if (!saved_value(&value, owner, key) || !(value.value >= 0) || value.value > LARGEST_WHOLE) {
        return false;
    }
    *out = (uint64_t)llround(value.value);
    return true;
}

const char *saved_text(const json_t *owner, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(owner, key));
    return text ? text : fallback;
}

uint64_t saved_plain_u64(const json_t *owner, const char *key, uint64_t fallback)
{
    const json_t *value = json_object_get(owner, key);
    return json_is_integer(value) && json_integer_value(value) >= 0
               ? (uint64_t)json_integer_value(value)
               : fallback;
}

bool saved_kind(struct saved_value *out, const json_t *row, const char *pattern, const char *op)
{
    return strcmp(saved_text(row, "pattern", ""), pattern) == 0 &&
           strcmp(saved_text(row, "op", ""), op) == 0 && saved_value(out, row, "latency");
}

bool saved_pattern(double *cycles, const json_t *root, const char *pattern)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(root, "latency_patterns"), i, row)
    {
        struct saved_value value;
        if (strcmp(saved_text(row, "pattern", ""), pattern) == 0 &&
            strcmp(saved_text(row, "op", "cg"), "cg") == 0 && saved_value(&value, row, "latency")) {
            *cycles = value.value;
            return true;
        }
    }
    return false;
}
