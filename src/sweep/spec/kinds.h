/*
 * What a point may run. Each kind is a row of kinds.c: the key that names it, the keys that go with
 * it, the command line that they become, and the columns that are kept by default.
 */
#ifndef SONDE_SWEEP_KINDS_H
#define SONDE_SWEEP_KINDS_H

#include <stdbool.h>

#include "sweep/spec/spec.h"
#include "util/container/vec.h"

struct sweep_argv VEC_FIELDS(char *); /* ended by NULL; texts in an arena */

/* What a command line is made for. */
struct sweep_job {
    struct arena *arena; /* texts of the command line */
    const struct sweep_spec *spec;
    const struct sweep_point *point;
    const char *program; /* the sonde command */
    const char *model;   /* path of the point's model */
    const char *result;  /* path where the result goes */
    struct sweep_argv argv;
    size_t what; /* the first word of what the row's own key names */
    bool result_on_stdout;
};

/* Whether the first word that a row's key names is a file (a word without a slash may be a command
 * of the host's), or a workload that is built in. */
enum sweep_file { NO_FILE, FILE_BY_SLASH, ALWAYS_FILE, WORKLOAD_NAME };

struct sweep_kind_row {
    const char *key;
    const char *const *options;            /* other keys of `run`; ended by NULL */
    const char *const *columns;            /* patterns; ended by NULL */
    int (*command)(struct sweep_job *job); /* fills argv */
    bool models;                           /* needs a model */
    enum sweep_file file;                  /* of what its key names */
};

/* The row whose key the mapping has; SONDE_EINPUT where it has none, or a key of no meaning. */
int sweep_kind_find(const struct sweep_kind_row **out, const struct yaml_node *run);
/* The command line of a point; SONDE_EINPUT with the place of what cannot be put in. */
int sweep_command(struct sweep_job *job);

#endif
