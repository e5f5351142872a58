/*
 * wmma.load and wmma.store. The machine has no instruction for them: a fragment is moved by
 * ordinary loads and stores, whose addresses differ by the same number of bytes in all lanes. Where
 * the elements of a register lie one behind the other, each is one access or, of whole words that
 * are neighbours, part of a wider one:
 *
 *     f32, row    lane g * 4 + t:  | c0 c1 |      | c4 c5 |       at row g, columns 2 t and 2 t + 8
 *                                  | c2 c3 |      | c6 c7 |       8 rows below
 *
 * Halves that lie the other way are loaded as if the matrix were transposed, and lanes exchange
 * them afterwards (MOVM); narrower elements are moved one by one. Source: what ptxas 13.0 makes of
 * them for sm_90. data[0], data[1], data2, data3 of a lane are the first to fourth 8 bytes that it
 * stores. Leaves out: of a and b in .shared it makes one ldmatrix, but for bytes that lie across.
 */
#include <string.h>

#include "exec/memory/device.h"
#include "exec/memory/image.h"
#include "exec/observe.h"
#include "exec/ops/decoders.h"
#include "exec/ops/matrix/matrix.h"
#include "util/error.h"

enum { WIDEST_BYTES = 16, PAIR_MAX_BYTES = 8 };

static uint32_t register_bytes(const struct uop_matrix *m)
{
    return element_bytes(m->d.type) == 8 ? 8 : 4;
}

static uint64_t offset_of(const struct uop_matrix *m, uint64_t stride_bytes, uint32_t row,
                          uint32_t column)
{
    uint64_t bytes = element_bytes(m->d.type);
    return m->column_major ? column * stride_bytes + row * bytes
                           : row * stride_bytes + column * bytes;
}

static uint64_t element_offset(const struct uop_matrix *m, uint64_t stride_bytes, uint32_t lane,
                               uint32_t r, uint32_t i)
{
    uint32_t row, column;
    matrix_place(&row, &column, &m->d, m->mnk, lane, r, i);
    return offset_of(m, stride_bytes, row, column);
}

/* Whether the elements of a register lie across the matrix as it is in memory. */
static bool lies_across(const struct uop_matrix *m)
{
    return elements_in(&m->d) > 1 &&
           element_offset(m, 1u << 16, 0, 0, 1) != element_bytes(m->d.type);
}

/* Where the lane's part of a piece lies behind that of lane 0. */
static uint64_t lane_offset(const struct uop_matrix *m, uint64_t stride_bytes, uint32_t lane)
{
    uint32_t row, column;
    matrix_place(&row, &column, &m->d, m->mnk, lane, 0, 0);
    bool exchanged = element_bytes(m->d.type) == 2 && lies_across(m);
    return exchanged ? offset_of(m, stride_bytes, column, row)
                     : offset_of(m, stride_bytes, row, column);
}

static void piece_add(struct exec_access *access, uint64_t offset)
{
    for (uint32_t k = 0; k < access->pieces; k++)
        if (access->piece_offset[k] == offset)
            return; /* fragments of f16 hold elements twice */
    if (access->pieces < EXEC_PIECES_MAX)
        access->piece_offset[access->pieces++] = offset;
}

/* Neighbours become one, where all are such pairs. */
static bool pieces_pair(struct exec_access *access)
{
    uint32_t bytes = access->bytes, count = access->pieces;
    bool pairs = count % 2 == 0 && bytes * 2 <= WIDEST_BYTES;
    for (uint32_t k = 0; k < count && pairs; k += 2)
        pairs = access->piece_offset[k + 1] == access->piece_offset[k] + bytes;
    for (uint32_t lanes = access->mask; lanes && pairs; lanes &= lanes - 1)
        for (uint32_t k = 0; k < count && pairs; k += 2)
            pairs =
                (access->address[lowest_lane(lanes)] + access->piece_offset[k]) % (bytes * 2) == 0;
    for (uint32_t k = 0; k < count && pairs; k += 2)
        access->piece_offset[k / 2] = access->piece_offset[k];
    access->pieces = (uint8_t)(pairs ? count / 2 : count);
    access->bytes = (uint8_t)(pairs ? bytes * 2 : bytes);
    return pairs;
}

static void find_pieces(struct exec_access *access, const struct uop_matrix *m)
{
    uint32_t bytes = element_bytes(m->d.type), step = 1;
    if (bytes < 4 && (bytes == 2 || !lies_across(m)))
        step = elements_in(&m->d);
    access->bytes = (uint8_t)(bytes * step);
    access->pieces = 0;
    for (uint32_t r = 0; r < m->d.count; r++)
        for (uint32_t i = 0; i < elements_in(&m->d); i += step)
            piece_add(access, element_offset(m, access->stride_bytes, 0, r, i));
    while (bytes >= 4 && access->bytes <= PAIR_MAX_BYTES && pieces_pair(access)) {
    }
}

void exec_access_piece(struct exec_access *piece, const struct exec_access *access, uint32_t k)
{
    piece->kind = access->kind == ACCESS_FRAGMENT_STORE ? ACCESS_STORE : ACCESS_LOAD;
    piece->space = access->space;
    piece->mask = access->mask;
    piece->pc = access->pc;
    piece->bytes = access->bytes;
    piece->vec = 1;
    piece->cache_op = MOD_NONE;
    piece->is_volatile = piece->non_coherent = piece->contiguous = piece->done = false;
    piece->frame_offset = access->frame_offset;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        piece->address[lane] = access->address[lane] + access->piece_offset[k];
    memcpy(piece->lane_space, access->lane_space, sizeof piece->lane_space);
}

/* All elements of the lane are where it may access them; who looks on is told of what is stored. */
static bool check_lane(struct exec_warp *warp, const struct uop_matrix *m, uint32_t lane,
                       uint64_t base, uint64_t stride_bytes, bool store)
{
    const struct exec_observer *observer = warp->cta->launch->observer;
    uint32_t bytes = element_bytes(m->d.type);
    uint64_t window = m->space == SPACE_SHARED ? EXEC_SHARED_WINDOW : 0;
    for (uint32_t r = 0; r < m->d.count; r++)
        for (uint32_t i = 0; i < elements_in(&m->d); i++) {
            uint64_t address = base + element_offset(m, stride_bytes, lane, r, i);
            if (!matrix_pointer(warp, m, lane, address, bytes))
                return false;
            if (store && observer)
                observer->touches(warp, lane, address + window, bytes, true);
        }
    return true;
}

static uint64_t *store_dword(struct exec_access *access, uint32_t lane, uint32_t index)
{
    return index < 2    ? &access->data[lane][index]
           : index == 2 ? &access->data2[lane]
                        : &access->data3[lane];
}

static void keep_registers(const struct exec_state *state, const struct uop_matrix *m,
                           struct exec_access *access, uint32_t lane)
{
    uint32_t bytes = register_bytes(m);
    for (uint32_t r = 0; r < m->d.count; r++) {
        uint32_t at = r * bytes;
        uint64_t value = element_get(state, &m->d.registers[r], lane);
        memcpy((uint8_t *)store_dword(access, lane, at / 8) + at % 8, &value, bytes);
    }
}

/* Addresses of shared memory, by a generic address too, are offsets from then on. */
static void resolve_space(struct exec_access *access, enum isa_space space)
{
    uint32_t shared = 0;
    for (uint32_t rest = access->mask; rest && space == SPACE_NONE; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        bool windowed = access->address[lane] - EXEC_SHARED_WINDOW < EXEC_WINDOW_BYTES;
        access->lane_space[lane] = windowed ? SPACE_SHARED : SPACE_GLOBAL;
        access->address[lane] -= windowed ? EXEC_SHARED_WINDOW : 0;
        shared |= windowed ? 1u << lane : 0;
    }
    if (space == SPACE_NONE)
        access->space = shared == access->mask ? SPACE_SHARED
                        : shared == 0          ? SPACE_GLOBAL
                                               : SPACE_NONE;
}

static enum exec_event run_fragment_move(struct exec_warp *warp, const struct uop *uop,
                                         uint32_t mask, struct exec_access *access)
{
    const struct uop_matrix *m = uop->matrix;
    const struct exec_state *state = warp->state;
    bool store = !uop->option;
    if (!mask)
        return advance(warp);
    uint32_t bytes = element_bytes(m->d.type), rows, columns;
    columns = m->d.matrix == 'a' ? m->mnk.k : m->mnk.n;
    rows = m->d.matrix == 'b' ? m->mnk.k : m->mnk.m;
    uint64_t stride = m->column_major ? rows : columns;
    if (m->has_stride) /* the same in all lanes, says the manual */
        stride = (uint32_t)element_get(state, &m->stride, lowest_lane(mask)) / m->packed;
    access_begin(access, warp, store ? ACCESS_FRAGMENT_STORE : ACCESS_FRAGMENT_LOAD, m->space,
                 bytes);
    access->mask = mask;
    access->stride_bytes = stride * bytes;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t base = m->offset + (m->has_base ? element_get(state, &m->base, lane) : 0);
        if (!check_lane(warp, m, lane, base, access->stride_bytes, store))
            return EXEC_FAULT;
        access->address[lane] = base + lane_offset(m, access->stride_bytes, lane);
        if (store)
            keep_registers(state, m, access, lane);
    }
    resolve_space(access, m->space);
    find_pieces(access, m);
    advance(warp);
    return EXEC_ACCESS;
}

/* One element, by way of the stores that nobody else sees yet where there are such. */
static int move_element(const struct exec_warp *warp, const struct exec_access *access,
                        uint32_t lane, uint64_t address, void *value, uint32_t bytes)
{
    uint32_t space = access->space == SPACE_NONE ? access->lane_space[lane] : access->space;
    bool store = access->kind == ACCESS_FRAGMENT_STORE;
    if (space == SPACE_SHARED) {
        uint8_t *at = warp->cta->shared + address;
        memcpy(store ? at : value, store ? value : at, bytes);
        return SONDE_OK;
    }
    if (store)
        return device_write(warp, access->pc, address, value, bytes);
    device_read(warp, access->pc, address, value, bytes);
    return SONDE_OK;
}

/* A lane's registers, one after the other in `image`. */
static int move_lane(const struct exec_warp *warp, const struct uop_matrix *m,
                     const struct exec_access *access, uint32_t lane, uint8_t *image)
{
    uint32_t bytes = element_bytes(m->d.type);
    uint64_t base = access->address[lane] - lane_offset(m, access->stride_bytes, lane);
    int rc = SONDE_OK;
    for (uint32_t r = 0; r < m->d.count; r++)
        for (uint32_t i = 0; i < elements_in(&m->d) && rc == SONDE_OK; i++)
            rc = move_element(warp, access, lane,
                              base + element_offset(m, access->stride_bytes, lane, r, i),
                              image + r * register_bytes(m) + i * bytes, bytes);
    return rc;
}

/* Those of the frame that issued the access, which need not be the running one. */
static void fill_registers(const struct exec_state *state, const struct uop_matrix *m,
                           const struct exec_access *access, uint32_t lane, const uint8_t *image)
{
    for (uint32_t r = 0; r < m->d.count; r++) {
        const struct element *e = &m->d.registers[r];
        uint8_t *lanes = state->storage + access->frame_offset + (e->ref & REF_OFFSET_MASK);
        memcpy(lanes + (size_t)lane * e->register_bytes, image + r * register_bytes(m),
               e->register_bytes);
    }
}

int commit_fragment(struct exec_warp *warp, const struct exec_access *access)
{
    const struct uop_matrix *m = warp->state->uops[access->pc].matrix;
    uint64_t image[MATRIX_REGISTERS];
    int rc = SONDE_OK;
    for (uint32_t rest = access->mask; rest && rc == SONDE_OK; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (access->kind == ACCESS_FRAGMENT_STORE) {
            memcpy(image, access->data[lane], sizeof access->data[lane]);
            image[2] = access->data2[lane];
            image[3] = access->data3[lane];
        }
        rc = move_lane(warp, m, access, lane, (uint8_t *)image);
        if (access->kind == ACCESS_FRAGMENT_LOAD)
            fill_registers(warp->state, m, access, lane, (const uint8_t *)image);
    }
    return rc;
}

int decode_matrix_move(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    bool store = insn->op == OP_WMMA_STORE;
    enum isa_shape shape = isa_row(insn->op)->shape;
    char matrix = shape == SHAPE_WMMA_LOAD_A ? 'a' : shape == SHAPE_WMMA_LOAD_B ? 'b' : 'c';
    struct uop_matrix *m = matrix_begin(d);
    if (!m)
        return error_memory();
    d->uop->run = run_fragment_move;
    d->uop->option = !store;
    m->column_major = insn->mods[MODC_LAYOUT] == MOD_LAYOUT_col;
    m->packed = insn->mods[MODC_X4] != MOD_NONE ? 8 : insn->mods[MODC_B1A] != MOD_NONE ? 32 : 1;
    m->mnk.k = (uint16_t)(m->mnk.k / m->packed); /* words of their row */
    int rc = matrix_decode_fragment(d, &m->d, matrix, insn->tuple.s, &o[store], !store);
    if (rc == SONDE_OK)
        rc = matrix_decode_place(d, m, &o[!store]);
    d->info->is_fragment = true;
    d->info->is_load = !store;
    d->info->is_store = store;
    d->info->space = m->space;
    if (rc == SONDE_OK && insn->operand_count > 2) {
        m->has_stride = true;
        rc = decode_source_element(d, &m->stride, &o[2], 4);
    }
    return rc;
}
