/*
 * get FILE.json OWNER.ATTRIBUTE[.MEMBER] | patterns.OP.NAME: prints the attribute's value (a
 * pattern's latency, a list's words or numbers), or "not measured". OWNER is the id of a cache or
 * of a TLB, memory, shared_memory, outstanding, or at_least.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "util/glue/json_glue.h"

static json_t *find_owner(json_t *root, const char *id)
{
    json_t *outstanding = json_object_get(root, "outstanding");
    if (strcmp(id, "at_least") == 0) {
        return json_object_get(outstanding, id);
    }
    json_t *cache = json_find_id(json_object_get(root, "caches"), id);
    json_t *tlb = json_find_id(json_object_get(root, "tlbs"), id);
    return cache ? cache : tlb ? tlb : json_object_get(root, id);
}

/* "policy.name": member by member. */
static json_t *find_member(json_t *owner, const char *path)
{
    char part[32];
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(path, '.')) {
        snprintf(part, sizeof(part), "%.*s", (int)(dot - path), path);
        owner = json_object_get(owner, part);
        path = dot + 1;
    }
    return json_object_get(owner, path);
}

/* "cg.P1"; the first with that name. */
static json_t *find_pattern(json_t *root, const char *path)
{
    size_t i;
    json_t *pattern;
    const char *dot = strchr(path, '.');
    json_array_foreach(json_object_get(root, "latency_patterns"), i, pattern)
    {
        const char *op = json_string_value(json_object_get(pattern, "op"));
        const char *name = json_string_value(json_object_get(pattern, "pattern"));
        if (dot && op && name && strlen(op) == (size_t)(dot - path) &&
            strncmp(op, path, strlen(op)) == 0 && strcmp(name, dot + 1) == 0) {
            return json_object_get(pattern, "latency");
        }
    }
    return NULL;
}

static int print_attribute(json_t *root, const char *path)
{
    char part[32];
    const char *dot = strchr(path, '.');
    if (!dot || (size_t)(dot - path) >= sizeof(part)) {
        return 2;
    }
    snprintf(part, sizeof(part), "%.*s", (int)(dot - path), path);
    json_t *attribute = strcmp(part, "patterns") == 0
                            ? find_pattern(root, dot + 1)
                            : find_member(find_owner(root, part), dot + 1);
    json_t *value = json_is_number(attribute) ? attribute : json_object_get(attribute, "value");
    if (json_is_boolean(attribute)) {
        puts(json_is_true(attribute) ? "true" : "false");
    } else if (json_is_array(attribute)) {
        size_t i;
        json_t *word;
        json_array_foreach(attribute, i, word)
        {
            printf("%s", i ? " " : "");
            json_is_string(word) ? printf("%s", json_string_value(word))
                                 : printf("%.17g", json_number_value(word));
        }
        puts("");
    } else if (json_is_number(value)) {
        printf("%.17g\n", json_number_value(value));
    } else if (json_is_string(attribute)) {
        puts(json_string_value(attribute));
    } else if (json_is_string(json_object_get(attribute, "status"))) {
        puts(json_string_value(json_object_get(attribute, "status")));
    } else {
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc == 3 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
    if (!root) {
        fprintf(stderr, "get: %s\n", argc == 3 ? error.text : "FILE.json PATH");
        return 2;
    }
    int status = print_attribute(root, argv[2]);
    json_decref(root);
    return status;
}
