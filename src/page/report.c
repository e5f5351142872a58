/* Reports: which one a document wants, and what stands in it. See page.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/saved.h"
#include "page/box.h"
#include "page/html.h"
#include "page/page.h"
#include "page/quantity.h"
#include "page/svg.h"
#include "sonde/sonde.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/glue/json_glue.h"

struct points VEC_FIELDS(struct chart_point);

/* Points of an array of objects, by two of their members; those that are numbers in both. */
static void collect(struct points *out, const json_t *array, const char *x, const char *y)
{
    vec_clear(out);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *element = json_array_get(array, i);
        if (json_is_number(json_object_get(element, x)) &&
            json_is_number(json_object_get(element, y))) {
            (void)vec_push(
                out, (struct chart_point){json_number_of(element, x), json_number_of(element, y)});
        }
    }
}

static void put_footprint(struct strbuf *out, struct points *points, const json_t *cache)
{
    const char *id = saved_text(cache, "id", "");
    struct saved_value size;
    char title[120];
    bool known = saved_value(&size, cache, "size");
    collect(points, json_object_get(cache, "steps"), "bytes", "median_cycles");
    snprintf(title, sizeof title, "%s: latency over footprint", id);
    const struct chart chart = {.title = title,
                                .x_label = "bytes walked through",
                                .y_label = "median latency (cycles)",
                                .x_unit = "B",
                                .y_unit = "cycles",
                                .log_x = true,
                                .point = points->data,
                                .count = points->count,
                                .mark = {known ? size.value : 0, known ? "size" : NULL}};
    svg_chart(out, &chart);
}

static void put_conflicts(struct strbuf *out, struct points *points, const json_t *shared)
{
    const char *lanes;
    json_t *cycles;
    vec_clear(points);
    json_object_foreach(json_object_get(shared, "conflict_latency"), lanes, cycles)
    {
        struct chart_point point = {strtod(lanes, NULL), json_number_value(cycles)};
        (void)vec_push(points, point);
    }
    svg_chart(out, &(struct chart){.title = "shared memory: bank conflicts",
                                   .x_label = "lanes that want one bank",
                                   .y_label = "latency (cycles)",
                                   .x_unit = "",
                                   .y_unit = "cycles",
                                   .log_x = true,
                                   .point = points->data,
                                   .count = points->count});
}

static void put_loaded(struct strbuf *out, struct points *points, const json_t *memory)
{
    collect(points, json_object_get(memory, "loaded_latency"), "bytes_per_second", "cycles");
    svg_chart(out, &(struct chart){.title = "memory: latency under load",
                                   .x_label = "read",
                                   .y_label = "latency (cycles)",
                                   .x_unit = "B/s",
                                   .y_unit = "cycles",
                                   .log_x = true,
                                   .point = points->data,
                                   .count = points->count});
}

static void put_tlb(struct strbuf *out, struct points *points, const json_t *tlb)
{
    char title[120];
    snprintf(title, sizeof title, "%s: pages that miss", saved_text(tlb, "id", "TLB"));
    collect(points, json_object_get(tlb, "steps"), "pages", "missed");
    svg_chart(out, &(struct chart){.title = title,
                                   .x_label = "pages walked through",
                                   .y_label = "pages that miss",
                                   .x_unit = "",
                                   .y_unit = "",
                                   .point = points->data,
                                   .count = points->count});
}

static void put_charts(struct strbuf *out, const json_t *document)
{
    const json_t *caches = json_object_get(document, "caches"),
                 *tlbs = json_object_get(document, "tlbs");
    struct points points = {0};
    strbuf_append(out, "<section><h2>Figures</h2><div class=\"charts\">\n");
    for (size_t i = 0; i < json_array_size(caches); i++) {
        if (json_is_true(json_object_get(json_array_get(caches, i), "present"))) {
            put_footprint(out, &points, json_array_get(caches, i));
        }
    }
    for (size_t i = 0; i < json_array_size(tlbs); i++) {
        put_tlb(out, &points, json_array_get(tlbs, i));
    }
    put_conflicts(out, &points, json_object_get(document, "shared_memory"));
    put_loaded(out, &points, json_object_get(document, "memory"));
    strbuf_append(out, "</div></section>\n");
    vec_free(&points);
}

/* A row for each attribute of a cache or TLB, but what is drawn above. */
static void put_parts(struct strbuf *out, const json_t *list, const json_t *evidence)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *part = json_array_get(list, i);
        const char *key;
        json_t *value;
        strbuf_append(out, "<section><h2>");
        svg_escape(out, saved_text(part, "id", saved_text(part, "method", "?")));
        strbuf_append(out, "</h2><div class=\"scroll\"><table>\n");
        json_object_foreach((json_t *)part, key, value)
        {
            if (strcmp(key, "id") == 0 || strcmp(key, "steps") == 0) {
                continue;
            }
            strbuf_append(out, "<tr><th scope=\"row\">");
            svg_escape(out, key);
            strbuf_append(out, "</th><td>");
            html_value(out, value, evidence);
            strbuf_append(out, "</td></tr>\n");
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
    struct arena *arena = arena_create();
    const struct box *root = arena ? box_hierarchy(arena, document) : NULL;
    if (root) {
        strbuf_append(out, "<section><h2>Memory hierarchy</h2>\n"
                           "<p>Latencies are what a load takes there. A click on a value below "
                           "shows what it rests on.</p>\n");
        strbuf_append(out, "<div class=\"scroll\">");
        svg_hierarchy(out, root, "the memory hierarchy as boxes");
        strbuf_append(out, "</div></section>\n");
    }
    arena_destroy(arena);
    put_charts(out, document);
    put_parts(out, json_object_get(document, "caches"), evidence);
    put_parts(out, json_object_get(document, "tlbs"), evidence);
    put_section(out, "Shared memory", json_object_get(document, "shared_memory"), evidence);
    put_section(out, "Memory", json_object_get(document, "memory"), evidence);
    put_section(out, "Outstanding requests", json_object_get(document, "outstanding"), evidence);
    put_section(out, "Kinds of access", json_object_get(document, "latency_patterns"), evidence);
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

int page_report(char **html, const json_t *document, const char *name)
{
    bool is_study = json_is_string(json_object_get(json_array_get(document, 0), "verdict"));
    const char *schema = is_study ? "study" : saved_text(document, "schema", "");
    const json_t *device = json_object_get(document, "device");
    char title[400], subtitle[600];
    struct strbuf out = {0};
    size_t i = 0;
    *html = NULL;
    while (i < sizeof reports / sizeof *reports && strcmp(reports[i].schema, schema) != 0) {
        i++;
    }
    if (i == sizeof reports / sizeof *reports) {
        return error_set(SONDE_EINPUT, "%s: no report is written of '%.40s'", name, schema);
    }
    const char *about = saved_text(document, "sweep", saved_text(document, "model", ""));
    about = saved_text(device, "name", about);
    snprintf(title, sizeof title, "%s%s%s", reports[i].title, *about ? ": " : "", about);
    const char *date = saved_text(document, "date", "");
    snprintf(subtitle, sizeof subtitle, "%s%ssonde %s", date, *date ? ", " : "",
             saved_text(document, "sonde", SONDE_VERSION));
    html_begin(&out, title, subtitle);
    reports[i].write(&out, document);
    html_end(&out);
    *html = strbuf_take(&out);
    return *html ? 0 : error_memory();
}
