/*
 * Strata, what is drawn of them, and intervals.
 *
 * The size x of a launch is what it would cost if nothing overlapped: instructions, sectors, lines
 * from DRAM and passes of shared memory, with weights. Launches belong together when they are a
 * mix of the same: the terms' shares of that sum differ, added up, by a few per cent, and the
 * shares of their basic blocks by no more; a term that costs nothing tells nothing apart. Their
 * sizes may differ by more, as an estimate is for a unit of size.
 *
 * With r = cycles / x of the n timed launches of a stratum, s their standard deviation, and the
 * sums over the launches that were not timed,
 *
 *     estimate  mean(r) * sum(x)
 *     variance  s^2 * (sum(x)^2 / n + sum(x^2))       of the mean, and of those launches' own
 *
 * half an interval is Student's t (n - 1 degrees) times the root. Where r drifts with the order of
 * the launches (von Neumann's ratio of successive differences to the variance is small), a launch
 * is estimated by the timed ones before and after it instead, with the same variance for each
 * stretch. Strata are independent: their variances add up. On top comes a share of what was
 * estimated for what is not random: caches are as they would be only about (trail.h).
 */
#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/student.h"
#include "sample/terms.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/rng.h"

static const struct {
    double apart;        /* of the cost, by which launches' mixes may differ */
    double blocks_apart; /* the same of basic blocks' counts */
    double sizes_apart;  /* factor of the cost */
    double unseen;       /* share of an estimate that is uncertain whatever was timed */
    uint64_t first;      /* launches of a stratum that are all timed */
    double growth_least,
        growth_most;      /* from one timed launch to the next: factor of their places */
    double steady;        /* share by which the last times differ where nothing happens, */
    uint64_t steady_last; /* so many of them, */
    double steady_growth; /* and the factor by which places then grow faster */
    double drift;         /* von Neumann's ratio below which r drifts; 2: by chance */
} rule = {.apart = 0.05,
          .blocks_apart = 0.05,
          .sizes_apart = 1.1,
          .unseen = 0.02,
          .first = 3,
          .growth_least = 1.2,
          .growth_most = 1.8,
          .steady = 0.01,
          .steady_last = 4,
          .steady_growth = 2,
          .drift = 1};

struct member {
    double x, ratio; /* ratio 0: not timed; x 0: stopped */
};

struct stratum {
    size_t kernel;
    uint64_t shape;
    double term[TERM_COUNT], size;
    uint64_t *blocks;
    double block_sum;
    uint32_t length;
    VEC(struct member) members;
    uint64_t timed, stopped; /* stopped: begun with timing, of which nothing was learned */
    double next;             /* the place of the launch that is timed in any case */
    double ratio_sum, ratio_squares;
    double x_left, x_left_squares; /* of those that are not timed */
    double cycles;                 /* of those that are */
    double inside;                 /* of these cycles, uncertain for what was skipped */
    double skipped_cycles;
    uint64_t blocks_skipped, launches_inside;
};

struct kernel {
    char *name;
    uint64_t code;
    uint32_t variant;
    uint64_t whole;
    double whole_cycles;
    uint64_t warp_insns;
};

struct sampler {
    struct sampler_spec spec;
    struct rng rng;
    VEC(struct kernel) kernels;
    VEC(struct stratum) strata;
    double cycles; /* of all, as of now */
};

struct part {
    double cycles, variance;  /* variance: the square of half the interval */
    double estimated, inside; /* inside: a half, as variance is a square */
};

/* ---- strata ---- */

static void terms_of(double term[TERM_COUNT], double *size, const struct sampler_launch *launch)
{
    terms_weigh(term, launch->warp_insns, launch->sectors, launch->missing, launch->passes);
    *size = term[0] + term[1] + term[2] + term[3];
}

static double block_sum(const struct sampler_launch *launch)
{
    double sum = 0;
    for (uint32_t i = 0; i < launch->length; i++) {
        sum += (double)launch->blocks[i];
    }
    return sum;
}

static double block_distance(const struct stratum *s, const struct sampler_launch *launch)
{
    double apart = 0, sum = block_sum(launch);
    if (s->block_sum == 0 || sum == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < s->length; i++) {
        apart += fabs((double)s->blocks[i] / s->block_sum - (double)launch->blocks[i] / sum);
    }
    return apart;
}

static double term_distance(const struct stratum *s, const double term[TERM_COUNT], double size)
{
    double apart = 0;
    if (size > s->size * rule.sizes_apart || s->size > size * rule.sizes_apart) {
        return INFINITY;
    }
    for (int i = 0; i < TERM_COUNT; i++) {
        apart += fabs(s->term[i] / s->size - term[i] / size);
    }
    return apart;
}

static struct stratum *stratum_find(struct sampler *sampler, size_t kernel,
                                    const struct sampler_launch *launch,
                                    const double term[TERM_COUNT], double size)
{
    struct stratum *best = NULL;
    double least = rule.apart;
    for (size_t i = 0; i < sampler->strata.count; i++) {
        struct stratum *s = &sampler->strata.data[i];
        if (s->kernel != kernel || s->shape != launch->shape || s->length != launch->length) {
            continue;
        }
        double apart = term_distance(s, term, size);
        if (apart <= least && block_distance(s, launch) <= rule.blocks_apart) {
            least = apart;
            best = s;
        }
    }
    return best;
}

static struct stratum *stratum_add(struct sampler *sampler, size_t kernel,
                                   const struct sampler_launch *launch,
                                   const double term[TERM_COUNT], double size)
{
    struct stratum s = {
        .kernel = kernel, .shape = launch->shape, .size = size, .length = launch->length};
    s.block_sum = block_sum(launch);
    memcpy(s.term, term, sizeof s.term);
    uint64_t *blocks = malloc((launch->length + 1) * sizeof *blocks);
    if (!blocks || vec_push(&sampler->strata, s) < 0) {
        free(blocks);
        error_memory();
        return NULL;
    }
    if (launch->length > 0) {
        memcpy(blocks, launch->blocks, launch->length * sizeof *blocks);
    }
    vec_last(&sampler->strata).blocks = blocks;
    return &vec_last(&sampler->strata);
}

static size_t kernel_find(struct sampler *sampler, const char *name, uint64_t code)
{
    uint32_t variant = 1;
    for (size_t i = 0; i < sampler->kernels.count; i++) {
        if (strcmp(sampler->kernels.data[i].name, name) != 0) {
            continue;
        }
        if (sampler->kernels.data[i].code == code) {
            return i;
        }
        variant++;
    }
    struct kernel kernel = {.name = strdup(name), .code = code, .variant = variant};
    if (!kernel.name || vec_push(&sampler->kernels, kernel) < 0) {
        free(kernel.name);
        error_memory();
        return SIZE_MAX;
    }
    return sampler->kernels.count - 1;
}

/* ---- intervals ---- */

static double mean_ratio(const struct stratum *s)
{
    return s->timed ? s->ratio_sum / (double)s->timed : 0;
}

static double spread(const struct stratum *s) /* s^2 */
{
    double n = (double)s->timed, mean = mean_ratio(s);
    double squares = s->ratio_squares - n * mean * mean;
    return n > 1 && squares > 0 ? squares / (n - 1) : 0;
}

/* The square of half an interval, if `x` more is not timed. */
static double half_squared(const struct stratum *s, double x)
{
    double n = (double)s->timed, left = s->x_left + x;
    if (s->timed < 2) {
        return 0;
    }
    double t = student_95(n - 1);
    return t * t * spread(s) * (left * left / n + s->x_left_squares + x * x);
}

static bool drifts(const struct stratum *s)
{
    double before = 0, differences = 0;
    for (size_t i = 0; i < s->members.count; i++) {
        double now = s->members.data[i].ratio;
        if (now > 0 && before > 0) {
            differences += (now - before) * (now - before);
        }
        before = now > 0 ? now : before;
    }
    double all = spread(s) * (double)(s->timed - 1);
    return s->timed > rule.first && differences < rule.drift * all;
}

/* Each launch by its neighbours in time: the mean of those before and after it. */
static void add_by_neighbours(struct part *part, const struct stratum *s)
{
    double before = 0, x = 0, squares = 0, estimate = 0;
    double t = student_95((double)s->timed - 1), variance = spread(s);
    for (size_t i = 0; i < s->members.count; i++) {
        const struct member *m = &s->members.data[i];
        if (m->ratio == 0) {
            x += m->x;
            continue;
        }
        estimate += x * (before > 0 ? (before + m->ratio) / 2 : m->ratio);
        squares += x * x / 2;
        before = m->ratio;
        x = 0;
    }
    estimate += x * before;
    squares += x * x;
    part->cycles += s->cycles + estimate;
    part->estimated += estimate;
    part->variance += t * t * variance * (squares + s->x_left_squares);
}

static void add_stratum(struct part *part, const struct stratum *s)
{
    if (s->inside > 0) {
        /* What is wrong with one launch may be so with all that are like it. */
        part->inside += s->inside * (s->cycles + mean_ratio(s) * s->x_left) / s->cycles;
    }
    if (drifts(s)) {
        add_by_neighbours(part, s);
        return;
    }
    double estimate = mean_ratio(s) * s->x_left;
    part->cycles += s->cycles + estimate;
    part->estimated += estimate;
    part->variance += half_squared(s, 0);
}

static void total_of(const struct sampler *sampler, size_t kernel, struct sampler_total *out)
{
    struct part part = {0};
    *out = (struct sampler_total){0};
    for (size_t i = 0; i < sampler->kernels.count; i++) {
        const struct kernel *k = &sampler->kernels.data[i];
        if (kernel == SIZE_MAX || kernel == i) {
            part.cycles += k->whole_cycles;
            out->timed_cycles += k->whole_cycles;
            out->whole += k->whole;
            out->warp_insns += k->warp_insns;
        }
    }
    out->launches = out->timed = out->whole;
    for (size_t i = 0; i < sampler->strata.count; i++) {
        const struct stratum *s = &sampler->strata.data[i];
        if (kernel == SIZE_MAX || kernel == s->kernel) {
            add_stratum(&part, s);
            out->strata++;
            out->launches += s->members.count;
            out->timed += s->timed + s->stopped;
            out->timed_cycles += s->cycles - s->skipped_cycles;
            out->skipped += s->blocks_skipped;
            out->inside += s->launches_inside;
        }
    }
    double unseen = rule.unseen * part.estimated,
           half = sqrt(part.variance + unseen * unseen + part.inside * part.inside);
    out->cycles = part.cycles;
    out->low = part.cycles - half;
    out->high = part.cycles + half;
}

/* ---- what is timed ---- */

/*
 * Strata share the interval that is asked for by their cycles: the square of each one's half is at
 * most its share of the square of all.
 */
static bool is_certain(const struct sampler *sampler, const struct stratum *s, double x)
{
    double cycles = s->cycles + mean_ratio(s) * (s->x_left + x);
    double rest = sampler->spec.error * sampler->spec.error - rule.unseen * rule.unseen;
    double all = fmax(sampler->cycles, cycles);
    return half_squared(s, x) <= rest * all * cycles;
}

/* The last times are as one: another soon would say little. */
static bool is_steady(const struct stratum *s)
{
    double least = INFINITY, most = 0;
    uint64_t seen = 0;
    for (size_t i = s->members.count; i-- > 0 && seen < rule.steady_last;) {
        double ratio = s->members.data[i].ratio;
        if (ratio > 0) {
            least = fmin(least, ratio);
            most = fmax(most, ratio);
            seen++;
        }
    }
    return seen == rule.steady_last && most <= least * (1 + rule.steady);
}

static bool wanted(struct sampler *sampler, struct stratum *s, double x)
{
    double place = (double)s->members.count + 1;
    if (s->timed < rule.first) {
        return true;
    }
    if (place >= s->next || !is_certain(sampler, s, x)) {
        double growth =
            rule.growth_least + (rule.growth_most - rule.growth_least) * rng_double(&sampler->rng);
        s->next = place * growth * (is_steady(s) ? rule.steady_growth : 1);
        return true;
    }
    return false;
}

int sampler_see(struct sampler *sampler, const struct sampler_launch *launch, uint64_t *ticket,
                bool *timed, uint64_t *cycles)
{
    double term[TERM_COUNT], size;
    size_t kernel = kernel_find(sampler, launch->kernel, launch->code);
    if (kernel == SIZE_MAX) {
        return error_memory();
    }
    terms_of(term, &size, launch);
    struct stratum *s = stratum_find(sampler, kernel, launch, term, size);
    s = s ? s : stratum_add(sampler, kernel, launch, term, size);
    if (!s || vec_reserve(&s->members, s->members.count + 1) < 0) {
        return error_memory();
    }
    sampler->kernels.data[kernel].warp_insns += launch->warp_insns;
    *timed = wanted(sampler, s, size);
    *cycles = *timed ? 0 : (uint64_t)(mean_ratio(s) * size + 0.5);
    s->members.data[s->members.count++] = (struct member){.x = size};
    s->x_left += size;
    s->x_left_squares += size * size;
    sampler->cycles += (double)*cycles;
    *ticket = (uint64_t)(s - sampler->strata.data) << 32 | (s->members.count - 1);
    return 0;
}

void sampler_measured(struct sampler *sampler, uint64_t ticket,
                      const struct sampler_measure *measure)
{
    double cycles = measure->cycles;
    struct stratum *s = &sampler->strata.data[ticket >> 32];
    struct member *m = &s->members.data[ticket & UINT32_MAX];
    m->ratio = cycles / m->x;
    s->timed++;
    s->ratio_sum += m->ratio;
    s->ratio_squares += m->ratio * m->ratio;
    s->x_left -= m->x;
    s->x_left_squares -= m->x * m->x;
    s->cycles += cycles;
    s->inside += measure->half;
    s->skipped_cycles += measure->skipped_cycles;
    s->blocks_skipped += measure->skipped;
    s->launches_inside += measure->skipped > 0;
    sampler->cycles += cycles;
}

void sampler_stopped(struct sampler *sampler, uint64_t ticket, double cycles)
{
    struct stratum *s = &sampler->strata.data[ticket >> 32];
    struct member *m = &s->members.data[ticket & UINT32_MAX];
    s->stopped++;
    s->x_left -= m->x;
    s->x_left_squares -= m->x * m->x;
    m->x = 0;
    s->cycles += cycles;
    sampler->cycles += cycles;
}

int sampler_whole(struct sampler *sampler, const char *kernel, uint64_t code, uint64_t cycles)
{
    size_t i = kernel_find(sampler, kernel, code);
    if (i == SIZE_MAX) {
        return error_memory();
    }
    sampler->kernels.data[i].whole++;
    sampler->kernels.data[i].whole_cycles += (double)cycles;
    sampler->cycles += (double)cycles;
    return 0;
}

/* ---- as an object ---- */

int sampler_create(struct sampler **out, const struct sampler_spec *spec)
{
    struct sampler *sampler = *out = calloc(1, sizeof *sampler);
    if (!sampler) {
        return error_memory();
    }
    sampler->spec = *spec;
    rng_seed(&sampler->rng, spec->seed);
    return 0;
}

void sampler_destroy(struct sampler *sampler)
{
    if (!sampler) {
        return;
    }
    for (size_t i = 0; i < sampler->strata.count; i++) {
        free(sampler->strata.data[i].blocks);
        vec_free(&sampler->strata.data[i].members);
    }
    for (size_t i = 0; i < sampler->kernels.count; i++) {
        free(sampler->kernels.data[i].name);
    }
    vec_free(&sampler->strata);
    vec_free(&sampler->kernels);
    free(sampler);
}

const struct sampler_spec *sampler_spec(const struct sampler *sampler)
{
    return &sampler->spec;
}

size_t sampler_kernels(const struct sampler *sampler)
{
    return sampler->kernels.count;
}

const char *sampler_kernel(const struct sampler *sampler, size_t i, struct sampler_total *out)
{
    total_of(sampler, i, out);
    out->variant = sampler->kernels.data[i].variant;
    return sampler->kernels.data[i].name;
}

void sampler_all(const struct sampler *sampler, struct sampler_total *out)
{
    total_of(sampler, SIZE_MAX, out);
}
