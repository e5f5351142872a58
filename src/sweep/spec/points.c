/* The points of a sweep: all combinations of the axes' values that the constraints let through. */
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/spec/spec.h"
#include "util/container/arena.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"
#include "util/text/suggest.h"

const char *sweep_setting(const struct sweep_spec *spec, const struct sweep_point *point,
                          const char *name)
{
    for (size_t i = 0; i < spec->axis_count; i++) {
        if (strcmp(spec->axis[i].name, name) == 0) {
            return spec->axis[i].text[point->value[i]];
        }
    }
    return NULL;
}

struct settings {
    const struct sweep_spec *spec;
    const struct sweep_point *point;
};

static int find_setting(void *ctx, const char *name, struct sweep_value *out)
{
    const struct settings *settings = ctx;
    const char *text = sweep_setting(settings->spec, settings->point, name);
    struct suggest suggest = suggest_begin(name);
    for (size_t i = 0; i < settings->spec->axis_count; i++) {
        suggest_offer(&suggest, settings->spec->axis[i].name);
    }
    const char *near = suggest_best(&suggest);
    if (!text) {
        return error_set(SONDE_EINPUT, near ? "no axis '%s'; did you mean '%s'?" : "no axis '%s'",
                         name, near);
    }
    *out = sweep_value_of(text);
    return 0;
}

static int eval(double *out, const struct sweep_spec *spec, const struct sweep_point *point,
                const char *text, const struct yaml_node *node)
{
    struct settings settings = {.spec = spec, .point = point};
    const struct expr_scope scope = {.arena = spec->arena, .find = find_setting, .ctx = &settings};
    struct sweep_value value;
    int rc = expr_eval(&value, text, &scope);
    if (rc == SONDE_EINPUT && node) {
        return error_prefix(rc, "%s:%d:%d", node->file, node->line, node->column);
    }
    if (rc == 0 && value.kind != SWEEP_NUMBER) {
        return node ? yaml_error(SONDE_EINPUT, node, "'%s' is no number", text)
                    : error_set(SONDE_EINPUT, "%s: cost: '%s' is no number", spec->file, text);
    }
    *out = value.number;
    return rc;
}

/* `*keep`: every constraint holds. */
static int check_where(bool *keep, const struct sweep_spec *spec, const struct sweep_point *point)
{
    const struct yaml_node *node = spec->where;
    double holds = 0;
    *keep = true;
    if (node && node->kind == YAML_MAPPING) {
        return yaml_error(SONDE_EINPUT, node, "'where' is an expression or a list of them");
    }
    for (node = node && node->kind == YAML_SEQUENCE ? node->first : node; node && *keep;
         node = spec->where->kind == YAML_SEQUENCE ? node->next : NULL) {
        if (node->kind != YAML_SCALAR) {
            return yaml_error(SONDE_EINPUT, node, "an expression is expected");
        }
        int rc = eval(&holds, spec, point, node->text, node);
        if (rc < 0) {
            return rc;
        }
        *keep = holds != 0;
    }
    return 0;
}

/* Steps to the next combination, the last axis fastest; false after the last one. */
static bool next_point(struct sweep_point *point, const struct sweep_spec *spec)
{
    for (size_t i = spec->axis_count; i-- > 0;) {
        if (spec->axis[i].zip != i) {
            continue;
        }
        bool carry = ++point->value[i] == spec->axis[i].count;
        point->value[i] = carry ? 0 : point->value[i];
        for (size_t k = i + 1; k < spec->axis_count; k++) {
            point->value[k] = spec->axis[k].zip == i ? point->value[i] : point->value[k];
        }
        if (!carry) {
            return true;
        }
    }
    return false;
}

int sweep_points_list(struct sweep_points *out, const struct sweep_spec *spec)
{
    VEC(struct sweep_point) points = {0};
    struct sweep_point point = {0};
    double combinations = 1;
    int rc = 0;
    *out = (struct sweep_points){0};
    for (size_t i = 0; i < spec->axis_count; i++) {
        combinations *= spec->axis[i].zip == i ? (double)spec->axis[i].count : 1;
    }
    if (combinations > 10.0 * SWEEP_POINTS_MAX) {
        return error_set(SONDE_EINPUT, "%s: %.0f combinations are too many", spec->file,
                         combinations);
    }
    do {
        bool keep;
        point.cost = 1;
        rc = check_where(&keep, spec, &point);
        if (rc == 0 && keep && spec->cost) {
            rc = eval(&point.cost, spec, &point, spec->cost, NULL);
        }
        if (rc == 0 && keep) {
            rc = vec_push(&points, point) < 0 ? error_memory() : 0;
        }
        if (rc == 0 && points.count > SWEEP_POINTS_MAX) {
            rc = error_set(SONDE_EINPUT, "%s: more than %d points", spec->file, SWEEP_POINTS_MAX);
        }
    } while (rc == 0 && next_point(&point, spec));
    if (rc == 0 && points.count == 0) {
        rc = error_set(SONDE_EINPUT, "%s: 'where' lets no point through", spec->file);
    }
    if (rc < 0) {
        vec_free(&points);
        return rc;
    }
    out->point = points.data;
    out->count = points.count;
    return 0;
}
