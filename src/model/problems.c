/* The mistakes of a model file: each is a line with place, parameter and reason. */
#include <stdarg.h>
#include <stdio.h>

#include "model/param.h"
#include "model/read.h"
#include "util/glue/yaml_glue.h"
#include "util/text/printable.h"

static void note(struct reader *reader, const struct yaml_node *node, const char *path,
                 const char *fmt, va_list args)
{
    if (reader->problem_count++ >= PROBLEMS_MAX) {
        return;
    }
    struct strbuf *out = &reader->problems;
    strbuf_append(out, out->length ? "\n" : "");
    printable_append_name(out, reader->file);
    strbuf_append(out, ":");
    if (node) {
        strbuf_printf(out, "%d:%d:", node->line, node->column);
    }
    char text[512];
    vsnprintf(text, sizeof(text), fmt, args);
    strbuf_printf(out, " %s%s", path ? path : "", path ? ": " : "");
    printable_append_name(out, text);
}

void problem_at(struct reader *reader, const struct yaml_node *node, const char *path,
                const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    note(reader, node, path, fmt, args);
    va_end(args);
}

void problem(struct reader *reader, const char *path, const char *fmt, ...)
{
    const struct param *param = param_find(path);
    va_list args;
    va_start(args, fmt);
    note(reader, param ? reader->where[param_index(param)] : NULL, path, fmt, args);
    va_end(args);
}

bool given(const struct reader *reader, const char *path)
{
    const struct param *param = param_find(path);
    return param && reader->where[param_index(param)];
}
