/*
 * What is drawn and chosen from a sweep's table.json: one column over another, and the points that
 * no other point beats.
 */
#ifndef SONDE_SWEEP_PLOT_H
#define SONDE_SWEEP_PLOT_H

/* Columns of the table: settings or values; `by` (NULL: one curve) makes a curve of each of its
 * values; `where` (NULL: all) is an expression over a row. */
struct sweep_plot {
    const char *x, *y, *by, *where;
};

/*
 * Writes FOLDER/Y_over_X.csv, and .svg and .png where gnuplot is installed; *text says what was
 * written. SONDE_EUSAGE: no such column, no number to draw, or several rows for one place.
 */
int sweep_plot(char **text, const char *folder, const struct sweep_plot *plot);

/* `goals`: "min:cycles,max:ipc", two or more columns. *text: the rows of the front as CSV, in the
 * order of the table. */
int sweep_pareto(char **text, const char *folder, const char *goals);

#endif
