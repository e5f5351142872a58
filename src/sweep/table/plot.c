/* One column of a sweep's table over another, a curve for each value of a third. See plot.h. */
#include "sweep/table/plot.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/table/rows.h"
#include "util/container/map.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/gnuplot.h"

#define ID_BYTES 100

/* Places along x and curves, both by the text of their value. */
struct grid {
    const struct sweep_plot *plot;
    struct sweep_rows rows;
    struct map places, curves;
    bool numbers;                 /* every x is a number */
    const struct sweep_value **y; /* by place and curve; NULL: no row; owned */
    struct sweep_value *values;   /* by row; owned */
    size_t *order;                /* places in the order of x; owned */
};

static char *text_of(const json_t *row, const char *column)
{
    struct strbuf text = {0};
    struct sweep_value value = sweep_rows_get(row, column);
    sweep_value_write(&text, &value);
    return strbuf_take(&text);
}

static int add_name(struct map *names, const json_t *row, const char *column)
{
    char *text = text_of(row, column);
    int rc = !text ? error_memory() : map_find(names, text) ? 0 : map_put(names, text, NULL);
    free(text);
    return rc;
}

static size_t index_of(const struct map *names, const json_t *row, const char *column)
{
    char *text = text_of(row, column);
    const struct map_entry *entry = text ? map_find(names, text) : NULL;
    free(text);
    return entry ? (size_t)(entry - names->entries) : 0;
}

static int find_axes(struct grid *grid)
{
    const struct sweep_plot *plot = grid->plot;
    int rc = sweep_rows_check(&grid->rows, plot->x);
    rc = rc ? rc : sweep_rows_check(&grid->rows, plot->y);
    rc = rc || !plot->by ? rc : sweep_rows_check(&grid->rows, plot->by);
    grid->numbers = true;
    for (size_t i = 0; rc == 0 && i < grid->rows.count; i++) {
        const json_t *row = grid->rows.row[i];
        grid->numbers = grid->numbers && sweep_rows_get(row, plot->x).kind == SWEEP_NUMBER;
        rc = add_name(&grid->places, row, plot->x);
        if (rc == 0) {
            rc = plot->by ? add_name(&grid->curves, row, plot->by)
                          : map_put(&grid->curves, plot->y, NULL);
        }
    }
    return rc;
}

static int place_rows(struct grid *grid)
{
    const struct sweep_plot *plot = grid->plot;
    size_t cells = grid->places.count * grid->curves.count, drawn = 0;
    grid->y = calloc(cells + 1, sizeof *grid->y);
    grid->values = calloc(grid->rows.count + 1, sizeof *grid->values);
    if (!grid->y || !grid->values) {
        return error_memory();
    }
    for (size_t i = 0; i < grid->rows.count; i++) {
        const json_t *row = grid->rows.row[i];
        size_t place = index_of(&grid->places, row, plot->x);
        size_t curve = plot->by ? index_of(&grid->curves, row, plot->by) : 0;
        const struct sweep_value **cell = &grid->y[place * grid->curves.count + curve];
        if (*cell) {
            return error_set(
                SONDE_EUSAGE,
                "several points have %s = %s%s%s%s%s: choose among them with where=", plot->x,
                grid->places.entries[place].key, plot->by ? " and " : "", plot->by ? plot->by : "",
                plot->by ? " = " : "", plot->by ? grid->curves.entries[curve].key : "");
        }
        grid->values[i] = sweep_rows_get(row, plot->y);
        *cell = &grid->values[i];
        drawn += grid->values[i].kind == SWEEP_NUMBER;
    }
    return drawn > 0 ? 0 : error_set(SONDE_EUSAGE, "%s is no number in any row", plot->y);
}

static const struct map *sorted; /* qsort() takes no context */

static int compare_places(const void *a, const void *b)
{
    double x = strtod(sorted->entries[*(const size_t *)a].key, NULL);
    double y = strtod(sorted->entries[*(const size_t *)b].key, NULL);
    return (x > y) - (x < y);
}

static int sort_places(struct grid *grid)
{
    grid->order = calloc(grid->places.count + 1, sizeof *grid->order);
    if (!grid->order) {
        return error_memory();
    }
    for (size_t i = 0; i < grid->places.count; i++) {
        grid->order[i] = i;
    }
    sorted = &grid->places;
    if (grid->numbers) {
        qsort(grid->order, grid->places.count, sizeof *grid->order, compare_places);
    }
    return 0;
}

static void put_quoted(struct strbuf *out, const char *text)
{
    strbuf_append(out, "\"");
    for (; *text; text++) {
        strbuf_append(out, *text == '"' ? "\"" : "");
        strbuf_append_char(out, *text == '\n' ? ' ' : *text);
    }
    strbuf_append(out, "\"");
}

static int write_csv(const struct grid *grid, const char *folder, const char *id)
{
    struct strbuf csv = {0};
    put_quoted(&csv, grid->plot->x);
    for (size_t c = 0; c < grid->curves.count; c++) {
        strbuf_append(&csv, ",");
        put_quoted(&csv, grid->curves.entries[c].key);
    }
    strbuf_append(&csv, "\n");
    for (size_t i = 0; i < grid->places.count; i++) {
        size_t place = grid->order[i];
        put_quoted(&csv, grid->places.entries[place].key);
        for (size_t c = 0; c < grid->curves.count; c++) {
            const struct sweep_value *y = grid->y[place * grid->curves.count + c];
            strbuf_append(&csv, ",");
            if (y && y->kind == SWEEP_NUMBER) {
                sweep_value_write(&csv, y);
            }
        }
        strbuf_append(&csv, "\n");
    }
    int rc =
        strbuf_failed(&csv) ? error_memory() : gnuplot_write(folder, id, "csv", strbuf_text(&csv));
    strbuf_free(&csv);
    return rc;
}

/* A name within single quotes of gnuplot. */
static void put_label(struct strbuf *out, const char *axis, const char *name)
{
    strbuf_printf(out, "set %s '", axis);
    for (; *name; name++) {
        strbuf_append(out, *name == '\'' ? "'" : "");
        strbuf_append_char(out, (unsigned char)*name < ' ' ? ' ' : *name);
    }
    strbuf_append(out, "' noenhanced\n");
}

/* Numbers that span a factor of 16 and more are shown on a logarithmic scale. */
static bool is_wide(const struct grid *grid)
{
    const struct map *places = &grid->places;
    double first = strtod(places->entries[grid->order[0]].key, NULL);
    double last = strtod(places->entries[grid->order[places->count - 1]].key, NULL);
    return grid->numbers && first > 0 && last >= 16 * first;
}

static int draw(const struct grid *grid, const char *folder, const char *id, int *failed)
{
    struct strbuf script = {0};
    strbuf_append(&script, "set datafile separator ','\nset key autotitle columnhead outside right "
                           "noenhanced\nset grid\nset yrange [0:*]\n");
    put_label(&script, "xlabel", grid->plot->x);
    put_label(&script, "ylabel", grid->plot->y);
    strbuf_append(&script, is_wide(grid) ? "set logscale x 2\n" : "");
    if (grid->plot->by) {
        put_label(&script, "key title", grid->plot->by);
    }
    if (!grid->numbers) {
        strbuf_append(&script, "set style data histograms\nset style histogram clustered gap 1\n"
                               "set style fill solid 0.8 border -1\nset boxwidth 0.9 relative\n"
                               "set xtics rotate by -30 noenhanced\n");
    }
    for (size_t f = 0; f < GNUPLOT_FORMATS; f++) {
        gnuplot_put_output(&script, id, f);
        for (size_t c = 0; c < grid->curves.count; c++) {
            strbuf_printf(&script, "%s '%s.csv' using %s%zu%s", c ? "," : "plot", id,
                          grid->numbers ? "1:" : "", c + 2,
                          grid->numbers ? " with linespoints" : ":xtic(1)");
        }
        strbuf_append(&script, "\n");
    }
    int rc = strbuf_failed(&script) ? error_memory()
                                    : gnuplot_draw(folder, id, strbuf_text(&script), failed);
    strbuf_free(&script);
    return rc;
}

/* Y_over_X as a file's name. */
static void make_id(char id[ID_BYTES], const struct sweep_plot *plot)
{
    const char *parts[] = {plot->y, "_over_", plot->x};
    size_t length = 0;
    for (size_t i = 0; i < 3; i++) {
        for (const char *c = parts[i]; *c && length + 1 < ID_BYTES; c++) {
            id[length++] = isalnum((unsigned char)*c) || *c == '_' ? *c : '_';
        }
    }
    id[length] = '\0';
}

static int make(struct grid *grid, char **text, const char *folder)
{
    char id[ID_BYTES];
    struct strbuf told = {0};
    int failed = 0;
    make_id(id, grid->plot);
    int rc = find_axes(grid);
    rc = rc ? rc : place_rows(grid);
    rc = rc ? rc : sort_places(grid);
    rc = rc ? rc : write_csv(grid, folder, id);
    rc = rc ? rc : draw(grid, folder, id, &failed);
    if (rc < 0) {
        return rc;
    }
    strbuf_printf(&told, "%s/%s.csv", folder, id);
    if (failed) {
        strbuf_printf(&told, ", data only: %s\n",
                      failed == GNUPLOT_MISSING ? "gnuplot is not installed" : "gnuplot failed");
    } else {
        strbuf_append(&told, ", .svg, .png\n");
    }
    *text = strbuf_take(&told);
    return *text ? 0 : error_memory();
}

int sweep_plot(char **text, const char *folder, const struct sweep_plot *plot)
{
    struct grid grid = {.plot = plot};
    *text = NULL;
    int rc = sweep_rows_read(&grid.rows, folder, plot->where);
    rc = rc ? rc : make(&grid, text, folder);
    sweep_rows_free(&grid.rows);
    map_free(&grid.places);
    map_free(&grid.curves);
    free(grid.y);
    free(grid.values);
    free(grid.order);
    return rc;
}
