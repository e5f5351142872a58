/*
 * The figures of mei2014: the data of Table 3's patterns, of Figures 5, 7, 9 and 11, and of the two
 * methods of section 3.2, each with the numbers that the paper prints for it.
 */
#include <stdio.h>
#include <string.h>

#include "study/figure/plot.h"

/* Section 3.2: an array of eight texture L1s; arrays from just below one on, a line at a time. */
#define SAAVEDRA_BYTES 98304
#define WONG_FROM 12160
#define WONG_TO 13056
#define WONG_STRIDE 32

int figure_spectrum(struct plot *plot)
{
    static const char *const names[] = {"P1", "P2", "P3", "P4", "P5", "P6"};
    enum { SERIES = 3, SHOWN = 32 };
    static const char *const roles[SERIES] = {"kepler", "fermi", "fermi"};
    static const char *const ops[SERIES] = {"ca", "ca", "cg"};
    static const char *const rows[SERIES] = {"t3.kepler", "t3.fermi_l1", "t3.fermi"};
    for (size_t p = 0; p < sizeof(names) / sizeof(names[0]); p++) {
        for (size_t i = 0; i < SHOWN; i++) {
            strbuf_printf(&plot->csv, "%zu", p * SHOWN + i);
            for (size_t s = 0; s < SERIES; s++) {
                struct study_value value;
                const uint32_t *latency;
                size_t count;
                int rc = measure_pattern(plot->bench, &value, &latency, &count,
                                         plot_role(plot, roles[s]), names[p], ops[s]);
                if (rc < 0) {
                    return rc;
                }
                if (latency && i < count) {
                    value_number(&value, latency[i]);
                }
                plot_value(plot, &value);
            }
            for (size_t s = 0; s < SERIES; s++) {
                char id[32];
                snprintf(id, sizeof(id), "%s.p%zu", rows[s], p + 1);
                plot_published(plot, i == SHOWN / 2 ? id : NULL);
            }
            strbuf_append(&plot->csv, "\n");
        }
    }
    return 0;
}

static int shared_series(struct plot *plot, const char *role, const char *const *modes,
                         size_t mode_count)
{
    int rc = 0;
    for (uint64_t stride = 0; rc == 0 && stride <= 64; stride++) {
        strbuf_printf(&plot->csv, "%u", (unsigned)stride);
        for (size_t m = 0; rc == 0 && m < mode_count; m++) {
            struct study_value value;
            rc = measure_shared_latency(plot->bench, &value, plot_role(plot, role), stride,
                                        modes[m]);
            plot_value(plot, &value);
        }
        if (!modes[0]) {
            plot_published(plot, stride == 0    ? "f5.stride0"
                                 : stride == 2  ? "f5.two_way"
                                 : stride == 32 ? "f5.thirty_two_way"
                                                : NULL);
        }
        strbuf_append(&plot->csv, "\n");
    }
    return rc;
}

int figure_fermi_shared(struct plot *plot)
{
    return shared_series(plot, "fermi", (const char *const[]){NULL}, 1);
}

int figure_kepler_shared(struct plot *plot)
{
    return shared_series(plot, "kepler", (const char *const[]){"4", "8"}, 2);
}

/* The paper does not say of which array its maximum is: it is drawn at the last. */
int figure_miss_rate(struct plot *plot)
{
    int rc = 0;
    for (uint64_t bytes = 14336; rc == 0 && bytes <= 24576; bytes += 512) {
        struct study_value value;
        rc = measure_missed_lines(plot->bench, &value, plot_role(plot, "fermi"), bytes);
        strbuf_printf(&plot->csv, "%u", (unsigned)bytes);
        plot_value(plot, &value);
        plot_published(plot, bytes == 16384 ? "f9.16k" : NULL);
        plot_published(plot, bytes == 24576 ? "f9.maximum" : NULL);
        strbuf_append(&plot->csv, "\n");
    }
    return rc;
}

/* Both readings of the printed numbers: pages that miss, and entries of the sets that thrash. */
int figure_pages(struct plot *plot)
{
    static const char *const roles[] = {"fermi", "kepler"};
    double entries[2] = {0, 0}, before[2] = {0, 0};
    int rc = 0;
    for (uint64_t mib = 124; rc == 0 && mib <= 150; mib += 2) {
        struct study_value pages[2] = {0}, sets[2] = {0};
        char id[32];
        for (size_t i = 0; rc == 0 && i < 2; i++) {
            rc = measure_missed_pages(plot->bench, &pages[i], plot_role(plot, roles[i]), mib);
            entries[i] += measure_new_entries(pages[i].number - before[i]);
            before[i] = pages[i].number;
            sets[i] = pages[i];
            sets[i].number = entries[i];
        }
        snprintf(id, sizeof(id), "f11.fermi.%u", (unsigned)mib);
        strbuf_printf(&plot->csv, "%u", (unsigned)mib);
        plot_value(plot, &pages[0]);
        plot_value(plot, &pages[1]);
        plot_value(plot, &sets[0]);
        plot_value(plot, &sets[1]);
        plot_published(plot, id);
        strbuf_append(&plot->csv, "\n");
    }
    return rc;
}

static int average_point(struct plot *plot, uint64_t bytes, uint64_t stride, uint64_t x)
{
    struct study_value value;
    int rc = measure_average(plot->bench, &value, plot_role(plot, "fermi"), bytes, stride);
    strbuf_printf(&plot->csv, "%u", (unsigned)x);
    plot_value(plot, &value);
    strbuf_append(&plot->csv, "\n");
    return rc;
}

int figure_saavedra(struct plot *plot)
{
    int rc = 0;
    for (uint64_t stride = 4; rc == 0 && stride <= 4096; stride *= 2) {
        rc = average_point(plot, SAAVEDRA_BYTES, stride, stride);
    }
    return rc;
}

int figure_wong(struct plot *plot)
{
    int rc = 0;
    for (uint64_t bytes = WONG_FROM; rc == 0 && bytes <= WONG_TO; bytes += WONG_STRIDE) {
        rc = average_point(plot, bytes, WONG_STRIDE, bytes);
    }
    return rc;
}
