/*
 * ldmatrix, stmatrix and movmatrix: matrices of 8 x 8 elements of 16 bits, a register of each lane
 * for each. Lane l holds row l / 4, columns 2 (l % 4) and the next; with .trans (movmatrix: in the
 * result) rows and columns change places. Lane 8 m + r gives the address of row r of matrix m, 16
 * bytes in shared memory. Done at issue, without timing, as wmma's loads. Source: PTX
 * ISA 9.0, 9.7.14.5.15 to 17.
 */
#include <string.h>

#include "exec/ops/matrix/matrix.h"
#include "util/error.h"

#define SIDE 8
#define ROW_BYTES 16

typedef uint16_t small_matrix[SIDE][SIDE];

static uint16_t *element_of_lane(small_matrix m, uint32_t lane, uint32_t i, bool transposed)
{
    uint32_t row = lane / 4, column = lane % 4 * 2 + i;
    return transposed ? &m[column][row] : &m[row][column];
}

static uint64_t lane_bits(small_matrix m, uint32_t lane, bool transposed)
{
    return *element_of_lane(m, lane, 0, transposed) |
           (uint32_t)*element_of_lane(m, lane, 1, transposed) << 16;
}

static void put_lane_bits(small_matrix m, uint32_t lane, uint64_t bits, bool transposed)
{
    *element_of_lane(m, lane, 0, transposed) = (uint16_t)bits;
    *element_of_lane(m, lane, 1, transposed) = (uint16_t)(bits >> 16);
}

/* Where row `row` of matrix `index` lies; NULL: the fault is set. */
static uint8_t *row_pointer(struct exec_warp *warp, const struct uop_matrix *m, uint32_t index,
                            uint32_t row)
{
    uint32_t lane = index * SIDE + row;
    uint64_t base = m->has_base ? element_get(warp->state, &m->base, lane) : 0;
    return matrix_pointer(warp, m, lane, base + m->offset, ROW_BYTES);
}

static enum exec_event run_ldmatrix(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    (void)access;
    const struct uop_matrix *m = uop->matrix;
    small_matrix loaded[4];
    for (uint32_t index = 0; mask && index < m->d.count; index++)
        for (uint32_t row = 0; row < SIDE; row++) {
            const uint8_t *from = row_pointer(warp, m, index, row);
            if (!from)
                return EXEC_FAULT;
            memcpy(loaded[index][row], from, ROW_BYTES);
        }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (uint32_t index = 0; index < m->d.count; index++)
            element_set(warp->state, &m->d.registers[index], lowest_lane(rest),
                        lane_bits(loaded[index], lowest_lane(rest), m->column_major));
    return advance(warp);
}

static enum exec_event run_stmatrix(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    (void)access;
    const struct uop_matrix *m = uop->matrix;
    small_matrix stored;
    for (uint32_t index = 0; mask && index < m->d.count; index++) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            put_lane_bits(stored, lane, element_get(warp->state, &m->d.registers[index], lane),
                          m->column_major);
        for (uint32_t row = 0; row < SIDE; row++) {
            uint8_t *to = row_pointer(warp, m, index, row);
            if (!to)
                return EXEC_FAULT;
            memcpy(to, stored[row], ROW_BYTES);
        }
    }
    return advance(warp);
}

static enum exec_event run_movmatrix(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                     struct exec_access *access)
{
    (void)access;
    const struct uop_matrix *m = uop->matrix;
    small_matrix moved;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        put_lane_bits(moved, lane, element_get(warp->state, &m->a.registers[0], lane), false);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        element_set(warp->state, &m->d.registers[0], lowest_lane(rest),
                    lane_bits(moved, lowest_lane(rest), true));
    return advance(warp);
}

int decode_small_matrix(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    struct uop_matrix *m = matrix_begin(d);
    if (!m)
        return error_memory();
    if (insn->op == OP_MOVMATRIX) {
        d->uop->run = run_movmatrix;
        int rc = matrix_decode_fragment(d, &m->d, 'c', TYPE_b32, &o[0], true);
        return rc == SONDE_OK ? matrix_decode_fragment(d, &m->a, 'c', TYPE_b32, &o[1], false) : rc;
    }
    bool store = insn->op == OP_STMATRIX;
    d->uop->run = store ? run_stmatrix : run_ldmatrix;
    m->column_major = insn->mods[MODC_TRANS] != MOD_NONE;
    int rc = matrix_decode_fragment(d, &m->d, 'c', TYPE_b32, &o[store], !store);
    return rc == SONDE_OK ? matrix_decode_place(d, m, &o[!store]) : rc;
}
