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
#include <math.h>

#include "exec/lane/float_format.h"
#include "exec/ops/matrix/matrix.h"
#include "isa/lane_math.h"
#include "util/error.h"

#define SIDE 8
#define DEPTH 4
#define QUADS 4

static float half_value(uint64_t word, uint32_t i)
{
    return (float)format_widen(&format_f16, (uint32_t)(word >> i % 2 * 16) & 0xffff);
}

/* Rows of a, columns of b; `along`: a register has neighbours of one of them. */
static void gather(float out[QUADS][SIDE][DEPTH], const struct exec_state *state,
                   const struct fragment *f, bool along)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (uint32_t i = 0; i < DEPTH; i++) {
            uint32_t h = lane / 16 * 4, t = lane % 4;
            float value = half_value(element_get(state, &f->registers[i / 2], lane), i);
            out[lane / 4 % QUADS][(along ? t : i) + h][along ? i : t] = value;
        }
}

/* c + a b, as f32. */
static float one_sum(const float *a, const float *b, float c, bool halves)
{
    if (halves) {
        float first = fmaf(a[1], b[1], a[0] * b[0]), last = fmaf(a[3], b[3], a[2] * b[2]);
        return lane_nan_f32(c + first + last);
    }
    float sum = 0;
    for (uint32_t k = 0; k < DEPTH; k++)
        sum = fmaf(a[k], b[k], sum);
    return lane_nan_f32(c + sum);
}

static uint32_t half_code(float sum)
{
    return sum == sum ? format_narrow(&format_f16, (double)sum, ROUND_NEAREST, false) : 0x7fff;
}

/* Which row and column element i of a lane's d is. */
static void place(uint32_t *row, uint32_t *column, uint32_t lane, uint32_t i, bool half)
{
    uint32_t h = lane / 16 * 4, t = lane % 4;
    *row = half ? t + h : t % 2 + (i & 2) + h;
    *column = half ? i : (i & 4) + (t & 2) + i % 2;
}

/* An addend in f32's places; those of f16 lie elsewhere. */
static float addend(const struct exec_state *state, const struct fragment *c, uint32_t lane,
                    uint32_t row, uint32_t column)
{
    uint32_t quad = lane / 4 % QUADS * 4;
    if (c->type == TYPE_f16) {
        uint32_t owner = row / 4 * 16 + quad + row % 4;
        return half_value(element_get(state, &c->registers[column / 2], owner), column);
    }
    uint32_t owner = row / 4 * 16 + quad + row % 2 + (column & 2);
    uint32_t i = (column & 4) + (row & 2) + column % 2;
    return lane_float((uint32_t)element_get(state, &c->registers[i], owner));
}

static enum exec_event run_quads(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    const struct uop_matrix *m = uop->matrix;
    struct exec_state *state = warp->state;
    float a[QUADS][SIDE][DEPTH], b[QUADS][SIDE][DEPTH];
    float sums[WARP_LANES][SIDE];
    bool half = m->d.type == TYPE_f16;
    uint32_t row, column;
    if (!mask)
        return advance(warp);
    gather(a, state, &m->a, !m->column_major);
    gather(b, state, &m->b, !m->row_major);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (uint32_t i = 0; i < SIDE; i++) {
            place(&row, &column, lane, i, half);
            uint32_t quad = lane / 4 % QUADS;
            sums[lane][i] = one_sum(a[quad][row], b[quad][column],
                                    addend(state, &m->c, lane, row, column), half);
        }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        for (uint32_t r = 0; r < m->d.count; r++)
            element_set(state, &m->d.registers[r], lane,
                        half ? half_code(sums[lane][2 * r]) | half_code(sums[lane][2 * r + 1]) << 16
                             : lane_bits_f32(sums[lane][r]));
    }
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
