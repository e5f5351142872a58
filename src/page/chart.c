/* Figures as SVG: curves, the bits that an index takes, shares of victims. See svg.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/quantity.h"
#include "page/svg.h"
#include "util/container/strbuf.h"

enum {
    CHART_WIDTH = 430,
    CHART_HEIGHT = 246,
    CHART_LEFT = 62,
    CHART_RIGHT = 16,
    CHART_TOP = 36,
    CHART_BOTTOM = 46,
    CHART_TICKS = 5,
    LEGEND_LINE = 28,
    LEGEND_HEIGHT = 20,
    CELL_HEIGHT = 16,
    TICK_HALF = 28, /* of a tick's text, "512 KiB" */
};

struct frame {
    const struct chart *chart;
    double least_x, most_x, most_y;
    int top; /* of the plot */
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
           y / frame->most_y * (CHART_HEIGHT - CHART_BOTTOM - frame->top);
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

/* Powers of two, as sizes are; of rates powers of ten. */
static void put_log_ticks(struct strbuf *out, const struct frame *frame)
{
    double base = strcmp(frame->chart->x_unit, "B/s") == 0 ? 10 : 2;
    double unit = log2(base);
    int first = (int)ceil(log2(frame->least_x) / unit),
        last = (int)floor(log2(frame->most_x) / unit);
    int step = (last - first) / CHART_TICKS + 1;
    for (int power = first; power <= last; power += step) {
        put_x_tick(out, frame, pow(base, power));
    }
}

static void put_x_ticks(struct strbuf *out, const struct frame *frame)
{
    if (frame->chart->log_x) {
        put_log_ticks(out, frame);
        return;
    }
    double step = fmax(1, tick_step(frame->most_x - frame->least_x)); /* pages and lines */
    int first = (int)ceil(frame->least_x / step), last = (int)floor(frame->most_x / step);
    for (int i = first; i <= last; i++) {
        put_x_tick(out, frame, i * step);
    }
}

/* The second series is told from the first without colour too: dashes, and squares for dots. */
static void put_dot(struct strbuf *out, size_t series, double x, double y)
{
    if (series == 0) {
        strbuf_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\">", x, y);
    } else {
        strbuf_printf(out, "<rect class=\"other\" x=\"%.1f\" y=\"%.1f\" width=\"6\" height=\"6\">",
                      x - 3, y - 3);
    }
}

static const char *dot_end(size_t series)
{
    return series == 0 ? "</circle>" : "</rect>";
}

static void put_curve(struct strbuf *out, const struct frame *frame, size_t which)
{
    const struct chart *chart = frame->chart;
    const struct chart_series *series = &chart->series[which];
    if (!chart->dots_alone && series->count) {
        strbuf_printf(out, "<polyline class=\"curve%s\" points=\"", which ? " second" : "");
        for (size_t i = 0; i < series->count; i++) {
            strbuf_printf(out, "%.1f,%.1f ", place_x(frame, series->point[i].x),
                          place_y(frame, series->point[i].y));
        }
        strbuf_append(out, "\"/>\n");
    }
    for (size_t i = 0; i < series->count; i++) {
        char x[QUANTITY_BYTES], y[QUANTITY_BYTES];
        const struct chart_point *point = &series->point[i];
        put_dot(out, which, place_x(frame, point->x), place_y(frame, point->y));
        strbuf_printf(out, "<title>%s: %s</title>%s", quantity(x, point->x, chart->x_unit),
                      quantity(y, point->y, chart->y_unit), dot_end(which));
    }
    strbuf_append(out, "\n");
}

/* Above the plot, where no data is. */
static void put_legend(struct strbuf *out, const struct chart *chart)
{
    int x = CHART_LEFT;
    for (size_t i = 0; i < CHART_SERIES; i++) {
        const char *label = chart->series[i].label;
        if (!label || !chart->series[i].count) {
            continue;
        }
        int y = CHART_TOP + 8;
        strbuf_printf(out, "<line class=\"curve%s\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>",
                      i ? " second" : "", x, x + LEGEND_LINE, y, y);
        put_dot(out, i, x + LEGEND_LINE / 2.0, y);
        strbuf_append(out, dot_end(i));
        svg_text(out, "tick", x + LEGEND_LINE + 6, y + 4, label);
        x += (CHART_WIDTH - CHART_LEFT - CHART_RIGHT) / CHART_SERIES;
    }
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
                  frame->top, CHART_HEIGHT - CHART_BOTTOM);
    strbuf_printf(out, "<text class=\"tick%s\" x=\"%.1f\" y=\"%d\">", is_right ? " end" : "",
                  x + (is_right ? -4 : 4), frame->top - 4);
    svg_escape(out, mark->label);
    strbuf_append(out, "</text>\n");
}

/* False: less than two points, or no curve at all. */
static bool find_frame(struct frame *frame)
{
    const struct chart *chart = frame->chart;
    size_t count = 0;
    frame->least_x = INFINITY;
    frame->most_x = -INFINITY;
    for (size_t s = 0; s < CHART_SERIES; s++) {
        for (size_t i = 0; i < chart->series[s].count; i++) {
            const struct chart_point *point = &chart->series[s].point[i];
            frame->least_x = fmin(frame->least_x, point->x);
            frame->most_x = fmax(frame->most_x, point->x);
            frame->most_y = fmax(frame->most_y, point->y);
            count++;
        }
        frame->top = chart->series[s].label ? CHART_TOP + LEGEND_HEIGHT : frame->top;
    }
    frame->most_y *= 1.1;
    return count >= 2 && frame->most_x > frame->least_x && frame->most_y > 0 &&
           !(chart->log_x && frame->least_x <= 0);
}

static void put_labels(struct strbuf *out, const char *x_label, const char *y_label)
{
    strbuf_printf(out, "<text class=\"axis middle\" x=\"%d\" y=\"%d\">",
                  (CHART_LEFT + CHART_WIDTH - CHART_RIGHT) / 2, CHART_HEIGHT - 8);
    svg_escape(out, x_label);
    strbuf_printf(out,
                  "</text><text class=\"axis middle\" transform=\"translate(14 %d) rotate(-90)\">",
                  (CHART_TOP + CHART_HEIGHT - CHART_BOTTOM) / 2);
    svg_escape(out, y_label);
    strbuf_append(out, "</text>");
}

static void begin_figure(struct strbuf *out, const char *title, int height)
{
    strbuf_printf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                  CHART_WIDTH, height);
    svg_escape(out, title);
    strbuf_append(out, "\">\n");
    svg_text(out, "title", CHART_LEFT, 18, title);
}

void svg_chart(struct strbuf *out, const struct chart *chart)
{
    struct frame frame = {.chart = chart, .top = CHART_TOP};
    if (!find_frame(&frame)) {
        return;
    }
    begin_figure(out, chart->title, CHART_HEIGHT);
    put_y_ticks(out, &frame);
    put_x_ticks(out, &frame);
    put_mark(out, &frame);
    for (size_t i = 0; i < CHART_SERIES; i++) {
        put_curve(out, &frame, i);
    }
    put_legend(out, chart);
    put_labels(out, chart->x_label, chart->y_label);
    strbuf_append(out, "</svg>\n");
}

void svg_bits(struct strbuf *out, const struct svg_bits *bits)
{
    if (!bits->rows || !bits->columns || bits->columns > 64) {
        return;
    }
    int width = (CHART_WIDTH - CHART_LEFT - CHART_RIGHT) / (int)bits->columns;
    width = width > CELL_HEIGHT ? CELL_HEIGHT : width;
    int below = CHART_TOP + (int)bits->rows * CELL_HEIGHT;
    unsigned every = width * 2 > TICK_HALF ? 2 : 4;
    begin_figure(out, bits->title, below + CHART_BOTTOM);
    for (size_t row = 0; row < bits->rows; row++) {
        int y = CHART_TOP + (int)row * CELL_HEIGHT;
        strbuf_printf(out, "<text class=\"tick end\" x=\"%d\" y=\"%d\">", CHART_LEFT - 6, y + 12);
        svg_escape(out, bits->row_label);
        strbuf_printf(out, bits->rows > 1 ? " %zu</text>\n" : "</text>\n", row);
        for (unsigned bit = 0; bit < bits->columns; bit++) { /* bit 0 stands to the right */
            const char *kind = bits->mask[row] >> bit & 1 ? "taken"
                               : bit < bits->low_bits     ? "low"
                                                          : "free";
            strbuf_printf(out,
                          "<rect class=\"cell %s\" x=\"%d\" y=\"%d\" width=\"%d\" "
                          "height=\"%d\"/>",
                          kind, CHART_LEFT + (int)(bits->columns - 1 - bit) * width, y, width,
                          CELL_HEIGHT);
        }
        strbuf_append(out, "\n");
    }
    for (unsigned bit = 0; bit < bits->columns; bit += every) {
        strbuf_printf(out, "<text class=\"tick middle\" x=\"%.1f\" y=\"%d\">%u</text>",
                      CHART_LEFT + (bits->columns - bit - 0.5) * width, below + 16, bit);
    }
    svg_text(out, "axis", CHART_LEFT, below + 36,
             bits->low_bits ? "bit of the address; grey: within a line" : "bit of the address");
    strbuf_append(out, "</svg>\n");
}

void svg_shares(struct strbuf *out, const struct svg_shares *shares)
{
    double most = 0;
    for (size_t i = 0; i < shares->count; i++) {
        most = fmax(most, shares->share[i] + (shares->error ? shares->error[i] : 0));
    }
    const struct chart scale = {.x_unit = ""};
    const struct frame frame = {.chart = &scale, .most_y = most * 1.1, .top = CHART_TOP};
    if (!(most > 0)) {
        return;
    }
    double step = (CHART_WIDTH - CHART_LEFT - CHART_RIGHT) / (double)shares->count;
    size_t every = shares->count / 16 + 1;
    begin_figure(out, shares->title, CHART_HEIGHT);
    put_y_ticks(out, &frame);
    for (size_t i = 0; i < shares->count; i++) {
        double x = CHART_LEFT + ((double)i + 0.5) * step, y = place_y(&frame, shares->share[i]);
        double off = shares->error ? shares->error[i] : 0;
        strbuf_printf(out,
                      "<rect class=\"dot\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                      "<title>%zu: %.3f</title></rect>",
                      x - step * 0.3, y, step * 0.6, CHART_HEIGHT - CHART_BOTTOM - y, i,
                      shares->share[i]);
        strbuf_printf(out,
                      "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      x, x, place_y(&frame, fmax(0, shares->share[i] - off)),
                      place_y(&frame, shares->share[i] + off));
        if (i % every == 0) {
            strbuf_printf(out, "<text class=\"tick middle\" x=\"%.1f\" y=\"%d\">%zu</text>\n", x,
                          CHART_HEIGHT - CHART_BOTTOM + 16, i);
        }
    }
    put_labels(out, shares->x_label, shares->y_label);
    strbuf_append(out, "</svg>\n");
}
