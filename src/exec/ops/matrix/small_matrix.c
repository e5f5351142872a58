/*
 * ldmatrix, stmatrix and movmatrix: matrices of 8 x 8 elements of 16 bits, a register of each lane
 * for each. Lane l holds row l / 4, columns 2 (l % 4) and the next; with .trans (movmatrix: in the
 * result) rows and columns change places. Lane 8 m + r gives the address of row r of matrix m, 16
 * bytes in shared memory, and reads or writes with it. Source: PTX ISA 9.0, 9.7.14.5.15 to 17.
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

/* The rows' addresses, and in data[0] where they lie on the host. */
static enum exec_event begin_move(struct exec_warp *warp, const struct uop_matrix *m, uint32_t mask,
                                  struct exec_access *access, enum exec_access_kind kind)
{
    if (!mask)
        return advance(warp);
    access_begin(access, warp, kind, SPACE_SHARED, ROW_BYTES);
    access->lanes = mask;
    access->mask = UINT32_MAX >> (WARP_LANES - m->d.count * SIDE);
    for (uint32_t lane = 0; lane < m->d.count * SIDE; lane++) {
        uint64_t base = m->has_base ? element_get(warp->state, &m->base, lane) : 0;
        uint8_t *row = matrix_pointer(warp, m, lane, base + m->offset, ROW_BYTES);
        if (!row)
            return EXEC_FAULT;
        access->address[lane] = (base + m->offset) % EXEC_WINDOW_BYTES;
        access->data[lane][0] = (uintptr_t)row;
    }
    advance(warp);
    return EXEC_ACCESS;
}

static uint8_t *row_of(const struct exec_access *access, uint32_t index, uint32_t row)
{
    return (uint8_t *)(uintptr_t)access->data[index * SIDE + row][0];
}

static enum exec_event run_ldmatrix(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    return begin_move(warp, uop->matrix, mask, access, ACCESS_MATRIX_LOAD);
}

void commit_ldmatrix(const struct exec_warp *warp, const struct exec_access *access)
{
    const struct uop_matrix *m = warp->state->uops[access->pc].matrix;
    for (uint32_t index = 0; index < m->d.count; index++) {
        small_matrix loaded;
        for (uint32_t row = 0; row < SIDE; row++)
            memcpy(loaded[row], row_of(access, index, row), ROW_BYTES);
        for (uint32_t rest = access->lanes; rest; rest &= rest - 1)
            element_set(warp->state, &m->d.registers[index], lowest_lane(rest),
                        lane_bits(loaded, lowest_lane(rest), m->column_major));
    }
}

static enum exec_event run_stmatrix(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                    struct exec_access *access)
{
    return begin_move(warp, uop->matrix, mask, access, ACCESS_MATRIX_STORE);
}

void commit_stmatrix(const struct exec_warp *warp, const struct exec_access *access)
{
    const struct uop_matrix *m = warp->state->uops[access->pc].matrix;
    for (uint32_t index = 0; index < m->d.count; index++) {
        small_matrix stored;
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            put_lane_bits(stored, lane, element_get(warp->state, &m->d.registers[index], lane),
                          m->column_major);
        for (uint32_t row = 0; row < SIDE; row++)
            memcpy(row_of(access, index, row), stored[row], ROW_BYTES);
    }
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
    d->info->is_load = !store;
    d->info->is_store = store;
    d->info->space = SPACE_SHARED;
    m->column_major = insn->mods[MODC_TRANS] != MOD_NONE;
    int rc = matrix_decode_fragment(d, &m->d, 'c', TYPE_b32, &o[store], !store);
    return rc == SONDE_OK ? matrix_decode_place(d, m, &o[!store]) : rc;
}
