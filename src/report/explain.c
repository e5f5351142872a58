/*
 * What an attribute of a dissection is, how it is found and what can fool it: explain.def, for
 * people, in lines of a terminal's width.
 */
#include <string.h>

#include "report/report.h"
#include "sonde/sonde.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/text/suggest.h"

#define COLUMNS 80
#define INDENT 10 /* of texts behind their labels, which begin in column 2 */

static const struct explanation {
    const char *topic, *attribute, *what, *how, *fooled;
} explanations[] = {
#define EXPLAIN(topic, attribute, what, how, fooled) {#topic, #attribute, what, how, fooled},
#include "report/explain.def"
};
#define COUNT (sizeof(explanations) / sizeof(explanations[0]))

/* A label, and the text beside it in as many lines as it takes. */
static void paragraph(struct strbuf *out, const char *label, const char *text)
{
    size_t column = INDENT + 2;
    strbuf_printf(out, "  %-*s", INDENT, label);
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > INDENT + 2 && column + 1 + length > COLUMNS) {
            strbuf_printf(out, "\n%*s", INDENT + 2, "");
            column = INDENT + 2;
        } else if (column > INDENT + 2) {
            strbuf_append_char(out, ' ');
            column++;
        }
        strbuf_append_n(out, text, length);
        column += length;
        text += length + strspn(text + length, " ");
    }
    strbuf_append_char(out, '\n');
}

static void write_one(struct strbuf *out, const struct explanation *row)
{
    strbuf_printf(out, "%s%s.%s\n", out->length > 0 ? "\n" : "", row->topic, row->attribute);
    paragraph(out, "is", row->what);
    paragraph(out, "found by", row->how);
    if (row->fooled[0]) {
        paragraph(out, "beware", row->fooled);
    }
}

/* "cache" of "cache.size"; each cache and TLB has a name of its own, "l2.size". */
static bool topic_is(const struct explanation *row, const char *topic, size_t length)
{
    static const struct {
        const char *name, *topic;
    } names[] = {
#define LEVEL(id, scope, op, behind, beneath, shared_bytes, max_window, doc) {#id, "cache"},
#include "infer/levels.def"
        {"caches", "cache"},
        {"l1_tlb", "tlb"},
        {"l2_tlb", "tlb"},
        {"tlbs", "tlb"},
    };
    if (strlen(row->topic) == length && strncmp(row->topic, topic, length) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].name) == length && strncmp(names[i].name, topic, length) == 0) {
            return strcmp(names[i].topic, row->topic) == 0;
        }
    }
    return false;
}

static bool is_meant(const struct explanation *row, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot) {
        return strcmp(row->attribute, name) == 0 || topic_is(row, name, strlen(name));
    }
    return strcmp(row->attribute, dot + 1) == 0 && topic_is(row, name, (size_t)(dot - name));
}

static int not_found(const char *name)
{
    const char *dot = strrchr(name, '.');
    struct suggest suggest = suggest_begin(dot ? dot + 1 : name);
    for (size_t i = 0; i < COUNT; i++) {
        suggest_offer(&suggest, explanations[i].attribute);
        suggest_offer(&suggest, explanations[i].topic);
    }
    const char *near = suggest_best(&suggest);
    return near ? error_set(SONDE_EUSAGE, "there is no attribute '%s'; did you mean '%s'?", name,
                            near)
                : error_set(SONDE_EUSAGE, "there is no attribute '%s'; sonde explain lists them",
                            name);
}

int report_explain(char **text, const char *name)
{
    struct strbuf out = {0};
    bool found = !name;
    for (size_t i = 0; i < COUNT; i++) {
        const struct explanation *row = &explanations[i];
        if (!name) {
            strbuf_printf(&out, "%s.%s\n", row->topic, row->attribute);
        } else if (is_meant(row, name)) {
            write_one(&out, row);
            found = true;
        }
    }
    if (!found) {
        return not_found(name);
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}
