/* Drawings for a page. Colours are the page's style sheet's, by class. */
#ifndef SONDE_PAGE_SVG_H
#define SONDE_PAGE_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "page/box.h"

struct strbuf;

/* Text as HTML and SVG want it. */
void svg_escape(struct strbuf *out, const char *text);

/* Boxes within boxes, 900 units wide. */
void svg_hierarchy(struct strbuf *out, const struct box *root, const char *label);

struct chart_point {
    double x, y;
};
struct chart_mark {
    double x;
    const char *label;
};

/* A curve through points in their order. */
struct chart {
    const char *title, *x_label, *y_label;
    const char *x_unit, *y_unit; /* as quantity() takes them */
    bool log_x;
    const struct chart_point *point;
    size_t count;
    struct chart_mark mark; /* a line across; label NULL: none */
};

/* Nothing for fewer than two points. */
void svg_chart(struct strbuf *out, const struct chart *chart);

#endif
