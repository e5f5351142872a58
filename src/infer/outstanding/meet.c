/*
 * What rays say together of a count: each bounds it from both sides, in requests and in warp
 * instructions. The unit whose bounds all meet is that of what is full. Where none has such, some
 * may tell a table of instructions, and others what they fill sooner.
 */
#include "infer/outstanding/outstanding.h"

#include <math.h>
#include <string.h>

static uint32_t in_unit(const struct ray_result *r, uint32_t x, bool by_instructions)
{
    return by_instructions ? ray_instructions(&r->ray, x) : ray_requests(&r->ray, x);
}

struct bounds meet_all(const struct meeting *m, bool by_instructions, double slack)
{
    struct bounds b = {.high = INFINITY};
    for (size_t i = 0; i < m->count; i++) {
        const struct ray_result *r = &m->rays[i];
        if (r->fits > 0) {
            b.low = fmax(b.low, in_unit(r, r->fits, by_instructions) * (1 - slack));
        }
        if (r->jumped) {
            b.high = fmin(b.high, (in_unit(r, r->fits + 1, by_instructions) - 1) * (1 + slack));
        }
    }
    b.agree = b.low <= b.high && isfinite(b.high);
    return b;
}

/* ---- a table of instructions that some rays fill ---- */

/* A number of instructions, and the rays that jump at it. */
struct candidate {
    uint32_t instructions, requests; /* the most that any of these has then */
    size_t rays;
};

static bool is_of(const struct ray_result *r, uint32_t instructions)
{
    return r->jumped && r->ray.axis == RAY_INSTRUCTIONS && r->fits == instructions;
}

static struct candidate candidate_of(const struct meeting *m, const struct ray_result *as)
{
    struct candidate c = {.instructions = as->fits};
    for (size_t i = 0; i < m->count; i++) {
        const struct ray_result *r = &m->rays[i];
        if (is_of(r, as->fits)) {
            uint32_t requests = ray_requests(&r->ray, r->fits);
            c.requests = requests > c.requests ? requests : c.requests;
            c.rays++;
        }
    }
    return c;
}

/*
 * May the ray be as it is beside such a table? It may have filled something else sooner, with more
 * requests than those of the table had; and, with hits, jump later than the table was full, where
 * answers were back by then: two others must agree where one does.
 */
static bool leaves_room(const struct meeting *m, const struct ray_result *r,
                        const struct candidate *c)
{
    uint32_t own = ray_instructions(&r->ray, r->fits);
    if (!r->jumped || own == c->instructions) {
        return own <= c->instructions;
    }
    return own < c->instructions ? ray_requests(&r->ray, r->fits) >= c->requests
                                 : m->hits && c->rays > 1;
}

/* Several rays jump there; what one alone says may as well be of something else. */
static bool is_table(const struct meeting *m, const struct candidate *c)
{
    for (size_t i = 0; i < m->count; i++) {
        if (!leaves_room(m, &m->rays[i], c)) {
            return false;
        }
    }
    return c->rays > 1;
}

bool meet_most(const struct meeting *m, struct bounds *b)
{
    struct candidate best = {0};
    for (size_t i = 0; i < m->count; i++) {
        const struct ray_result *r = &m->rays[i];
        if (r->jumped && r->ray.axis == RAY_INSTRUCTIONS) {
            struct candidate c = candidate_of(m, r);
            best = c.rays > best.rays && is_table(m, &c) ? c : best;
        }
    }
    if (best.rays > 0) {
        *b = (struct bounds){.low = best.instructions, .high = best.instructions, .agree = true};
    }
    return best.rays > 0;
}

/* ---- one that may be otherwise ---- */

bool meet_but_one(const struct meeting *m, struct bounds *b, size_t *left_out, bool by_instructions)
{
    size_t jumped = 0, ways = 0;
    for (size_t i = 0; i < m->count; i++) {
        jumped += m->rays[i].jumped;
    }
    for (size_t i = 0; i < m->count && jumped > 2; i++) {
        struct ray_result others[OUT_RAYS];
        const struct meeting rest = {.rays = others, .count = m->count, .hits = m->hits};
        memcpy(others, m->rays, m->count * sizeof *others);
        others[i] = (struct ray_result){.fits = 0}; /* bounds nothing */
        struct bounds all = meet_all(&rest, by_instructions, 0);
        if (m->rays[i].jumped && all.agree) {
            *b = all;
            *left_out = i;
            ways++;
        }
    }
    return ways == 1;
}
