/* See facts.h. */
#include "export/facts.h"

#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/glue/json_glue.h"

/* What facts are collected from, and the members of any object that are no facts. */
static const char *const PARTS[] = {"caches",        "tlbs",        "latency_patterns",
                                    "shared_memory", "outstanding", "memory"};
static const char *const NO_FACTS[] = {
    "id",         "confidence",      "evidence",      "scope_evidence", "reason",
    "status",     "steps",           "hit_latencies", "miss_latencies", "loads",
    "bits_below", "one_load_cycles", "around_loads",  "request_cycles", "victim_probability_error",
    "victims",    "spikes",          "at_least",      "pattern",        "op",
    "cache",      "l1_tlb",          "l2_tlb",        "page_table",     "far_jump"};

/* Looked up one by one, which a GPU's hundreds bear and a file's millions would not. */
#define MOST_FACTS 10000
#define MOST_ELEMENTS 256 /* of a list of caches, TLBs or kinds of access */

struct place {
    char path[FACT_PATH_BYTES];
    const char *unit;
};

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}
#define AMONG(word, words) is_among(word, words, sizeof(words) / sizeof((words)[0]))

/* "l2" and "size" give "l2.size"; a path that would not fit is cut, which no schema needs. */
static struct place below(const struct place *place, const char *key)
{
    struct place inner = {.unit = place->unit};
    snprintf(inner.path, sizeof(inner.path), "%.100s%s%.50s", place->path,
             place->path[0] ? "." : "", key);
    if (strcmp(key, "conflict_latency") == 0) {
        inner.unit = "cycles";
    }
    return inner;
}

static int add(struct facts *facts, const struct place *place, const json_t *value,
               const char *unit, const json_t *object)
{
    if (facts->count == MOST_FACTS) {
        return error_set(SONDE_EINPUT, "more than %d attributes: no dissection has so many",
                         MOST_FACTS);
    }
    struct fact fact = {.value = value,
                        .unit = unit,
                        .low = json_number_of(object, "low"),
                        .high = json_number_of(object, "high")};
    memcpy(fact.path, place->path, sizeof(fact.path));
    return vec_push(facts, fact) < 0 ? error_memory() : 0;
}

/* An element's name: its id, or its pattern and path, with "#2" where there are several. What no
 * kind of access explains has a path alone. */
static struct place element_place(const struct facts *facts, const struct place *place,
                                  const json_t *element, size_t index)
{
    const char *id = json_string_value(json_object_get(element, "id"));
    const char *pattern = json_string_value(json_object_get(element, "pattern"));
    const char *op = json_string_value(json_object_get(element, "op"));
    if (id) {
        struct place root = {.unit = ""};
        return below(&root, id);
    }
    char name[40];
    struct place inner;
    for (size_t again = 1;; again++) {
        if (pattern || op) {
            snprintf(name, sizeof(name), "%.8s.%.20s", op ? op : "",
                     pattern ? pattern : FACT_UNNAMED);
        } else {
            snprintf(name, sizeof(name), "%zu", index);
        }
        if (again > 1) {
            snprintf(name + strlen(name), sizeof(name) - strlen(name), "#%zu", again);
        }
        inner = below(place, name);
        struct place probe = below(&inner, "latency");
        if (!(pattern || op) || !facts_find(facts, probe.path)) {
            return inner;
        }
    }
}

static int collect(struct facts *facts, const struct place *place, const json_t *value);

static int collect_array(struct facts *facts, const struct place *place, const json_t *array)
{
    if (!json_is_object(json_array_get(array, 0))) {
        bool is_part = AMONG(place->path, PARTS); /* without elements nothing is said */
        return add(facts, place, is_part ? NULL : array, place->unit, NULL);
    }
    if (json_array_size(array) > MOST_ELEMENTS) {
        return error_set(SONDE_EINPUT, "%s has %zu elements: no GPU has more than %d", place->path,
                         json_array_size(array), MOST_ELEMENTS);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        const json_t *element = json_array_get(array, i);
        struct place inner = element_place(facts, place, element, i);
        rc = collect(facts, &inner, element);
    }
    return rc;
}

static int collect_object(struct facts *facts, const struct place *place, const json_t *object)
{
    const json_t *value = json_object_get(object, "value");
    if (value || json_object_get(object, "status")) {
        const char *unit = json_string_value(json_object_get(object, "unit"));
        return add(facts, place, value, unit ? unit : "", object);
    }
    int rc = 0;
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)object, key, member)
    {
        if (rc == 0 && !AMONG(key, NO_FACTS)) {
            struct place inner = below(place, key);
            rc = collect(facts, &inner, member);
        }
    }
    return rc;
}

/* A text "unknown" says of a policy, an index or a structure that it was not found. */
static int collect(struct facts *facts, const struct place *place, const json_t *value)
{
    if (json_is_object(value)) {
        return collect_object(facts, place, value);
    }
    if (json_is_array(value)) {
        return collect_array(facts, place, value);
    }
    const char *text = json_string_value(value);
    bool is_unknown = json_is_null(value) || (text && strcmp(text, "unknown") == 0);
    return add(facts, place, is_unknown ? NULL : value, place->unit, NULL);
}

int facts_collect(struct facts *facts, const json_t *root)
{
    int rc = 0;
    const struct place top = {.unit = ""};
    for (size_t i = 0; rc == 0 && i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        const json_t *part = json_object_get(root, PARTS[i]);
        if (part) {
            struct place place = below(&top, PARTS[i]);
            rc = collect(facts, &place, part);
        }
    }
    return rc;
}

const struct fact *facts_find(const struct facts *facts, const char *path)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (strcmp(facts->data[i].path, path) == 0) {
            return &facts->data[i];
        }
    }
    return NULL;
}
