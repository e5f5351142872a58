/*
 * param.def as data, and one value of a model in its written form: set from text or from a YAML
 * node, written out again. Nothing here knows which parameters exist; what they mean together is
 * check.c's.
 */
#ifndef SONDE_MODEL_PARAM_H
#define SONDE_MODEL_PARAM_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"
#include "util/text/units.h"

struct strbuf;
struct yaml_node;

enum param_kind {
    PARAM_U32,
    PARAM_U64,
    PARAM_CLOCK,
    PARAM_BOOL,
    PARAM_ENUM,
    PARAM_TEXT,
    PARAM_LIST
};

enum param_list {
    LIST_NONE,
    LIST_BITS,          /* of an index_spec, kind bits */
    LIST_MASKS,         /* of an index_spec, kind xor */
    LIST_MAP,           /* of an index_spec, kind map */
    LIST_WAYS,          /* of a cache_spec */
    LIST_PROBABILITIES, /* of a replacement_spec, the biased kinds */
    LIST_PLACES,        /* of a noc_flits_spec */
    LIST_NUMBERS,       /* of a number_list */
    LIST_CHOICES,       /* of the carveout_spec */
};

struct param_word {
    int value;
    const char *word, *doc;
};

struct param {
    const char *path;
    enum param_kind kind;
    enum unit unit;                 /* of quantities */
    enum param_list list;           /* of lists */
    const struct param_word *words; /* of enums; ends with a NULL word */
    size_t offset, size;            /* of the field in struct model */
    const char *def, *min, *max;    /* as written in a file; NULL where there is none */
    const char *doc;
};

size_t param_count(void);
const struct param *param_at(size_t i);
const struct param *param_find(const char *path);
size_t param_index(const struct param *param);

/* Puts every parameter's default into a zeroed model. */
int param_set_defaults(struct model *model);

/* Sets a scalar parameter from its written form. SONDE_EINPUT with the reason, without a place. */
int param_set(struct model *model, const struct param *param, const char *text);

/* The written form of a scalar parameter. */
int param_write(struct strbuf *out, const struct model *model, const struct param *param);

/* A written form, as YAML text needs it: in quotes, with escapes. */
int param_quote(struct strbuf *out, const char *text);

/* Whether a model has the parameter at all: index.bits of a modulo index is none of its. */
bool param_applies(const struct model *model, const struct param *param);

/*
 * Lists (lists.c): set from a YAML node, empty, write as a YAML flow sequence. *bad is set to the
 * node that an error is about.
 */
int list_set(struct model *model, const struct param *param, const struct yaml_node *node,
             const struct yaml_node **bad);
void list_clear(struct model *model, const struct param *param);
int list_write(struct strbuf *out, const struct model *model, const struct param *param);
bool list_applies(const struct model *model, const struct param *param);
const char *list_describe(enum param_list list); /* for `model params`: "list of bit numbers" */

#endif
