/*
 * The state of reading one model file: the model so far, where each value stood, and what is wrong.
 * read.c fills it in, check.c looks at what the values mean together.
 */
#ifndef SONDE_MODEL_READ_H
#define SONDE_MODEL_READ_H

#include "model/model.h"
#include "util/bits.h"
#include "util/container/strbuf.h"

#define PROBLEMS_MAX 20
#define PARAMS_MAX 640

struct yaml_node;

struct reader {
    struct model *model;
    const char *file;
    const char *inherits;                      /* as the file says it; NULL: from nothing */
    const struct yaml_node *where[PARAMS_MAX]; /* by param_index(); NULL: not in this file */
    struct strbuf problems;                    /* one a line */
    unsigned problem_count;
};

/* Notes a mistake at a node (NULL: the file as a whole) about a parameter (NULL: none). */
void problem_at(struct reader *reader, const struct yaml_node *node, const char *path,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same at the place where the parameter stands in this file. */
void problem(struct reader *reader, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the file itself (not what it inherits, not a default) gives the parameter. */
bool given(const struct reader *reader, const char *path);

/* Completes derived values, then notes everything that does not hold together. */
void check_model(struct reader *reader);

/* Parts of it. A cache whose parameters stand under `prefix`; TLBs and the walker (check_vm.c). */
void check_cache_at(struct reader *reader, const char *prefix, const struct cache_spec *cache);
void normalise_cache(struct cache_spec *cache);
void normalise_vm(struct reader *reader);
void check_vm(struct reader *reader);
void normalise_readonly(struct reader *reader); /* check_readonly.c */
void check_readonly(struct reader *reader);

#endif
