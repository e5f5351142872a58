/*
 * What an attribute of a dissection is, how it is found and what can fool it: explain.def, for
 * people, in lines of a terminal's width.
 */
#include <stdio.h>
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

/* A name of `length`: an attribute, a topic, or TOPIC.ATTRIBUTE, of which what stands before the
 * topic only says where it is: "l2.policy.name" is policy.name. */
static bool is_meant(const struct explanation *row, const char *name, size_t length)
{
    size_t last = length, topic;
    while (last > 0 && name[last - 1] != '.') {
        last--;
    }
    const char *attribute = name + last;
    size_t bytes = length - last;
    bool is_attribute =
        strlen(row->attribute) == bytes && strncmp(row->attribute, attribute, bytes) == 0;
    if (last == 0) {
        return is_attribute || topic_is(row, name, length);
    }
    for (topic = last - 1; topic > 0 && name[topic - 1] != '.';) {
        topic--;
    }
    return is_attribute && topic_is(row, name + topic, last - 1 - topic);
}

/* What a name means: the longest beginning of it that is one, so that a member of an attribute
 * ("l2.policy.confidence") is explained with it. 0: nothing. */
static size_t meant_bytes(const char *name)
{
    for (size_t length = strlen(name); length > 0; length--) {
        if (name[length] != '\0' && name[length] != '.') {
            continue;
        }
        for (size_t i = 0; i < COUNT; i++) {
            if (is_meant(&explanations[i], name, length) &&
                (name[length] == '\0' || memchr(name, '.', length))) {
                return length;
            }
        }
    }
    return 0;
}

static int not_found(const char *name)
{
    /* What stands behind the part: the first that can be wrong. */
    const char *dot = strchr(name, '.');
    char asked[64];
    snprintf(asked, sizeof asked, "%s", dot ? dot + 1 : name);
    asked[strcspn(asked, ".")] = '\0';
    struct suggest suggest = suggest_begin(asked);
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
    size_t length = name ? meant_bytes(name) : 0;
    if (name && length == 0) {
        return not_found(name);
    }
    for (size_t i = 0; i < COUNT; i++) {
        const struct explanation *row = &explanations[i];
        if (!name) {
            strbuf_printf(&out, "%s.%s\n", row->topic, row->attribute);
        } else if (is_meant(row, name, length)) {
            write_one(&out, row);
        }
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}
