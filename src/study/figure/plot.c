/* What figures are made of: a role's place, a measured value, a printed one. */
#include "study/figure/plot.h"

#include <stdio.h>
#include <string.h>

size_t plot_role(const struct plot *plot, const char *name)
{
    size_t role = 0;
    while (role + 1 < plot->study->device_count &&
           strcmp(plot->study->devices[role].name, name) != 0) {
        role++;
    }
    return role;
}

void plot_value(struct plot *plot, const struct study_value *value)
{
    strbuf_append(&plot->csv, ",");
    if (value->kind == STUDY_NUMBER) {
        strbuf_printf(&plot->csv, "%.10g", value->number);
        plot->points++;
    } else {
        plot->missing++;
        snprintf(plot->why, sizeof(plot->why), "%s", value->reason);
    }
}

/* The number that a row prints; an empty field where `id` is NULL. */
void plot_published(struct plot *plot, const char *id)
{
    strbuf_append(&plot->csv, ",");
    for (size_t i = 0; id && i < plot->study->row_count; i++) {
        const struct study_row *row = &plot->study->rows[i];
        if (strcmp(row->id, id) == 0 && row->published.kind == STUDY_NUMBER) {
            strbuf_printf(&plot->csv, "%.10g", row->published.number);
        }
    }
}

/* `length` bytes as one field. */
static void put_field(struct strbuf *csv, const char *text, size_t length)
{
    bool quoted = memchr(text, ',', length) || memchr(text, '"', length);
    strbuf_append(csv, quoted ? "\"" : "");
    for (size_t i = 0; i < length; i++) {
        strbuf_append(csv, text[i] == '"' ? "\"" : "");
        strbuf_append_char(csv, text[i]);
    }
    strbuf_append(csv, quoted ? "\"" : "");
}

void plot_header(struct strbuf *csv, const char *x, const char *columns)
{
    put_field(csv, x, strlen(x));
    for (const char *at = columns; at;) {
        at += *at == '>' || *at == '*' || *at == '=';
        size_t length = strcspn(at, "|");
        strbuf_append(csv, ",");
        put_field(csv, at, length);
        at = at[length] ? at + length + 1 : NULL;
    }
    strbuf_append(csv, "\n");
}

void plot_bars(struct strbuf *script, const char *id, const char *columns, bool stacked,
               size_t rows)
{
    size_t count = 2;
    for (const char *at = strchr(columns, '|'); at; at = strchr(at + 1, '|')) {
        count++;
    }
    strbuf_printf(script,
                  "set style data histograms\nset style histogram %s\nset boxwidth 0.9 relative\n"
                  "set style fill solid 0.8 border -1\nset key tmargin center horizontal maxrows "
                  "3\nset xtics scale 0\n"
                  "set xrange [-1:%zu]\nset yrange [0:%s]\n"
                  "plot for [i=2:%zu] '%s.csv' using i:xtic(1)\n",
                  stacked ? "rowstacked" : "clustered gap 1", rows, stacked ? "1" : "*", count, id);
}
