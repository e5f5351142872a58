/* Reading a specification. See spec.h. */
#include "sweep/spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/spec/kinds.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"
#include "util/text/suggest.h"
#include "util/text/units.h"

static const char *const spec_keys[] = {"sweep",     "doc",  "run",     "models",  "parameters",
                                        "variables", "zip",  "where",   "columns", "cost",
                                        "limit",     "seed", "known_by"};
#define SPEC_KEYS (sizeof spec_keys / sizeof *spec_keys)

static int check_keys(const struct yaml_node *node, const char *const *keys, size_t count)
{
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        struct suggest suggest = suggest_begin(child->key);
        bool known = false;
        for (size_t i = 0; i < count && !known; i++) {
            known = strcmp(keys[i], child->key) == 0;
            suggest_offer(&suggest, keys[i]);
        }
        const char *near = suggest_best(&suggest);
        if (!known) {
            return yaml_error(SONDE_EINPUT, child,
                              near ? "unknown key '%s'; did you mean '%s'?" : "unknown key '%s'",
                              child->key, near);
        }
    }
    return 0;
}

/* A value as one line of YAML: a scalar's text, or a sequence in brackets. */
static int write_flow(struct strbuf *out, const struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR) {
        return strbuf_append(out, node->text);
    }
    if (node->kind == YAML_MAPPING) {
        return yaml_error(SONDE_EINPUT, node, "a value is a scalar or a list of scalars");
    }
    strbuf_append(out, "[");
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        int rc = write_flow(out, child);
        if (rc < 0) {
            return rc;
        }
        strbuf_append(out, child->next ? ", " : "]");
    }
    return node->first ? 0 : strbuf_append(out, "]");
}

static int take_value(struct sweep_spec *spec, struct sweep_axis *axis,
                      const struct yaml_node *node)
{
    struct strbuf text = {0};
    int rc = write_flow(&text, node);
    if (rc == 0) {
        axis->text[axis->count] = arena_strdup(spec->arena, strbuf_text(&text));
        rc = axis->text[axis->count++] ? 0 : error_memory();
    }
    strbuf_free(&text);
    return rc;
}

static int take_list(struct sweep_spec *spec, struct sweep_axis *axis, const struct yaml_node *node)
{
    if (node->child_count == 0) {
        return yaml_error(SONDE_EINPUT, node, "'%s' has no value", axis->name);
    }
    axis->text = arena_array(spec->arena, node->child_count, sizeof *axis->text);
    if (!axis->text) {
        return error_memory();
    }
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        int rc = take_value(spec, axis, child);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* The unit that a text is written in; UNIT_NONE for a bare number. */
static int find_unit(enum unit *unit, double *value, const struct yaml_node *node)
{
    static const enum unit units[] = {UNIT_NONE, UNIT_BYTES,           UNIT_CYCLES,     UNIT_HZ,
                                      UNIT_PS,   UNIT_BYTES_PER_CYCLE, UNIT_BYTES_PER_S};
    for (size_t i = 0; node && node->text && i < sizeof units / sizeof *units; i++) {
        if (units_parse_double(value, node->text, units[i]) == 0) {
            *unit = units[i];
            return 0;
        }
    }
    error_clear();
    return yaml_error(SONDE_EINPUT, node, "expected a number");
}

/* A value of a range, in the unit in which the range is written. */
static char *write_number(struct arena *arena, double value, enum unit unit)
{
    char text[64];
    struct strbuf out = {0};
    if (unit != UNIT_NONE && value >= 0 && value == floor(value)) {
        return arena_strdup(arena, units_format(text, sizeof text, (uint64_t)value, unit));
    }
    const struct sweep_value number = {.kind = SWEEP_NUMBER, .number = value};
    sweep_value_write(&out, &number);
    char *kept = unit == UNIT_NONE
                     ? arena_strdup(arena, strbuf_text(&out))
                     : arena_printf(arena, "%s %s", strbuf_text(&out), units_base(unit));
    strbuf_free(&out);
    return kept;
}

struct range {
    double from, to, step;
    bool times;
    enum unit unit;
};

static int read_range(struct range *out, const struct yaml_node *node)
{
    static const char *const keys[] = {"from", "to", "step", "times"};
    struct yaml_node *step = yaml_get(node, "step"), *times = yaml_get(node, "times");
    enum unit to_unit = UNIT_NONE, step_unit = UNIT_NONE;
    int rc = check_keys(node, keys, 4);
    if (rc == 0 && (!yaml_get(node, "from") || !yaml_get(node, "to") || !step == !times)) {
        rc = yaml_error(SONDE_EINPUT, node, "a range has 'from', 'to', and 'step' or 'times'");
    }
    rc = rc ? rc : find_unit(&out->unit, &out->from, yaml_get(node, "from"));
    rc = rc ? rc : find_unit(&to_unit, &out->to, yaml_get(node, "to"));
    rc = rc ? rc : find_unit(&step_unit, &out->step, step ? step : times);
    out->times = times != NULL;
    if (rc == 0 && (to_unit != out->unit || step_unit != (times ? UNIT_NONE : out->unit))) {
        rc = yaml_error(SONDE_EINPUT, node, "the range's numbers are of different units");
    }
    bool ends = out->times ? out->step > 1 && out->from > 0 : out->step > 0;
    return rc == 0 && !ends ? yaml_error(SONDE_EINPUT, node, "the range never ends") : rc;
}

static int take_range(struct sweep_spec *spec, struct sweep_axis *axis,
                      const struct yaml_node *node)
{
    struct range range;
    int rc = read_range(&range, node);
    if (rc < 0) {
        return rc;
    }
    double spread = range.times ? log(range.to / range.from) / log(range.step)
                                : (range.to - range.from) / range.step;
    if (!(spread >= 0)) {
        return yaml_error(SONDE_EINPUT, node, "the range is empty");
    }
    if (spread >= SWEEP_POINTS_MAX) {
        return yaml_error(SONDE_EINPUT, node, "the range has more than %d values",
                          SWEEP_POINTS_MAX);
    }
    axis->count = (size_t)(spread + 1e-9) + 1;
    axis->text = arena_array(spec->arena, axis->count, sizeof *axis->text);
    for (size_t i = 0; axis->text && i < axis->count; i++) {
        double value = range.times ? range.from * pow(range.step, (double)i)
                                   : range.from + range.step * (double)i;
        axis->text[i] = write_number(spec->arena, value, range.unit);
        rc = axis->text[i] ? rc : error_memory();
    }
    return axis->text ? rc : error_memory();
}

static int add_axis(struct sweep_spec *spec, enum sweep_axis_kind kind, const char *name,
                    const struct yaml_node *node)
{
    if (spec->axis_count == SWEEP_AXES_MAX) {
        return yaml_error(SONDE_EINPUT, node, "more than %d axes", SWEEP_AXES_MAX);
    }
    for (size_t i = 0; i < spec->axis_count; i++) {
        if (strcmp(spec->axis[i].name, name) == 0) {
            return yaml_error(SONDE_EINPUT, node, "'%s' is an axis already", name);
        }
    }
    struct sweep_axis *axis = &spec->axis[spec->axis_count];
    *axis = (struct sweep_axis){.kind = kind, .name = name, .zip = spec->axis_count};
    spec->axis_count++;
    if (node->kind == YAML_SEQUENCE) {
        return take_list(spec, axis, node);
    }
    if (node->kind == YAML_MAPPING) {
        return take_range(spec, axis, node);
    }
    axis->text = arena_array(spec->arena, 1, sizeof *axis->text);
    return axis->text ? take_value(spec, axis, node) : error_memory();
}

static int read_axes(struct sweep_spec *spec, const struct yaml_node *root)
{
    const struct yaml_node *models = yaml_get(root, "models");
    const struct yaml_node *lists[] = {yaml_get(root, "parameters"), yaml_get(root, "variables")};
    int rc = models ? add_axis(spec, AXIS_MODEL, "model", models) : 0;
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        if (lists[i] && lists[i]->kind != YAML_MAPPING) {
            return yaml_error(SONDE_EINPUT, lists[i], "'%s' is a mapping of names to values",
                              lists[i]->key);
        }
        const struct yaml_node *child = lists[i] ? lists[i]->first : NULL;
        for (; rc == 0 && child; child = child->next) {
            rc = add_axis(spec, i == 0 ? AXIS_PARAMETER : AXIS_VARIABLE, child->key, child);
        }
    }
    if (rc == 0 && spec->run->models && !models) {
        return yaml_error(SONDE_EINPUT, root, "'models' is missing: which models are run");
    }
    return rc;
}

static int zip_group(struct sweep_spec *spec, const struct yaml_node *group)
{
    size_t first = SIZE_MAX;
    if (group->kind != YAML_SEQUENCE || group->child_count < 2) {
        return yaml_error(SONDE_EINPUT, group, "a zip is a list of two or more names of axes");
    }
    for (const struct yaml_node *name = group->first; name; name = name->next) {
        size_t i = 0;
        while (name->text && i < spec->axis_count && strcmp(spec->axis[i].name, name->text) != 0) {
            i++;
        }
        if (!name->text || i == spec->axis_count) {
            return yaml_error(SONDE_EINPUT, name, "no axis has this name");
        }
        first = first == SIZE_MAX ? i : first;
        if (spec->axis[i].zip != i || (i < first)) {
            return yaml_error(SONDE_EINPUT, name,
                              i < first ? "name the axes of a zip in their order"
                                        : "the axis is in a zip already");
        }
        if (spec->axis[i].count != spec->axis[first].count) {
            return yaml_error(SONDE_EINPUT, name, "'%s' has %zu values, '%s' %zu",
                              spec->axis[i].name, spec->axis[i].count, spec->axis[first].name,
                              spec->axis[first].count);
        }
        spec->axis[i].zip = first;
    }
    return 0;
}

/* Names of variables. */
static int read_known_by(struct sweep_spec *spec, const struct yaml_node *node)
{
    if (node && (node->kind != YAML_SEQUENCE || node->child_count == 0)) {
        return yaml_error(SONDE_EINPUT, node, "'known_by' is a list of names of variables");
    }
    for (const struct yaml_node *name = node ? node->first : NULL; name; name = name->next) {
        bool found = false;
        for (size_t i = 0; name->text && i < spec->axis_count; i++) {
            found = found || (spec->axis[i].kind == AXIS_VARIABLE &&
                              strcmp(spec->axis[i].name, name->text) == 0);
        }
        if (!found) {
            return yaml_error(SONDE_EINPUT, name, "no variable is named '%s'",
                              name->text ? name->text : "");
        }
    }
    spec->known_by = node;
    return 0;
}

static int read_columns(struct sweep_spec *spec, const struct yaml_node *node)
{
    size_t count = 0;
    if (!node) {
        while (spec->run->columns[count]) {
            count++;
        }
    } else if (node->kind == YAML_SCALAR || node->child_count == 0) {
        return yaml_error(SONDE_EINPUT, node, "'columns' is a list");
    }
    spec->column_count = node ? node->child_count : count;
    spec->column = arena_array(spec->arena, spec->column_count, sizeof *spec->column);
    if (!spec->column) {
        return error_memory();
    }
    const struct yaml_node *child = node ? node->first : NULL;
    for (size_t i = 0; i < spec->column_count; i++, child = child ? child->next : NULL) {
        struct sweep_column *column = &spec->column[i];
        bool computed = child && child->kind == YAML_MAPPING && child->child_count == 1;
        const struct yaml_node *formula = computed ? child->first : child;
        if (child && (formula->kind != YAML_SCALAR)) {
            return yaml_error(SONDE_EINPUT, child, "a column is a name, or one name: expression");
        }
        column->name = !child ? spec->run->columns[i] : formula->key ? formula->key : formula->text;
        column->expression = child && formula->key ? formula->text : NULL;
    }
    return 0;
}

static int read_scalars(struct sweep_spec *spec, const struct yaml_node *root)
{
    const struct yaml_node *name = yaml_get(root, "sweep"), *doc = yaml_get(root, "doc"),
                           *cost = yaml_get(root, "cost"), *limit = yaml_get(root, "limit"),
                           *seed = yaml_get(root, "seed");
    double limit_ps = 0;
    int rc = name ? yaml_text(&spec->name, name)
                  : yaml_error(SONDE_EINPUT, root, "'sweep' is missing: the sweep's name");
    rc = rc || !doc ? rc : yaml_text(&spec->doc, doc);
    rc = rc || !cost ? rc : yaml_text(&spec->cost, cost);
    rc = rc || !limit ? rc : yaml_double(&limit_ps, limit, UNIT_PS);
    rc = rc || !seed ? rc : yaml_u64(&spec->seed, seed, UNIT_NONE);
    spec->limit_s = limit_ps / 1e12;
    return rc == 0 && limit && !(spec->limit_s > 0)
               ? yaml_error(SONDE_EINPUT, limit, "the limit of a point is above 0 s")
               : rc;
}

static int read_spec(struct sweep_spec *spec, const struct yaml_node *root)
{
    if (root->kind != YAML_MAPPING) {
        return yaml_error(SONDE_EINPUT, root, "a sweep is a mapping");
    }
    const struct yaml_node *zip = yaml_get(root, "zip");
    int rc = check_keys(root, spec_keys, SPEC_KEYS);
    rc = rc ? rc : read_scalars(spec, root);
    spec->run_node = yaml_get(root, "run");
    if (rc == 0 && (!spec->run_node || spec->run_node->kind != YAML_MAPPING)) {
        rc = yaml_error(SONDE_EINPUT, spec->run_node ? spec->run_node : root,
                        "'run' is a mapping that says what each point runs");
    }
    rc = rc ? rc : sweep_kind_find(&spec->run, spec->run_node);
    rc = rc ? rc : read_axes(spec, root);
    if (rc == 0 && zip && zip->kind != YAML_SEQUENCE) {
        rc = yaml_error(SONDE_EINPUT, zip, "'zip' is a list of lists of names");
    }
    for (const struct yaml_node *group = zip ? zip->first : NULL; rc == 0 && group;
         group = group->next) {
        rc = zip_group(spec, group);
    }
    spec->where = yaml_get(root, "where");
    rc = rc ? rc : read_known_by(spec, yaml_get(root, "known_by"));
    return rc ? rc : read_columns(spec, yaml_get(root, "columns"));
}

int sweep_spec_parse(struct sweep_spec *out, const char *file, const char *text, size_t length)
{
    struct yaml_node *root;
    *out = (struct sweep_spec){.arena = arena_create(), .seed = 1};
    if (!out->arena) {
        return error_memory();
    }
    const char *slash = strrchr(file, '/');
    out->file = arena_strdup(out->arena, file);
    out->folder = slash ? arena_strndup(out->arena, file, (size_t)(slash - file) + 1) : ".";
    int rc = out->file && out->folder ? 0 : error_memory();
    rc = rc ? rc : yaml_parse(&root, out->arena, text, length, out->file);
    rc = rc ? rc : read_spec(out, root);
    if (rc < 0) {
        sweep_spec_free(out);
    }
    return rc;
}

void sweep_spec_free(struct sweep_spec *spec)
{
    arena_destroy(spec->arena);
    *spec = (struct sweep_spec){0};
}
