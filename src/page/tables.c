/* Reports that are one table: a study's rows, a sweep's points. See page.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/saved.h"
#include "page/html.h"
#include "page/svg.h"
#include "util/container/strbuf.h"

static const char *const verdicts_that_fail[] = {"FAIL", "failed", "crashed"};

static bool is_bad(const char *verdict)
{
    bool bad = false;
    for (size_t i = 0; i < sizeof verdicts_that_fail / sizeof *verdicts_that_fail; i++) {
        bad |= strcmp(verdict, verdicts_that_fail[i]) == 0;
    }
    return bad;
}

static void put_verdict(struct strbuf *out, const char *verdict)
{
    strbuf_printf(out, "<td class=\"%s\">", is_bad(verdict) ? "bad" : "");
    svg_escape(out, verdict);
    strbuf_append(out, "</td>");
}

/* "12 ok, 1 FAIL": how many rows have each value of a member. */
static void put_counts(struct strbuf *out, const json_t *rows, const char *key)
{
    const char *before = "";
    strbuf_append(out, "<p>");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *verdict = saved_text(json_array_get(rows, i), key, "?");
        size_t count = 0, first = i;
        for (size_t k = 0; k < json_array_size(rows); k++) {
            bool same = strcmp(saved_text(json_array_get(rows, k), key, "?"), verdict) == 0;
            first = same && k < first ? k : first;
            count += same;
        }
        if (first == i) {
            strbuf_printf(out, "%s%zu ", before, count);
            svg_escape(out, verdict);
            before = ", ";
        }
    }
    strbuf_append(out, "</p>\n");
}

/* ---- studies ---- */

/* Bytes in the largest unit that leaves nothing over: what differs stays different. */
static bool put_bytes(struct strbuf *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    size_t k = 0;
    if (bytes < 0 || bytes != floor(bytes)) {
        return false;
    }
    while (k + 1 < sizeof units / sizeof *units && bytes >= 1024 && fmod(bytes, 1024) == 0) {
        bytes /= 1024;
        k++;
    }
    strbuf_printf(out, "%.0f %s", bytes, units[k]);
    return true;
}

static void put_number_cell(struct strbuf *out, const json_t *value, const char *unit)
{
    bool number = json_is_number(value);
    strbuf_printf(out, "<td class=\"%s\">", number ? "number" : "");
    if (!number || strcmp(unit, "B") != 0 || !put_bytes(out, json_number_value(value))) {
        if (value) {
            html_value(out, value, NULL);
        }
        if (number && unit[0] && strcmp(unit, "1") != 0) {
            strbuf_append(out, " ");
            svg_escape(out, unit);
        }
    }
    strbuf_append(out, "</td>");
}

static void put_study_row(struct strbuf *out, const json_t *row)
{
    const char *unit = saved_text(row, "unit", "");
    strbuf_append(out, "<tr><td>");
    svg_escape(out, saved_text(row, "what", ""));
    strbuf_append(out, " <small>");
    svg_escape(out, saved_text(row, "id", ""));
    strbuf_append(out, "</small></td>");
    put_verdict(out, saved_text(row, "verdict", ""));
    put_number_cell(out, json_object_get(row, "published"), unit);
    put_number_cell(out, json_object_get(row, "measured"), unit);
    strbuf_append(out, "<td>");
    svg_escape(out, saved_text(row, "basis", ""));
    strbuf_append(out, "</td></tr>\n");
}

void html_study(struct strbuf *out, const json_t *document)
{
    strbuf_append(out, "<section><h2>Rows</h2>\n");
    put_counts(out, document, "verdict");
    strbuf_append(out, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">what</th>"
                       "<th scope=\"col\">verdict</th>"
                       "<th scope=\"col\" class=\"number\">published</th>"
                       "<th scope=\"col\" class=\"number\">measured</th>"
                       "<th scope=\"col\">basis</th></tr></thead>\n");
    for (size_t i = 0; i < json_array_size(document); i++) {
        put_study_row(out, json_array_get(document, i));
    }
    strbuf_append(out, "</table></div></section>\n");
}

/* ---- sweeps ---- */

/* The names of all members of an object that each row has, in the order in which they come. */
static json_t *names_of(const json_t *rows, const char *part)
{
    json_t *names = json_object();
    for (size_t i = 0; names && i < json_array_size(rows); i++) {
        json_object_update_missing(names, json_object_get(json_array_get(rows, i), part));
    }
    return names;
}

static void put_name(struct strbuf *out, const char *name)
{
    strbuf_append(out, "<th scope=\"col\" class=\"number\">");
    for (const char *dot; (dot = strchr(name, '.')) != NULL; name = dot + 1) {
        char part[200];
        snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
        svg_escape(out, part);
        strbuf_append(out, ".<wbr>");
    }
    svg_escape(out, name);
    strbuf_append(out, "</th>");
}

static void put_heads(struct strbuf *out, json_t *names)
{
    const char *name;
    json_t *value;
    json_object_foreach(names, name, value)
    {
        put_name(out, name);
    }
}

static void put_cells(struct strbuf *out, json_t *names, const json_t *object)
{
    const char *name;
    json_t *unused;
    json_object_foreach(names, name, unused)
    {
        const json_t *value = json_object_get(object, name);
        strbuf_append(out, "<td class=\"number\">");
        if (value) {
            html_value(out, value, NULL);
        }
        strbuf_append(out, "</td>");
    }
}

static const char *reason_of(const json_t *rows, size_t i)
{
    return saved_text(json_array_get(rows, i), "reason", "");
}

/* Each reason once, with the points that have it. */
static void put_reasons(struct strbuf *out, const json_t *rows)
{
    bool any = false;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *reason = reason_of(rows, i), *before = "";
        bool told = !reason[0];
        for (size_t k = 0; k < i && !told; k++) {
            told = strcmp(reason_of(rows, k), reason) == 0;
        }
        if (told) {
            continue;
        }
        strbuf_append(out, any ? "" : "<section><h2>Reasons</h2>\n<div class=\"scroll\"><table>");
        strbuf_append(out, "<tr><td>");
        any = true;
        for (size_t k = i; k < json_array_size(rows); k++) {
            if (strcmp(reason_of(rows, k), reason) == 0) {
                const json_t *number = json_object_get(json_array_get(rows, k), "point");
                strbuf_printf(out, "%s%" JSON_INTEGER_FORMAT, before, json_integer_value(number));
                before = ", ";
            }
        }
        strbuf_append(out, "</td><td>");
        svg_escape(out, reason);
        strbuf_append(out, "</td></tr>\n");
    }
    strbuf_append(out, any ? "</table></div></section>\n" : "");
}

void html_sweep(struct strbuf *out, const json_t *document)
{
    const json_t *rows = json_object_get(document, "rows");
    json_t *settings = names_of(rows, "settings"), *values = names_of(rows, "values");
    strbuf_append(out, "<section><h2>Points</h2>\n");
    put_counts(out, rows, "status");
    strbuf_append(out, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\" "
                       "class=\"number\">point</th>");
    put_heads(out, settings);
    put_heads(out, values);
    strbuf_append(out, "<th scope=\"col\">status</th></tr></thead>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        strbuf_append(out, "<tr><td class=\"number\">");
        html_value(out, json_object_get(row, "point"), NULL);
        strbuf_append(out, "</td>");
        put_cells(out, settings, json_object_get(row, "settings"));
        put_cells(out, values, json_object_get(row, "values"));
        put_verdict(out, saved_text(row, "status", ""));
        strbuf_append(out, "</tr>\n");
    }
    strbuf_append(out, "</table></div></section>\n");
    put_reasons(out, rows);
    json_decref(settings);
    json_decref(values);
}
