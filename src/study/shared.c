/*
 * Shared memory by Listing 1 of Mei et al., NPC 2014: a warp reads with a stride, the whole is
 * timed and divided. Ways of conflict follow from latencies: stride 1 has one way, stride 64 (and
 * 32 on a GPU of 4-byte banks) has 32, and each way costs the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/bench.h"
#include "util/divisor.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

#define MOST_WAYS 32
#define MOST_WAYS_STRIDE 64
#define DEGREE_SLACK 0.15 /* of one way */

int measure_shared_latency(struct study_bench *bench, struct study_value *value, size_t role,
                           uint64_t stride, const char *mode)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    trace_request_init(&request, "shared");
    int rc = trace_request_set_u64(&request, "stride", stride);
    rc = rc < 0 || !mode ? rc : trace_request_set_text(&request, "mode", mode);
    rc = rc < 0 ? rc : study_bench_trace(bench, &trace, role, &request, value);
    if (rc < 0 || !trace) {
        return rc;
    }
    size_t cycle_count, load_count;
    const double *cycles = trace_f64(trace, "cycles", &cycle_count);
    const double *loads = trace_f64(trace, "loads", &load_count);
    if (!cycles || !loads || cycle_count == 0 || load_count != cycle_count) {
        value_nothing(value, "the probe recorded nothing");
        return 0;
    }
    /* The last launch: the first one may wait for instructions. */
    value_number(value, cycles[cycle_count - 1] / loads[load_count - 1]);
    return 0;
}

/* Ways of conflict; a latency between two of them is none. */
static int measure_degree(struct study_bench *bench, struct study_value *value, size_t role,
                          uint64_t stride, const char *mode)
{
    struct study_value one, most;
    int rc = measure_shared_latency(bench, value, role, stride, mode);
    rc = rc < 0 ? rc : measure_shared_latency(bench, &one, role, 1, mode);
    rc = rc < 0 ? rc : measure_shared_latency(bench, &most, role, MOST_WAYS_STRIDE, mode);
    if (rc < 0 || value->kind != STUDY_NUMBER) {
        return rc;
    }
    if (one.kind != STUDY_NUMBER || most.kind != STUDY_NUMBER) {
        *value = one.kind != STUDY_NUMBER ? one : most;
        return 0;
    }
    double way = (most.number - one.number) / (MOST_WAYS - 1);
    double degree = way > 0 ? 1 + (value->number - one.number) / way : 0;
    if (way <= 0 || fabs(degree - round(degree)) > DEGREE_SLACK) {
        value_nothing(value, "%g cycles are no whole number of ways (one: %g, %d: %g)",
                      value->number, one.number, MOST_WAYS, most.number);
    } else {
        value_number(value, round(degree));
    }
    return 0;
}

/* Whether a stride obeys the rule. `other` are the ways in the 4-byte mode. */
static bool obeys(const char *rule, uint64_t stride, double ways, double other)
{
    if (strcmp(rule, "gcd_rule") == 0) {
        return ways == (double)common_divisor(stride, MOST_WAYS);
    }
    if (stride % 2 != 0) {
        return false;
    }
    if (strcmp(rule, "better_strides") == 0) {
        return (stride & (stride - 1)) != 0 && ways < other;
    }
    return ways == 1;
}

static int count_strides(struct study_bench *bench, struct study_value *value, size_t role,
                         uint64_t up_to, const char *mode, const char *rule)
{
    double count = 0;
    for (uint64_t stride = 1; stride <= up_to; stride++) {
        struct study_value other = {.kind = STUDY_NUMBER};
        int rc = measure_degree(bench, value, role, stride, mode);
        if (rc == 0 && strcmp(rule, "better_strides") == 0) {
            rc = measure_degree(bench, &other, role, stride, "4");
        }
        if (rc < 0 || value->kind != STUDY_NUMBER || other.kind != STUDY_NUMBER) {
            *value = value->kind != STUDY_NUMBER ? *value : other;
            return rc;
        }
        count += obeys(rule, stride, value->number, other.number);
    }
    value_number(value, count);
    return 0;
}

int measure_shared(struct study_bench *bench, struct study_value *value, size_t role,
                   const struct yaml_node *node)
{
    uint64_t stride;
    const char *mode = measure_word(node, "mode");
    const char *what = measure_word(node, "value");
    int rc = yaml_u64(&stride, yaml_get(node, "shared"), UNIT_NONE);
    if (rc < 0 || !what) {
        return rc < 0 ? rc : yaml_error(SONDE_EINPUT, node, "shared: 'value' is missing");
    }
    if (strcmp(what, "latency") == 0) {
        return measure_shared_latency(bench, value, role, stride, mode);
    }
    return strcmp(what, "degree") == 0 ? measure_degree(bench, value, role, stride, mode)
                                       : count_strides(bench, value, role, stride, mode, what);
}
