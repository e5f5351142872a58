/*
 * Memory under load: the latency of a load with more and more others under way, from one warp to
 * the whole GPU, and the bytes moved in a second. The probe `flight` streams through memory that
 * nobody read before, after another buffer displaced what L2 held. So memory serves each load.
 *
 * Bandwidth is taken at the number of lines under way that moves most, of those that come near it
 * in few turns. By Little's law it is lines under way over latency; where it no longer grows with
 * them, something is full. It is the difference of a longer run and a shorter one: both begin
 * alike, and L2 keeps about as many stores back in either.
 *
 * Bytes a second need the device's nanosecond timer. Without one (Fermi) the result is bytes a
 * cycle.
 */
#include "infer/experiments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: an H200 (a run of 43 us read 3.8e12 B/s, one of 390 us 4.46e12). */
static const struct {
    double least_ns, fast_rate, dear_lines, as_much, may_lead, steady, in_step, most_written, kept;
    unsigned line_bytes, latency_turns, least_turns, longer, ring;
    uint64_t first_bytes;
} limits = {
    .least_ns = 50000.0,   /* ns: a timer may tick once a microsecond */
    .fast_rate = 500e9,    /* bytes a second: faster memories are given longer */
    .dear_lines = 1 << 18, /* lines of a run where loads are dear: as exact as more. Chosen */
    .as_much = 0.97, /* of what moves most in few turns: long runs may move more. By sim:k20 */
    .may_lead = 0.8, /* of the same: long runs may move most. sim:k20: 198 for 150 GB/s. Chosen */
    .steady = 0.05,  /* of a rate: so much two runs may differ. Chosen */
    .in_step = 0.03, /* the same of a clock: of loads 0.001 on models, 0.01 of an H200. Chosen */
    .kept = 3, /* times the rate of further turns, at which hardly any of the first stores waited
                  for memory: what lies before it held two thirds of them. Chosen */
    .most_written = 1 << 27,           /* bytes of the longest run for that. Chosen */
    .ring = 4,                         /* times L2, in which stores go round. Chosen */
    .longer = 4,                       /* times as many turns more as were taken. Chosen */
    .line_bytes = 128,                 /* bytes that a request moves */
    .latency_turns = 3,                /* turns of a run for latencies. Chosen */
    .least_turns = 8,                  /* turns of a run for bandwidth. Chosen */
    .first_bytes = UINT64_C(32) << 20, /* bytes of streamed memory: 256 Ki lines. Chosen */
};

struct load_shape {
    bool all_sms;
    uint32_t threads, loads;
};

/* From one line under way upwards. */
static const struct load_shape shapes[] = {
    {false, 32, 1}, {false, 1024, 1}, {false, 1024, 8}, {true, 32, 1},
    {true, 256, 1}, {true, 1024, 1},  {true, 1024, 2},  {true, 1024, 8},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct flown {
    double requests, bytes, cycles, slowest, ns;
};

static uint64_t l2_bytes(const struct cache_result *l2)
{
    return l2 && l2->size.status == ATTRIBUTE_MEASURED ? (uint64_t)l2->size.value : 0;
}

static const struct cache_result *find_l2(const struct dissection *d)
{
    for (size_t i = 0; i < d->cache_count; i++) {
        if (strcmp(d->caches[i].id, "l2") == 0) {
            return &d->caches[i];
        }
    }
    return NULL;
}

static int read_columns(struct lab *lab, struct flown *out, const struct trace *trace)
{
    size_t count, counts[3];
    const double *requests = trace_f64(trace, "requests", &count);
    const double *bytes = trace_f64(trace, "bytes", &count);
    const double *cycles = trace_f64(trace, "cycles", &counts[0]);
    const double *slowest = trace_f64(trace, "slowest", &counts[1]);
    const double *ns = trace_f64(trace, "ns", &counts[2]);
    if (!requests || !bytes || !cycles || !slowest || !ns || counts[0] == 0 ||
        counts[0] != counts[1] || counts[0] != counts[2]) {
        return lab_undecided(lab, "a trace of flight lacks columns");
    }
    size_t best = 0; /* the fastest: what comes on top is noise */
    for (size_t i = 1; i < counts[0]; i++) {
        best = slowest[i] < slowest[best] ? i : best;
    }
    *out = (struct flown){.requests = requests[0],
                          .bytes = bytes[0],
                          .cycles = cycles[best],
                          .slowest = slowest[best],
                          .ns = ns[best]};
    return out->cycles > 0 ? 0 : lab_undecided(lab, "a trace of flight has no times");
}

/* A stretch of memory that no earlier launch has read. Where loads are dear, stores go round in
 * some of them (`ring`, times L2; 0: on and on): what L2 still had of the first is written by then.
 */
struct ground {
    uint64_t l2_bytes, next, ring;
    bool flushed;
};

static int fly(struct lab *lab, struct flown *out, struct ground *ground,
               const struct load_shape *shape, const char *op, uint64_t turns, double requests)
{
    struct trace_request r;
    const struct trace *trace = NULL;
    *out = (struct flown){0};
    /* Of the requests in a turn only the device knows how many; the first time there is room. */
    uint64_t bytes = (uint64_t)requests * limits.line_bytes * (turns + 1);
    bytes = bytes < limits.first_bytes ? limits.first_bytes : bytes;
    trace_request_init(&r, "flight");
    int rc = trace_request_set_u64(&r, "threads", shape->threads);
    rc = rc || shape->all_sms ? rc : trace_request_set_u64(&r, "blocks", 1);
    rc = rc ? rc : trace_request_set_u64(&r, "loads", shape->loads);
    rc = rc ? rc : trace_request_set_u64(&r, "turns", turns);
    rc = rc ? rc : trace_request_set_u64(&r, "start", ground->next);
    rc = rc ? rc : trace_request_set_u64(&r, "bytes", bytes);
    rc =
        rc || ground->flushed ? rc : trace_request_set_u64(&r, "flush_bytes", 3 * ground->l2_bytes);
    rc = rc ? rc : trace_request_set_text(&r, "op", op);
    rc = rc ? rc : lab_measure(lab, &trace, &r);
    rc = rc ? rc : read_columns(lab, out, trace);
    if (rc == 0) {
        /* What moved many times L2 left nothing of the first stretches there. */
        ground->flushed = true;
        ground->next += ground->ring ? (uint64_t)out->bytes : bytes;
        if (out->bytes > 8.0 * (double)ground->l2_bytes ||
            (ground->ring && ground->next >= ground->ring * ground->l2_bytes)) {
            ground->next = 0;
        }
        lab->loads += (uint64_t)out->bytes / limits.line_bytes;
    }
    return rc;
}

/*
 * *best: of the shapes that move as much as any, but for what few turns say by chance, the one with
 * most lines under way. Undecided where a shape is refused, and none of those before moves less
 * than another: more lines under way may move more.
 */
static int measure_latencies(struct lab *lab, struct ground *ground, size_t *best)
{
    struct memory_result *m = &lab->out->memory;
    double most = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        struct flown f;
        /* The last stretch first, so that the buffer is made once. */
        ground->next = (SHAPES - 1 - i) * limits.first_bytes;
        int rc = fly(lab, &f, ground, &shapes[i], "load", limits.latency_turns, 0);
        if (rc) {
            return lab_soft(rc) && i > *best + 1 ? 0 : rc;
        }
        struct loaded_latency *point = &m->loaded[m->loaded_count++];
        *point =
            (struct loaded_latency){.requests = f.requests,
                                    .cycles = f.cycles,
                                    .bytes_per_cycle = f.bytes / (limits.latency_turns * f.slowest),
                                    .bytes_per_second = f.ns > 0 ? f.bytes / f.ns * 1e9 : 0};
        most = fmax(most, point->bytes_per_cycle);
        *best = point->bytes_per_cycle >= limits.as_much * most ? i : *best;
    }
    ground->next = SHAPES * limits.first_bytes;
    return 0;
}

/*
 * Turns that take as long as a coarse timer needs, going by what the shape did before, and longer
 * in fast memories: on an H200 runs of 43 us scatter by a tenth, runs of 390 us by a hundredth.
 */
static uint64_t enough_turns(const struct lab *lab, const struct loaded_latency *point)
{
    double turn_bytes = point->requests * limits.line_bytes, rate = point->bytes_per_second,
           turns = 0;
    double most = 0.5 * (double)lab->options->max_footprint_bytes / turn_bytes - 1;
    if (rate > 0) {
        turns = ceil(limits.least_ns * fmax(1, rate / limits.fast_rate) / 1e9 * rate / turn_bytes);
    }
    if (lab->options->max_cache_loads) {
        most = fmin(most, limits.dear_lines / point->requests);
    }
    turns = fmax(limits.least_turns, fmin(turns, most));
    return (uint64_t)turns;
}

/* What a longer run moves more than a shorter one, and in how many cycles and ns. */
struct moved {
    double bytes, cycles, ns;
};

static struct moved moved_more(const struct flown *longer, double turns, const struct flown *first,
                               double first_turns)
{
    return (struct moved){.bytes = longer->bytes - first->bytes,
                          .cycles = longer->slowest * turns - first->slowest * first_turns,
                          .ns = first->ns > 0 ? fmax(0, longer->ns - first->ns) : 0};
}

static double rate_of(const struct moved *moved)
{
    return moved->cycles > 0 ? moved->bytes / moved->cycles : INFINITY;
}

/* Than was read; NULL: these are reads. */
static bool is_more(const struct moved *moved, const struct moved *reads)
{
    return reads && rate_of(moved) > (1 + limits.steady) * rate_of(reads);
}

/*
 * Do stores pile up? Warps that are through with theirs sooner than others had less in front of
 * them: then the slowest warp's cycles are others than those of the whole time, by the clock that
 * reads had.
 */
static bool piles_up(const struct moved *moved, const struct moved *reads)
{
    bool has_clock = reads && reads->ns > 0 && reads->cycles > 0 && moved->ns > 0;
    double clock = has_clock ? reads->cycles / reads->ns : 0;
    return has_clock && fabs(moved->cycles / (moved->ns * clock) - 1) > limits.in_step;
}

/* Were the first turns' stores held by what lies before memory? Then more turns fill it as well. */
static bool is_kept(const struct flown *first, double turns, const struct moved *moved)
{
    return first->bytes > limits.kept * rate_of(moved) * first->slowest * turns;
}

static void set_bandwidth(struct lab *lab, struct attribute *out, const char *op,
                          const struct moved *moved, double requests)
{
    double bytes = moved->bytes, cycles = moved->cycles, ns = moved->ns;
    char id[24], reason[160];
    lab_evidence(lab, id, "memory",
                 "flight op=%s: %.4g bytes in %.6g cycles, %.6g ns, with %.0f lines under way", op,
                 bytes, cycles, ns, requests);
    if (ns > 0 && bytes > 0) {
        attribute_set(out, bytes / ns * 1e9, "B/s", 0.8, id);
    } else {
        snprintf(reason, sizeof reason,
                 "the device has no timer in nanoseconds; %.4g bytes a cycle", bytes / cycles);
        attribute_refuse(out, "B/s", reason);
    }
}

/*
 * More is written than was read, which passes the same bus, or stores pile up: what lies before it
 * may still take stores that nobody waits for. Ever longer runs, until two of them move as much in
 * a cycle, or no more than was read, and none pile up. Undecided where none do.
 */
static int write_longer(struct lab *lab, struct moved *moved, struct ground *ground, size_t best,
                        double requests, struct flown *before, uint64_t turns,
                        const struct moved *reads)
{
    double most = fmin(limits.most_written, 0.5 * (double)lab->options->max_footprint_bytes);
    most = fmax(1, most / (requests * limits.line_bytes)) - 1;
    uint64_t all = (uint64_t)most, more = turns * limits.longer;
    bool agree = false;
    while (!agree && turns + more <= all) {
        struct flown longer;
        ground->next = 0;
        int rc = fly(lab, &longer, ground, &shapes[best], "store", turns + more, requests);
        if (rc) {
            return rc;
        }
        double rate = rate_of(moved);
        *moved = moved_more(&longer, (double)(turns + more), before, (double)turns);
        agree = isfinite(rate) && fabs(rate_of(moved) - rate) <= limits.steady * rate;
        agree = (agree || !is_more(moved, reads)) && !piles_up(moved, reads);
        *before = longer;
        turns += more;
        /* The last one is as long as it can be, if that is no less than the one before. */
        bool fits = turns + more * limits.longer <= all;
        more = fits || all < turns + more ? more * limits.longer : all - turns;
    }
    return agree ? 0 : lab_undecided(lab, "longer runs of stores move ever less in a cycle");
}

/*
 * What more turns move more, by the time that they take more: beginnings and what L2 keeps of
 * stores are in both. Fast memories want a longer beginning too, by their scatter, and
 * so do the few turns that are taken where nobody knows how long they last. reads: loads,
 * which stores are held against; NULL: these are loads.
 */
static int measure_shape(struct lab *lab, struct moved *moved, struct ground *ground, size_t best,
                         const char *op, uint64_t least_bytes, const struct moved *reads)
{
    const struct loaded_latency *point = &lab->out->memory.loaded[best];
    double requests = point->requests;
    struct flown f, longer;
    uint64_t more = enough_turns(lab, point);
    uint64_t full = (uint64_t)((double)least_bytes / (requests * limits.line_bytes)) + 1;
    more = more > full ? more : full;
    bool is_slow = point->bytes_per_second > 0 &&
                   (point->bytes_per_second <= limits.fast_rate || lab->options->max_cache_loads);
    uint64_t first = !is_slow ? more : full > limits.latency_turns ? full : limits.latency_turns;
    first = ground->ring ? limits.latency_turns : first; /* L2 is full of stores by then */
    if (requests * limits.line_bytes * (double)more > 8.0 * (double)ground->l2_bytes) {
        ground->next = 0;
    }
    int rc = fly(lab, &f, ground, &shapes[best], op, first, requests);
    rc = rc ? rc : fly(lab, &longer, ground, &shapes[best], op, first + more, requests);
    if (rc) {
        return rc;
    }
    *moved = moved_more(&longer, (double)(first + more), &f, (double)first);
    if (ground->ring && is_kept(&f, (double)first, moved)) {
        f = longer;
        first += more;
        rc = fly(lab, &longer, ground, &shapes[best], op, first + more, requests);
        if (rc) {
            return rc;
        }
        *moved = moved_more(&longer, (double)(first + more), &f, (double)first);
    }
    return !is_more(moved, reads) && !piles_up(moved, reads)
               ? 0
               : write_longer(lab, moved, ground, best, requests, &longer, first + more, reads);
}

/*
 * The most that any shape moves that comes near the best in few turns: in long runs one of those
 * may move a third more than another, and what few turns say changes with a cycle. Refused only
 * where the best is. reads as above; *moved: what moves most.
 */
static int measure_bandwidth(struct lab *lab, struct attribute *out, struct ground *ground,
                             size_t best, const char *op, uint64_t least_bytes,
                             const struct moved *reads, struct moved *moved)
{
    const struct memory_result *m = &lab->out->memory;
    double most = 0, requests = m->loaded[best].requests;
    int rc = measure_shape(lab, moved, ground, best, op, least_bytes, reads);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < m->loaded_count; i++) {
        most = fmax(most, m->loaded[i].bytes_per_cycle);
    }
    for (size_t i = 0; i < m->loaded_count; i++) {
        struct moved other;
        if (i == best || m->loaded[i].bytes_per_cycle < limits.may_lead * most) {
            continue;
        }
        rc = measure_shape(lab, &other, ground, i, op, least_bytes, reads);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        if (rc == 0 && rate_of(&other) > rate_of(moved)) {
            *moved = other;
            requests = m->loaded[i].requests;
        }
    }
    set_bandwidth(lab, out, op, moved, requests);
    return 0;
}

/*
 * Written lines that L2 keeps are written to memory when others come: a run of stores that begins
 * with an L2 full of them takes longer than one that begins without. So that all begin alike, as
 * much is written before the first as they find there. What no recording has is left out.
 */
static int fill_with_stores(struct lab *lab, struct ground *ground, size_t best)
{
    if (lab->options->max_cache_loads) {
        ground->next = 0;
        ground->ring = limits.ring;
    }
    struct ground own = *ground; /* later runs are where they would be without it */
    double requests = lab->out->memory.loaded[best].requests;
    double turns = ceil(2.0 * (double)ground->l2_bytes / (requests * limits.line_bytes));
    struct flown f;
    int rc = fly(lab, &f, &own, &shapes[best], "store", (uint64_t)fmax(1, turns), requests);
    ground->ring = rc ? 0 : ground->ring;
    ground->next = ground->ring ? own.next : ground->next;
    return lab_soft(rc) ? 0 : rc;
}

int memory_dissect(struct lab *lab)
{
    const struct cache_result *l2 = find_l2(lab->out);
    struct ground ground = {.l2_bytes = l2_bytes(l2)};
    size_t best = 0;
    struct moved reads, writes;
    if (l2 && l2->size.status == ATTRIBUTE_ABSENT) {
        return lab_undecided(lab, "bandwidth is measured past an L2, and none shows");
    }
    if (ground.l2_bytes == 0) {
        return lab_undecided(lab, "needs the size of L2 (experiments capacity, sweep)");
    }
    struct memory_result *m = &lab->out->memory;
    int rc = measure_latencies(lab, &ground, &best);
    rc = rc ? rc
            : measure_bandwidth(lab, &m->read_bandwidth, &ground, best, "load", 0, NULL, &reads);
    rc = rc ? rc : fill_with_stores(lab, &ground, best);
    return rc ? rc
              : measure_bandwidth(lab, &m->write_bandwidth, &ground, best, "store",
                                  2 * ground.l2_bytes, &reads, &writes);
}

void memory_refuse(struct dissection *out, const struct refusal *why)
{
    attribute_refuse_open(&out->memory.read_bandwidth, "B/s", why);
    attribute_refuse_open(&out->memory.write_bandwidth, "B/s", why);
}
