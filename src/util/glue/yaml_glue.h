/*
 * A YAML file as a tree whose every node knows its line and column, so that a validator can point
 * at what is wrong. A subset: one document of mappings, sequences and scalars. Refused, with the
 * place: duplicate keys, anchors and aliases (a few lines of them unfold to gigabytes), keys that
 * are not scalars, tags, more than YAML_DEPTH_MAX levels, YAML_NODES_MAX nodes, YAML_BYTES_MAX
 * bytes, a second document. A document that begins with --- has to end with ..., so that a file
 * that was cut off is known by its end. Scalars stay text: their meaning is the reader's.
 */
#ifndef SONDE_UTIL_YAML_GLUE_H
#define SONDE_UTIL_YAML_GLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/text/units.h"

#define YAML_DEPTH_MAX 32
#define YAML_NODES_MAX 100000
#define YAML_BYTES_MAX ((size_t)1 << 20)

struct arena;

enum yaml_kind { YAML_SCALAR, YAML_MAPPING, YAML_SEQUENCE };

struct yaml_node {
    enum yaml_kind kind;
    const char *key; /* in a mapping: this child's key; else NULL */
    int key_line, key_column;
    const char *text; /* of a scalar, never NULL there; NULL otherwise */
    bool quoted;      /* the scalar stood in quotes or was a block: never null or a number */
    bool ends;        /* of the root: the document ends with ..., so that nothing was cut off */
    int line, column; /* from 1 */
    struct yaml_node *first, *next; /* children in the file's order; next among siblings */
    size_t child_count;
    const char *file; /* for messages */
};

/* Parses `text`; nodes live in `arena`. `name` is the file in messages. An empty document is an
 * empty mapping. 0, SONDE_EINPUT with "name:line:column: reason", or SONDE_ENOMEM. */
int yaml_parse(struct yaml_node **root, struct arena *arena, const char *text, size_t length,
               const char *name);
int yaml_parse_file(struct yaml_node **root, struct arena *arena, const char *path);

/* The child under a key, or NULL (also when `node` is no mapping or NULL). */
struct yaml_node *yaml_get(const struct yaml_node *node, const char *key);
/* The child at a position, or NULL. */
struct yaml_node *yaml_at(const struct yaml_node *node, size_t index);

/* Scalars as values; SONDE_EINPUT with the place when the node is not such a scalar. */
int yaml_u64(uint64_t *value, const struct yaml_node *node, enum unit unit);
int yaml_double(double *value, const struct yaml_node *node, enum unit unit);
int yaml_bool(bool *value, const struct yaml_node *node);       /* true, false */
int yaml_text(const char **text, const struct yaml_node *node); /* borrowed from the arena */

/* error_at() with the node's place; returns `code`. NULL for `node` is allowed: no place. */
int yaml_error(int code, const struct yaml_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
