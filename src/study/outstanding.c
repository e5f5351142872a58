/*
 * Outstanding requests as Lashgar et al., HEART 2015, see them: thread-latency plots and what the
 * paper reads off them by eye, as rules.
 *
 *   point          harmonic mean of three runs of one block (section 4)
 *   variance       of a point and its two neighbours, unbiased (section 3.2)
 *   spike          where the variance is that of a jump by SPIKE_SHARE of one warp's latency or
 *                  more: a jump of J at one step has J^2 / 3 at the points on both sides
 *   saturation     the last point before the first spike that is no less than half as high as
 *                  the highest: "the second and larger spike". 0: there is none
 *   serialization  latency rises over the first warp by steps of no less than RISE_SHARE of
 *                  their mean, and is then flat until it has grown by FLAT_SHARE of the rise
 *
 * The L2 of Figure 2 ends at the largest copy of which a flush takes half as large a share as of
 * any. All of it is of traces; a dissection's inference (infer/outstanding/outstanding.c) goes
 * other ways.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/figure/plot.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

enum {
    MOST_THREADS = 1024,
    STEP = 2,
    POINTS = MOST_THREADS / STEP,
    WARP_POINT = 32 / STEP - 1,
};
#define SPIKE_SHARE 0.2
#define RISE_SHARE 0.75
#define FLAT_SHARE 0.2
#define FLUSH_BYTES (76u << 20) /* section 3.3 */
#define COPY_RUNS 1             /* a time is a mean over hundreds of blocks */

/* Point i is a block of (i + 1) * STEP threads. */
struct curve {
    size_t count;
    double latency[POINTS], variance[POINTS];
};

static uint32_t threads_of(size_t point)
{
    return (uint32_t)(point + 1) * STEP;
}

static double harmonic_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += 1 / values[i];
    }
    return (double)count / sum;
}

static void fill_variance(struct curve *curve)
{
    for (size_t i = 1; i + 1 < curve->count; i++) {
        const double *l = &curve->latency[i];
        double mean = (l[-1] + l[0] + l[1]) / 3, sum = 0;
        for (int k = -1; k <= 1; k++) {
            sum += (l[k] - mean) * (l[k] - mean);
        }
        curve->variance[i] = sum / 2;
    }
}

/* False, with the reason: there is no curve. */
static bool read_curve(struct curve *curve, const struct trace *trace, struct study_value *why)
{
    size_t points, times;
    const uint32_t *threads = trace_u32(trace, "threads", &points);
    const double *cycles = trace_f64(trace, "cycles", &times);
    *curve = (struct curve){.count = points};
    if (!threads || !cycles || points < 3 || points > POINTS || times % points != 0) {
        value_nothing(why, "the probe recorded no curve");
        return false;
    }
    size_t runs = times / points;
    for (size_t i = 0; i < points; i++) {
        curve->latency[i] = harmonic_mean(cycles + i * runs, runs);
        if (threads[i] != threads_of(i) || !(curve->latency[i] > 0)) {
            value_nothing(why, "the probe recorded other blocks than were asked for");
            return false;
        }
    }
    fill_variance(curve);
    return true;
}

/* `merge` neighbours share a line. *ok: *curve is filled in. */
static int measure_curve(struct study_bench *bench, bool *ok, struct curve *curve, size_t role,
                         uint32_t merge, uint32_t loads, struct study_value *why)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    *ok = false;
    trace_request_init(&request, "threads");
    char word[16];
    snprintf(word, sizeof(word), "%u", merge);
    int rc = trace_request_set_text(&request, "merge", word);
    rc = rc < 0 ? rc : trace_request_set_u64(&request, "loads", loads);
    rc = rc < 0 ? rc : study_bench_trace(bench, &trace, role, &request, why);
    *ok = rc == 0 && trace && read_curve(curve, trace, why);
    return rc;
}

/* ---- what the paper reads off a curve ---- */

static double spike_floor(const struct curve *curve)
{
    double jump = SPIKE_SHARE * curve->latency[0];
    return jump * jump / 3;
}

/* Threads of the last point before saturation; 0: none. */
static uint32_t saturation(const struct curve *curve)
{
    double highest = 0;
    for (size_t i = 0; i < curve->count; i++) {
        highest = fmax(highest, curve->variance[i]);
    }
    if (highest < spike_floor(curve)) {
        return 0;
    }
    size_t first = 1;
    while (curve->variance[first] < highest / 2 || curve->variance[first] < spike_floor(curve)) {
        first++;
    }
    /* The variance is high on both sides of the step. */
    const double *l = &curve->latency[first];
    return threads_of(l[1] - l[0] >= l[0] - l[-1] ? first : first - 1);
}

/* The last point of the rise over the first warp, and of the plateau behind it. */
static void serialization(const struct curve *curve, uint32_t *rise, uint32_t *plateau)
{
    double slope = (curve->latency[WARP_POINT] - curve->latency[0]) / WARP_POINT;
    size_t at = 0;
    while (at + 1 < curve->count && slope > 0 &&
           curve->latency[at + 1] - curve->latency[at] >= RISE_SHARE * slope) {
        at++;
    }
    *rise = at > 0 ? threads_of(at) : 0;
    double limit = curve->latency[WARP_POINT] + FLAT_SHARE * slope * WARP_POINT;
    size_t flat = WARP_POINT;
    while (flat + 1 < curve->count && curve->latency[flat + 1] <= limit) {
        flat++;
    }
    *plateau = threads_of(flat);
}

/* ---- measures ---- */

/* "unique" is 1, "merger4" 4; 0: neither. */
static uint32_t pattern_merge(const char *pattern)
{
    if (pattern && strcmp(pattern, "unique") == 0) {
        return 1;
    }
    uint32_t merge = 0;
    char end;
    bool fits = pattern && sscanf(pattern, "merger%u%c", &merge, &end) == 1;
    return fits && merge >= 2 && merge <= 32 && (merge & (merge - 1)) == 0 ? merge : 0;
}

static int read_pattern(uint32_t *merge, const struct yaml_node *node, const char *key)
{
    *merge = pattern_merge(measure_word(node, key));
    return *merge ? 0 : yaml_error(SONDE_EINPUT, node, "%s: unique, merger2 to merger32", key);
}

/* A number, or a list of them. */
static int read_loads(uint64_t loads[STUDY_MAX_LIST], size_t *count, const struct yaml_node *node)
{
    const struct yaml_node *list = yaml_get(node, "loads");
    if (!list || list->child_count > STUDY_MAX_LIST) {
        return yaml_error(SONDE_EINPUT, node, "'loads' is missing, or has too many");
    }
    const struct yaml_node *item = list->kind == YAML_SEQUENCE ? list->first : list;
    for (*count = 0; item; item = list->kind == YAML_SEQUENCE ? item->next : NULL) {
        int rc = yaml_u64(&loads[*count], item, UNIT_NONE);
        if (rc < 0 || loads[*count] < 1 || loads[*count] > 16) {
            return yaml_error(SONDE_EINPUT, item, "1 to 16 loads a thread");
        }
        ++*count;
    }
    return 0;
}

static int saturation_of(struct study_bench *bench, struct study_value *value, size_t role,
                         uint32_t merge, uint32_t loads)
{
    struct curve curve;
    bool ok;
    int rc = measure_curve(bench, &ok, &curve, role, merge, loads, value);
    if (ok) {
        value_number(value, saturation(&curve));
    }
    return rc;
}

int measure_saturation(struct study_bench *bench, struct study_value *value, size_t role,
                       const struct yaml_node *node)
{
    uint32_t merge;
    uint64_t loads[STUDY_MAX_LIST];
    size_t count = 0;
    struct study_value all = {.kind = STUDY_LIST};
    int rc = read_pattern(&merge, node, "saturation");
    rc = rc < 0 ? rc : read_loads(loads, &count, node);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = saturation_of(bench, value, role, merge, (uint32_t)loads[i]);
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        all.list[all.count++] = value->number;
    }
    if (rc == 0 && yaml_get(node, "loads")->kind == YAML_SEQUENCE) {
        *value = all;
    }
    return rc;
}

int measure_serialization(struct study_bench *bench, struct study_value *value, size_t role,
                          const struct yaml_node *node)
{
    struct curve curve;
    bool ok;
    uint32_t rise, plateau;
    const char *what = measure_word(node, "serialization");
    if (!what || (strcmp(what, "rise") != 0 && strcmp(what, "plateau") != 0)) {
        return yaml_error(SONDE_EINPUT, node, "serialization: rise, plateau");
    }
    int rc = measure_curve(bench, &ok, &curve, role, 1, 1, value);
    if (ok && curve.count <= WARP_POINT) {
        value_nothing(value, "the probe recorded less than a warp");
    } else if (ok) {
        serialization(&curve, &rise, &plateau);
        value_number(value, strcmp(what, "rise") == 0 ? rise : plateau);
    }
    return rc;
}

/* The loads a thread with which the paper fills the table by a pattern: 1, 1, 2, 4, 4, 4. */
static uint32_t loads_for(uint32_t merge)
{
    return merge <= 2 ? 1 : merge == 4 ? 2 : 4;
}

int measure_merged(struct study_bench *bench, struct study_value *value, size_t role,
                   const struct yaml_node *node)
{
    uint64_t lines;
    int rc = yaml_u64(&lines, yaml_get(node, "merged"), UNIT_NONE);
    uint32_t most = 0;
    for (uint32_t merge = 1; rc == 0 && merge <= 32 && most == merge / 2; merge *= 2) {
        rc = saturation_of(bench, value, role, merge, loads_for(merge));
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        if (value->number * loads_for(merge) / merge == (double)lines) {
            most = merge;
        }
    }
    value_number(value, most);
    return rc;
}

/* Cycles of a block of a copy of so much data, both buffers together. */
static int copy_cost(struct study_bench *bench, struct study_value *value, size_t role,
                     uint64_t kib, bool flushed)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    size_t count;
    trace_request_init(&request, "copy");
    int rc = trace_request_set_u64(&request, "bytes", kib << 10);
    rc = rc < 0 ? rc : trace_request_set_u64(&request, "flush_bytes", flushed ? FLUSH_BYTES : 0);
    rc = rc < 0 ? rc : trace_request_set_u64(&request, "runs", COPY_RUNS);
    rc = rc < 0 ? rc : study_bench_trace(bench, &trace, role, &request, value);
    const double *cycles = rc == 0 && trace ? trace_f64(trace, "cycles", &count) : NULL;
    if (cycles && count > 0) {
        value_number(value, harmonic_mean(cycles, count));
    } else if (rc == 0 && trace) {
        value_nothing(value, "the probe recorded nothing");
    }
    return rc;
}

/* What a flush costs; a share of the copy that was flushed. */
static int flush_gap(struct study_bench *bench, struct study_value *value, size_t role,
                     uint64_t kib)
{
    struct study_value flushed;
    int rc = copy_cost(bench, &flushed, role, kib, true);
    rc = rc < 0 ? rc : copy_cost(bench, value, role, kib, false);
    if (rc == 0 && flushed.kind == STUDY_NUMBER && value->kind == STUDY_NUMBER) {
        value_number(value, (flushed.number - value->number) / flushed.number);
    } else if (rc == 0) {
        *value = flushed.kind == STUDY_NUMBER ? *value : flushed;
    }
    return rc;
}

int measure_copies(struct study_bench *bench, struct study_value *value, size_t role,
                   const struct yaml_node *node)
{
    const struct yaml_node *list = yaml_get(node, "copies");
    uint64_t sweep[3] = {0}; /* KiB: from, to, step */
    int rc = 0;
    for (size_t i = 0; rc == 0 && list->child_count == 3 && i < 3; i++) {
        rc = yaml_u64(&sweep[i], yaml_at(list, i), UNIT_NONE);
    }
    if (rc < 0 || sweep[2] == 0 || sweep[0] == 0 || sweep[1] > (1u << 20)) {
        return rc < 0 ? rc : yaml_error(SONDE_EINPUT, list, "copies: from, to, step in KiB");
    }
    study_bench_afresh(bench, role);
    double widest = 0, last = 0;
    for (uint64_t kib = sweep[0]; kib <= sweep[1]; kib += sweep[2]) {
        rc = flush_gap(bench, value, role, kib);
        if (rc < 0 || value->kind != STUDY_NUMBER) {
            return rc;
        }
        widest = fmax(widest, value->number);
        last = value->number > 0 && value->number >= widest / 2 ? (double)kib : last;
    }
    if (last == 0) {
        value_nothing(value, "a flush costs nothing");
    } else if (last + (double)sweep[2] > (double)sweep[1]) {
        value_nothing(value, "a flush still costs at %g KiB", last);
    } else {
        value_number(value, last);
    }
    return rc;
}

/* ---- figures ---- */

static int thread_latency(struct plot *plot, const char *const *roles, size_t role_count,
                          uint32_t merge, uint32_t loads, uint32_t last)
{
    struct curve *curves = calloc(role_count, sizeof(*curves));
    struct study_value value;
    int rc = 0;
    if (!curves) {
        return error_memory();
    }
    for (size_t r = 0; rc == 0 && r < role_count; r++) {
        bool ok;
        rc = measure_curve(plot->bench, &ok, &curves[r], plot_role(plot, roles[r]), merge, loads,
                           &value);
        if (rc == 0 && !ok) {
            snprintf(plot->why, sizeof(plot->why), "%s", value.reason);
            curves[r].count = 0;
        }
    }
    for (size_t i = 0; rc == 0 && i < POINTS && threads_of(i) <= last; i++) {
        strbuf_printf(&plot->csv, "%u", threads_of(i));
        for (size_t column = 0; column < 2 * role_count; column++) {
            const struct curve *curve = &curves[column % role_count];
            bool edge = column >= role_count && (i == 0 || i + 1 >= curve->count);
            value_nothing(&value, "a point has no two neighbours");
            if (i < curve->count && !edge) {
                value_number(&value, column < role_count ? curve->latency[i] : curve->variance[i]);
            }
            plot_value(plot, &value);
        }
        strbuf_append(&plot->csv, "\n");
    }
    free(curves);
    return rc;
}

static int of_m2070(struct plot *plot, uint32_t merge, uint32_t loads, uint32_t last)
{
    return thread_latency(plot, (const char *const[]){"m2070"}, 1, merge, loads, last);
}

static int of_k20(struct plot *plot, uint32_t loads)
{
    static const char *const roles[] = {"k20", "k20_prt44", "k20_prt45"};
    return thread_latency(plot, roles, 3, 1, loads, MOST_THREADS);
}

int figure_m2070_first(struct plot *plot)
{
    return of_m2070(plot, 1, 1, 192);
}

int figure_m2070_unique1(struct plot *plot)
{
    return of_m2070(plot, 1, 1, MOST_THREADS);
}

int figure_m2070_unique2(struct plot *plot)
{
    return of_m2070(plot, 1, 2, MOST_THREADS);
}

int figure_m2070_merger2(struct plot *plot)
{
    return of_m2070(plot, 2, 1, MOST_THREADS);
}

int figure_m2070_merger4(struct plot *plot)
{
    return of_m2070(plot, 4, 2, MOST_THREADS);
}

int figure_m2070_merger8(struct plot *plot)
{
    return of_m2070(plot, 8, 4, MOST_THREADS);
}

int figure_k20_unique1(struct plot *plot)
{
    return of_k20(plot, 1);
}

int figure_k20_unique2(struct plot *plot)
{
    return of_k20(plot, 2);
}

int figure_k20_unique3(struct plot *plot)
{
    return of_k20(plot, 3);
}

int figure_copies(struct plot *plot)
{
    static const char *const roles[] = {"m2070", "k20"};
    int rc = 0;
    for (uint64_t kib = 128; rc == 0 && kib <= 2304; kib += 128) {
        strbuf_printf(&plot->csv, "%u", (unsigned)kib);
        for (size_t i = 0; rc == 0 && i < 4; i++) {
            struct study_value value;
            rc = copy_cost(plot->bench, &value, plot_role(plot, roles[i / 2]), kib, i % 2);
            plot_value(plot, &value);
        }
        strbuf_append(&plot->csv, "\n");
    }
    return rc;
}
