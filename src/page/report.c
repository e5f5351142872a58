/* Reports: which one a document wants, and what stands in it. See page.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/saved.h"
#include "page/figures.h"
#include "page/html.h"
#include "page/page.h"
#include "page/svg.h"
#include "sonde/sonde.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

/* The drawing first, as wide as the page; the others side by side. */
static void put_figures(struct strbuf *out, const json_t *document)
{
    struct figures figures = {0};
    size_t first = 0;
    figures_collect(&figures, document);
    if (figures.count && strcmp(figures.data[0].name, "hierarchy") == 0) {
        strbuf_append(out, "<section><h2>Memory hierarchy</h2>\n"
                           "<p>Latencies are what a load takes there. A value below opens and "
                           "shows what it rests on.</p>\n<div class=\"scroll\">");
        strbuf_append(out, figures.data[first++].svg);
        strbuf_append(out, "</div></section>\n");
    }
    strbuf_append(out, "<section><h2>Figures</h2><div class=\"charts\">\n");
    for (size_t i = first; i < figures.count; i++) {
        strbuf_append(out, figures.data[i].svg);
    }
    strbuf_append(out, "</div></section>\n");
    figures_free(&figures);
}

/* An earlier one of the list that is the same array behind another path; NULL: none. */
static const json_t *shown_before(const json_t *list, size_t index)
{
    const json_t *with = json_object_get(json_array_get(list, index), "shared_with");
    for (size_t i = 0; i < index; i++) {
        const json_t *before = json_array_get(list, i);
        for (size_t k = 0; k < json_array_size(with); k++) {
            const char *id = json_string_value(json_array_get(with, k));
            if (id && strcmp(saved_text(before, "id", ""), id) == 0) {
                return before;
            }
        }
    }
    return NULL;
}

static void put_row(struct strbuf *out, const char *key, const json_t *value,
                    const json_t *evidence)
{
    strbuf_append(out, "<tr><th scope=\"row\">");
    svg_escape(out, key);
    strbuf_append(out, "</th><td>");
    html_value(out, value, evidence);
    strbuf_append(out, "</td></tr>\n");
}

/* Of what is not there, why; of an array that was shown before, what differs. */
static bool is_shown(const json_t *part, const char *key, const json_t *value, const json_t *before)
{
    if (strcmp(key, "id") == 0 || strcmp(key, "steps") == 0) {
        return false;
    }
    if (json_is_false(json_object_get(part, "present")) && json_object_get(part, "reason")) {
        return !json_is_object(value) && !json_is_array(value);
    }
    return !before || strcmp(key, "shared_with") == 0 ||
           !json_equal((json_t *)value, json_object_get(before, key));
}

/* A row for each attribute of a cache or TLB, but what is drawn above. */
static void put_parts(struct strbuf *out, const json_t *list, const json_t *evidence)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *part = json_array_get(list, i), *before = shown_before(list, i);
        const char *key;
        json_t *value;
        strbuf_append(out, "<section><h2>");
        svg_escape(out, saved_text(part, "id", saved_text(part, "method", "?")));
        strbuf_append(out, "</h2>");
        if (before) {
            strbuf_append(out, "<p>The same array as ");
            svg_escape(out, saved_text(before, "id", "?"));
            strbuf_append(out, "; what differs on this path:</p>");
        }
        strbuf_append(out, "<div class=\"scroll\"><table>\n");
        json_object_foreach((json_t *)part, key, value)
        {
            if (is_shown(part, key, value, before)) {
                put_row(out, key, value, evidence);
            }
        }
        strbuf_append(out, "</table></div></section>\n");
    }
}

static void put_section(struct strbuf *out, const char *title, const json_t *value,
                        const json_t *evidence)
{
    if (value) {
        strbuf_printf(out, "<section><h2>%s</h2><div class=\"scroll\">", title);
        html_value(out, value, evidence);
        strbuf_append(out, "</div></section>\n");
    }
}

void html_dissection(struct strbuf *out, const json_t *document)
{
    const json_t *evidence = json_object_get(document, "evidence");
    put_figures(out, document);
    put_parts(out, json_object_get(document, "caches"), evidence);
    put_parts(out, json_object_get(document, "tlbs"), evidence);
    put_section(out, "Shared memory", json_object_get(document, "shared_memory"), evidence);
    put_section(out, "Memory", json_object_get(document, "memory"), evidence);
    put_section(out, "Outstanding requests", json_object_get(document, "outstanding"), evidence);
    put_section(out, "Memory under load", json_object_get(document, "loaded_latency"), evidence);
    put_section(out, "Streaming multiprocessor", json_object_get(document, "sm"), evidence);
    put_section(out, "Kinds of access", json_object_get(document, "latency_patterns"), evidence);
    put_section(out, "Latencies seen", json_object_get(document, "latency_classes"), evidence);
    put_section(out, "Published methods", json_object_get(document, "methods"), evidence);
    put_section(out, "What the driver says", json_object_get(document, "device"), NULL);
}

static const struct report {
    const char *schema, *title;
    void (*write)(struct strbuf *out, const json_t *document);
} reports[] = {
    {"sonde.dissection/1", "Dissection", html_dissection},
    {"study", "Study", html_study},
    {"sonde.sweep/1", "Sweep", html_sweep},
    {"sonde.statistics/1", "Statistics", html_statistics},
    {"sonde.profile/1", "Profile", html_profile},
};

/* A version that is not known is told as such. */
static int error_unknown(const char *name, const char *schema)
{
    size_t kind = strcspn(schema, "/") + 1;
    for (size_t i = 0; schema[kind - 1] && i < sizeof reports / sizeof *reports; i++) {
        if (strncmp(reports[i].schema, schema, kind) == 0) {
            return error_set(SONDE_EINPUT, "%s: the schema is '%.40s', this version reads '%s'",
                             name, schema, reports[i].schema);
        }
    }
    return error_set(SONDE_EINPUT, "%s: no report is written of '%.40s'", name, schema);
}

int page_report(char **html, const json_t *document, const char *name)
{
    bool is_study = json_is_string(json_object_get(json_array_get(document, 0), "verdict"));
    const char *schema = is_study ? "study" : saved_text(document, "schema", "");
    const json_t *device = json_object_get(document, "device");
    char title[400], subtitle[600];
    struct strbuf out = {0}, body = {0};
    size_t i = 0;
    *html = NULL;
    while (i < sizeof reports / sizeof *reports && strcmp(reports[i].schema, schema) != 0) {
        i++;
    }
    if (i == sizeof reports / sizeof *reports) {
        return error_unknown(name, schema);
    }
    const char *about = saved_text(document, "sweep", saved_text(document, "model", ""));
    about = saved_text(device, "name", about);
    snprintf(title, sizeof title, "%s%s%s", reports[i].title, *about ? ": " : "", about);
    const char *date = saved_text(document, "date", "");
    snprintf(subtitle, sizeof subtitle, "%s%ssonde %s", date, *date ? ", " : "",
             saved_text(document, "sonde", SONDE_VERSION));
    html_begin(&out, title, subtitle);
    reports[i].write(&body, document);
    html_sections(&out, strbuf_text(&body));
    html_end(&out);
    *html = strbuf_failed(&body) ? NULL : strbuf_take(&out);
    strbuf_free(&body);
    strbuf_free(&out);
    return *html ? 0 : error_memory();
}
