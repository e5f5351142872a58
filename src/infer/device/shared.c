/*
 * Shared memory: a warp's accesses at strides of 0 to 64 words, each waiting for the one before
 * (Mei and Chu 2014, Listing 1). An access takes one pass after another until every bank has
 * delivered all of its rows that lanes ask for. Each pass takes the same time, so a stride takes a
 * + c * passes. The layout of banks gives the passes. The layout that is told is the one whose line
 * the times lie on: any number of banks up to 64, words of 4 to 16 bytes in successive banks, rows
 * of one to four words. If two explain the times alike, neither is told.
 */
#include "infer/experiments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen; any number and width of banks comes out with them (unit.infer.shared). */
static const struct {
    unsigned many, repeats, row_max;
    double misfit, misfit_share, apart;
} limits = {
    .many = 256,          /* accesses of a chain */
    .repeats = 3,         /* measurements, of which the least counts */
    .row_max = 16,        /* bytes of a row of one bank */
    .misfit = 0.3,        /* cycles of an access: root of the mean square */
    .misfit_share = 0.01, /* the same as a share of the mean */
    .apart = 0.04,        /* share of a pass: layouts that differ in one stride differ by 0.1 */
};
enum { LANES = 32 };
enum { STRIDES = 65 };
enum { BANKS_MAX = 64 };

struct layout {
    uint32_t banks, width_bytes; /* of the words in successive banks */
    uint32_t row_bytes;          /* of all banks together: what a pass can deliver */
};

/* Rows of the busiest bank that lanes [first, end) need when lane i reads word i * stride. */
static uint32_t passes_of_lanes(const struct layout *layout, uint32_t stride, uint32_t first,
                                uint32_t end)
{
    uint32_t rows[BANKS_MAX][LANES], count[BANKS_MAX] = {0}, most = 0;
    for (uint32_t lane = first; lane < end; lane++) {
        uint32_t address = lane * stride * 4, row = address / layout->row_bytes, seen = 0;
        uint32_t bank = address / layout->width_bytes % layout->banks;
        while (seen < count[bank] && rows[bank][seen] != row) {
            seen++;
        }
        if (seen == count[bank]) {
            rows[bank][count[bank]++] = row;
            most = count[bank] > most ? count[bank] : most;
        }
    }
    return most;
}

/* Of banks that deliver less than a warp's words at once, groups of lanes take turns. */
static uint32_t passes_of(const struct layout *layout, uint32_t stride)
{
    uint32_t group = layout->row_bytes / 4, passes = 0;
    group = group < LANES ? group : LANES;
    for (uint32_t first = 0; first < LANES; first += group) {
        uint32_t end = first + group < LANES ? first + group : LANES;
        passes += passes_of_lanes(layout, stride, first, end);
    }
    return passes;
}

/* What so many accesses take in all: the least of a few launches, for what comes on top is noise.
 */
static int measure_all(struct lab *lab, double *cycles, double *accesses, uint32_t stride,
                       uint32_t repeats, const char *mode)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    trace_request_init(&request, "shared");
    int rc = trace_request_set_u64(&request, "stride", stride);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", repeats);
    rc = rc ? rc : trace_request_set_text(&request, "mode", mode);
    if (*accesses > 0) {
        rc = rc ? rc : trace_request_set_u64(&request, "accesses", (uint64_t)*accesses);
    }
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
    *cycles = INFINITY;
    *accesses = loads[0];
    for (size_t i = 0; i < count; i++) {
        *cycles = fmin(*cycles, all[i]);
    }
    lab->loads += (uint64_t)(loads[0] * (double)count);
    return *accesses > 0 ? 0 : lab_undecided(lab, "a trace of shared memory has no accesses");
}

static int measure_stride(struct lab *lab, double *cycles, uint32_t stride, const char *mode)
{
    double accesses = 0; /* as many as the probe makes unasked */
    *cycles = 0;
    int rc = measure_all(lab, cycles, &accesses, stride, limits.repeats, mode);
    *cycles = rc ? 0 : *cycles / accesses;
    return rc;
}

/*
 * One access without the clocks around them all: from many more accesses. Where that was not
 * recorded, with its share of the clocks.
 */
static int measure_latency(struct lab *lab, double *latency, const char *mode)
{
    double few = 0, many = limits.many, few_cycles = 0, many_cycles = 0;
    int rc = measure_all(lab, &few_cycles, &few, 0, limits.repeats, mode);
    if (rc) {
        return rc;
    }
    rc = measure_all(lab, &many_cycles, &many, 0, 3 * limits.repeats,
                     mode); /* more that can be disturbed */
    *latency = rc || many <= few ? few_cycles / few : (many_cycles - few_cycles) / (many - few);
    return rc && lab_soft(rc) ? 0 : rc;
}

/* The line through the times of a layout's passes. */
struct line {
    double start, pass_cycles, misfit;
    uint32_t passes[STRIDES], least, most;
};

static void fit_line(struct line *line, const struct layout *layout, const double cycles[STRIDES])
{
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, square = 0;
    *line = (struct line){.least = UINT32_MAX};
    for (uint32_t stride = 0; stride < STRIDES; stride++) {
        uint32_t passes = passes_of(layout, stride);
        double x = passes, y = cycles[stride];
        line->passes[stride] = passes;
        line->least = passes < line->least ? passes : line->least;
        line->most = passes > line->most ? passes : line->most;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    double spread = sum_xx - sum_x * sum_x / STRIDES;
    line->pass_cycles = spread > 0 ? (sum_xy - sum_x * sum_y / STRIDES) / spread : 0;
    line->start = (sum_y - line->pass_cycles * sum_x) / STRIDES;
    for (uint32_t stride = 0; stride < STRIDES; stride++) {
        double miss = cycles[stride] - line->start - line->pass_cycles * line->passes[stride];
        square += miss * miss;
    }
    line->misfit = sqrt(square / STRIDES);
}

/* The best of all layouts, and the misfit of the best that has other banks. */
struct choice {
    struct layout layout;
    struct line line;
    double second;
};

static void consider(struct choice *best, const struct layout *layout, const double cycles[STRIDES])
{
    struct line line;
    fit_line(&line, layout, cycles);
    bool same =
        layout->banks == best->layout.banks && layout->width_bytes == best->layout.width_bytes;
    if (line.pass_cycles <= 0) {
        return;
    }
    if (line.misfit < best->line.misfit) {
        best->second = same ? best->second : best->line.misfit;
        best->layout = *layout;
        best->line = line;
    } else if (!same && line.misfit < best->second) {
        best->second = line.misfit;
    }
}

static void choose(struct choice *best, const double cycles[STRIDES])
{
    *best = (struct choice){.line.misfit = INFINITY, .second = INFINITY};
    for (uint32_t banks = 1; banks <= BANKS_MAX; banks++) {
        for (uint32_t width = 4; width <= limits.row_max; width *= 2) {
            for (uint32_t row = width; row <= limits.row_max; row *= 2) {
                struct layout layout = {
                    .banks = banks, .width_bytes = width, .row_bytes = banks * row};
                consider(best, &layout, cycles);
            }
        }
    }
}

static void report(struct lab *lab, struct shared_result *out, const struct choice *best,
                   const double cycles[STRIDES], const char *mode)
{
    char id[24];
    const struct layout *layout = &best->layout;
    lab_evidence(lab, id, "shared",
                 "shared mode=%s, strides 0 to 64: the passes of %u banks of %u B, rows of %u B, "
                 "predict the times within %.2g cycles, %.3g a pass, the next best layout within "
                 "%.2g; without conflict %.1f cycles, stride 2 %.1f, stride 32 %.1f",
                 mode, layout->banks, layout->width_bytes, layout->row_bytes, best->line.misfit,
                 best->line.pass_cycles, best->second, cycles[1], cycles[2], cycles[32]);
    attribute_set(&out->banks, layout->banks, "1", 0.97, id);
    attribute_set(&out->bank_width, layout->width_bytes, "B", 0.97, id);
    for (uint32_t degree = 1; degree <= LANES; degree++) {
        double least = INFINITY;
        for (uint32_t stride = 1; stride < STRIDES; stride++) {
            bool is_degree = best->line.passes[stride] == degree;
            least = is_degree ? fmin(least, cycles[stride]) : least;
        }
        if (isfinite(least)) {
            out->conflicts[out->conflict_count++] = (struct conflict_latency){degree, least};
        }
    }
}

static double mean_of(const double cycles[STRIDES])
{
    double sum = 0;
    for (uint32_t stride = 0; stride < STRIDES; stride++) {
        sum += cycles[stride];
    }
    return sum / STRIDES;
}

static int measure_mode(struct lab *lab, struct shared_result *out, const char *mode)
{
    double cycles[STRIDES];
    for (uint32_t stride = 0; stride < STRIDES; stride++) {
        int rc = measure_stride(lab, &cycles[stride], stride, mode);
        if (rc) {
            return rc;
        }
    }
    double latency;
    int rc = measure_latency(lab, &latency, mode);
    if (rc) {
        return rc;
    }
    struct choice best;
    choose(&best, cycles);
    const struct line *line = &best.line;
    char id[24];
    lab_evidence(lab, id, "shared", "shared mode=%s: all lanes read one word", mode);
    attribute_set(&out->latency, latency, "cycles", 0.95, id);
    if (line->misfit > fmax(limits.misfit, limits.misfit_share * mean_of(cycles)) ||
        line->pass_cycles * (line->most - line->least) < 4 * line->misfit) {
        return lab_undecided(lab, "no layout of banks explains how long strides take");
    }
    if (best.second - line->misfit < limits.apart * line->pass_cycles) {
        return lab_undecided(lab, "several layouts of banks explain how long strides take");
    }
    report(lab, out, &best, cycles, mode);
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

void shared_refuse(struct dissection *out, const struct refusal *why)
{
    struct shared_result *s = &out->shared;
    if (s->banks.status != ATTRIBUTE_MEASURED) {
        attribute_refuse_as(&s->banks, "1", why);
        attribute_refuse_as(&s->bank_width, "B", why);
    }
    if (s->latency.status != ATTRIBUTE_MEASURED) {
        attribute_refuse_as(&s->latency, "cycles", why);
    }
}
