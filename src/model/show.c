/*
 * A model written out as YAML, and the list of all parameters. Both walk the table; the nesting of
 * the YAML comes from the dots in the paths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/param.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/container/strbuf.h"
#include "util/text/suggest.h"

#define LINE_WIDTH 96
#define PATH_BYTES 96 /* of a parameter, "sm.lsu.latency" */

/* Text in lines of at most LINE_WIDTH, each after `lead`. */
static void write_wrapped(struct strbuf *out, const char *lead, const char *text)
{
    size_t room = LINE_WIDTH - strlen(lead);
    while (*text) {
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ') {
                length--;
            }
            length = length ? length : room;
        }
        strbuf_printf(out, "%s%.*s\n", lead, (int)length, text);
        text += length;
        text += *text == ' ';
    }
}

/* Rows of one sub-table repeat their doc (units, caches): it is written once. */
static bool doc_is_new(size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (strcmp(param_at(i)->doc, param_at(row)->doc) == 0) {
            return false;
        }
    }
    return true;
}

/* Opens the groups of `path` that the previous row was not in; returns how deep its key lies. */
static int write_groups(struct strbuf *out, const char *previous, const char *path)
{
    int depth = 0;
    bool same = true;
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1, depth++) {
        size_t length = (size_t)(dot - path) + 1;
        same = same && strncmp(previous, path, length) == 0;
        if (same) {
            previous += length;
        } else {
            strbuf_printf(out, "%s%*s%.*s:\n", depth == 0 ? "\n" : "", depth * 2, "",
                          (int)length - 1, path);
        }
    }
    return depth;
}

int model_show(char **yaml, const struct model *model)
{
    struct strbuf out = {0};
    const char *previous = "";
    strbuf_printf(&out,
                  "---\n"
                  "# %s: every parameter that applies (sonde model params: ranges, defaults)\n"
                  "schema: " MODEL_SCHEMA "\n",
                  model->name);
    for (size_t i = 0; i < param_count(); i++) {
        const struct param *param = param_at(i);
        if (!param_applies(model, param)) {
            continue;
        }
        int depth = write_groups(&out, previous, param->path);
        previous = param->path;
        char lead[32];
        snprintf(lead, sizeof(lead), "%*s# ", depth * 2, "");
        if (doc_is_new(i)) {
            write_wrapped(&out, lead, param->doc);
        }
        const char *dot = strrchr(param->path, '.');
        strbuf_printf(&out, "%*s%s: ", depth * 2, "", dot ? dot + 1 : param->path);
        param_write(&out, model, param);
        strbuf_append_char(&out, '\n');
    }
    strbuf_append(&out, "...\n"); /* what is cut off is refused: models/README.md */
    *yaml = strbuf_take(&out);
    return *yaml ? SONDE_OK : error_memory();
}

/* "bytes", "one of lru, fifo", "list of masks" */
static void write_type(struct strbuf *out, const struct param *param)
{
    switch (param->kind) {
    case PARAM_U32:
    case PARAM_U64:
        strbuf_append(out, units_name(param->unit));
        break;
    case PARAM_CLOCK:
        strbuf_append(out, "a frequency or a time");
        break;
    case PARAM_BOOL:
        strbuf_append(out, "true or false");
        break;
    case PARAM_TEXT:
        strbuf_append(out, "text");
        break;
    case PARAM_LIST:
        strbuf_append(out, list_describe(param->list));
        break;
    case PARAM_ENUM:
        strbuf_append(out, "one of ");
        for (const struct param_word *word = param->words; word->word; word++) {
            strbuf_printf(out, "%s%s", word == param->words ? "" : ", ", word->word);
        }
        break;
    }
}

static void write_param(struct strbuf *out, const struct param *param)
{
    strbuf_printf(out, "%s\n    ", param->path);
    write_type(out, param);
    if (param->min) {
        strbuf_printf(out, ", %s to %s", param->min, param->max);
    }
    strbuf_printf(out, "; default %s\n", !param->def ? "[]" : *param->def ? param->def : "\"\"");
    write_wrapped(out, "    ", param->doc);
    for (const struct param_word *word = param->words; word && word->word; word++) {
        strbuf_printf(out, "      %s: %s\n", word->word, word->doc);
    }
}

/* What a file says of itself, and no parameter of the machine. */
static const struct {
    const char *path, *text;
} file_words[] = {
    {"schema", "schema\n    text; default: " MODEL_SCHEMA "\n"
               "    the version of model files; another one is refused\n"},
    {"inherits", "inherits\n    text; default: nothing\n    the shipped model from which "
                 "this one starts: what a file does not say is as there\n"},
};
#define FILE_WORD_COUNT (sizeof(file_words) / sizeof(file_words[0]))

/* Whether `path` is `section` or lies in it; all do where there is none. */
static bool is_in_section(const char *path, const char *section)
{
    size_t length = section ? strlen(section) : 0;
    return !section ||
           (strncmp(path, section, length) == 0 && (path[length] == '.' || path[length] == '\0'));
}

/* Names the nearest of all paths and of the sections that they lie in. */
static int unknown_section(const char *section)
{
    struct suggest suggest = suggest_begin(section);
    const char *nearest = "";
    int length = 0;
    for (size_t i = 0; i < param_count(); i++) {
        const char *path = param_at(i)->path;
        for (size_t end = 1; path[end - 1]; end++) {
            char head[PATH_BYTES];
            unsigned distance = suggest.distance;
            if (path[end] && path[end] != '.') {
                continue;
            }
            snprintf(head, sizeof(head), "%.*s", (int)end, path);
            suggest_offer(&suggest, head);
            if (suggest.distance < distance) {
                nearest = path;
                length = (int)end;
            }
        }
    }
    bool near = suggest_best(&suggest) != NULL;
    return error_set(SONDE_EUSAGE, "models have no section or parameter '%s'%s%.*s%s", section,
                     near ? "; did you mean '" : "; sonde model params lists them",
                     near ? length : 0, nearest, near ? "'?" : "");
}

int model_params_text(char **text, const char *section)
{
    struct strbuf out = {0};
    for (size_t i = 0; i < param_count(); i++) {
        if (is_in_section(param_at(i)->path, section)) {
            write_param(&out, param_at(i));
        }
    }
    for (size_t i = 0; i < FILE_WORD_COUNT; i++) {
        if (is_in_section(file_words[i].path, section)) {
            strbuf_append(&out, file_words[i].text);
        }
    }
    *text = strbuf_take(&out);
    if (!*text) {
        return error_memory();
    }
    if (**text == '\0') {
        free(*text);
        *text = NULL;
        return unknown_section(section);
    }
    return SONDE_OK;
}

static int words_to_json(json_t *object, const struct param *param)
{
    json_t *words = json_put_object(object, "values");
    int rc = words ? SONDE_OK : error_memory();
    for (const struct param_word *word = param->words; rc == SONDE_OK && word->word; word++) {
        rc = json_put_string(words, word->word, word->doc);
    }
    return rc;
}

static int param_to_json(json_t *array, const struct param *param)
{
    static const char *const kinds[] = {
        [PARAM_U32] = "quantity", [PARAM_U64] = "quantity", [PARAM_CLOCK] = "clock",
        [PARAM_BOOL] = "bool",    [PARAM_ENUM] = "word",    [PARAM_TEXT] = "text",
        [PARAM_LIST] = "list"};
    json_t *object = json_object();
    int rc = json_append(array, object);
    bool quantity =
        param->kind == PARAM_U32 || param->kind == PARAM_U64 || param->kind == PARAM_CLOCK;
    rc = rc < 0 ? rc : json_put_string(object, "path", param->path);
    rc = rc < 0 ? rc : json_put_string(object, "type", kinds[param->kind]);
    if (quantity) {
        rc = rc < 0 ? rc : json_put_string(object, "unit", units_base(param->unit));
        rc = rc < 0 ? rc : json_put_string(object, "min", param->min);
        rc = rc < 0 ? rc : json_put_string(object, "max", param->max);
    }
    if (param->kind == PARAM_ENUM) {
        rc = rc < 0 ? rc : words_to_json(object, param);
    }
    rc = rc < 0 ? rc : json_put_string(object, "default", param->def ? param->def : "[]");
    return rc < 0 ? rc : json_put_string(object, "doc", param->doc);
}

int model_params_json(char **text)
{
    json_t *array = json_array();
    int rc = array ? SONDE_OK : error_memory();
    for (size_t i = 0; rc == SONDE_OK && i < param_count(); i++) {
        rc = param_to_json(array, param_at(i));
    }
    rc = rc < 0 ? rc : json_to_text(text, array);
    json_decref(array);
    return rc;
}
