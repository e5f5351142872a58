/*
 * Figures: a CSV file of each, and a drawing by gnuplot where that is installed. Beside what is
 * measured may stand what the paper prints, from the study's rows. A point that could not be
 * measured stays empty; a figure without any point is left out and said to be.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/figure/plot.h"
#include "util/error.h"
#include "util/fileio.h"

static const struct figure {
    const char *id;
    int (*measure)(struct plot *plot);
    const char *title, *x, *y, *style, *columns;
} figures[] = {
#define FIGURE(...) {__VA_ARGS__},
#include "study/figure/figures.def"
#undef FIGURE
};

/* Writes FOLDER/ID.SUFFIX. */
static int write_file(const char *folder, const char *id, const char *suffix, const char *text)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s.%s", folder, id, suffix);
    struct file_writer writer;
    int rc = strbuf_failed(&path) ? error_memory() : file_writer_open(&writer, strbuf_text(&path));
    strbuf_free(&path);
    if (rc < 0) {
        return rc;
    }
    rc = file_writer_write(&writer, text, strlen(text));
    if (rc < 0) {
        file_writer_abandon(&writer);
        return rc;
    }
    return file_writer_commit(&writer);
}

static const char *x_label(const struct figure *figure)
{
    return figure->x + (*figure->x == '^');
}

static int write_csv(const struct figure *figure, const struct plot *plot, const char *folder)
{
    struct strbuf csv = {0};
    strbuf_printf(&csv, "%s", x_label(figure));
    for (const char *at = figure->columns; at;) {
        at += *at == '>' || *at == '*';
        size_t length = strcspn(at, "|");
        strbuf_printf(&csv, ",%.*s", (int)length, at);
        at = at[length] ? at + length + 1 : NULL;
    }
    strbuf_printf(&csv, "\n%s", strbuf_text(&plot->csv));
    int rc = strbuf_failed(&csv) ? error_memory()
                                 : write_file(folder, figure->id, "csv", strbuf_text(&csv));
    strbuf_free(&csv);
    return rc;
}

static bool is_bars(const struct figure *figure)
{
    return strcmp(figure->style, "bars") == 0 || strcmp(figure->style, "stacked") == 0;
}

/* Columns as bars, by the names in the first one; the key of stacked ones in their order. */
static void write_bars(struct strbuf *script, const struct figure *figure)
{
    bool stacked = strcmp(figure->style, "stacked") == 0;
    size_t columns = 2;
    for (const char *at = strchr(figure->columns, '|'); at; at = strchr(at + 1, '|')) {
        columns++;
    }
    strbuf_printf(
        script,
        "set style data histograms\nset style histogram %s\nset boxwidth 0.9 relative\n"
        "set style fill solid 0.8 border -1\nset key outside right %s\nset yrange [0:%s]\n"
        "plot for [i=2:%zu] '%s.csv' using i:xtic(1)\n",
        stacked ? "rowstacked" : "clustered gap 1", stacked ? "invert" : "", stacked ? "1" : "*",
        columns, figure->id);
}

/* The columns in one drawing. */
static void write_plot(struct strbuf *script, const struct figure *figure)
{
    size_t column = 2;
    if (is_bars(figure)) {
        write_bars(script, figure);
        return;
    }
    for (const char *at = figure->columns; at; column++) {
        strbuf_printf(script, "%s '%s.csv' using 1:%zu axes x1y%d with %s",
                      column == 2 ? "plot" : ",", figure->id, column, *at == '>' ? 2 : 1,
                      *at == '*' ? "points pointtype 6 pointsize 1.6 linewidth 2" : figure->style);
        at = strchr(at, '|');
        at = at ? at + 1 : NULL;
    }
    strbuf_append(script, "\n");
}

static const struct format {
    const char *suffix, *terminal;
    const char *end; /* the last bytes of a whole file, a zero ending the text */
    size_t end_bytes;
} formats[] = {
    {"svg", "svg size 800,500 background 'white'", "</svg>", 6},
    {"png", "pngcairo size 800,500", "IEND\xae\x42\x60\x82", 8},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* What a drawing is called until it is whole. */
#define PART ".part"

/* For both formats; file names are relative, gnuplot runs in the folder. */
static int write_script(const struct figure *figure, const char *folder)
{
    struct strbuf script = {0};
    strbuf_printf(&script,
                  "if (!exists('part')) part = ''\n"
                  "set datafile separator ','\nset key autotitle columnhead top left\nset grid\n"
                  "set title '%s'\nset xlabel '%s'\nset ylabel '%s'\n",
                  figure->title, x_label(figure), figure->y);
    if (*figure->x == '^') {
        strbuf_append(&script, "set logscale x 2\n");
    }
    if (strchr(figure->columns, '>')) {
        strbuf_append(&script,
                      "set ytics nomirror\nset y2tics\nset y2label 'variance (cycles^2)'\n");
    }
    for (size_t i = 0; i < FORMATS; i++) {
        strbuf_printf(&script, "set terminal %s\nset output '%s.%s'.part\n", formats[i].terminal,
                      figure->id, formats[i].suffix);
        write_plot(&script, figure);
    }
    strbuf_append(&script, "unset output\n");
    int rc = strbuf_failed(&script) ? error_memory()
                                    : write_file(folder, figure->id, "gp", strbuf_text(&script));
    strbuf_free(&script);
    return rc;
}

/* 0: drawn; 127: there is no gnuplot; other: it failed. */
static int run_gnuplot(const char *folder, const char *id)
{
    char script[32];
    int status = -1;
    snprintf(script, sizeof(script), "%s.gp", id);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool quiet = freopen("/dev/null", "w", stderr) != NULL;
        if (!quiet || chdir(folder) != 0) {
            _exit(1);
        }
        execlp("gnuplot", "gnuplot", "-e", "part='" PART "'", script, (char *)NULL);
        _exit(errno == ENOENT ? 127 : 1);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* gnuplot says nothing of a disk that is full: a drawing is whole when it ends as its format does.
 */
static bool is_whole(const char *path, const struct format *format)
{
    char tail[64];
    FILE *file = fopen(path, "rb");
    bool whole = false;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        size_t want = size < (long)sizeof(tail) ? (size_t)(size < 0 ? 0 : size) : sizeof(tail);
        bool read = want >= format->end_bytes && fseek(file, -(long)want, SEEK_END) == 0 &&
                    fread(tail, 1, want, file) == want;
        /* A line may end behind the last mark. */
        while (read && want > format->end_bytes && tail[want - 1] == '\n') {
            want--;
        }
        whole =
            read && memcmp(tail + want - format->end_bytes, format->end, format->end_bytes) == 0;
    }
    if (file) {
        fclose(file);
    }
    return whole;
}

/* A whole drawing gets its name; anything else is removed. */
static int take_drawing(const char *folder, const char *id, const struct format *format, bool drawn)
{
    struct strbuf part = {0}, path = {0};
    strbuf_printf(&path, "%s/%s.%s", folder, id, format->suffix);
    strbuf_printf(&part, "%s" PART, strbuf_text(&path));
    int rc = 0;
    if (strbuf_failed(&path) || strbuf_failed(&part)) {
        rc = error_memory();
    } else if (drawn && !is_whole(strbuf_text(&part), format)) {
        rc = error_set(SONDE_EIO, "cannot write %s: gnuplot left a part of it", strbuf_text(&path));
    } else if (drawn && rename(strbuf_text(&part), strbuf_text(&path)) < 0) {
        rc = error_set(SONDE_EIO, "cannot write %s: %s", strbuf_text(&path), strerror(errno));
    }
    if (rc < 0 || !drawn) {
        unlink(strbuf_text(&part));
    }
    strbuf_free(&part);
    strbuf_free(&path);
    return rc;
}

/* *failed: gnuplot's exit status. All formats are taken or removed, whatever became of the first.
 */
static int draw(const char *folder, const char *id, int *failed)
{
    int rc = 0;
    *failed = run_gnuplot(folder, id);
    for (size_t i = 0; i < FORMATS; i++) {
        int taken = take_drawing(folder, id, &formats[i], *failed == 0 && rc == 0);
        rc = rc < 0 ? rc : taken;
    }
    return rc;
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
    rc = write_csv(figure, plot, folder);
    rc = rc < 0 ? rc : write_script(figure, folder);
    rc = rc < 0 ? rc : draw(folder, figure->id, &failed);
    if (failed != 0) {
        strbuf_printf(notes, "%s: data only: %s\n", figure->id,
                      failed == 127 ? "gnuplot is not installed" : "gnuplot failed");
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
