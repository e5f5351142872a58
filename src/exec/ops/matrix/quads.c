/*
 * mma.m8n8k4 of f16: four products of 8 x 8 x 4 at once, each by eight lanes, lanes 4 q to 4 q + 3
 * and 4 q + 16 to 4 q + 19 for product q. Of these, with h = 4 in the upper half of the warp and t
 * = lane % 4, element i is
 *
 *     a, .row   row t + h       column i          b, .col   row i    column t + h
 *     a, .col   row i + h       column t          b, .row   row t    column i + h
 *     c of f16  row t + h       column i
 *     c of f32  row t % 2 + (i & 2) + h     column (i & 4) + (t & 2) + i % 2
 *
 * sm_70's tensor cores alone had it; sm_90's assembler makes it of f32 arithmetic, in this order: a
 * sum of four fused multiply-adds from zero, to which c is added; where c and d are f16, c and the
 * sums of the first two products and of the last two are added up, and rounded once. Source: PTX
 * ISA 9.0, 9.7.14.5.1; recordings of an H200 (tests/vectors/matrix.txt).
 */
#include <string.h>

#include "exec/lane/float_format.h"
#include "exec/ops/matrix/matrix.h"
#include "isa/lane_math.h"
#include "util/error.h"

#define SIDE 8
#define DEPTH 4
#define QUADS 4

typedef float row_floats __attribute__((vector_size(4 * SIDE)));

/* The four products: rows of a, rows of b, rows of c and then of d. */
struct quads {
    float a[QUADS][SIDE][DEPTH];
    row_floats b[QUADS][DEPTH], d[QUADS][SIDE];
};

/* Where a lane's elements lie in one of these arrays: element i at first[lane] + a step for i. */
struct places {
    uint32_t first[WARP_LANES];
};

/* `size`: of one product; a lane with h and t begins at h * by_h + t * by_t of it. */
static void places_linear(struct places *p, uint32_t size, uint32_t by_h, uint32_t by_t)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        p->first[lane] = lane / 4 % QUADS * size + lane / 16 * 4 * by_h + lane % 4 * by_t;
}

/* Of c and d. */
static void places_of_sums(struct places *p, bool half)
{
    places_linear(p, SIDE * SIDE, SIDE, half ? SIDE : 0);
    for (uint32_t lane = 0; lane < WARP_LANES && !half; lane++)
        p->first[lane] += lane % 2 * SIDE + (lane & 2);
}

static uint32_t step_of_sum(uint32_t i, bool half)
{
    return half ? i : (i & 2) * SIDE + (i & 4) + i % 2;
}

static const lane_word *words_of(const struct exec_state *state, const struct element *element)
{
    return lanes_at(state, element->ref);
}

static inline float half_value(uint32_t code)
{
    uint32_t magnitude = code & 0x7fff, special = magnitude >= 0x7c00 ? 0x7f800000 : 0;
    uint32_t bits = lane_bits_f32(lane_float(magnitude << 13) * 0x1p112f);
    return lane_float((special ? magnitude << 13 | special : bits) | (code & 0x8000) << 16);
}

/* Elements of f16, two a register, to where they belong, `step` apart. */
static void gather(float *out, const struct places *p, uint32_t step,
                   const struct exec_state *state, const struct fragment *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 2) {
        const lane_word *words = words_of(state, &f->registers[i / 2]);
        float low[WARP_LANES], high[WARP_LANES];
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            low[lane] = half_value(words[lane] & 0xffff);
            high[lane] = half_value(words[lane] >> 16);
        }
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            out[p->first[lane] + i * step] = low[lane];
            out[p->first[lane] + (i + 1) * step] = high[lane];
        }
    }
}

static void gather_operands(struct quads *q, const struct exec_state *state,
                            const struct uop_matrix *m)
{
    struct places p;
    places_linear(&p, SIDE * DEPTH, DEPTH, m->column_major ? 1 : DEPTH);
    gather(&q->a[0][0][0], &p, m->column_major ? DEPTH : 1, state, &m->a, DEPTH);
    places_linear(&p, SIDE * DEPTH, 1, m->row_major ? SIDE : 1);
    gather((float *)q->b, &p, m->row_major ? 1 : SIDE, state, &m->b, DEPTH);
}

static void gather_addends(struct quads *q, const struct exec_state *state,
                           const struct fragment *c)
{
    const bool half = c->type == TYPE_f16;
    float *out = (float *)q->d;
    struct places p;
    places_of_sums(&p, half);
    if (half)
        gather(out, &p, step_of_sum(1, true), state, c, SIDE);
    for (uint32_t i = 0; i < SIDE && !half; i++) {
        const lane_word *words = words_of(state, &c->registers[i]);
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            out[p.first[lane] + step_of_sum(i, false)] = lane_float(words[lane]);
    }
}

/* d = c + a b; in d is c. A product of two f16 is exact in f32, so that a sum of one and a number
 * is rounded once, as a fused one is. */
static void multiply(struct quads *q, uint32_t quad, bool half)
{
    const row_floats none = {0}, *b = q->b[quad];
    for (uint32_t row = 0; row < SIDE; row++) {
        const float *a = q->a[quad][row];
        row_floats *d = &q->d[quad][row];
        if (half)
            *d = *d + (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
        else
            *d += none + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    }
}

static uint32_t half_code(float sum)
{
    return sum == sum ? format_narrow(&format_f16, (double)sum, ROUND_NEAREST, false) : 0x7fff;
}

static void store(struct exec_state *state, const struct element *element, const uint32_t *values,
                  uint32_t mask)
{
    if (mask == UINT32_MAX && element->register_bytes != 8) {
        memcpy(lanes_at(state, element->ref), values, WARP_LANES * sizeof *values);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        element_set(state, element, lowest_lane(rest), values[lowest_lane(rest)]);
}

static void scatter(const struct quads *q, struct exec_state *state, const struct fragment *d,
                    uint32_t mask)
{
    const bool half = d->type == TYPE_f16;
    const float *sums = (const float *)q->d;
    uint32_t values[WARP_LANES];
    struct places p;
    places_of_sums(&p, half);
    for (uint32_t r = 0; r < d->count; r++) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            const float *at = &sums[p.first[lane] + step_of_sum(half ? 2 * r : r, half)];
            values[lane] = half ? half_code(at[0]) | half_code(at[1]) << 16
                                : lane_bits_f32(lane_nan_f32(at[0]));
        }
        store(state, &d->registers[r], values, mask);
    }
}

static enum exec_event run_quads(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    const struct uop_matrix *m = uop->matrix;
    struct quads quads;
    if (!mask)
        return advance(warp);
    gather_operands(&quads, warp->state, m);
    gather_addends(&quads, warp->state, &m->c);
    for (uint32_t quad = 0; quad < QUADS; quad++)
        multiply(&quads, quad, m->d.type == TYPE_f16);
    scatter(&quads, warp->state, &m->d, mask);
    return advance(warp);
}

int decode_quads(struct decoder *d, struct uop_matrix *m)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    m->column_major = insn->mods[MODC_LAYOUT] == MOD_LAYOUT_col;
    m->row_major = insn->mods[MODC_BLAYOUT] == MOD_BLAYOUT_row;
    d->uop->run = run_quads;
    int rc = matrix_decode_fragment(d, &m->d, 'c', insn->tuple.d, &o[0], true);
    if (rc == SONDE_OK)
        rc = matrix_decode_fragment(d, &m->a, 'a', TYPE_f16, &o[1], false);
    if (rc == SONDE_OK)
        rc = matrix_decode_fragment(d, &m->b, 'b', TYPE_f16, &o[2], false);
    return rc == SONDE_OK ? matrix_decode_fragment(d, &m->c, 'c', insn->tuple.s, &o[3], false) : rc;
}
