/*
 * Builds the tree of yaml_glue.h from libyaml's events. Every limit is checked as the events come,
 * so a hostile file costs no more than its size. The open nodes are a small explicit stack.
 */
#include "util/glue/yaml_glue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "util/container/arena.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/container/map.h"

/* An open mapping or sequence; in a mapping, a key may wait for its value. */
struct yaml_level {
    struct yaml_node *node, *last;
    const char *key;
    int key_line, key_column;
    struct map seen; /* the keys so far */
};

struct yaml_builder {
    struct arena *arena;
    const char *name;
    struct yaml_node *root;
    size_t nodes;
    int documents;
    bool opened; /* with ---: then it has to be closed */
    int depth;
    struct yaml_level levels[YAML_DEPTH_MAX];
};

static int fail(const struct yaml_builder *builder, const yaml_mark_t *mark, const char *text)
{
    return error_at(SONDE_EINPUT, builder->name, (int)mark->line + 1, (int)mark->column + 1, "%s",
                    text);
}

static struct yaml_node *node_create(struct yaml_builder *builder, enum yaml_kind kind,
                                     const yaml_mark_t *mark)
{
    struct yaml_node *node = arena_alloc(builder->arena, sizeof(*node));
    if (node) {
        node->kind = kind;
        node->line = (int)mark->line + 1;
        node->column = (int)mark->column + 1;
        node->file = builder->name;
        builder->nodes++;
    }
    return node;
}

/* Hangs a new node where the document stands: under the open mapping or sequence, or as the root.
 */
static int attach(struct yaml_builder *builder, struct yaml_node *node, const yaml_mark_t *mark)
{
    if (!node) {
        return error_memory();
    }
    if (builder->nodes > YAML_NODES_MAX) {
        return fail(builder, mark, "more values than a model may have");
    }
    if (builder->depth == 0) {
        builder->root = node;
        return SONDE_OK;
    }
    struct yaml_level *level = &builder->levels[builder->depth - 1];
    if (level->node->kind == YAML_MAPPING) {
        if (!level->key) {
            return fail(builder, mark, "a key must be plain text");
        }
        node->key = level->key;
        node->key_line = level->key_line;
        node->key_column = level->key_column;
        level->key = NULL;
    }
    if (level->last) {
        level->last->next = node;
    } else {
        level->node->first = node;
    }
    level->last = node;
    level->node->child_count++;
    return SONDE_OK;
}

static int take_key(struct yaml_builder *builder, const yaml_event_t *event)
{
    struct yaml_level *level = &builder->levels[builder->depth - 1];
    char *key = arena_strndup(builder->arena, (const char *)event->data.scalar.value,
                              event->data.scalar.length);
    if (!key) {
        return error_memory();
    }
    if (map_find(&level->seen, key)) {
        return error_at(SONDE_EINPUT, builder->name, (int)event->start_mark.line + 1,
                        (int)event->start_mark.column + 1, "the key '%.100s' is here twice", key);
    }
    level->key = key;
    level->key_line = (int)event->start_mark.line + 1;
    level->key_column = (int)event->start_mark.column + 1;
    return map_put(&level->seen, key, key);
}

static int take_scalar(struct yaml_builder *builder, const yaml_event_t *event)
{
    if (event->data.scalar.anchor) {
        return fail(builder, &event->start_mark, "anchors are not allowed");
    }
    if (event->data.scalar.tag) {
        return fail(builder, &event->start_mark, "tags are not allowed");
    }
    if (memchr(event->data.scalar.value, '\0', event->data.scalar.length)) {
        return fail(builder, &event->start_mark, "a text holds a zero byte");
    }
    if (builder->depth > 0) {
        struct yaml_level *level = &builder->levels[builder->depth - 1];
        if (level->node->kind == YAML_MAPPING && !level->key) {
            return take_key(builder, event);
        }
    }
    struct yaml_node *node = node_create(builder, YAML_SCALAR, &event->start_mark);
    if (node) {
        node->text = arena_strndup(builder->arena, (const char *)event->data.scalar.value,
                                   event->data.scalar.length);
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    }
    return attach(builder, node && node->text ? node : NULL, &event->start_mark);
}

static int open_level(struct yaml_builder *builder, enum yaml_kind kind, const yaml_event_t *event,
                      const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor) {
        return fail(builder, &event->start_mark, "anchors are not allowed");
    }
    if (tag) {
        return fail(builder, &event->start_mark, "tags are not allowed");
    }
    if (builder->depth == YAML_DEPTH_MAX) {
        return fail(builder, &event->start_mark, "nested too deeply");
    }
    struct yaml_node *node = node_create(builder, kind, &event->start_mark);
    int rc = attach(builder, node, &event->start_mark);
    if (rc < 0) {
        return rc;
    }
    builder->levels[builder->depth++] = (struct yaml_level){.node = node};
    return SONDE_OK;
}

static int take_event(struct yaml_builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->documents++ > 0) {
            return fail(builder, &event->start_mark, "a second document begins");
        }
        builder->opened = !event->data.document_start.implicit;
        return SONDE_OK;
    case YAML_DOCUMENT_END_EVENT:
        if (builder->opened && event->data.document_end.implicit) {
            return fail(builder, &event->start_mark,
                        "the file is cut off: it begins with --- and does not end with ...");
        }
        if (builder->root) {
            builder->root->ends = !event->data.document_end.implicit;
        }
        return SONDE_OK;
    case YAML_SCALAR_EVENT:
        return take_scalar(builder, event);
    case YAML_MAPPING_START_EVENT:
        return open_level(builder, YAML_MAPPING, event, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(builder, YAML_SEQUENCE, event, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        map_free(&builder->levels[--builder->depth].seen);
        return SONDE_OK;
    case YAML_ALIAS_EVENT:
        return fail(builder, &event->start_mark, "aliases are not allowed");
    default:
        return SONDE_OK;
    }
}

static int parser_error(const struct yaml_builder *builder, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        return error_memory();
    }
    const char *problem = parser->problem ? parser->problem : "no YAML";
    if (parser->error == YAML_READER_ERROR) {
        return error_at(SONDE_EINPUT, builder->name, 0, 0, "%s (at byte %zu)", problem,
                        parser->problem_offset);
    }
    return fail(builder, &parser->problem_mark, problem);
}

static int build(struct yaml_builder *builder, yaml_parser_t *parser)
{
    int rc = SONDE_OK;
    bool more = true;
    while (rc == SONDE_OK && more) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            return parser_error(builder, parser);
        }
        more = event.type != YAML_STREAM_END_EVENT;
        rc = take_event(builder, &event);
        yaml_event_delete(&event);
    }
    return rc;
}

int yaml_parse(struct yaml_node **root, struct arena *arena, const char *text, size_t length,
               const char *name)
{
    struct yaml_builder builder = {.arena = arena, .name = arena_strdup(arena, name)};
    if (!builder.name) {
        return error_memory();
    }
    if (length > YAML_BYTES_MAX) {
        return error_at(SONDE_EINPUT, name, 0, 0, "longer than the limit of %zu bytes",
                        YAML_BYTES_MAX);
    }
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return error_memory();
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int rc = build(&builder, &parser);
    yaml_parser_delete(&parser);
    while (builder.depth > 0) {
        map_free(&builder.levels[--builder.depth].seen);
    }
    if (rc == SONDE_OK && !builder.root) {
        yaml_mark_t start = {0};
        builder.root = node_create(&builder, YAML_MAPPING, &start);
        rc = builder.root ? SONDE_OK : error_memory();
    }
    if (rc == SONDE_OK) {
        *root = builder.root;
    }
    return rc;
}

int yaml_parse_file(struct yaml_node **root, struct arena *arena, const char *path)
{
    char *text;
    size_t length;
    int rc = file_read_all(&text, &length, path, YAML_BYTES_MAX);
    if (rc < 0) {
        return rc;
    }
    rc = yaml_parse(root, arena, text, length, strcmp(path, "-") == 0 ? "standard input" : path);
    free(text);
    return rc;
}

struct yaml_node *yaml_get(const struct yaml_node *node, const char *key)
{
    if (!node || node->kind != YAML_MAPPING) {
        return NULL;
    }
    struct yaml_node *child = node->first;
    while (child && strcmp(child->key, key) != 0) {
        child = child->next;
    }
    return child;
}

struct yaml_node *yaml_at(const struct yaml_node *node, size_t index)
{
    struct yaml_node *child = node ? node->first : NULL;
    while (child && index-- > 0) {
        child = child->next;
    }
    return child;
}

int yaml_error(int code, const struct yaml_node *node, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (!node) {
        return error_set(code, "%s", text);
    }
    return error_at(code, node->file, node->line, node->column, "%s", text);
}

static int need_scalar(const struct yaml_node *node, const char *what)
{
    static const char *const kinds[] = {"a scalar", "a mapping", "a sequence"};
    if (!node) {
        return error_set(SONDE_EINPUT, "expected %s, found nothing", what);
    }
    if (node->kind != YAML_SCALAR) {
        return yaml_error(SONDE_EINPUT, node, "expected %s, found %s", what, kinds[node->kind]);
    }
    return SONDE_OK;
}

/* The text of a failed parse, with the node's place in front. */
static int add_place(const struct yaml_node *node)
{
    char text[ERROR_TEXT_MAX];
    snprintf(text, sizeof(text), "%s", error_text());
    return yaml_error(SONDE_EINPUT, node, "%s", text);
}

int yaml_u64(uint64_t *value, const struct yaml_node *node, enum unit unit)
{
    int rc = need_scalar(node, units_name(unit));
    if (rc < 0) {
        return rc;
    }
    return units_parse_u64(value, node->text, unit) < 0 ? add_place(node) : SONDE_OK;
}

int yaml_double(double *value, const struct yaml_node *node, enum unit unit)
{
    int rc = need_scalar(node, units_name(unit));
    if (rc < 0) {
        return rc;
    }
    return units_parse_double(value, node->text, unit) < 0 ? add_place(node) : SONDE_OK;
}

int yaml_bool(bool *value, const struct yaml_node *node)
{
    int rc = need_scalar(node, "true or false");
    if (rc < 0) {
        return rc;
    }
    bool is_true = strcmp(node->text, "true") == 0;
    if (node->quoted || (!is_true && strcmp(node->text, "false") != 0)) {
        return yaml_error(SONDE_EINPUT, node, "expected true or false, found '%.60s'", node->text);
    }
    *value = is_true;
    return SONDE_OK;
}

int yaml_text(const char **text, const struct yaml_node *node)
{
    int rc = need_scalar(node, "text");
    if (rc == SONDE_OK) {
        *text = node->text;
    }
    return rc;
}
