/*
 * Shared memory: a warp's accesses at strides of 0 to 64 words, each waiting for the one before
 * (Mei and Chu 2014, Listing 1). The time of a stride depends on how many rows of one bank the warp
 * needs at once. Which layout of banks it is follows from which strides take alike: for each layout
 * below the degree of conflict of every stride is computed, and the layout holds when strides of
 * one degree take the same and a higher degree always takes longer. A layout that makes one class
 * of what another separates does not hold; if several hold, the one with most classes is taken.
 */
#include "infer/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define LANES 32
#define STRIDES 65
#define ALIKE 0.02 /* of the time, between strides of one degree */

static const struct layout {
    uint32_t banks, width_bytes, row_bytes;
} layouts[] = {
    {32, 4, 128}, {32, 8, 256}, {32, 4, 256}, /* the last: two words of a row far apart (Kepler) */
    {16, 4, 64},  {16, 8, 128}, {64, 4, 256}, {8, 4, 32},
};
enum { LAYOUT_COUNT = sizeof layouts / sizeof *layouts };

/* Rows of the busiest bank when lane i reads word i * stride. */
static uint32_t degree_of(const struct layout *layout, uint32_t stride)
{
    uint32_t most = 1;
    for (uint32_t bank = 0; bank < layout->banks; bank++) {
        uint32_t rows[LANES] = {0}, count = 0;
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t address = lane * stride * 4, row = address / layout->row_bytes, seen = 0;
            while (seen < count && rows[seen] != row) {
                seen++;
            }
            if (address / layout->width_bytes % layout->banks == bank && seen == count) {
                rows[count++] = row;
            }
        }
        most = count > most ? count : most;
    }
    return most;
}

static int measure_stride(struct lab *lab, double *cycles, uint32_t stride, const char *mode)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    trace_request_init(&request, "shared");
    int rc = trace_request_set_u64(&request, "stride", stride);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", 3);
    rc = rc ? rc : trace_request_set_text(&request, "mode", mode);
    rc = rc ? rc : lab_measure(lab, &trace, &request);
    if (rc) {
        return rc;
    }
    size_t count, counted;
    const double *all = trace_f64(trace, "cycles", &count);
    const double *loads = trace_f64(trace, "loads", &counted);
    if (!all || !loads || count == 0 || count != counted) {
        return lab_undecided(lab, "a trace of shared memory lacks columns");
    }
    *cycles = INFINITY; /* the least: what comes on top is noise */
    for (size_t i = 0; i < count; i++) {
        *cycles = loads[i] > 0 ? fmin(*cycles, all[i] / loads[i]) : *cycles;
    }
    lab->loads += (uint64_t)(loads[0] * (double)count);
    return isfinite(*cycles) ? 0 : lab_undecided(lab, "a trace of shared memory has no accesses");
}

/* Lowest and highest time of each degree; true when the layout explains all strides. */
static bool holds(const struct layout *layout, const double cycles[STRIDES], double low[LANES + 1],
                  size_t *classes)
{
    double high[LANES + 1] = {0};
    *classes = 0;
    for (size_t d = 0; d <= LANES; d++) {
        low[d] = INFINITY;
    }
    for (uint32_t stride = 1; stride < STRIDES; stride++) {
        uint32_t degree = degree_of(layout, stride);
        low[degree] = fmin(low[degree], cycles[stride]);
        high[degree] = fmax(high[degree], cycles[stride]);
    }
    double before = 0;
    for (size_t d = 1; d <= LANES; d++) {
        if (high[d] > 0) {
            if (high[d] - low[d] > fmax(1, ALIKE * low[d]) || low[d] <= before + 1) {
                return false;
            }
            before = high[d];
            (*classes)++;
        }
    }
    return *classes > 1;
}

static void report(struct lab *lab, struct shared_result *out, const struct layout *layout,
                   const double cycles[STRIDES], const double low[LANES + 1], const char *mode)
{
    char id[24];
    lab_evidence(lab, id, "shared",
                 "shared mode=%s, strides 0 to 64: %u banks of %u B, rows of %u B explain which "
                 "strides take alike; without conflict %.1f cycles, stride 2 %.1f, stride 32 %.1f",
                 mode, layout->banks, layout->width_bytes, layout->row_bytes, cycles[1], cycles[2],
                 cycles[32]);
    attribute_set(&out->banks, layout->banks, "1", 0.93, id);
    attribute_set(&out->bank_width, layout->width_bytes, "B", 0.93, id);
    attribute_set(&out->latency, cycles[0], "cycles", 0.93, id);
    for (uint32_t d = 1; d <= LANES; d++) {
        if (isfinite(low[d])) {
            out->conflicts[out->conflict_count++] = (struct conflict_latency){d, low[d]};
        }
    }
}

static int measure_mode(struct lab *lab, struct shared_result *out, const char *mode)
{
    double cycles[STRIDES], low[LANES + 1], best_low[LANES + 1];
    for (uint32_t stride = 0; stride < STRIDES; stride++) {
        int rc = measure_stride(lab, &cycles[stride], stride, mode);
        if (rc) {
            return rc;
        }
    }
    size_t best = LAYOUT_COUNT, most = 0;
    for (size_t i = 0; i < LAYOUT_COUNT; i++) {
        size_t classes;
        if (holds(&layouts[i], cycles, low, &classes) && classes > most) {
            best = i;
            most = classes;
            memcpy(best_low, low, sizeof low);
        }
    }
    if (best == LAYOUT_COUNT) {
        return lab_undecided(lab, "no known layout of banks explains which strides take alike");
    }
    report(lab, out, &layouts[best], cycles, best_low, mode);
    return 0;
}

/* Does the device take the width that is asked for? */
static int try_mode(struct lab *lab, struct shared_result *out, uint32_t width, const char *mode)
{
    double cycles;
    int rc = measure_stride(lab, &cycles, 1, mode);
    if (rc == 0) {
        out->modes[out->mode_count++] = width;
    }
    return rc && lab_soft(rc) ? 0 : rc;
}

int shared_dissect(struct lab *lab)
{
    struct shared_result *out = &lab->out->shared;
    int rc = measure_mode(lab, out, "default");
    rc = rc ? rc : try_mode(lab, out, 4, "4");
    return rc ? rc : try_mode(lab, out, 8, "8");
}

void shared_refuse(struct dissection *out, const char *reason)
{
    struct shared_result *s = &out->shared;
    if (s->banks.status == ATTRIBUTE_NOT_MEASURED) {
        attribute_refuse(&s->banks, "1", reason);
        attribute_refuse(&s->bank_width, "B", reason);
        attribute_refuse(&s->latency, "cycles", reason);
    }
}
