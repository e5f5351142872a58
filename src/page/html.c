/* The frame of a page, its style, and values. See html.h. */
#include "page/html.h"

#include <stdio.h>
#include <string.h>

#include "export/saved.h"
#include "page/quantity.h"
#include "page/svg.h"
#include "util/container/strbuf.h"
#include "util/glue/json_glue.h"

#define BAR_WIDTH 120 /* of a page's pixels */
#define SECTIONS_WITHOUT_LINKS 4

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--back:#fff;--line:#c6ccd2;"
    "--memory:#fdf3dc;--cache:#e3f3e4;--tlb:#dff1f5;--shared:#f3e5f5;--group:#f4f5f7;--accent:#"
    "0b62a8;"
    "--bad:#a01c1c}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#9aa5b1;--back:#14181c;"
    "--line:#46505a;--memory:#332b17;--cache:#1c3220;--tlb:#18303a;--shared:#33203a;--group:#"
    "1e242a;"
    "--accent:#6cb6f5;--bad:#ff8a80}}\n"
    "body{margin:0 auto;max-width:960px;padding:24px 16px;font:15px/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--back)}\n"
    "h1{margin:0;font-size:26px}h2{margin:36px 0 8px;font-size:19px}p{margin:4px "
    "0;color:var(--soft)}\n"
    "svg{max-width:100%;height:auto;display:block}svg.hierarchy{width:100%;min-width:620px}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:"
    "16px}.charts svg{width:100%;max-width:540px}\n"
    ".box{stroke:var(--line)}.box.memory{fill:var(--memory)}.box.cache{fill:var(--cache)}"
    ".box.tlb{fill:var(--tlb)}.box.shared{fill:var(--shared)}.box.group{fill:var(--group)}\n"
    "text{fill:var(--ink);font:13px system-ui,sans-serif}text.title{font-weight:600;font-size:14px}"
    "text.badge{text-anchor:end;fill:var(--accent);font-weight:600}text.line,text.tick,text.axis"
    "{fill:var(--soft);font-size:12px}.middle{text-anchor:middle}.end{text-anchor:end}\n"
    ".grid{stroke:var(--line);stroke-width:.6}.curve{fill:none;stroke:var(--accent);stroke-width:2}"
    ".dot{fill:var(--accent)}.second{stroke:var(--ink);stroke-dasharray:6 4}.other{fill:var(--ink)}"
    ".whisker{stroke:var(--ink)}.cell{stroke:var(--line);fill:none}.cell.taken{fill:var(--accent)}"
    ".cell.low{fill:var(--line)}.mark{stroke:var(--bad);stroke-dasharray:4 3}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:4px 10px 4px 0;border-bottom:1px solid "
    "var(--line)}"
    "th{font-weight:600}th.number,td.number{text-align:right;white-space:nowrap;font-variant-"
    "numeric:tabular-nums}\n"
    "nav{margin-top:12px}nav a{display:inline-block;margin-right:14px;color:var(--accent)}\n"
    "details summary{cursor:pointer}:focus-visible{outline:2px solid var(--accent)}"
    "details p{max-width:70ch}small{color:var(--soft)}.bad{color:var(--bad);font-weight:600}\n"
    ".halo{paint-order:stroke;stroke:var(--back);stroke-width:4px}.roof{stroke:var(--accent);"
    "stroke-width:1.5}svg.bar{min-width:60px;margin-top:.4em}svg.bar "
    "rect{fill:var(--accent)}h3{margin:20px 0 4px;font-size:16px}code{font-size:13px;white-space:"
    "pre}"
    "tr.hot td{background:var(--memory)}.listing td{padding-top:1px;padding-bottom:1px}\n"
    "@media print{body{max-width:none;padding:0;font-size:12px}.scroll{overflow:visible}"
    "code{font-size:10px;white-space:pre-wrap}th,td{padding-right:6px}"
    ".charts{grid-template-columns:1fr 1fr}svg.hierarchy{min-width:0}"
    "nav{display:none}details,svg,tr{break-inside:avoid}}\n";

void html_begin(struct strbuf *out, const char *title, const char *subtitle)
{
    strbuf_append(
        out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    svg_escape(out, title);
    strbuf_printf(out, "</title>\n<style>\n%s</style></head>\n<body><header><h1>", style);
    svg_escape(out, title);
    strbuf_append(out, "</h1><p>");
    svg_escape(out, subtitle);
    strbuf_append(out, "</p></header>\n");
}

/* How a section begins; text from outside is escaped, so that this is never a part of it. */
static const char section[] = "<section><h2>";

/* Where the section after `at` has its title, and how long that is; NULL: there is none. */
static const char *next_title(const char *at, size_t *length)
{
    const char *found = strstr(at, section);
    if (found) {
        found += sizeof section - 1;
        *length = strcspn(found, "<");
    }
    return found;
}

/* Links to the sections, where there are more than a screen shows. */
static void put_contents(struct strbuf *out, const char *body)
{
    size_t length, count = 0;
    for (const char *at = body; (at = next_title(at, &length)); count++) {
    }
    if (count < SECTIONS_WITHOUT_LINKS) {
        return;
    }
    strbuf_append(out, "<nav aria-label=\"Sections\">");
    count = 0;
    for (const char *at = body; (at = next_title(at, &length));) {
        strbuf_printf(out, "<a href=\"#section-%zu\">%.*s</a>\n", ++count, (int)length, at);
    }
    strbuf_append(out, "</nav>\n");
}

void html_sections(struct strbuf *out, const char *body)
{
    size_t length, count = 0;
    put_contents(out, body);
    strbuf_append(out, "<main>\n");
    for (const char *title; (title = next_title(body, &length)); body = title) {
        strbuf_append_n(out, body, (size_t)(title - (sizeof section - 1) - body));
        strbuf_printf(out, "<section id=\"section-%zu\"><h2>", ++count);
    }
    strbuf_append(out, body);
}

void html_end(struct strbuf *out)
{
    strbuf_append(out, "</main></body></html>\n");
}

static void put_scalar(struct strbuf *out, const json_t *value, const char *unit)
{
    char text[QUANTITY_BYTES];
    if (json_is_string(value)) {
        svg_escape(out, json_string_value(value));
    } else if (json_is_number(value)) {
        svg_escape(out, quantity(text, json_number_value(value), unit));
    } else {
        strbuf_append(out, json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "-");
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Why there is no value, or how sure it is; what it rests on opens below. */
static void put_attribute(struct strbuf *out, const json_t *attribute, const json_t *evidence)
{
    const json_t *value = json_object_get(attribute, "value"),
                 *confidence = json_object_get(attribute, "confidence");
    const char *status = text_of(attribute, "status");
    const char *text = json_string_value(json_object_get(evidence, text_of(attribute, "evidence")));
    strbuf_append(out, text ? "<details><summary>" : "");
    if (value) {
        put_scalar(out, value, text_of(attribute, "unit"));
    } else {
        svg_escape(out, *status ? status : text_of(attribute, "name"));
    }
    if (json_object_get(attribute, "high")) {
        strbuf_append(out, " <small>between ");
        put_scalar(out, json_object_get(attribute, "low"), text_of(attribute, "unit"));
        strbuf_append(out, " and ");
        put_scalar(out, json_object_get(attribute, "high"), text_of(attribute, "unit"));
        strbuf_append(out, "</small>");
    }
    if (json_is_number(confidence)) {
        strbuf_printf(out, " <small>confidence %.2f</small>", json_number_value(confidence));
    }
    if (json_object_get(attribute, "contradicts")) {
        strbuf_append(out, " <span class=\"bad\">contradicts the dissection, which has ");
        put_scalar(out, json_object_get(attribute, "contradicts"), text_of(attribute, "unit"));
        strbuf_append(out, "</span>");
    }
    if (*text_of(attribute, "reason")) {
        strbuf_append(out, " <small>");
        svg_escape(out, text_of(attribute, "reason"));
        strbuf_append(out, "</small>");
    }
    if (text) {
        strbuf_append(out, "</summary><p>");
        svg_escape(out, text);
        strbuf_append(out, "</p></details>");
    }
}

static bool is_attribute(const json_t *value)
{
    return json_object_get(value, "value") || json_object_get(value, "status");
}

/* A string that names a piece of evidence opens it. */
static bool put_evidence(struct strbuf *out, const json_t *value, const json_t *evidence)
{
    const char *id = json_string_value(value);
    const char *text = id ? json_string_value(json_object_get(evidence, id)) : NULL;
    if (text) {
        strbuf_append(out, "<details><summary>");
        svg_escape(out, id);
        strbuf_append(out, "</summary><p>");
        svg_escape(out, text);
        strbuf_append(out, "</p></details>");
    }
    return text != NULL;
}

/* Recursive, a level of the document each, which the reader of JSON bounds. */
void html_value(struct strbuf *out, const json_t *value, const json_t *evidence)
{
    const char *key;
    json_t *member;
    if (is_attribute(value)) {
        put_attribute(out, value, evidence);
    } else if (json_is_object(value)) {
        strbuf_append(out, "<table>");
        json_object_foreach((json_t *)value, key, member)
        {
            strbuf_append(out, "<tr><th scope=\"row\">");
            svg_escape(out, key);
            strbuf_append(out, "</th><td>");
            html_value(out, member, evidence);
            strbuf_append(out, "</td></tr>\n");
        }
        strbuf_append(out, "</table>");
    } else if (json_is_array(value)) {
        size_t count = json_array_size(value);
        bool is_long = count > 8;
        if (is_long) {
            strbuf_printf(out, "<details><summary>%zu entries</summary>", count);
        }
        for (size_t i = 0; i < count; i++) {
            strbuf_append(out, i && !json_is_object(json_array_get(value, i)) ? ", " : "");
            html_value(out, json_array_get(value, i), evidence);
        }
        strbuf_append(out, is_long ? "</details>" : count == 0 ? "none" : "");
    } else if (!put_evidence(out, value, evidence)) {
        put_scalar(out, value, "");
    }
}

void html_bar(struct strbuf *out, double part)
{
    strbuf_printf(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 %d 10\" width=\"%d\" height=\"10\" role=\"img\" "
        "aria-label=\"%.1f %%\"><rect x=\"0\" y=\"0\" width=\"%.1f\" height=\"10\"/></svg>",
        BAR_WIDTH, BAR_WIDTH, 100 * part, part * BAR_WIDTH);
}

void html_kernel_name(struct strbuf *out, const json_t *kernel)
{
    double variant = json_number_of(kernel, "variant");
    svg_escape(out, saved_text(kernel, "name", saved_text(kernel, "kernel", "?")));
    if (variant > 1) {
        strbuf_printf(out, " (code %.0f of this name)", variant);
    }
}
