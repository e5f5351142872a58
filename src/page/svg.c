/* See svg.h. */
#include "page/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/quantity.h"
#include "util/container/strbuf.h"
#include "util/text/printable.h"

enum {
    WIDTH = 900,
    PAD = 12,
    LEAF_WIDTH = 268,
    TITLE_HEIGHT = 28,
    LINE_HEIGHT = 18,
    CHART_WIDTH = 430,
    CHART_HEIGHT = 240,
    CHART_LEFT = 62,
    CHART_RIGHT = 16,
    CHART_TOP = 30,
    CHART_BOTTOM = 46,
    CHART_TICKS = 5,
    TICK_HALF = 28, /* of a tick's text, "512 KiB" */
};

void svg_escape(struct strbuf *out, const char *text)
{
    while (*text) {
        size_t bytes = printable_bytes(text);
        const char *word = *text == '<'   ? "&lt;"
                           : *text == '>' ? "&gt;"
                           : *text == '&' ? "&amp;"
                           : *text == '"' ? "&quot;"
                           : bytes == 0   ? "\xef\xbf\xbd"
                                          : NULL;
        if (word) {
            strbuf_append(out, word);
        } else {
            strbuf_append_n(out, text, bytes);
        }
        text += bytes ? bytes : 1;
    }
}

static int head_height(const struct box *box)
{
    return TITLE_HEIGHT + (int)box->line_count * LINE_HEIGHT + PAD / 2;
}

static void put_text(struct strbuf *out, const char *class, int x, int y, const char *text)
{
    strbuf_printf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    svg_escape(out, text);
    strbuf_append(out, "</text>\n");
}

static void put_frame(struct strbuf *out, const struct box *box, int x, int y, int width,
                      int height)
{
    strbuf_printf(
        out, "<rect class=\"box %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
        box->kind, x, y, width, height);
    put_text(out, "title", x + PAD, y + 20, box->title);
    put_text(out, "badge", x + width - PAD, y + 20, box->badge);
    for (size_t i = 0; i < box->line_count; i++) {
        put_text(out, "line", x + PAD, y + TITLE_HEIGHT + 12 + (int)i * LINE_HEIGHT, box->line[i]);
    }
}

/* Leaves stand side by side. Returns where the last row ends. */
static int draw_leaves(struct strbuf *out, const struct box *parent, int x, int y, int width)
{
    int columns = (width + PAD) / (LEAF_WIDTH + PAD), column = 0, row_height = 0;
    columns = columns < 1 ? 1 : columns;
    int each = (width - (columns - 1) * PAD) / columns;
    for (const struct box *leaf = parent->first; leaf; leaf = leaf->next) {
        if (leaf->first) {
            continue;
        }
        if (column == columns) {
            y += row_height + PAD;
            column = row_height = 0;
        }
        int height = head_height(leaf);
        put_frame(out, leaf, x + column * (each + PAD), y, each, height);
        row_height = height > row_height ? height : row_height;
        column++;
    }
    return column ? y + row_height + PAD : y;
}

/* Draws what a box holds, then the box behind it. Recursive, a level of the hierarchy each; returns
 * the box's height. */
static int draw_box(struct strbuf *out, const struct box *box, int x, int y, int width)
{
    struct strbuf inside = {0};
    int at = draw_leaves(&inside, box, x + PAD, y + head_height(box), width - 2 * PAD);
    for (const struct box *child = box->first; child; child = child->next) {
        if (child->first) {
            at += draw_box(&inside, child, x + PAD, at, width - 2 * PAD) + PAD;
        }
    }
    put_frame(out, box, x, y, width, at - y);
    strbuf_append(out, strbuf_text(&inside));
    strbuf_free(&inside);
    return at - y;
}

void svg_hierarchy(struct strbuf *out, const struct box *root, const char *label)
{
    struct strbuf boxes = {0};
    int height = draw_box(&boxes, root, 1, 1, WIDTH - 2) + 2;
    strbuf_printf(out, "<svg class=\"hierarchy\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                  WIDTH, height);
    svg_escape(out, label);
    strbuf_printf(out, "\">\n%s</svg>\n", strbuf_text(&boxes));
    strbuf_free(&boxes);
}

struct frame {
    const struct chart *chart;
    double least_x, most_x, most_y;
};

static double place_x(const struct frame *frame, double x)
{
    double from = frame->least_x, to = frame->most_x;
    if (frame->chart->log_x) {
        from = log2(from);
        to = log2(to);
        x = log2(x);
    }
    return CHART_LEFT + (x - from) / (to - from) * (CHART_WIDTH - CHART_LEFT - CHART_RIGHT);
}

static double place_y(const struct frame *frame, double y)
{
    return CHART_HEIGHT - CHART_BOTTOM -
           y / frame->most_y * (CHART_HEIGHT - CHART_BOTTOM - CHART_TOP);
}

/* A step of 1, 2 or 5 times a power of ten, CHART_TICKS of which or a few fewer reach `most`. */
static double tick_step(double most)
{
    double unit = pow(10, floor(log10(most / CHART_TICKS)));
    double times = most / CHART_TICKS / unit;
    return unit * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void put_y_ticks(struct strbuf *out, const struct frame *frame)
{
    char text[QUANTITY_BYTES];
    double step = tick_step(frame->most_y);
    for (int i = 0; i * step <= frame->most_y; i++) {
        double y = place_y(frame, i * step);
        strbuf_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      CHART_LEFT, CHART_WIDTH - CHART_RIGHT, y, y);
        strbuf_printf(out, "<text class=\"tick end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                      CHART_LEFT - 6, y + 4, quantity(text, i * step, ""));
    }
}

static void put_x_tick(struct strbuf *out, const struct frame *frame, double x)
{
    char text[QUANTITY_BYTES];
    double at = place_x(frame, x);
    bool at_end = at + TICK_HALF > CHART_WIDTH; /* it would leave the drawing */
    strbuf_printf(out, "<text class=\"tick %s\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                  at_end ? "end" : "middle", at_end ? CHART_WIDTH - 1 : at,
                  CHART_HEIGHT - CHART_BOTTOM + 16, quantity(text, x, frame->chart->x_unit));
}

static void put_x_ticks(struct strbuf *out, const struct frame *frame)
{
    if (frame->chart->log_x) {
        int first = (int)ceil(log2(frame->least_x)), last = (int)floor(log2(frame->most_x));
        int step = (last - first) / CHART_TICKS + 1;
        for (int power = first; power <= last; power += step) {
            put_x_tick(out, frame, ldexp(1, power));
        }
        return;
    }
    double step = tick_step(frame->most_x - frame->least_x);
    int first = (int)ceil(frame->least_x / step), last = (int)floor(frame->most_x / step);
    for (int i = first; i <= last; i++) {
        put_x_tick(out, frame, i * step);
    }
}

static void put_curve(struct strbuf *out, const struct frame *frame)
{
    const struct chart *chart = frame->chart;
    strbuf_append(out, "<polyline class=\"curve\" points=\"");
    for (size_t i = 0; i < chart->count; i++) {
        strbuf_printf(out, "%.1f,%.1f ", place_x(frame, chart->point[i].x),
                      place_y(frame, chart->point[i].y));
    }
    strbuf_append(out, "\"/>\n");
    for (size_t i = 0; i < chart->count; i++) {
        char x[QUANTITY_BYTES], y[QUANTITY_BYTES];
        strbuf_printf(out,
                      "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"><title>%s: "
                      "%s</title></circle>",
                      place_x(frame, chart->point[i].x), place_y(frame, chart->point[i].y),
                      quantity(x, chart->point[i].x, chart->x_unit),
                      quantity(y, chart->point[i].y, chart->y_unit));
    }
    strbuf_append(out, "\n");
}

static void put_mark(struct strbuf *out, const struct frame *frame)
{
    const struct chart_mark *mark = &frame->chart->mark;
    if (!mark->label || mark->x < frame->least_x || mark->x > frame->most_x) {
        return;
    }
    double x = place_x(frame, mark->x);
    bool is_right = x > CHART_WIDTH * 0.6;
    strbuf_printf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x,
                  CHART_TOP, CHART_HEIGHT - CHART_BOTTOM);
    strbuf_printf(out, "<text class=\"tick%s\" x=\"%.1f\" y=\"%d\">", is_right ? " end" : "",
                  x + (is_right ? -4 : 4), CHART_TOP + 10);
    svg_escape(out, mark->label);
    strbuf_append(out, "</text>\n");
}

void svg_chart(struct strbuf *out, const struct chart *chart)
{
    struct frame frame = {.chart = chart};
    if (chart->count < 2) {
        return;
    }
    frame.least_x = frame.most_x = chart->point[0].x;
    for (size_t i = 0; i < chart->count; i++) {
        frame.least_x = fmin(frame.least_x, chart->point[i].x);
        frame.most_x = fmax(frame.most_x, chart->point[i].x);
        frame.most_y = fmax(frame.most_y, chart->point[i].y);
    }
    frame.most_y *= 1.1;
    if (!(frame.most_x > frame.least_x) || !(frame.most_y > 0) ||
        (chart->log_x && frame.least_x <= 0)) {
        return;
    }
    strbuf_printf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                  CHART_WIDTH, CHART_HEIGHT);
    svg_escape(out, chart->title);
    strbuf_append(out, "\">\n");
    put_text(out, "title", CHART_LEFT, 18, chart->title);
    put_y_ticks(out, &frame);
    put_x_ticks(out, &frame);
    put_mark(out, &frame);
    put_curve(out, &frame);
    strbuf_printf(out, "<text class=\"axis middle\" x=\"%d\" y=\"%d\">",
                  (CHART_LEFT + CHART_WIDTH - CHART_RIGHT) / 2, CHART_HEIGHT - 8);
    svg_escape(out, chart->x_label);
    strbuf_printf(out,
                  "</text><text class=\"axis middle\" transform=\"translate(14 %d) rotate(-90)\">",
                  (CHART_TOP + CHART_HEIGHT - CHART_BOTTOM) / 2);
    svg_escape(out, chart->y_label);
    strbuf_append(out, "</text></svg>\n");
}
