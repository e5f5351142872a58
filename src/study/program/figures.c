/*
 * The figures of bakhoda2009: bars of each program. Figures 4 to 7 are of the programs at the
 * paper's sizes on the baseline; the others are relative to the baseline, of parts of programs as
 * the study's file says why. HM is the
 * harmonic mean of what is drawn.
 */
#include <string.h>

#include "study/figure/plot.h"
#include "study/program/program.h"

enum { PROGRAMS = 4, LANE_BINS = 8 };

static const char *const shown[PROGRAMS] = {"LPS", "BFS", "RAY", "MM"};
static const char *const whole[PROGRAMS] = {"lps", "bfs", "ray", "mm"};
static const char *const part[PROGRAMS] = {"lps_part", "bfs_part", "ray_part", "mm"};
static const char *const flat[PROGRAMS] = {"lps_part", "bfs", "ray", "mm"};

static size_t program_of(const struct plot *plot, const char *name)
{
    size_t program = 0;
    while (program + 1 < plot->study->program_count &&
           strcmp(plot->study->programs[program].name, name) != 0) {
        program++;
    }
    return program;
}

/* A bar for each count, its share of all. */
static void plot_shares(struct plot *plot, const uint64_t *counts, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all += counts[i];
    }
    for (size_t i = 0; i < count; i++) {
        struct study_value value;
        value_number(&value, all ? (double)counts[i] / (double)all : 0);
        plot_value(plot, &value);
    }
}

/* A line of shares for each program on the baseline; where it has not run, an empty one. */
static int figure_shares(struct plot *plot, size_t columns,
                         void (*counts)(uint64_t *out, const struct program_result *result))
{
    int rc = 0;
    for (size_t p = 0; rc == 0 && p < PROGRAMS; p++) {
        const struct program_result *result;
        struct study_value why;
        uint64_t values[PROGRAM_LANES] = {0};
        rc = program_run(plot->bench, &result, plot_role(plot, "mesh"), program_of(plot, whole[p]),
                         &why);
        strbuf_append(&plot->csv, shown[p]);
        if (rc == 0 && result) {
            counts(values, result);
            plot_shares(plot, values, columns);
        }
        for (size_t i = 0; !result && i < columns; i++) {
            plot_value(plot, &why);
        }
        strbuf_append(&plot->csv, "\n");
    }
    return rc;
}

static void class_counts(uint64_t *out, const struct program_result *result)
{
    memcpy(out, result->classes, sizeof(result->classes));
}

static void space_counts(uint64_t *out, const struct program_result *result)
{
    memcpy(out, result->spaces, sizeof(result->spaces));
}

/* Bins of four lanes; no lane at all cannot be. */
static void lane_counts(uint64_t *out, const struct program_result *result)
{
    for (size_t lanes = 1; lanes <= PROGRAM_LANES; lanes++) {
        out[(lanes - 1) * LANE_BINS / PROGRAM_LANES] += result->lanes[lanes];
    }
}

int figure_classes(struct plot *plot)
{
    return figure_shares(plot, PROGRAM_CLASSES, class_counts);
}

int figure_spaces(struct plot *plot)
{
    return figure_shares(plot, PROGRAM_SPACES, space_counts);
}

int figure_occupancy(struct plot *plot)
{
    return figure_shares(plot, LANE_BINS, lane_counts);
}

static int ipc_of(struct plot *plot, struct study_value *value, size_t role, const char *program)
{
    const struct program_result *result;
    int rc = program_run(plot->bench, &result, role, program_of(plot, program), value);
    if (rc == 0 && result) {
        value_number(value, program_ipc(result));
    }
    return rc;
}

/* A bar a role for each program and for their harmonic mean: IPC, or speeds over the baseline. */
static int figure_bars(struct plot *plot, const char *const *programs, const char *const *roles,
                       size_t role_count, bool speeds)
{
    double inverse[STUDY_MAX_DEVICES] = {0};
    size_t measured[STUDY_MAX_DEVICES] = {0};
    int rc = 0;
    for (size_t p = 0; rc == 0 && p < PROGRAMS; p++) {
        strbuf_append(&plot->csv, shown[p]);
        for (size_t i = 0; rc == 0 && i < role_count; i++) {
            struct study_value value;
            size_t role = plot_role(plot, roles[i]), program = program_of(plot, programs[p]);
            rc = speeds ? program_speed(plot->bench, &value, role, plot_role(plot, "mesh"), program,
                                        false)
                        : ipc_of(plot, &value, role, programs[p]);
            if (rc == 0) {
                plot_value(plot, &value);
                inverse[i] += value.kind == STUDY_NUMBER ? 1 / value.number : 0;
                measured[i] += value.kind == STUDY_NUMBER;
            }
        }
        strbuf_append(&plot->csv, "\n");
    }
    strbuf_append(&plot->csv, "HM");
    for (size_t i = 0; rc == 0 && i < role_count; i++) {
        struct study_value mean;
        value_nothing(&mean, "a program was not measured");
        if (measured[i] == PROGRAMS) {
            value_number(&mean, PROGRAMS / inverse[i]);
        }
        plot_value(plot, &mean);
    }
    strbuf_append(&plot->csv, "\n");
    return rc;
}

int figure_baseline(struct plot *plot)
{
    static const char *const roles[] = {"mesh", "perfect"};
    return figure_bars(plot, whole, roles, 2, false);
}

int figure_topologies(struct plot *plot)
{
    static const char *const roles[] = {"torus", "torus8", "butterfly", "crossbar", "ring"};
    return figure_bars(plot, part, roles, 5, true);
}

int figure_channels(struct plot *plot)
{
    static const char *const roles[] = {"channel8", "channel32", "channel64"};
    return figure_bars(plot, flat, roles, 3, true);
}

int figure_controllers(struct plot *plot)
{
    static const char *const roles[] = {"fifo", "ooo128"};
    return figure_bars(plot, flat, roles, 2, true);
}
