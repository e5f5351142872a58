/*
 * Figures: a CSV file of each, and a drawing by gnuplot where that is installed. Beside what is
 * measured may stand what the paper prints, from the study's rows. A point that could not be
 * measured stays empty; a figure without any point is left out and said to be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/figure/plot.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/gnuplot.h"

static const struct figure {
    const char *id;
    int (*measure)(struct plot *plot);
    const char *title, *x, *y, *style, *columns;
} figures[] = {
#define FIGURE(...) {__VA_ARGS__},
#include "study/figure/figures.def"
#undef FIGURE
};

static const char *label(const char *axis)
{
    return axis + (*axis == '^');
}

static int write_csv(const struct figure *figure, const struct plot *plot, const char *folder)
{
    struct strbuf csv = {0};
    plot_header(&csv, label(figure->x), figure->columns);
    strbuf_append(&csv, strbuf_text(&plot->csv));
    int rc = strbuf_failed(&csv) ? error_memory()
                                 : gnuplot_write(folder, figure->id, "csv", strbuf_text(&csv));
    strbuf_free(&csv);
    return rc;
}

static bool is_bars(const struct figure *figure)
{
    return strcmp(figure->style, "bars") == 0 || strcmp(figure->style, "stacked") == 0;
}

/* The columns in one drawing. */
static void write_plot(struct strbuf *script, const struct figure *figure, size_t rows)
{
    size_t column = 2;
    if (is_bars(figure)) {
        plot_bars(script, figure->id, figure->columns, strcmp(figure->style, "stacked") == 0, rows);
        return;
    }
    for (const char *at = figure->columns; at; column++) {
        strbuf_printf(script, "%s '%s.csv' using 1:%zu axes x1y%d with %s",
                      column == 2 ? "plot" : ",", figure->id, column, *at == '>' ? 2 : 1,
                      *at == '*'   ? "points pointtype 6 pointsize 1.6 linewidth 2"
                      : *at == '=' ? "lines linecolor 'grey'"
                                   : figure->style);
        at = strchr(at, '|');
        at = at ? at + 1 : NULL;
    }
    strbuf_append(script, "\n");
}

static int draw(const struct figure *figure, size_t rows, const char *folder, int *failed)
{
    struct strbuf script = {0};
    strbuf_printf(&script,
                  "set datafile separator ','\nset key autotitle columnhead top left\nset grid\n"
                  "set title '%s'\nset xlabel '%s'\nset ylabel '%s'\n",
                  figure->title, label(figure->x), label(figure->y));
    if (*figure->y == '^') {
        strbuf_append(&script, "set logscale xy 10\n");
    } else if (*figure->x == '^') {
        strbuf_append(&script, "set logscale x 2\n");
    }
    if (strchr(figure->columns, '>')) {
        strbuf_append(&script,
                      "set ytics nomirror\nset y2tics\nset y2label 'variance (cycles^2)'\n");
    }
    for (size_t i = 0; i < GNUPLOT_FORMATS; i++) {
        gnuplot_put_output(&script, figure->id, i);
        write_plot(&script, figure, rows);
    }
    int rc = strbuf_failed(&script)
                 ? error_memory()
                 : gnuplot_draw(folder, figure->id, strbuf_text(&script), failed);
    strbuf_free(&script);
    return rc;
}

static size_t count_rows(const struct plot *plot)
{
    size_t rows = 0;
    for (size_t i = 0; i < plot->csv.length; i++) {
        rows += plot->csv.text[i] == '\n';
    }
    return rows;
}

static int make_figure(const struct figure *figure, struct plot *plot, struct strbuf *notes,
                       const char *folder)
{
    int failed = 0;
    int rc = figure->measure(plot);
    if (rc < 0) {
        return rc;
    }
    if (strbuf_failed(&plot->csv)) {
        return error_memory();
    }
    if (plot->points == 0) {
        strbuf_printf(notes, "%s: no figure: %s\n", figure->id, plot->why);
        return 0;
    }
    if (plot->missing > 0) {
        strbuf_printf(notes, "%s: %zu of %zu values are missing; the last: %s\n", figure->id,
                      plot->missing, plot->missing + plot->points, plot->why);
    }
    rc = write_csv(figure, plot, folder);
    rc = rc < 0 ? rc : draw(figure, count_rows(plot), folder, &failed);
    if (failed != 0) {
        strbuf_printf(notes, "%s: data only: %s\n", figure->id,
                      failed == GNUPLOT_MISSING ? "gnuplot is not installed" : "gnuplot failed");
    }
    return rc;
}

int study_figures(char **notes, const struct study *study, struct study_bench *bench,
                  const char *folder)
{
    struct strbuf text = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(figures) / sizeof(figures[0]); i++) {
        struct plot plot = {.bench = bench, .study = study};
        if (study_wants(study, figures[i].id)) {
            study_bench_progress(bench, 1, figures[i].title);
            rc = make_figure(&figures[i], &plot, &text, folder);
        }
        strbuf_free(&plot.csv);
    }
    *notes = strbuf_take(&text);
    return rc < 0 ? rc : *notes ? 0 : error_memory();
}
