/*
 * A sweep's specification (docs/man/sonde-sweep.1): what is run, on which models, and over which
 * values. An axis is a name and its values in their written form. Names of axes under `parameters`
 * are a model's; those under `variables` stand as ${name} in what is run. Axes that `zip` names
 * together go in step; all others are crossed, the first of the file slowest.
 */
#ifndef SONDE_SWEEP_SPEC_H
#define SONDE_SWEEP_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sweep/spec/expr.h"

#define SWEEP_POINTS_MAX 1000000
#define SWEEP_AXES_MAX 32

struct arena;
struct yaml_node;

enum sweep_axis_kind { AXIS_MODEL, AXIS_PARAMETER, AXIS_VARIABLE };

struct sweep_axis {
    enum sweep_axis_kind kind;
    const char *name;
    const char **text; /* as YAML and a command line want it */
    size_t count;
    size_t zip; /* the axis that it goes in step with: itself, or the first of its group */
};

/* A column of the table: a pattern of result names (expression NULL), or a computed one. */
struct sweep_column {
    const char *name, *expression;
};

struct sweep_kind_row;

struct sweep_spec {
    struct arena *arena;
    const char *file, *folder; /* the specification's; programs are run in the folder */
    const char *name, *doc;
    const struct sweep_kind_row *run;
    const struct yaml_node *run_node;
    struct sweep_axis axis[SWEEP_AXES_MAX];
    size_t axis_count;
    const struct yaml_node *where;    /* expressions, or NULL */
    const struct yaml_node *known_by; /* variables that tell points apart, or NULL: all there is */
    const char *cost;                 /* NULL: all points cost the same */
    struct sweep_column *column;
    size_t column_count;
    double limit_s; /* a point's wall clock; 0: none */
    uint64_t seed;
};

/* One point: the index of each axis's value. */
struct sweep_point {
    uint32_t value[SWEEP_AXES_MAX];
    double cost;
};

struct sweep_points {
    struct sweep_point *point; /* in the specification's order; owned */
    size_t count;
};

/* `text` was read from `file`, whose folder is where relative paths begin. SONDE_EINPUT with the
 * place. The specification lives in its arena: sweep_spec_free(). */
int sweep_spec_parse(struct sweep_spec *out, const char *file, const char *text, size_t length);
void sweep_spec_free(struct sweep_spec *spec);

/* All points that `where` lets through. free() the points. */
int sweep_points_list(struct sweep_points *out, const struct sweep_spec *spec);

/* The written value of an axis at a point; NULL: the sweep has no such axis. */
const char *sweep_setting(const struct sweep_spec *spec, const struct sweep_point *point,
                          const char *name);

#endif
