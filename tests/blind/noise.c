/*
 * A trace source that adds noise to another's latencies: each record up to some cycles more (most
 * often few), now and then a load that took very long, and all of it slowly up and down, as clocks
 * and temperatures do. Sums of timed loads get the noise of their loads together.
 */
#include <math.h>
#include <stdlib.h>

#include "blind.h"
#include "blind_wide.h"
#include "util/error.h"
#include "util/rng.h"

#define DRIFT_LOADS 40000.0 /* of a radian */

struct noise_source {
    struct trace_source inner;
    struct blind_noise noise;
    struct rng rng;
    struct traceset *set;
    uint64_t loads;
};

/* A second hump, other work's bursts, and banks whose rows are open or not: the wider draw's. */
static double further_noise(const struct blind_noise *n, struct rng *rng, double cycles,
                            double loads, bool busy)
{
    if (n->hump_share <= 0) {
        return 0;
    }
    double more = loads > 1 ? loads * n->hump_share * n->hump_cycles
                            : (rng_double(rng) < n->hump_share) * n->hump_cycles;
    if (busy && loads <= 1) {
        more += rng_double(rng) * n->busy_cycles;
    }
    return cycles > n->row_from && loads <= 1 ? more + rng_double(rng) * n->row_cycles : more;
}

static bool is_busy(const struct noise_source *s)
{
    return (double)(s->loads / 4096 * UINT64_C(2654435761) % 1000) < 1000 * s->noise.busy_share;
}

static double noisy(struct noise_source *s, double cycles, double loads)
{
    const struct blind_noise *n = &s->noise;
    s->loads += (uint64_t)loads;
    cycles *= 1 + n->drift * sin((double)s->loads / DRIFT_LOADS);
    double u = rng_double(&s->rng);
    cycles += loads > 1 ? loads * n->jitter_cycles / 4 : u * u * u * n->jitter_cycles;
    cycles += further_noise(n, &s->rng, cycles, loads, is_busy(s));
    if (rng_double(&s->rng) < n->outlier_share * loads) {
        cycles += 20 * exp(rng_double(&s->rng) * 5.5); /* 20 to 5000 */
    }
    return cycles;
}

static int add_noisy_u32(struct noise_source *s, struct trace *trace,
                         const struct trace_column *column)
{
    const uint32_t *from = column->data;
    uint32_t *to = malloc(column->count * sizeof(*to) + 1);
    if (!to) {
        return error_memory();
    }
    for (size_t i = 0; i < column->count; i++) {
        to[i] = (uint32_t)(noisy(s, from[i], 1) + 0.5);
    }
    int rc = trace_add_column(trace, column->name, TRACE_U32, to, column->count);
    free(to);
    return rc;
}

static int add_noisy_sums(struct noise_source *s, struct trace *trace,
                          const struct trace_column *column, const double *loads)
{
    const double *from = column->data;
    double *to = malloc(column->count * sizeof(*to) + 1);
    if (!to) {
        return error_memory();
    }
    for (size_t i = 0; i < column->count; i++) {
        to[i] = noisy(s, from[i], loads ? loads[i] : 1);
    }
    int rc = trace_add_column(trace, column->name, TRACE_F64, to, column->count);
    free(to);
    return rc;
}

static int copy_with_noise(struct noise_source *s, struct trace *out, const struct trace *in)
{
    int rc = trace_init(out, &in->request);
    out->status = in->status;
    for (size_t i = 0; i < sizeof(out->reason); i++) {
        out->reason[i] = in->reason[i];
    }
    size_t count;
    const double *loads = trace_f64(in, "loads", &count);
    for (size_t i = 0; rc == 0 && i < in->column_count; i++) {
        const struct trace_column *column = &in->columns[i];
        if (column == trace_column(in, "latency") && column->type == TRACE_U32) {
            rc = add_noisy_u32(s, out, column);
        } else if (column == trace_column(in, "cycles") && column->type == TRACE_F64) {
            rc = add_noisy_sums(s, out, column, loads);
        } else {
            rc = trace_add_column(out, column->name, column->type, column->data, column->count);
        }
    }
    return rc;
}

static int noise_get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct noise_source *s = ctx;
    char key[TRACE_KEY_MAX];
    const struct trace *exact;
    struct trace trace = {0};
    trace_request_key(request, key);
    *out = traceset_find(s->set, key);
    if (*out) {
        return 0;
    }
    int rc = trace_get(&s->inner, &exact, request);
    rc = rc < 0 ? rc : copy_with_noise(s, &trace, exact);
    if (rc < 0) {
        trace_clear(&trace);
        return rc;
    }
    return traceset_add(s->set, &trace, out);
}

static void noise_allow(void *ctx, double share)
{
    struct noise_source *s = ctx;
    trace_allow(&s->inner, share);
}

static double noise_spent(void *ctx)
{
    const struct noise_source *s = ctx;
    return trace_spent(&s->inner);
}

struct noise_source *noise_source_create(struct trace_source inner, const struct blind_noise *noise,
                                         uint64_t seed)
{
    struct noise_source *s = calloc(1, sizeof(*s));
    if (!s || traceset_create(&s->set) < 0) {
        free(s);
        return NULL;
    }
    s->inner = inner;
    s->noise = *noise;
    rng_seed(&s->rng, seed);
    return s;
}

void noise_source_destroy(struct noise_source *source)
{
    if (source) {
        traceset_destroy(source->set);
        free(source);
    }
}

struct trace_source noise_source_get(struct noise_source *source)
{
    return (struct trace_source){
        .get = noise_get, .ctx = source, .allow = noise_allow, .spent = noise_spent};
}

void blind_draw_wide_noise(struct blind_noise *out, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed ^ UINT64_C(0x776e6f697365));
    *out = (struct blind_noise){.jitter_cycles = (double)draw_below(&rng, 8),
                                .outlier_share = rng_double(&rng) * 0.002,
                                .drift = rng_double(&rng) * 0.01,
                                .hump_cycles = 1 + (double)draw_below(&rng, 12),
                                .hump_share = 0.02 + 0.2 * rng_double(&rng),
                                .busy_cycles = (double)draw_below(&rng, 20),
                                .busy_share = rng_double(&rng) * 0.1,
                                .row_cycles = (double)draw_below(&rng, 40),
                                .row_from = 350 + (double)draw_below(&rng, 300)};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double blind_noise_median(const struct blind_noise *noise, double cycles)
{
    enum { DRAWS = 20001 };
    static double drawn[DRAWS];
    struct rng rng;
    rng_seed(&rng, 1);
    for (size_t i = 0; i < DRAWS; i++) {
        double u = rng_double(&rng), more = u * u * u * noise->jitter_cycles;
        bool busy = rng_double(&rng) < noise->busy_share;
        drawn[i] = more + further_noise(noise, &rng, cycles + more, 1, busy);
    }
    qsort(drawn, DRAWS, sizeof(*drawn), compare);
    return drawn[DRAWS / 2];
}
