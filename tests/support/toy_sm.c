/*
 * See toy_sm.h. Warps issue in turn; an instruction is ready when the one before it has issued and
 * fewer of its warp's than allowed are in flight.
 */
#include "support/toy_sm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_source.h"
#include "util/error.h"
#include "util/rng.h"

enum { WARP = 32, MOST = 32 * 32 * 17, LOADS = 17 };

struct toy_sm {
    struct toy_sm_config config;
    struct rng noise;
    struct traceset *set;
    uint64_t launches, refused;
};

/* What one launch looks like. */
struct shape {
    uint32_t threads, loads, more, merge, share, common, lanes;
    uint32_t hit; /* when one more load comes, which hits; 0: none */
    bool usual;   /* distance of lines */
    bool past;    /* L1, whose misses' table does not know them */
    bool cold;
};

/* An entry: until when it is taken, for which line, and how many merged. */
struct entry {
    double until;
    uint64_t line;
    uint32_t merged;
};

struct run {
    const struct toy_sm_config *config;
    struct entry entry[MOST]; /* all there ever were, in order of their start */
    size_t count;
    double now, answered, latency;
    bool past;
};

static double nth_free(const struct run *run, double now)
{
    /* When fewer than `entries` are taken: the earliest end among them, as often as needed. */
    for (;;) {
        size_t taken = 0;
        double first = INFINITY;
        for (size_t i = 0; i < run->count; i++) {
            if (run->entry[i].until > now) {
                taken++;
                first = fmin(first, run->entry[i].until);
            }
        }
        if (taken < run->config->entries) {
            return now;
        }
        now = first;
    }
}

static struct entry *pending(struct run *run, uint64_t line)
{
    for (size_t i = run->count; i-- > 0;) {
        if (run->entry[i].line == line && run->entry[i].until > run->now) {
            return &run->entry[i];
        }
    }
    return NULL;
}

/* A request starts; returns when its answer is there. */
static double request(struct run *run, uint64_t line)
{
    const struct toy_sm_config *c = run->config;
    run->now += c->request_cycles;
    bool in_table = (c->structure == TOY_MSHR || c->table_beside) && !run->past;
    bool counts = c->structure == TOY_REQUEST_LIMIT || (c->structure == TOY_MSHR && !run->past);
    struct entry *entry = in_table ? pending(run, line) : NULL;
    if (entry && entry->merged == c->mergers) {
        run->now = entry->until;
        if (c->again_cycles > 0) {
            return run->now + c->again_cycles;
        }
        entry = NULL;
    }
    if (entry) {
        entry->merged++;
        return entry->until;
    }
    if (counts) {
        run->now = nth_free(run, run->now);
    }
    double done = fmax(run->now + run->latency, run->answered + c->answer_cycles);
    run->answered = done;
    if (counts) {
        run->entry[run->count++] = (struct entry){.until = done, .line = line};
    }
    return done;
}

static double instruction(struct run *run, const struct shape *s, uint32_t warp, uint32_t load,
                          uint32_t lanes)
{
    const struct toy_sm_config *c = run->config;
    bool is_late = warp == c->late_warp && load == 0 && (c->late_always || s->lanes > WARP / 2);
    run->now += is_late ? c->late_cycles : 0;
    double done = run->now;
    double slower = warp >= c->slow_warp && s->usual ? c->slower_cycles : 0;
    uint64_t before = UINT64_MAX;
    struct entry *held = NULL;
    if (c->structure == TOY_PRT) {
        run->now = nth_free(run, run->now);
        held = &run->entry[run->count++];
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t first = lane < s->common ? warp / s->share : warp;
        uint64_t number = (uint64_t)first * s->lanes + lane;
        uint64_t line = number / s->merge * LOADS + load;
        if (line != before || c->lanes_merge_there) {
            done = fmax(done, request(run, line) + slower);
        }
        before = line;
    }
    if (held) {
        *held = (struct entry){.until = done};
    }
    return done;
}

/* The warp whose next instruction is ready first; the one after the last where several are. */
static uint32_t next_warp(const double ready[WARP], uint32_t warps, uint32_t last)
{
    uint32_t best = last;
    double least = INFINITY;
    for (uint32_t i = 1; i <= warps; i++) {
        uint32_t warp = (last + i) % warps;
        if (ready[warp] < least) {
            least = ready[warp];
            best = warp;
        }
    }
    return best;
}

/* It waits for those before it, and for a place where all instructions or requests have one. */
static double hit(struct run *run, const struct shape *s)
{
    const struct toy_sm_config *c = run->config;
    double start = fmax(run->now, s->hit);
    start =
        c->structure == TOY_PRT || c->structure == TOY_REQUEST_LIMIT ? nth_free(run, start) : start;
    return start + (c->hit_cycles > 0 ? c->hit_cycles : c->latency_cycles) - s->hit;
}

/* How much later a crowd of cold loads makes a block end. */
static double crowded(const struct toy_sm_config *c, const struct shape *s, uint32_t warps)
{
    bool is_crowd =
        c->crowd.loads && s->cold && s->lanes == 1 && warps * s->loads + s->more > c->crowd.loads;
    return !is_crowd ? 0 : warps <= WARP / 4 ? c->crowd.few_warps : c->crowd.many_warps;
}

static double simulate(const struct toy_sm_config *c, const struct shape *s)
{
    static struct run run;
    double ready[WARP] = {0}, done[WARP][LOADS], end = 0;
    uint32_t warps = (s->threads + WARP - 1) / WARP, issued[WARP] = {0}, last = warps - 1;
    run.config = c;
    run.count = 0;
    run.now = run.answered = 0;
    run.past = s->past;
    run.latency = s->cold && c->memory_cycles > 0 ? c->memory_cycles : c->latency_cycles;
    for (;;) {
        uint32_t warp = next_warp(ready, warps, last), load = issued[warp];
        if (s->hit && (ready[warp] > s->hit || s->lanes == 0)) {
            return hit(&run, s);
        }
        if (isinf(ready[warp]) || s->lanes == 0) {
            return end + c->overhead_cycles + warps + crowded(c, s, warps);
        }
        uint32_t in_warp = s->threads - warp * WARP < WARP ? s->threads - warp * WARP : WARP;
        last = warp;
        run.now = fmax(run.now, ready[warp]);
        double start = run.now;
        done[warp][load] =
            instruction(&run, s, warp, load, in_warp < s->lanes ? in_warp : s->lanes);
        end = fmax(end, done[warp][load]);
        ready[warp] = start + c->issue_cycles;
        issued[warp]++;
        if (c->loads_per_warp && issued[warp] >= c->loads_per_warp) {
            ready[warp] = fmax(ready[warp], done[warp][issued[warp] - c->loads_per_warp]);
        }
        if (issued[warp] == s->loads + (warp < s->more)) {
            ready[warp] = INFINITY;
        }
    }
}

static double noisy(struct toy_sm *toy, double cycles)
{
    double u = rng_double(&toy->noise);
    cycles *= 1 + toy->config.noise.drift * sin((double)toy->launches / 300);
    cycles += u * u * u * toy->config.noise.jitter_cycles;
    if (rng_double(&toy->noise) < toy->config.noise.outlier_share) {
        cycles += 20 * exp(rng_double(&toy->noise) * 5.5); /* 20 to 5000 */
    }
    return floor(cycles + 0.5);
}

static uint32_t number(const struct trace_request *request, const char *name, uint32_t otherwise)
{
    uint64_t value;
    return trace_request_u64(request, name, &value) ? (uint32_t)value : otherwise;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy_sm *toy = ctx;
    enum { POINTS = 1024, RUNS = 16 };
    static double cycles[POINTS * RUNS];
    static uint32_t threads[POINTS];
    const struct trace_request *r = &trace->request;
    if (strcmp(r->probe, "threads") != 0) {
        trace->status = SONDE_EUNSUPPORTED;
        snprintf(trace->reason, sizeof trace->reason, "a toy SM has nothing else");
        return 0;
    }
    uint32_t from = number(r, "from", 2), to = number(r, "to", 1024), step = number(r, "step", 2);
    uint32_t runs = number(r, "runs", 3), points = (to - from) / step + 1;
    if (from == 0 || to > POINTS) { /* as the probe, whoever asks has to know it */
        toy->refused++;
        return error_set(SONDE_EUSAGE, "a toy block has no %u threads", to);
    }
    for (uint32_t i = 0; i < points; i++) {
        struct shape s = {.threads = threads[i] = from + i * step,
                          .loads = number(r, "loads", 1),
                          .more = number(r, "more", 0),
                          .merge = number(r, "merge", 1),
                          .share = number(r, "share", 1),
                          .common = number(r, "common", WARP),
                          .lanes = number(r, "lanes", WARP),
                          .hit = number(r, "hit", 0),
                          .usual = number(r, "stride", 128) == 128,
                          .past = strcmp(trace_request_text(r, "op"), "cg") == 0,
                          .cold = number(r, "cold", 0) != 0};
        double exact = simulate(&toy->config, &s);
        for (uint32_t k = 0; k < runs; k++) {
            toy->launches++;
            cycles[i * runs + k] = noisy(toy, exact);
        }
    }
    int rc = trace_add_column(trace, "threads", TRACE_U32, threads, points);
    return rc ? rc : trace_add_column(trace, "cycles", TRACE_F64, cycles, (size_t)points * runs);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy_sm *toy = ctx;
    return toy_get(toy->set, answer, toy, out, request);
}

struct toy_sm *toy_sm_create(const struct toy_sm_config *config)
{
    struct toy_sm *toy = calloc(1, sizeof *toy);
    toy->config = *config;
    rng_seed(&toy->noise, config->seed);
    traceset_create(&toy->set);
    return toy;
}

void toy_sm_destroy(struct toy_sm *toy)
{
    traceset_destroy(toy->set);
    free(toy);
}

struct trace_source toy_sm_source(struct toy_sm *toy)
{
    return (struct trace_source){.get = get, .ctx = toy};
}

uint64_t toy_sm_launches(const struct toy_sm *toy)
{
    return toy->launches;
}

uint64_t toy_sm_refused(const struct toy_sm *toy)
{
    return toy->refused;
}
