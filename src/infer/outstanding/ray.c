/*
 * Following one ray: the time of more and more loads until it jumps.
 *
 * A request that finds a structure full waits for the first answer, at L cycles, and is then L
 * under way itself. If requests leave c cycles apart, the last of n takes L + n c while all fit
 * and 2 L or more from the first that does not; at N + 1, with room for N, the time jumps by
 * L - N c. What only takes turns (coalescing, issue, write-back, a port) adds c with each request,
 * and never a whole round trip at once. So a jump is what one step adds beyond c times its
 * requests, if that is a quarter of a single load's time. That also says how far a ray can tell:
 * once the time has passed twice a single load's without a jump, N c is so large that a full
 * structure costs nothing more.
 *
 * Where answers come back more slowly than requests leave, nothing of that shows: what waited is
 * answered no later than in its turn. But what comes next waits, too: a hit of L1 that is asked for
 * when all requests have left, and before the first answer. It takes as long behind any number that
 * fits, and until the first answer behind one more. Who came too early, before all had left, waits
 * a little for each, and never for long at once.
 *
 * Lashgar et al. look for spikes of the variance over three neighbouring points; a jump of J cycles
 * is a spike of J^2 / 3 there. Steps instead of variances leave open neither which side of the
 * point it is on, nor how large a slope makes a spike of its own.
 */
#include "infer/outstanding/outstanding.h"

#include <math.h>

/* Thresholds. Fixed by: blind trials of outstanding loads (tests/blind/outstanding.c). */
static const struct {
    double jumps_late, suspect, step_share, as_high;
    unsigned step_cycles, elsewhere, kept;
} limits = {
    .jumps_late = 2.2,  /* times a single load: later jumps are not the first filling */
    .suspect = 1.4,     /* round trips before a jump: it may be the second filling. Chosen */
    .elsewhere = 3,     /* times as far apart: lines of other sets. Chosen */
    .kept = 4,          /* round trips after which nothing is under way: a hit is one. Chosen */
    .as_high = 0.5,     /* share of what makes a jump, elsewhere. Chosen */
    .step_share = 0.06, /* share of a single load's time that a step exceeds its neighbours by, */
    .step_cycles = 8,   /* and so many cycles. Both fixed by shared models with short round trips */
};

struct ray_shape ray_shape(const struct ray *ray, uint32_t x)
{
    struct ray_shape s = {.loads = ray->loads,
                          .lanes = ray->lanes,
                          .merge = ray->merge,
                          .share = ray->share,
                          .common = ray->apart ? ray->lanes - ray->apart : OUT_WARP};
    uint32_t warps = ray->warps;
    switch (ray->axis) {
    case RAY_LOADS:
        s.loads = x;
        s.threads = warps * OUT_WARP;
        break;
    case RAY_LANES:
        s.lanes = x;
        s.threads = OUT_WARP;
        break;
    case RAY_REQUESTS:
        if (ray->lanes < OUT_WARP) { /* the last warp has what is left over */
            s.loads = 1;
            s.threads = x / ray->lanes * OUT_WARP + x % ray->lanes;
            break;
        }
        s.loads = x <= OUT_BLOCK ? 1 : (x - 1) / OUT_BLOCK;
        s.more = x <= OUT_BLOCK ? 0 : (x - s.loads * OUT_BLOCK + OUT_WARP - 1) / OUT_WARP;
        s.threads = (x - s.more * OUT_WARP) / s.loads;
        break;
    case RAY_INSTRUCTIONS:
        warps = x ? (x + ray->loads - 1) / ray->loads : 1; /* 0: what fits when not even one does */
        s.loads = x / warps;
        s.more = x % warps;
        s.threads = warps * OUT_WARP;
        break;
    }
    return s;
}

uint32_t ray_instructions(const struct ray *ray, uint32_t x)
{
    struct ray_shape s = ray_shape(ray, x);
    return (s.threads + OUT_WARP - 1) / OUT_WARP * s.loads + s.more;
}

uint32_t ray_requests(const struct ray *ray, uint32_t x)
{
    struct ray_shape s = ray_shape(ray, x);
    return ray->axis == RAY_REQUESTS && ray->lanes < OUT_WARP ? x
           : ray->axis == RAY_REQUESTS ? s.threads * s.loads + s.more * OUT_WARP
                                       : ray_instructions(ray, x) * s.lanes / s.merge;
}

static int request(struct lab *lab, const struct trace **trace, const struct yardstick *yard,
                   const struct ray_shape *s, uint32_t run)
{
    struct trace_request r;
    trace_request_init(&r, "threads");
    const struct {
        const char *name;
        uint32_t value, otherwise;
    } numbers[] = {{"from", s->threads, 0},
                   {"to", s->threads, 0},
                   {"step", 1, 0},
                   {"loads", s->loads, 1},
                   {"more", s->more, 0},
                   {"lanes", s->lanes, OUT_WARP},
                   {"merge", s->merge, 1},
                   {"share", s->share, 1},
                   {"common", s->common, OUT_WARP},
                   {"stride", yard->line_bytes, 128},
                   {"cold", yard->cold, 0},
                   {"hit", yard->hit, 0},
                   {"runs", run ? 5 : 2, 3},
                   {"run", run, 0}};
    int rc = trace_request_set_text(&r, "op", yard->op);
    for (size_t i = 0; rc == 0 && i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].value != numbers[i].otherwise) {
            rc = trace_request_set_u64(&r, numbers[i].name, numbers[i].value);
        }
    }
    lab->loads += (uint64_t)s->threads * s->loads * 3;
    return rc ? rc : lab_measure(lab, trace, &r);
}

int ray_measure(struct lab *lab, double *cycles, const struct yardstick *yard,
                const struct ray *ray, uint32_t x, uint32_t run)
{
    const struct trace *trace = NULL;
    struct ray_shape shape = ray_shape(ray, x);
    int rc = request(lab, &trace, yard, &shape, run);
    if (rc) {
        return rc;
    }
    size_t count;
    const double *all = trace_f64(trace, "cycles", &count);
    if (!all || count == 0) {
        return lab_undecided(lab, "a trace of threads lacks its columns");
    }
    *cycles = INFINITY; /* what comes on top of the least is noise */
    for (size_t i = 0; i < count; i++) {
        *cycles = fmin(*cycles, all[i]);
    }
    return isfinite(*cycles) ? 0 : lab_undecided(lab, "a trace of threads has no times");
}

int ray_measure_both(struct lab *lab, double cycles[2], const struct yardstick *yard,
                     const struct ray *ray, uint32_t x, uint32_t more)
{
    int rc = ray_measure(lab, &cycles[0], yard, ray, x, 1);
    return rc ? rc : ray_measure(lab, &cycles[1], yard, ray, x + more, 1);
}

/* A value and its time. */
struct point {
    uint32_t x;
    double cycles;
};

/* What a request costs that only takes its turn: on average so far, and in the ray's first warp. */
static double turn_cycles(const struct ray_result *r, const struct yardstick *yard,
                          struct point low)
{
    uint32_t requests = ray_requests(&r->ray, low.x);
    double average = requests > 1 ? (low.cycles - yard->one_cycles) / (requests - 1) : 0;
    return fmax(0, fmax(average, r->turn_cycles));
}

static bool jumps(const struct ray_result *r, const struct yardstick *yard, struct point low,
                  struct point high)
{
    uint32_t more = ray_requests(&r->ray, high.x) - ray_requests(&r->ray, low.x);
    return high.cycles - low.cycles - more * turn_cycles(r, yard, low) >= yard->jump_cycles;
}

/*
 * A line may be slow by itself: it misses L2, or translation. What is full is as full when lines
 * lie elsewhere.
 */
static int confirm_elsewhere(struct lab *lab, struct ray_result *r, const struct yardstick *yard,
                             uint32_t x)
{
    struct yardstick other = *yard;
    double cycles[2] = {0};
    other.line_bytes = limits.elsewhere * yard->line_bytes;
    int rc = ray_measure_both(lab, cycles, &other, &r->ray, x, 1);
    r->jumped = rc != 0 || cycles[1] - cycles[0] >= limits.as_high * yard->jump_cycles;
    return lab_soft(rc) ? 0 : rc; /* not recorded: the jump stands */
}

/* The hit is one when nothing is under way any more: what made it wait is not that its line went.
 */
static int confirm_kept(struct lab *lab, struct ray_result *r, const struct yardstick *yard,
                        uint32_t x)
{
    struct yardstick later = *yard;
    double cycles = 0;
    later.hit = (uint32_t)(limits.kept * yard->round_cycles +
                           2 * yard->turn_cycles * ray_requests(&r->ray, x + 1));
    int rc = ray_measure(lab, &cycles, &later, &r->ray, x + 1, 1);
    r->jumped = rc == 0 && cycles < yard->one_cycles + limits.as_high * yard->jump_cycles;
    return lab_soft(rc) ? 0 : rc;
}

/* Both sides of a jump once more, more often. */
static int confirm(struct lab *lab, struct ray_result *r, const struct yardstick *yard, uint32_t x)
{
    double cycles[2] = {0};
    int rc = ray_measure_both(lab, cycles, yard, &r->ray, x, 1);
    const struct point low = {x, cycles[0]}, high = {x + 1, cycles[1]};
    r->jumped = rc == 0 && jumps(r, yard, low, high);
    rc = r->jumped ? confirm_elsewhere(lab, r, yard, x) : rc;
    return rc == 0 && r->jumped && yard->hit ? confirm_kept(lab, r, yard, x) : rc;
}

/* The first jump between two points: found if the time still jumps where they are neighbours. */
static int drill(struct lab *lab, struct ray_result *out, const struct yardstick *yard,
                 struct point low, struct point high)
{
    /* Between points far apart what takes turns need not be known well; between neighbours it
     * counts. */
    if (high.cycles - low.cycles < yard->jump_cycles) {
        return 0;
    }
    if (high.x == low.x + 1) {
        if (!jumps(out, yard, low, high)) {
            return 0;
        }
        out->before_cycles = low.cycles;
        out->after_cycles = high.cycles;
        out->fits = low.x;
        return confirm(lab, out, yard, low.x);
    }
    struct point middle = {.x = low.x + (high.x - low.x) / 2};
    int rc = ray_measure(lab, &middle.cycles, yard, &out->ray, middle.x, 0);
    rc = rc ? rc : drill(lab, out, yard, low, middle);
    return rc || out->jumped ? rc : drill(lab, out, yard, middle, high);
}

int ray_steps(struct lab *lab, bool *steps, const struct yardstick *yard, const struct ray *ray,
              uint32_t x)
{
    double least = fmax(limits.step_cycles, limits.step_share * yard->one_cycles);
    *steps = x > 1;
    int rc = 0;
    for (uint32_t run = 0; run < 2 && *steps && rc == 0; run++) {
        double at[4] = {0};
        for (uint32_t i = 0; i < 4 && rc == 0; i++) {
            rc = ray_measure(lab, &at[i], yard, ray, x - 1 + i, run);
        }
        *steps = rc == 0 && at[2] - at[1] - fmax(at[1] - at[0], at[3] - at[2]) >= least;
    }
    return rc;
}

/*
 * A structure that has been filled twice makes the time jump at twice its size, too, and more: at
 * the first filling answers may be back before much had to wait. So a jump that comes as late as a
 * second one is held against a half and a third of it.
 */
static int look_at_parts(struct lab *lab, struct ray_result *out, const struct yardstick *yard)
{
    double round = yard->one_cycles - yard->overhead_cycles;
    int rc = 0;
    if (!out->jumped || out->before_cycles < yard->overhead_cycles + limits.suspect * round) {
        return 0;
    }
    for (uint32_t part = 3; part >= 2 && rc == 0 && !out->by_part; part--) {
        uint32_t x = out->fits / part;
        rc = out->fits % part == 0 ? ray_steps(lab, &out->by_part, yard, &out->ray, x) : 0;
        if (rc == 0 && out->by_part) {
            out->fits = x;
            rc = ray_measure(lab, &out->before_cycles, yard, &out->ray, x, 0);
            rc = rc ? rc : ray_measure(lab, &out->after_cycles, yard, &out->ray, x + 1, 0);
        }
    }
    return lab_soft(rc) ? 0 : rc; /* not recorded: the jump stands */
}

static uint32_t next_value(const struct ray *ray, uint32_t x)
{
    uint32_t step = (ray->last + 3) / 4;
    if (ray->axis == RAY_REQUESTS) {
        step = OUT_WARP;
    } else if (ray->axis == RAY_INSTRUCTIONS) {
        step = OUT_WARP / ray->lanes < ray->loads ? OUT_WARP / ray->lanes : ray->loads;
    }
    uint32_t next = x / step * step + step;
    return next < ray->last ? next : ray->last;
}

/* What a request of the first warp added. By requests: in the half of it that took less, for the
 * structure may have been full in the other. */
static int first_turn(struct lab *lab, struct ray_result *r, const struct yardstick *yard,
                      struct point first)
{
    uint32_t requests = ray_requests(&r->ray, first.x);
    if (r->ray.axis == RAY_INSTRUCTIONS && requests > 1) {
        r->turn_cycles = (first.cycles - yard->one_cycles) / (requests - 1);
    }
    if (r->ray.axis != RAY_REQUESTS || r->ray.last < OUT_WARP) {
        return 0;
    }
    double half = 0, whole = 0;
    int rc = ray_measure(lab, &half, yard, &r->ray, OUT_WARP / 2, 0);
    rc = rc ? rc : ray_measure(lab, &whole, yard, &r->ray, OUT_WARP, 0);
    double each = (double)ray_requests(&r->ray, OUT_WARP / 2);
    r->turn_cycles = rc ? 0 : fmin(half - first.cycles, whole - half) / each;
    return rc;
}

/* All of them had surely left before the hit came. */
static bool had_left(const struct yardstick *yard, const struct ray *ray, uint32_t x)
{
    return ray_requests(ray, x) * yard->turn_cycles <= yard->hit;
}

/* As ray_follow(), by what a hit takes behind so many loads. */
static int follow_hits(struct lab *lab, struct ray_result *out, const struct yardstick *yard,
                       const struct ray *ray)
{
    struct point low = {.x = 1}, high;
    int rc = ray_measure(lab, &low.cycles, yard, ray, low.x, 0);
    for (high = low; rc == 0 && !out->jumped; low = high) {
        out->fits = had_left(yard, ray, low.x) ? low.x : out->fits;
        if (low.x >= ray->last || low.cycles > yard->one_cycles + yard->round_cycles - yard->hit) {
            return 0;
        }
        high.x = next_value(ray, low.x);
        rc = ray_measure(lab, &high.cycles, yard, ray, high.x, 0);
        uint32_t fits = out->fits;
        rc = rc ? rc : drill(lab, out, yard, low, high);
        out->fits = out->jumped ? out->fits : fits;
    }
    return rc;
}

int ray_follow(struct lab *lab, struct ray_result *out, const struct yardstick *yard,
               const struct ray *ray)
{
    *out = (struct ray_result){.ray = *ray};
    if (yard->hit) {
        return follow_hits(lab, out, yard, ray);
    }
    struct point low = {.x = 1}, high;
    double all_at_once = 2 * (yard->one_cycles - yard->overhead_cycles);
    int rc = ray_measure(lab, &low.cycles, yard, ray, low.x, 0);
    rc = rc ? rc : first_turn(lab, out, yard, low);
    for (high = low; rc == 0 && !out->jumped; low = high) {
        if (low.cycles <= 0.97 * (all_at_once + yard->overhead_cycles) - yard->jump_cycles) {
            out->fits = low.x;
        }
        if (low.cycles < all_at_once) {
            out->at_once = low.x;
        }
        if (low.x >= ray->last || low.cycles > 2 * yard->one_cycles) {
            return 0;
        }
        high.x = next_value(ray, low.x);
        rc = ray_measure(lab, &high.cycles, yard, ray, high.x, 0);
        uint32_t fits = out->fits;
        rc = rc ? rc : drill(lab, out, yard, low, high);
        if (!out->jumped || out->before_cycles > limits.jumps_late * yard->one_cycles) {
            out->jumped = false;
            out->fits = fits;
        }
    }
    rc = rc ? rc : look_at_parts(lab, out, yard);
    if (rc == 0 && out->before_cycles < all_at_once && out->fits > out->at_once) {
        out->at_once = out->fits;
    }
    return rc;
}
