/*
 * The page of a profile: for each kernel what its warps waited for, the roofline, and the listing
 * with the cycles of each instruction, beside the source that it was compiled from.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/saved.h"
#include "page/html.h"
#include "page/quantity.h"
#include "page/svg.h"
#include "util/container/strbuf.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

enum {
    WIDTH = 640,
    HEIGHT = 340,
    LEFT = 74,
    RIGHT = 20,
    TOP = 16,
    BOTTOM = 48,
    NAME_WIDTH = 28, /* of a level, with air */
    LEVELS_MAX = 16,
    TEXT_HEIGHT = 10,
    SLOPE_AIR = 4, /* between a slope and its name */
};

/* Where along a slope its name begins. */
static const double SLOPE_FOOT = 0.1, SLOPE_MIDDLE = 0.5;

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- the roofline ---- */

/* "33.5 Top/s" */
static const char *rate_text(char *out, size_t size, double rate)
{
    static const char prefixes[] = " kMGTP";
    size_t i = 0;
    while (rate >= 1000 && i + 2 < sizeof prefixes) {
        rate /= 1000;
        i++;
    }
    snprintf(out, size, "%.3g %.*sop/s", rate, i > 0 ? 1 : 0, prefixes + i);
    return out;
}

/* Of the levels, in bytes a second. */
struct rates {
    double fastest, slowest;
};

static struct rates rates_of(const json_t *levels)
{
    struct rates rates = {0, INFINITY};
    for (size_t i = 0; i < json_array_size(levels); i++) {
        double rate = json_number_of(json_array_get(levels, i), "bytes_per_second");
        rates.fastest = fmax(rates.fastest, rate);
        rates.slowest = rate > 0 ? fmin(rates.slowest, rate) : rates.slowest;
    }
    return rates;
}

/* Both axes are logarithmic: operations a byte, and operations a second. */
struct plane {
    double x_from, x_to, y_from, y_to;
};

static double place_x(const struct plane *plane, double x)
{
    return LEFT +
           log10(x / plane->x_from) / log10(plane->x_to / plane->x_from) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct plane *plane, double y)
{
    return HEIGHT - BOTTOM -
           log10(y / plane->y_from) / log10(plane->y_to / plane->y_from) * (HEIGHT - TOP - BOTTOM);
}

static double highest_peak(const json_t *roofline)
{
    const json_t *peaks = json_object_get(roofline, "peaks");
    double most = 0;
    for (size_t i = 0; i < json_array_size(peaks); i++) {
        most = fmax(most, json_number_of(json_array_get(peaks, i), "operations_per_second"));
    }
    return most;
}

static void put_axes(struct strbuf *out, const struct plane *plane)
{
    char text[QUANTITY_BYTES];
    int decades = (int)lround(log10(plane->x_to / plane->x_from));
    for (int i = 0; i <= decades; i++) {
        double x = plane->x_from * pow(10, i), at = place_x(plane, x);
        strbuf_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", at,
                      at, TOP, HEIGHT - BOTTOM);
        strbuf_printf(out, "<text class=\"tick middle\" x=\"%.1f\" y=\"%d\">%s</text>\n", at,
                      HEIGHT - BOTTOM + 16, quantity(text, x, ""));
    }
    decades = (int)lround(log10(plane->y_to / plane->y_from));
    for (int i = 0; i <= decades; i++) {
        double y = plane->y_from * pow(10, i), at = place_y(plane, y);
        strbuf_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      LEFT, WIDTH - RIGHT, at, at);
        strbuf_printf(out, "<text class=\"tick end\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 6,
                      at + 4, rate_text(text, sizeof text, y));
    }
    strbuf_printf(out, "<text class=\"axis middle\" x=\"%d\" y=\"%d\">operations a byte</text>\n",
                  (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
}

/*
 * A slope up to the highest peak, with its name along it: over the first one, below the last one,
 * where no other line is, and on the others.
 */
static void put_slope(struct strbuf *out, const struct plane *plane, const json_t *level,
                      double most, const struct rates *rates)
{
    double rate = json_number_of(level, "bytes_per_second");
    double x1 = fmax(plane->x_from, plane->y_from / rate), x2 = fmin(plane->x_to, most / rate);
    char text[QUANTITY_BYTES];
    if (x2 <= x1) {
        return;
    }
    double from_x = place_x(plane, x1), from_y = place_y(plane, x1 * rate);
    double to_x = place_x(plane, x2), to_y = place_y(plane, x2 * rate);
    strbuf_printf(out, "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                  from_x, from_y, to_x, to_y);
    bool fastest = rate == rates->fastest, slowest = rate == rates->slowest;
    double along = fastest || slowest ? SLOPE_FOOT : SLOPE_MIDDLE;
    double angle = atan2(to_y - from_y, to_x - from_x) * 180 / M_PI;
    strbuf_printf(
        out, "<text class=\"tick halo\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" y=\"%d\">",
        from_x + along * (to_x - from_x), from_y + along * (to_y - from_y), angle,
        fastest   ? -SLOPE_AIR
        : slowest ? SLOPE_AIR + TEXT_HEIGHT
                  : TEXT_HEIGHT / 2);
    svg_escape(out, saved_text(level, "level", "?"));
    strbuf_printf(out, " %s</text>\n", quantity(text, rate, "B/s"));
}

/* A line for each rate; peaks of the same one share it. */
static void put_ceiling(struct strbuf *out, const struct plane *plane, const json_t *peaks,
                        size_t first, double fastest)
{
    double rate = json_number_of(json_array_get(peaks, first), "operations_per_second");
    double x1 = fmax(plane->x_from, fastest > 0 ? rate / fastest : 0), y = place_y(plane, rate);
    char text[QUANTITY_BYTES];
    for (size_t i = 0; i < first; i++) {
        if (json_number_of(json_array_get(peaks, i), "operations_per_second") == rate) {
            return;
        }
    }
    if (rate <= plane->y_from) {
        return;
    }
    strbuf_printf(out, "<line class=\"roof\" x1=\"%.1f\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                  place_x(plane, fmin(x1, plane->x_to)), WIDTH - RIGHT, y, y);
    strbuf_printf(out, "<text class=\"tick end halo\" x=\"%d\" y=\"%.1f\">", WIDTH - RIGHT, y + 12);
    for (size_t i = first; i < json_array_size(peaks); i++) {
        const json_t *peak = json_array_get(peaks, i);
        if (json_number_of(peak, "operations_per_second") == rate) {
            strbuf_append(out, i > first ? ", " : "");
            svg_escape(out, saved_text(peak, "operations", "?"));
        }
    }
    strbuf_printf(out, " %s</text>\n", rate_text(text, sizeof text, rate));
}

struct point {
    const json_t *level;
    double intensity, x, y;
    size_t named; /* the point whose name this one shares: the first one that is near, or itself */
};

/* The kernel over the bytes of each level. */
static size_t place_points(struct point points[LEVELS_MAX], const struct plane *plane,
                           const json_t *levels, double operations, double rate)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(levels) && count < LEVELS_MAX; i++) {
        struct point *point = &points[count];
        point->level = json_array_get(levels, i);
        point->intensity = share(operations, json_number_of(point->level, "bytes"));
        point->x = place_x(plane, fmin(fmax(point->intensity, plane->x_from), plane->x_to));
        point->y = place_y(plane, fmin(fmax(rate, plane->y_from), plane->y_to));
        point->named = 0;
        while (point->named < count && (points[point->named].named != point->named ||
                                        fabs(points[point->named].x - point->x) >= NAME_WIDTH)) {
            point->named++;
        }
        count += point->intensity > 0 && rate > 0;
    }
    return count;
}

static void put_points(struct strbuf *out, const struct plane *plane, const json_t *roofline,
                       double operations)
{
    struct point points[LEVELS_MAX];
    double rate = share(operations, json_number_of(roofline, "seconds"));
    size_t count =
        place_points(points, plane, json_object_get(roofline, "levels"), operations, rate);
    for (size_t i = 0; i < count; i++) {
        char intensity[QUANTITY_BYTES], speed[QUANTITY_BYTES];
        strbuf_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>",
                      points[i].x, points[i].y);
        svg_escape(out, saved_text(points[i].level, "level", "?"));
        strbuf_printf(out, ": %s operations a byte, %s</title></circle>",
                      quantity(intensity, points[i].intensity, ""),
                      rate_text(speed, sizeof speed, rate));
        if (points[i].named != i) {
            strbuf_append(out, "\n");
            continue;
        }
        strbuf_printf(out, "<text class=\"tick middle\" x=\"%.1f\" y=\"%.1f\">", points[i].x,
                      points[i].y + 18);
        const char *between = "";
        for (size_t k = count; k-- > i;) { /* the nearest level first */
            if (points[k].named == i) {
                strbuf_append(out, between);
                svg_escape(out, saved_text(points[k].level, "level", "?"));
                between = ", ";
            }
        }
        strbuf_append(out, "</text>\n");
    }
}

static double most_operations(const json_t *roofline, const char **which)
{
    const char *name;
    json_t *count;
    double most = 0;
    *which = "";
    json_object_foreach(json_object_get(roofline, "operations"), name, count)
    {
        if (json_number_value(count) > most) {
            most = json_number_value(count);
            *which = name;
        }
    }
    return most;
}

static void put_roofline(struct strbuf *out, const json_t *roofline)
{
    const json_t *levels = json_object_get(roofline, "levels"),
                 *peaks = json_object_get(roofline, "peaks");
    double most = highest_peak(roofline);
    const struct rates rates = rates_of(levels);
    const char *which;
    double operations = most_operations(roofline, &which);
    if (most <= 0 || json_array_size(levels) == 0) {
        return;
    }
    const struct plane plane = {0.01, 1000, pow(10, floor(log10(most)) - 4),
                                pow(10, ceil(log10(most * 1.2)))};
    strbuf_printf(out,
                  "<h3>Roofline</h3><p>The kernel's %s operations over the bytes that each level "
                  "of memory moved for it; lines are what the model can do.</p>\n",
                  *which ? which : "arithmetic");
    strbuf_printf(out,
                  "<svg class=\"roofline\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"roofline\">\n",
                  WIDTH, HEIGHT);
    put_axes(out, &plane);
    for (size_t i = 0; i < json_array_size(levels); i++) {
        put_slope(out, &plane, json_array_get(levels, i), most, &rates);
    }
    for (size_t i = 0; i < json_array_size(peaks); i++) {
        put_ceiling(out, &plane, peaks, i, rates.fastest);
    }
    put_points(out, &plane, roofline, operations);
    strbuf_append(out, "</svg>\n");
}

/* ---- what was waited for ---- */

static void put_reasons(struct strbuf *out, const json_t *kernel, const json_t *reasons)
{
    double all = json_number_of(kernel, "warp_cycles");
    const char *name;
    json_t *cycles;
    strbuf_append(out,
                  "<h3>What warps did</h3><div class=\"scroll\"><table><thead><tr><th "
                  "scope=\"col\">reason</th><th scope=\"col\">share of warp cycles</th><th "
                  "scope=\"col\"></th><th scope=\"col\">a warp is, or waits</th></tr></thead>\n");
    json_object_foreach(json_object_get(kernel, "warp_cycles_by_reason"), name, cycles)
    {
        double part = share(json_number_value(cycles), all);
        if (part > 0) {
            strbuf_append(out, "<tr><th scope=\"row\">");
            svg_escape(out, name);
            strbuf_printf(out, "</th><td class=\"number\">%.1f %%</td><td>", 100 * part);
            html_bar(out, part);
            strbuf_append(out, "</td><td>");
            svg_escape(out, saved_text(reasons, name, ""));
            strbuf_append(out, "</td></tr>\n");
        }
    }
    strbuf_append(out, "</table></div>\n");
}

/* ---- the listing ---- */

/* The reasons of a line, those with the most cycles first, at most three. */
static void put_line_reasons(struct strbuf *out, const json_t *line)
{
    const json_t *stalls = json_object_get(line, "warp_cycles_by_reason");
    double all = json_number_of(line, "warp_cycles"), below = INFINITY;
    for (int i = 0; i < 3; i++) {
        const char *name, *best = NULL;
        json_t *cycles;
        double most = 0;
        json_object_foreach((json_t *)stalls, name, cycles)
        {
            double value = json_number_value(cycles);
            if (value > most && value < below) {
                most = value;
                best = name;
            }
        }
        if (!best || share(most, all) < 0.01) {
            return;
        }
        strbuf_append(out, i ? ", " : "");
        svg_escape(out, best);
        strbuf_printf(out, "&#160;%.0f&#160;%%", 100 * share(most, all));
        below = most;
    }
}

static void put_hits(struct strbuf *out, const json_t *line)
{
    double requests = json_number_of(line, "requests"),
           l1 = json_number_of(line, "l1_hits") + json_number_of(line, "l1_pending_hits"),
           l2 = json_number_of(line, "l2_hits"), dram = json_number_of(line, "dram");
    if (requests > 0) {
        strbuf_printf(out, "L1&#160;%.0f&#160;%%", 100 * share(l1, requests));
        if (l2 + dram > 0) {
            strbuf_printf(out, ", L2&#160;%.0f&#160;%%", 100 * share(l2, l2 + dram));
        }
    }
}

/* Where it differs from that of the line before. */
static void put_source(struct strbuf *out, const json_t *line, const json_t *before)
{
    const char *source = saved_text(line, "source", "");
    bool same = strcmp(source, saved_text(before, "source", "")) == 0 &&
                json_number_of(line, "source_line") == json_number_of(before, "source_line");
    if (*source && !same) {
        strbuf_append(out, "<small>");
        svg_escape(out, file_last_name(source));
        strbuf_printf(out, ":%.0f</small> <code>", json_number_of(line, "source_line"));
        svg_escape(out, saved_text(line, "source_text", ""));
        strbuf_append(out, "</code>");
    }
}

static void put_line(struct strbuf *out, const json_t *line, const json_t *before, double all,
                     bool has_sources)
{
    double part = share(json_number_of(line, "warp_cycles"), all);
    char text[QUANTITY_BYTES];
    strbuf_printf(out, "<tr%s><td class=\"number\">%.1f %%</td><td>",
                  part >= 0.1 ? " class=\"hot\"" : "", 100 * part);
    html_bar(out, part);
    strbuf_append(out, "</td><td>");
    put_line_reasons(out, line);
    strbuf_printf(out, "</td><td class=\"number\">%s</td><td>",
                  quantity(text, json_number_of(line, "warp_instructions"), ""));
    put_hits(out, line);
    strbuf_printf(out, "</td><td class=\"number\">%.0f</td><td><code>",
                  json_number_of(line, "line"));
    svg_escape(out, saved_text(line, "text", "(end)"));
    strbuf_append(out, "</code></td>");
    if (has_sources) {
        strbuf_append(out, "<td>");
        put_source(out, line, before);
        strbuf_append(out, "</td>");
    }
    strbuf_append(out, "</tr>\n");
}

static void put_listing(struct strbuf *out, const json_t *kernel)
{
    const json_t *lines = json_object_get(kernel, "lines");
    bool has_sources = json_object_get(kernel, "source_lines") != NULL;
    double all = json_number_of(kernel, "warp_cycles");
    strbuf_printf(
        out,
        "<h3>Listing</h3><p>Cycles count at the instruction that waits.</p><div "
        "class=\"scroll\"><table class=\"listing\"><thead><tr><th "
        "scope=\"col\">share</th><th scope=\"col\"></th><th scope=\"col\">reasons</th><th "
        "scope=\"col\">issued</th><th scope=\"col\">hits</th><th scope=\"col\">line</th>"
        "<th scope=\"col\">PTX</th>%s</tr></thead>\n",
        has_sources ? "<th scope=\"col\">source</th>" : "");
    const char *function = saved_text(json_array_get(lines, 0), "function", "");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const char *own = saved_text(line, "function", "");
        if (strcmp(own, function) != 0) {
            strbuf_printf(out, "<tr><th scope=\"rowgroup\" colspan=\"%d\">", has_sources ? 8 : 7);
            svg_escape(out, own);
            strbuf_append(out, "</th></tr>\n");
            function = own;
        }
        if (json_object_get(line, "text") || json_number_of(line, "warp_cycles") > 0) {
            put_line(out, line, i ? json_array_get(lines, i - 1) : NULL, all, has_sources);
        }
    }
    strbuf_append(out, "</table></div>\n");
}

void html_profile(struct strbuf *out, const json_t *document)
{
    const json_t *kernels = json_object_get(document, "kernels"),
                 *reasons = json_object_get(document, "reasons");
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        char launches[QUANTITY_BYTES], cycles[QUANTITY_BYTES];
        strbuf_append(out, "<section><h2>");
        html_kernel_name(out, kernel);
        strbuf_printf(
            out, "</h2><p>%s launch%s, %s, %.2f warp instructions a cycle</p>\n",
            quantity(launches, json_number_of(kernel, "launches"), ""),
            json_number_of(kernel, "launches") == 1 ? "" : "es",
            quantity(cycles, json_number_of(kernel, "cycles"), "cycles"),
            share(json_number_of(kernel, "warp_instructions"), json_number_of(kernel, "cycles")));
        put_reasons(out, kernel, reasons);
        put_roofline(out, json_object_get(kernel, "roofline"));
        put_listing(out, kernel);
        strbuf_append(out, "</section>\n");
    }
    if (json_array_size(kernels) == 0) {
        strbuf_append(out, "<p>No launch was timed.</p>\n");
    }
}
