/*
 * A figure while it is measured: the points go into a CSV, one line after the other.
 */
#ifndef SONDE_STUDY_PLOT_H
#define SONDE_STUDY_PLOT_H

#include "study/bench.h"
#include "util/container/strbuf.h"

struct plot {
    struct study_bench *bench;
    const struct study *study;
    struct strbuf csv;
    size_t points, missing; /* numbers, and places without one */
    char why[200];          /* of the last that is missing */
};

/* The device in a role of the paper. */
size_t plot_role(const struct plot *plot, const char *name);
/* Another column of the line; without a number it stays empty and the reason is kept. */
void plot_value(struct plot *plot, const struct study_value *value);

/* Another column: the number that a row prints; empty where `id` is NULL or prints none. */
void plot_published(struct plot *plot, const char *id);

/* The first line of a figure's CSV: a name for each column of figures.def, quoted where it must be
 * (RFC 4180). */
void plot_header(struct strbuf *csv, const char *x, const char *columns);
/*
 * The columns of ID.csv as bars, `stacked` or beside each other, in groups named by the first one.
 * The key lies above, so that the names of 16 groups have room beside each other; each of the
 * `rows` has its place also where it has no bar.
 */
void plot_bars(struct strbuf *script, const char *id, const char *columns, bool stacked,
               size_t rows);

/* figure/mei.c */
int figure_spectrum(struct plot *plot);
int figure_fermi_shared(struct plot *plot);
int figure_kepler_shared(struct plot *plot);
int figure_miss_rate(struct plot *plot);
int figure_pages(struct plot *plot);
int figure_saavedra(struct plot *plot);
int figure_wong(struct plot *plot);

/* outstanding.c */
int figure_m2070_first(struct plot *plot);
int figure_copies(struct plot *plot);
int figure_m2070_unique1(struct plot *plot);
int figure_m2070_unique2(struct plot *plot);
int figure_m2070_merger2(struct plot *plot);
int figure_m2070_merger4(struct plot *plot);
int figure_m2070_merger8(struct plot *plot);
int figure_k20_unique1(struct plot *plot);
int figure_k20_unique2(struct plot *plot);
int figure_k20_unique3(struct plot *plot);

/* kernels/table.c */
int figure_kernels(struct plot *plot);

/* program/figures.c */
int figure_classes(struct plot *plot);
int figure_spaces(struct plot *plot);
int figure_occupancy(struct plot *plot);
int figure_baseline(struct plot *plot);
int figure_topologies(struct plot *plot);
int figure_routers(struct plot *plot);
int figure_channels(struct plot *plot);
int figure_controllers(struct plot *plot);
int figure_utilization(struct plot *plot);
int figure_efficiency(struct plot *plot);
int figure_caches(struct plot *plot);
int figure_ctas(struct plot *plot);
int figure_inter_warp(struct plot *plot);

#endif
