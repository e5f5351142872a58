/* Drawings for a page. Colours are the page's style sheet's, by class. */
#ifndef SONDE_PAGE_SVG_H
#define SONDE_PAGE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page/box.h"

struct strbuf;

/* Text as HTML and SVG want it. */
void svg_escape(struct strbuf *out, const char *text);

void svg_text(struct strbuf *out, const char *class, int x, int y, const char *text);

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
struct chart_series {
    const char *label; /* of the legend above the plot; NULL: none */
    const struct chart_point *point;
    size_t count;
};

enum { CHART_SERIES = 2 };
struct chart {
    const char *title, *x_label, *y_label;
    const char *x_unit, *y_unit; /* as quantity() takes them */
    bool log_x;
    bool dots_alone; /* no line from point to point */
    struct chart_series series[CHART_SERIES];
    struct chart_mark mark; /* a line across; label NULL: none */
};

/* Nothing for fewer than two points. */
void svg_chart(struct strbuf *out, const struct chart *chart);

/* Which bits of an address each of some sums takes: a row of cells each. Bits below `low_bits` are
 * shaded. At most 64 columns; nothing without rows or columns. */
struct svg_bits {
    const char *title, *row_label; /* "set bit": the row's number stands behind it */
    const uint64_t *mask;
    size_t rows;
    unsigned columns, low_bits;
};
void svg_bits(struct strbuf *out, const struct svg_bits *bits);

/* Shares of 1 as bars, by number from 0, each with what it may be off by (NULL: not known). */
struct svg_shares {
    const char *title, *x_label, *y_label;
    const double *share, *error;
    size_t count;
};
void svg_shares(struct strbuf *out, const struct svg_shares *shares);

/* A drawing of the functions above as a file of its own, in ink on white. */
void svg_file(struct strbuf *out, const char *svg);

#endif
