/* Results as names and values, and the columns that are kept of them. See flat.h. */
#include "sweep/point/flat.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "util/container/arena.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

#define FLAT_DEPTH_MAX 16

struct walk {
    struct flat *out;
    struct arena *arena;
    int depth;
};

static int add(struct walk *walk, const char *name, struct sweep_value value)
{
    return vec_push(walk->out, (struct flat_value){.name = name, .value = value}) < 0
               ? error_memory()
               : 0;
}

static int add_scalar(struct walk *walk, const char *name, const json_t *node)
{
    if (json_is_string(node)) {
        char *text = arena_strdup(walk->arena, json_string_value(node));
        return text ? add(walk, name, (struct sweep_value){.kind = SWEEP_TEXT, .text = text})
                    : error_memory();
    }
    if (json_is_null(node)) {
        return 0;
    }
    double number = json_is_boolean(node) ? json_is_true(node) : json_number_value(node);
    return add(walk, name, (struct sweep_value){.kind = SWEEP_NUMBER, .number = number});
}

static int visit(struct walk *walk, const char *name, const json_t *node);

static int visit_member(struct walk *walk, const char *prefix, const char *key, const json_t *node)
{
    const char *name =
        *prefix ? arena_printf(walk->arena, "%s.%s", prefix, key) : arena_strdup(walk->arena, key);
    return name ? visit(walk, name, node) : error_memory();
}

static int visit_array(struct walk *walk, const char *name, const json_t *array)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        const json_t *element = json_array_get(array, i);
        const char *id = json_string_value(json_object_get(element, "id"));
        char number[24];
        id = id ? id : json_string_value(json_object_get(element, "name"));
        snprintf(number, sizeof number, "%zu", i);
        rc = visit_member(walk, name, id ? id : number, element);
    }
    return rc;
}

/* An attribute: {"status": ..., "value": ...}. */
static bool is_attribute(const json_t *node)
{
    return json_is_string(json_object_get(node, "status"));
}

static int visit_object(struct walk *walk, const char *name, const json_t *object)
{
    const char *key;
    const json_t *value;
    int rc = 0;
    if (is_attribute(object)) {
        value = json_object_get(object, "value");
        return value ? visit(walk, name, value) : 0;
    }
    json_object_foreach((json_t *)object, key, value)
    {
        rc = rc ? rc : visit_member(walk, name, key, value);
    }
    return rc;
}

static int visit(struct walk *walk, const char *name, const json_t *node)
{
    if (!json_is_object(node) && !json_is_array(node)) {
        return add_scalar(walk, name, node);
    }
    if (++walk->depth > FLAT_DEPTH_MAX) {
        return error_set(SONDE_EINPUT, "the result has more than %d levels", FLAT_DEPTH_MAX);
    }
    int rc = json_is_object(node) ? visit_object(walk, name, node) : visit_array(walk, name, node);
    walk->depth--;
    return rc;
}

int flat_read(struct flat *out, struct arena *arena, const json_t *document)
{
    struct walk walk = {.out = out, .arena = arena};
    return visit(&walk, "", document);
}

struct names {
    const struct flat *flat;
    const struct sweep_spec *spec;
    const struct sweep_point *point;
};

/* A result's name before a setting's; a name that nobody has is without value. */
static int find_name(void *ctx, const char *name, struct sweep_value *out)
{
    const struct names *names = ctx;
    for (size_t i = 0; i < names->flat->count; i++) {
        if (strcmp(names->flat->data[i].name, name) == 0) {
            *out = names->flat->data[i].value;
            return 0;
        }
    }
    const char *text = sweep_setting(names->spec, names->point, name);
    *out = text ? sweep_value_of(text) : (struct sweep_value){.kind = SWEEP_NONE};
    return 0;
}

static int keep(json_t *out, const char *name, const struct sweep_value *value)
{
    if (value->kind == SWEEP_NUMBER) {
        return json_put_double(out, name, value->number);
    }
    return value->kind == SWEEP_TEXT ? json_put_string(out, name, value->text) : 0;
}

int flat_keep(json_t **out, const struct flat *flat, const struct sweep_spec *spec,
              const struct sweep_point *point)
{
    struct names names = {.flat = flat, .spec = spec, .point = point};
    const struct expr_scope scope = {.arena = spec->arena, .find = find_name, .ctx = &names};
    int rc = (*out = json_object()) ? 0 : error_memory();
    for (size_t c = 0; rc == 0 && c < spec->column_count; c++) {
        const struct sweep_column *column = &spec->column[c];
        struct sweep_value value;
        if (column->expression) {
            rc = expr_eval(&value, column->expression, &scope);
            rc = rc ? rc : keep(*out, column->name, &value);
            continue;
        }
        for (size_t i = 0; rc == 0 && i < flat->count; i++) {
            bool matches = fnmatch(column->name, flat->data[i].name, 0) == 0;
            rc = matches ? keep(*out, flat->data[i].name, &flat->data[i].value) : 0;
        }
    }
    if (rc < 0) {
        json_decref(*out);
        *out = NULL;
    }
    return rc;
}
