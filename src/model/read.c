/*
 * From YAML to a model. The tree is walked with the path so far; a path is a parameter, the
 * beginning of one (then its mapping is walked), or a mistake. Nothing stops at the first mistake:
 * a file's author wants them all.
 */
#include "model/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/param.h"
#include "util/container/arena.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/text/suggest.h"
#include "util/glue/yaml_glue.h"

#define PATH_MAX_BYTES 128
#define INHERIT_MAX 8

/* Whether some parameter's path begins with `path` and a dot. */
static bool is_group(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < param_count(); i++) {
        if (strncmp(param_at(i)->path, path, length) == 0 && param_at(i)->path[length] == '.') {
            return true;
        }
    }
    return false;
}

/* The nearest word among those that may stand where `key` stands, or a parameter that ends in it.
 */
static const char *nearest_key(char *out, size_t size, const char *group, const char *key)
{
    struct suggest suggest = suggest_begin(key);
    size_t length = strlen(group);
    char words[PARAMS_MAX][48];
    for (size_t i = 0; i < param_count(); i++) {
        const char *path = param_at(i)->path;
        if (strncmp(path, group, length) == 0) {
            size_t word = strcspn(path + length, ".");
            snprintf(words[i], sizeof(words[i]), "%.*s", (int)word, path + length);
            suggest_offer(&suggest, words[i]);
        }
    }
    const char *best = suggest_best(&suggest);
    if (best) {
        snprintf(out, size, "%s%s", group, best);
        return out;
    }
    for (size_t i = 0; i < param_count(); i++) {
        const char *dot = strrchr(param_at(i)->path, '.');
        if (dot && strcmp(dot + 1, key) == 0) {
            return param_at(i)->path;
        }
    }
    return NULL;
}

static void unknown_key(struct reader *reader, const struct yaml_node *node, const char *group)
{
    char near_buffer[PATH_MAX_BYTES];
    const char *near = nearest_key(near_buffer, sizeof(near_buffer), group, node->key);
    struct yaml_node at_key = *node;
    at_key.line = node->key_line;
    at_key.column = node->key_column;
    problem_at(reader, &at_key, NULL, "unknown key '%s%.60s'%s%s%s", group, node->key,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void read_value(struct reader *reader, const struct param *param,
                       const struct yaml_node *node)
{
    const struct yaml_node *bad = node;
    int rc;
    reader->where[param_index(param)] = node;
    if (param->kind == PARAM_LIST) {
        rc = list_set(reader->model, param, node, &bad);
    } else if (node->kind != YAML_SCALAR) {
        rc = error_set(SONDE_EINPUT, "expected a value, found a %s",
                       node->kind == YAML_MAPPING ? "mapping" : "sequence");
    } else {
        rc = param_set(reader->model, param, node->text);
    }
    if (rc < 0) {
        problem_at(reader, bad, param->path, "%s", error_text());
    }
}

/* Keys of the file's own, which are no parameters. */
static bool is_about_file(const char *key)
{
    return strcmp(key, "inherits") == 0 || strcmp(key, "schema") == 0;
}

/* `group` is empty or ends with a dot. The depth is that of the longest path: a deeper group is
 * none. */
static void read_group(struct reader *reader, const struct yaml_node *mapping, const char *group)
{
    for (const struct yaml_node *node = mapping->first; node; node = node->next) {
        char path[PATH_MAX_BYTES];
        int length = snprintf(path, sizeof(path), "%s%s", group, node->key);
        bool fits = length > 0 && (size_t)length < sizeof(path) - 1;
        const struct param *param = fits ? param_find(path) : NULL;
        if (param) {
            read_value(reader, param, node);
        } else if (fits && is_group(path) && node->kind == YAML_MAPPING) {
            path[length] = '.';
            path[length + 1] = '\0';
            read_group(reader, node, path);
        } else if (fits && is_group(path)) {
            problem_at(reader, node, path, "expected a mapping of what is under it");
        } else if (*group != '\0' || !is_about_file(node->key)) {
            unknown_key(reader, node, group);
        }
    }
}

/* What follows the last slash, without .yaml or .yml. */
static void name_from_file(char name[MODEL_NAME_MAX], const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    memset(name, 0, MODEL_NAME_MAX);
    for (size_t i = 0; i < length && i < MODEL_NAME_MAX - 1; i++) {
        unsigned char c = (unsigned char)base[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '_' || c == '.';
        name[i] = plain ? (char)c : '_';
    }
    if (!name[0]) {
        snprintf(name, MODEL_NAME_MAX, "unnamed");
    }
}

/* A file that is being read, and those that inherit from it. */
struct descent {
    const char *file;
    bool is_builtin, is_text; /* a shipped model; a text without a file, which may be a part */
    const struct descent *heir;
    int depth;
};

static int parse(struct model *model, const struct descent *at, const char *text, size_t length);

static int find_builtin(const char *name)
{
    for (size_t i = 0; i < model_builtin_count(); i++) {
        if (strcmp(model_builtin_name(i), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int parse_builtin(struct model *model, int builtin, const struct descent *heir)
{
    char file[MODEL_NAME_MAX + 16];
    size_t length;
    snprintf(file, sizeof(file), "%s.yaml", model_builtin_name((size_t)builtin));
    const char *text = model_builtin_text((size_t)builtin, &length);
    struct descent at = {file, true, false, heir, heir ? heir->depth + 1 : 0};
    return parse(model, &at, text, length);
}

static bool is_path(const char *name)
{
    const char *dot = strrchr(name, '.');
    return strchr(name, '/') || (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0));
}

/* What keeps a file from being inherited, at the place that names it. What is wrong in the file
 * itself has its own places. */
static int inherit_error(int rc, const struct yaml_node *inherits)
{
    char reason[ERROR_TEXT_MAX];
    snprintf(reason, sizeof(reason), "%s", error_text());
    return yaml_error(rc == SONDE_ENOMEM ? rc : SONDE_EINPUT, inherits, "inherits: %s", reason);
}

/* A model's file; an heir's path is relative to the heir's own folder. */
static int parse_path(struct model *model, const char *name, const struct descent *heir,
                      const struct yaml_node *inherits)
{
    struct strbuf path = {0};
    const char *slash = heir && *name != '/' ? strrchr(heir->file, '/') : NULL;
    strbuf_printf(&path, "%.*s%s", slash ? (int)(slash - heir->file) + 1 : 0,
                  slash ? heir->file : "", name);
    char *text = NULL;
    size_t length;
    int rc = strbuf_failed(&path) ? error_memory() : 0;
    for (const struct descent *above = heir; rc == 0 && above; above = above->heir) {
        if (!above->is_builtin && file_is_same(above->file, strbuf_text(&path))) {
            rc = error_set(SONDE_EINPUT, "a circle: %s inherits from itself", above->file);
        }
    }
    rc = rc < 0 ? rc : file_read_all(&text, &length, strbuf_text(&path), YAML_BYTES_MAX);
    if (rc == 0 && text[strspn(text, " \t\r\n")] == '\0') {
        rc = error_set(SONDE_EINPUT, "%s: the file is empty", strbuf_text(&path));
    }
    if (rc < 0 && inherits) {
        rc = inherit_error(rc, inherits);
    } else if (rc == 0) {
        struct descent at = {strbuf_text(&path), false, false, heir, heir ? heir->depth + 1 : 0};
        rc = parse(model, &at, text, length);
    }
    free(text);
    strbuf_free(&path);
    return rc;
}

static int unknown_builtin(int code, const char *name)
{
    struct suggest suggest = suggest_begin(name);
    struct strbuf list = {0};
    for (size_t i = 0; i < model_builtin_count(); i++) {
        suggest_offer(&suggest, model_builtin_name(i));
        strbuf_printf(&list, "%s%s", i ? ", " : "", model_builtin_name(i));
    }
    const char *near = suggest_best(&suggest);
    struct stat file;
    if (stat(name, &file) == 0 && S_ISREG(file.st_mode)) {
        error_set(code, "no shipped model '%.60s'; the file of that name is ./%.60s", name, name);
    } else if (near) {
        error_set(code, "no shipped model '%.60s'; did you mean '%s'?", name, near);
    } else {
        error_set(code, "no shipped model '%.60s'; there are: %s", name, strbuf_text(&list));
    }
    strbuf_free(&list);
    return code;
}

/* A file of a later version may mean something else by the same words: it is not read. */
static int check_schema(const struct yaml_node *root)
{
    const struct yaml_node *schema = yaml_get(root, "schema");
    if (!schema || (schema->kind == YAML_SCALAR && strcmp(schema->text, MODEL_SCHEMA) == 0)) {
        return SONDE_OK;
    }
    const char *text = schema->kind == YAML_SCALAR ? schema->text : "";
    bool of_models = strncmp(text, MODEL_SCHEMA, strcspn(MODEL_SCHEMA, "/") + 1) == 0;
    if (strncmp(text, "sonde.dissection/", strlen("sonde.dissection/")) == 0) {
        return yaml_error(SONDE_EINPUT, schema,
                          "schema: this is a dissection, of which sonde export makes a model");
    }
    return yaml_error(SONDE_EINPUT, schema, "schema: %s%.40s%s, this Sonde reads %s",
                      of_models ? "the file is '" : "expected a version of models, not '", text,
                      "'", MODEL_SCHEMA);
}

/* The starting point: the defaults, or the model that the file inherits. */
static int begin(struct model *model, const struct yaml_node *root, const struct descent *at)
{
    const struct yaml_node *inherits = yaml_get(root, "inherits");
    if (!inherits) {
        return param_set_defaults(model);
    }
    if (inherits->kind != YAML_SCALAR) {
        return yaml_error(SONDE_EINPUT, inherits,
                          "inherits: expected the name of a shipped model or a path");
    }
    if (at->depth >= INHERIT_MAX) {
        return yaml_error(SONDE_EINPUT, inherits, "inherits: more than %d models in a row",
                          INHERIT_MAX);
    }
    if (is_path(inherits->text) && !at->is_builtin && !at->is_text) {
        return parse_path(model, inherits->text, at, inherits);
    }
    int builtin = find_builtin(inherits->text);
    if (builtin < 0) {
        return inherit_error(unknown_builtin(SONDE_EINPUT, inherits->text), inherits);
    }
    return parse_builtin(model, builtin, at);
}

/* The groups of parameters of which the file names nothing, "noc, vm, pcie". */
static void absent_groups(struct strbuf *out, const struct yaml_node *root)
{
    char previous[PATH_MAX_BYTES] = "";
    for (size_t i = 0; i < param_count(); i++) {
        char group[PATH_MAX_BYTES];
        const char *path = param_at(i)->path;
        size_t length = strcspn(path, ".");
        snprintf(group, sizeof(group), "%.*s", (int)length, path);
        if (path[length] == '.' && strcmp(group, previous) != 0 && !yaml_get(root, group)) {
            strbuf_printf(out, "%s%s", out->length ? ", " : "", group);
        }
        memcpy(previous, group, sizeof(previous));
    }
}

/*
 * Every parameter has a default, and a file that was cut off would pass for another machine. A file
 * that inherits nothing has to name the parts that no GPU is without, and should have YAML's mark
 * of its end: without it a file that was cut off between two lines is one that says less, and what
 * it leaves to defaults is told (sonde_model_check_note()).
 */
static void check_whole(struct reader *reader, const struct yaml_node *root)
{
    bool l2 = yaml_get(root, "l2"), dram = yaml_get(root, "dram");
    if (!l2 || !dram) {
        problem_at(reader, NULL, NULL,
                   "%s%s%s missing, which a model that inherits nothing has to name; is the file "
                   "cut off?",
                   l2 ? "" : "l2", l2 || dram ? "" : " and ",
                   dram ? " is"
                   : l2 ? "dram is"
                        : "dram are");
    } else if (!root->ends) {
        struct strbuf groups = {0};
        absent_groups(&groups, root);
        snprintf(reader->model->open_end, sizeof(reader->model->open_end), "%s",
                 groups.length ? strbuf_text(&groups) : "nothing");
        snprintf(reader->model->open_file, sizeof(reader->model->open_file), "%s", reader->file);
        strbuf_free(&groups);
    }
}

static int finish(struct reader *reader)
{
    if (reader->problem_count > PROBLEMS_MAX) {
        strbuf_printf(&reader->problems, "\n%s: and %u more", reader->file,
                      reader->problem_count - PROBLEMS_MAX);
    }
    int rc = SONDE_OK;
    if (strbuf_failed(&reader->problems)) {
        rc = error_memory();
    } else if (reader->problem_count > 0) {
        rc = error_set_lines(SONDE_EINPUT, strbuf_text(&reader->problems));
    }
    strbuf_free(&reader->problems);
    return rc;
}

static int parse(struct model *model, const struct descent *at, const char *text, size_t length)
{
    const char *file = at->file;
    struct yaml_node *root = NULL;
    struct arena *arena = arena_create();
    if (!arena) {
        return error_memory();
    }
    struct reader *reader = arena_alloc(arena, sizeof(*reader));
    int rc = yaml_parse(&root, arena, text, length, file);
    if (rc < 0) {
        goto out;
    }
    if (!reader) {
        rc = error_memory();
        goto out;
    }
    if (root->kind != YAML_MAPPING) {
        rc = yaml_error(SONDE_EINPUT, root, "a model is a mapping of parameters");
        goto out;
    }
    if (!root->first && !at->is_text) {
        rc = error_set(SONDE_EINPUT, "%s: the file is empty", file);
        goto out;
    }
    rc = check_schema(root);
    rc = rc < 0 ? rc : begin(model, root, at);
    if (rc < 0) {
        goto out;
    }
    const struct yaml_node *inherits = yaml_get(root, "inherits");
    *reader =
        (struct reader){.model = model, .file = file, .inherits = inherits ? inherits->text : NULL};
    name_from_file(model->name, file);
    memset(model->file, 0, sizeof(model->file));
    snprintf(model->file, sizeof(model->file), "%s", file);
    read_group(reader, root, "");
    if (reader->problem_count == 0) {
        check_model(reader);
    }
    if (reader->problem_count == 0 && !inherits && !at->is_text) {
        check_whole(reader, root);
    }
    rc = finish(reader);
out:
    arena_destroy(arena);
    return rc;
}

/* The model that `read` fills in. */
static int create(struct model **out, int (*read)(struct model *model, const void *ctx),
                  const void *ctx)
{
    struct model *model = calloc(1, sizeof(*model));
    if (!model) {
        return error_memory();
    }
    int rc = read(model, ctx);
    if (rc < 0) {
        free(model);
        return rc;
    }
    *out = model;
    return SONDE_OK;
}

struct source {
    const char *file, *text;
    size_t length;
    bool is_text;
};

static int read_text(struct model *model, const void *ctx)
{
    const struct source *source = ctx;
    struct descent at = {.file = source->file, .is_text = source->is_text};
    return parse(model, &at, source->text, source->length);
}

static int read_path(struct model *model, const void *ctx)
{
    return parse_path(model, ctx, NULL, NULL);
}

static int read_builtin(struct model *model, const void *ctx)
{
    return parse_builtin(model, *(const int *)ctx, NULL);
}

int model_parse(struct model **out, const char *file, const char *text, size_t length)
{
    struct source source = {file, text, length, true};
    return create(out, read_text, &source);
}

int model_parse_heir(struct model **out, const char *file, const char *text, size_t length)
{
    struct source source = {file, text, length, false};
    return create(out, read_text, &source);
}

void model_destroy(struct model *model)
{
    free(model);
}

int model_load(struct model **out, const char *name)
{
    if (is_path(name)) {
        return create(out, read_path, name);
    }
    int builtin = find_builtin(name);
    return builtin < 0 ? unknown_builtin(SONDE_EUSAGE, name) : create(out, read_builtin, &builtin);
}
