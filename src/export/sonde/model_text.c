/* Lines of a model's text, each with where its value comes from. */
#include "export/sonde/model_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMENT_COLUMN 40
#define LINE_BYTES 65536 /* a list of a thousand sets fits */

void model_line(struct model_text *t, unsigned depth, const char *comment, const char *fmt, ...)
{
    char *line = malloc(LINE_BYTES);
    if (!line) {
        t->out.failed = true;
        return;
    }
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, LINE_BYTES, fmt, args);
    va_end(args);
    t->out.failed = t->out.failed || length >= LINE_BYTES;
    int indent = (int)(2 * depth);
    if (*comment) {
        int width = length + indent < COMMENT_COLUMN ? COMMENT_COLUMN - indent : length + 1;
        strbuf_printf(&t->out, "%*s%-*s# %s\n", indent, "", width, line, comment);
    } else {
        strbuf_printf(&t->out, "%*s%s\n", indent, "", line);
    }
    free(line);
}

const char *model_measured(char *text, const struct saved_value *value)
{
    if (strcmp(value->evidence, MODEL_DRAWN) == 0) {
        snprintf(text, MODEL_COMMENT_BYTES, "not measured: %.80s", value->evidence);
        return text;
    }
    snprintf(text, MODEL_COMMENT_BYTES, "measured, confidence %.2f%s%.80s", value->confidence,
             value->evidence[0] ? ", " : "", value->evidence);
    return text;
}

const char *model_sum(char *text, const char *what, const struct saved_value *value)
{
    snprintf(text, MODEL_COMMENT_BYTES, "%s %g measured, confidence %.2f%s%.60s", what,
             value->value, value->confidence, value->evidence[0] ? ", " : "", value->evidence);
    return text;
}

uint64_t model_clusters(const struct model_text *t)
{
    const json_t *second = saved_cache(t->root, "constant_l15");
    uint64_t sms = saved_plain_u64(json_object_get(t->root, "device"), "sms", t->base->sms);
    uint64_t clusters = t->base->clusters;
    if (saved_is_of_cluster(second)) {
        saved_u64(&clusters, second, "count");
    }
    clusters = clusters ? clusters : t->base->clusters;
    return clusters < sms ? clusters : sms;
}
