/*
 * Rows whose measured value is what a blind dissection says: "caches.l1_data.size" is the attribute
 * `size` of the cache with that id. An attribute is an object with a value or with the reason why
 * there is none; parts of one (a policy's name) may also be plain values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/bench.h"
#include "util/glue/json_glue.h"
#include "util/glue/yaml_glue.h"

/* NULL with the reason, also where something on the way was not measured. */
static json_t *follow(json_t *root, const char *path, struct study_value *why)
{
    json_t *at = root;
    for (const char *word = path; word && *word;) {
        char name[64];
        size_t length = strcspn(word, ".");
        snprintf(name, sizeof(name), "%.*s", (int)length, word);
        json_t *next = json_is_array(at) ? json_find_id(at, name) : json_object_get(at, name);
        json_t *reason = json_object_get(at, "reason");
        if (!next) {
            value_nothing(why, "%s",
                          reason ? json_string_value(reason) : "the dissection does not tell");
            return NULL;
        }
        at = next;
        word = word[length] ? word + length + 1 : NULL;
    }
    return at;
}

static double number_of(json_t *value)
{
    /* Masks are written as texts, "0x80". */
    const char *text = json_string_value(value);
    return text ? (double)strtoull(text, NULL, 0) : json_number_value(value);
}

static void take_list(struct study_value *value, json_t *array)
{
    if (json_array_size(array) == 0 || json_array_size(array) > STUDY_MAX_LIST) {
        value_nothing(value, "%zu values", json_array_size(array));
        return;
    }
    *value = (struct study_value){.kind = STUDY_LIST, .count = json_array_size(array)};
    for (size_t i = 0; i < value->count; i++) {
        json_t *item = json_array_get(array, i);
        json_t *inner = json_object_get(item, "value");
        value->list[i] = number_of(inner ? inner : item);
    }
}

static void take(struct study_value *value, json_t *node)
{
    json_t *reason = json_object_get(node, "reason");
    json_t *inner = json_object_get(node, "value");
    node = inner ? inner : node;
    if (reason && !inner) {
        value_nothing(value, "%s", json_string_value(reason));
    } else if (json_is_number(node)) {
        value_number(value, json_number_value(node));
    } else if (json_is_boolean(node)) {
        value_word(value, json_is_true(node) ? "yes" : "no");
    } else if (json_is_string(node)) {
        value_word(value, json_string_value(node));
    } else if (json_is_array(node)) {
        take_list(value, node);
    } else {
        value_nothing(value, "the dissection does not tell");
    }
}

int measure_attribute(struct study_bench *bench, struct study_value *value, size_t role,
                      const struct yaml_node *node)
{
    return measure_path(bench, value, role, measure_word(node, "attribute"));
}

int measure_path(struct study_bench *bench, struct study_value *value, size_t role,
                 const char *path)
{
    json_t *root;
    value_nothing(value, "the dissection does not tell");
    int rc = study_bench_dissection(bench, &root, role);
    if (rc < 0) {
        return rc;
    }
    json_t *found = follow(root, path, value);
    if (found) {
        take(value, found);
    }
    return 0;
}

static bool names_lru(json_t *policy)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(policy, "equivalent_to"), i, name)
    {
        if (strcmp(json_string_value(name) ? json_string_value(name) : "", "lru") == 0) {
            return true;
        }
    }
    return false;
}

int measure_lru(struct study_bench *bench, struct study_value *value, size_t role,
                const struct yaml_node *node)
{
    json_t *root;
    int rc = study_bench_dissection(bench, &root, role);
    if (rc < 0) {
        return rc;
    }
    json_t *owner = follow(root, measure_word(node, "lru"), value);
    json_t *policy = owner ? follow(owner, "policy", value) : NULL;
    json_t *name = policy ? follow(policy, "name", value) : NULL;
    if (!name) {
        return 0;
    }
    take(value, name);
    if (value->kind == STUDY_WORD && strcmp(value->word, "unknown") == 0) {
        json_t *reason = json_object_get(policy, "reason");
        value_nothing(value, "%s", reason ? json_string_value(reason) : "the policy is unknown");
    } else if (value->kind == STUDY_WORD) {
        bool lru = strcmp(value->word, "lru") == 0 || names_lru(policy);
        value_word(value, lru ? "yes" : "no");
    }
    return 0;
}
