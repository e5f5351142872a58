/*
 * The figures of bakhoda2009: bars of each program, those of Table 1, at the study's sizes; where a
 * mean is drawn, HM is the harmonic one of these programs, SDK of the SDK's.
 */
#include <string.h>

#include "study/figure/plot.h"
#include "study/program/program.h"

enum { LANE_BINS = 8, COUNTS_MAX = PROGRAM_LANES };

static const char *const shown[] = {"aes", "bfs", "cp",  "dg",  "lps", "lib", "mum",
                                    "nn",  "nqu", "ray", "sto", "wp",  "blk", "fwt"};
static const char *const sdk[] = {"blk", "fwt", "bin",  "conv", "hist",
                                  "mm",  "red", "scal", "scan", "trans"};
#define SHOWN (sizeof(shown) / sizeof(shown[0]))
#define SDK (sizeof(sdk) / sizeof(sdk[0]))

static size_t program_of(const struct plot *plot, const char *name)
{
    size_t program = 0;
    while (program + 1 < plot->study->program_count &&
           strcmp(plot->study->programs[program].name, name) != 0) {
        program++;
    }
    return program;
}

static void put_name(struct plot *plot, const char *name)
{
    for (; *name; name++) {
        strbuf_append_char(&plot->csv, (char)(*name - 'a' + 'A'));
    }
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
    for (size_t p = 0; rc == 0 && p < SHOWN; p++) {
        const struct program_result *result;
        struct study_value why;
        uint64_t values[COUNTS_MAX] = {0};
        rc = program_run(plot->bench, &result, plot_role(plot, "mesh"), program_of(plot, shown[p]),
                         &why);
        put_name(plot, shown[p]);
        if (rc == 0 && result) {
            counts(values, result);
            plot_shares(plot, values, columns);
        }
        for (size_t i = 0; rc == 0 && !result && i < columns; i++) {
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

/* What a bar shows: of a run on a role, or of it and one on the baseline. */
typedef int bar(struct plot *plot, struct study_value *value, size_t role, size_t program);

static int speed_bar(struct plot *plot, struct study_value *value, size_t role, size_t program)
{
    return program_speed(plot->bench, value, role, plot_role(plot, "mesh"), program, false);
}

static int result_bar(struct plot *plot, struct study_value *value, size_t role, size_t program,
                      double (*number)(const struct program_result *result))
{
    const struct program_result *result;
    int rc = program_run(plot->bench, &result, role, program, value);
    if (rc == 0 && result) {
        value_number(value, number(result));
    }
    return rc;
}

static int ipc_bar(struct plot *plot, struct study_value *value, size_t role, size_t program)
{
    return result_bar(plot, value, role, program, program_ipc);
}

static double utilization(const struct program_result *result)
{
    return result->dram_utilization;
}

static int utilization_bar(struct plot *plot, struct study_value *value, size_t role,
                           size_t program)
{
    return result_bar(plot, value, role, program, utilization);
}

static double efficiency(const struct program_result *result)
{
    return result->dram_efficiency;
}

static int efficiency_bar(struct plot *plot, struct study_value *value, size_t role, size_t program)
{
    return result_bar(plot, value, role, program, efficiency);
}

struct bars {
    const char *const *roles;
    size_t role_count;
    bar *measure;
};

/* The harmonic mean of programs on each role. */
static int plot_mean(struct plot *plot, const struct bars *bars, const char *name,
                     const char *const *programs, size_t count)
{
    int rc = 0;
    strbuf_append(&plot->csv, name);
    for (size_t i = 0; rc == 0 && i < bars->role_count; i++) {
        struct study_value value, mean;
        double inverse = 0;
        value_nothing(&mean, "a program was not measured");
        bool all = true;
        for (size_t p = 0; rc == 0 && p < count; p++) {
            value_nothing(&value, "not measured");
            rc = bars->measure(plot, &value, plot_role(plot, bars->roles[i]),
                               program_of(plot, programs[p]));
            all = all && value.kind == STUDY_NUMBER && value.number > 0;
            inverse += all ? 1 / value.number : 0;
        }
        if (all) {
            value_number(&mean, (double)count / inverse);
        }
        plot_value(plot, &mean);
    }
    strbuf_append(&plot->csv, "\n");
    return rc;
}

/* A bar a role for each program, and where it makes sense for the means. */
static int figure_bars(struct plot *plot, const struct bars *bars, bool means)
{
    int rc = 0;
    for (size_t p = 0; rc == 0 && p < SHOWN; p++) {
        put_name(plot, shown[p]);
        for (size_t i = 0; rc == 0 && i < bars->role_count; i++) {
            struct study_value value;
            value_nothing(&value, "not measured");
            rc = bars->measure(plot, &value, plot_role(plot, bars->roles[i]),
                               program_of(plot, shown[p]));
            plot_value(plot, &value);
        }
        strbuf_append(&plot->csv, "\n");
    }
    if (means) {
        rc = rc < 0 ? rc : plot_mean(plot, bars, "SDK", sdk, SDK);
        rc = rc < 0 ? rc : plot_mean(plot, bars, "HM", shown, SHOWN);
    }
    return rc;
}

#define BARS(function, what, means, ...)                                                           \
    int function(struct plot *plot)                                                                \
    {                                                                                              \
        static const char *const roles[] = {__VA_ARGS__};                                          \
        const struct bars bars = {roles, sizeof(roles) / sizeof(roles[0]), what};                  \
        return figure_bars(plot, &bars, means);                                                    \
    }
BARS(figure_baseline, ipc_bar, true, "mesh", "perfect")
BARS(figure_topologies, speed_bar, true, "torus", "torus8", "butterfly", "crossbar", "ring")
BARS(figure_routers, speed_bar, true, "router4", "router8", "router16")
BARS(figure_channels, speed_bar, true, "channel8", "channel32", "channel64")
BARS(figure_controllers, speed_bar, true, "fifo", "ooo128")
BARS(figure_utilization, utilization_bar, false, "mesh", "fifo", "ooo128")
BARS(figure_efficiency, efficiency_bar, false, "mesh", "fifo", "ooo128")
BARS(figure_caches, speed_bar, true, "l1_16", "l1_32", "l1", "l2_128", "l2_256")
BARS(figure_ctas, speed_bar, false, "quarter", "half", "more", "double")
BARS(figure_inter_warp, speed_bar, true, "interwarp")
#undef BARS
