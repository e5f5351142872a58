/*
 * wgmma: a product of 64 rows by four warps, b and mostly a from shared memory. Each warp makes its
 * 16 rows when it issues, which the manual allows: operands must not change, nor results be read,
 * before the group is waited for. So fences and groups have nothing to do.
 *
 * A descriptor (9.7.15.5.1.1) names a matrix in shared memory in pieces of 16 bytes; L and S are
 * its two offsets, in 64 bits:
 *
 *     63 62     51 49      45 32     29 16     13 0
 *     | swizzle | | base | | S / 16 | | L / 16 | | start / 16 |     swizzle 1: 128, 2: 64, 3: 32
 * bytes
 *
 *     a row's elements side by side (K)      row / 8 * S + row % 8 * width + piece * 16
 *       not swizzled                         row / 8 * S + row % 8 * 16 + piece * L
 *     a column's (transposed)                k / 8 * S + k % 8 * width + piece % (width/16) * 16
 *                                              + piece / (width/16) * L
 *       not swizzled                         k / 8 * L + k % 8 * 16 + piece * S
 *
 * and the swizzle exchanges pieces by address bits as in a tensor's copy (ops/async/tensor.c).
 *
 * Sums are an H200's (tests/vectors/async): all products of one instruction at once, by the rule of
 * tensor_sum.h, with 25 bits below the largest exponent; of 8-bit floats with 13, and an f32 result
 * of theirs is cut to 13 bits behind the point. Integers are exact. Source: PTX ISA 9.0, 9.7.15.
 */
#include <math.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/lane/float_format.h"
#include "exec/ops/decoders.h"
#include "exec/ops/matrix/tensor_sum.h"
#include "exec/ops/matrix/wgmma_sum.h"
#include "isa/fragment.h"
#include "isa/lane_math.h"
#include "util/error.h"

#define WARP_ROWS 16
#define STEP_BYTES 32 /* of a row of a, in one instruction */
#define D_REGISTERS 128
#define PIECE_BYTES 16
#define SPECIAL 2000 /* exponents above are infinities and NaNs */

struct uop_wgmma {
    struct isa_mnk mnk;
    enum isa_type d_type, a_type, b_type; /* a of b1: TYPE_NONE */
    const struct float_format *a_format, *b_format;
    bool sparse, a_in_registers, saturate, negative, a_transposed, b_transposed;
    uint32_t selector, count; /* count: registers of d */
    struct element d[D_REGISTERS], a[4], b, metadata;
    wgmma_sum_fn *sum;
};

/* The operands of one warp, as bytes: rows of a, columns of b, each along k. */
struct operands {
    _Alignas(16) uint8_t a[WARP_ROWS][STEP_BYTES];
    _Alignas(16) uint8_t b[WGMMA_COLUMNS][2 * STEP_BYTES];
    uint8_t place[WARP_ROWS][WGMMA_PRODUCTS]; /* which element of b's column belongs to a's */
};

/* ---- shared memory ---- */

static uint64_t piece_offset(uint64_t descriptor, uint32_t group, uint32_t within, uint32_t piece,
                             bool transposed)
{
    uint64_t along = (descriptor >> 16 & 0x3fff) << 4, across = (descriptor >> 32 & 0x3fff) << 4;
    uint32_t mode = (uint32_t)(descriptor >> 62), width = 16u << ((4 - mode) & 3);
    if (mode == 0)
        return transposed ? group * along + within * 16 + piece * across
                          : group * across + within * 16 + piece * along;
    uint32_t pieces = width / PIECE_BYTES;
    return group * across + (uint64_t)within * width + piece % pieces * PIECE_BYTES +
           piece / pieces * along;
}

/* The place of a piece; NULL with the fault set. */
static const uint8_t *find_piece(struct exec_warp *warp, uint64_t descriptor, uint32_t group,
                                 uint32_t within, uint32_t piece, bool transposed)
{
    static const uint32_t masks[] = {0, 0x70, 0x30, 0x10};
    const struct exec_cta *cta = warp->cta;
    uint64_t address =
        ((descriptor & 0x3fff) << 4) + piece_offset(descriptor, group, within, piece, transposed);
    address &= 0x3ffff;
    address ^= (address - ((descriptor >> 49 & 7) << 7)) >> 3 & masks[descriptor >> 62];
    if (address + PIECE_BYTES <= cta->shared_bytes)
        return cta->shared + address;
    fault_set(warp, warp->pc, lowest_lane(warp->active), address,
              "wgmma reads shared memory at 0x%llx, of %u bytes", (unsigned long long)address,
              cta->shared_bytes);
    return NULL;
}

/* `lines` rows of a or columns of b from `first` on, `bytes` of each, to `out`, `pitch` apart. */
static bool gather(struct exec_warp *warp, uint8_t *out, uint32_t pitch, uint64_t descriptor,
                   uint32_t first, uint32_t lines, uint32_t bytes, bool transposed)
{
    uint32_t pieces = transposed ? lines / 8 : bytes / PIECE_BYTES;
    uint32_t count = transposed ? bytes / 2 : lines;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t piece = 0; piece < pieces; piece++) {
            uint32_t row = transposed ? i : i + first, at = transposed ? piece + first / 8 : piece;
            const uint8_t *from = find_piece(warp, descriptor, row / 8, row % 8, at, transposed);
            if (!from)
                return false;
            if (!transposed)
                memcpy(out + (size_t)i * pitch + (size_t)piece * PIECE_BYTES, from, PIECE_BYTES);
            for (uint32_t k = 0; transposed && k < 8; k++)
                memcpy(out + (size_t)(piece * 8 + k) * pitch + (size_t)i * 2, from + (size_t)k * 2,
                       2);
        }
    return true;
}

static void gather_registers(struct operands *o, const struct exec_state *state,
                             const struct uop_wgmma *w)
{
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            uint32_t word = (uint32_t)element_get(state, &w->a[r], lane);
            memcpy(&o->a[lane / 4 + 8 * (r % 2)][lane % 4 * 4 + 16 * (r / 2)], &word, 4);
        }
}

/* ---- sparse a: of each four elements two are there (tf32: of two, one) ---- */

static void find_places(struct operands *o, const struct exec_state *state,
                        const struct uop_wgmma *w)
{
    bool bytes = isa_type_info(w->a_type)->bytes == 1, words = w->a_type == TYPE_tf32;
    for (uint32_t row = 0; row < WARP_ROWS; row++)
        for (uint32_t group = 0; group < (bytes ? 16u : 8u); group++) {
            /* Of bytes a lane has eight groups of a row, else four of two rows. */
            uint32_t lane = row % 8 * 4, shift = group % 8 * 4;
            lane += bytes ? group / 8 * 2 + row / 8 : w->selector * 2 + group / 4;
            shift = bytes ? shift : row / 8 * 16 + group % 4 * 4;
            uint32_t code = (uint32_t)element_get(state, &w->metadata, lane) >> shift & 15;
            if (words) {
                o->place[row][group] = (uint8_t)(group * 2 + (code == 14));
                continue;
            }
            o->place[row][group * 2] = (uint8_t)(group * 4 + (code & 3));
            o->place[row][group * 2 + 1] = (uint8_t)(group * 4 + (code >> 2));
        }
}

static void dense_places(struct operands *o, uint32_t count)
{
    for (uint32_t row = 0; row < WARP_ROWS; row++)
        for (uint32_t k = 0; k < count; k++)
            o->place[row][k] = (uint8_t)k;
}

/* ---- sums ---- */

static struct tensor_part part_at(const struct float_format *format, const uint8_t *line,
                                  uint32_t index)
{
    uint32_t word = 0;
    if (format == &format_tf32) {
        memcpy(&word, line + (size_t)index * 4, 4);
        word >>= 13;
    } else if (format->sign == 0x80) {
        word = line[index];
    } else {
        memcpy(&word, line + (size_t)index * 2, 2);
    }
    return tensor_part(format, word);
}

/* The number that a register's bits stand for, and its parts. */
static double addend_at(int32_t *mantissa, int32_t *exponent, const struct uop_wgmma *w,
                        uint32_t bits)
{
    bool half = w->d_type == TYPE_f16;
    double value = half ? format_widen(&format_f16, bits & 0xffff) : (double)lane_float(bits);
    *exponent = tensor_split(mantissa, value, half ? format_f16.min_exponent : -126);
    return value;
}

/* The register, the lane and the half of it that hold an element of d. */
static uint32_t d_bits(const struct exec_state *state, const struct uop_wgmma *w, uint32_t row,
                       uint32_t column)
{
    uint32_t lane = row % 8 * 4 + column % 8 / 2;
    uint32_t index = column / 8 * 4 + row / 8 * 2 + column % 2;
    if (w->d_type != TYPE_f16)
        return (uint32_t)element_get(state, &w->d[index], lane);
    return (uint32_t)element_get(state, &w->d[index / 2], lane) >> index % 2 * 16 & 0xffff;
}

static void put_d(struct exec_state *state, const struct uop_wgmma *w, uint32_t row,
                  uint32_t column, uint32_t bits)
{
    uint32_t lane = row % 8 * 4 + column % 8 / 2;
    uint32_t index = column / 8 * 4 + row / 8 * 2 + column % 2;
    if (w->d_type == TYPE_f16) {
        uint32_t old = (uint32_t)element_get(state, &w->d[index / 2], lane);
        bits = index % 2 ? (old & 0xffff) | bits << 16 : (old & 0xffff0000) | bits;
        index /= 2;
    }
    element_set(state, &w->d[index], lane, bits);
}

static uint32_t rounded(const struct uop_wgmma *w, double sum)
{
    if (w->d_type == TYPE_f16)
        return tensor_round_f16(sum);
    uint32_t bits = lane_bits_f32(tensor_cut_f32(sum));
    bool short_sum = w->a_format->sign == 0x80 && (bits & 0x7f800000) != 0x7f800000;
    return short_sum ? bits & ~0x3ffu : bits;
}

/* A sum with an infinity or a NaN: which of these it is does not depend on what is cut. */
static double special_sum(const struct uop_wgmma *w, const struct operands *o, uint32_t row,
                          uint32_t column, double addend)
{
    struct tensor_part a[WGMMA_PRODUCTS], b[WGMMA_PRODUCTS];
    uint32_t count = STEP_BYTES / isa_type_info(w->a_type)->bytes;
    for (uint32_t k = 0; k < count; k++) {
        a[k] = part_at(w->a_format, o->a[row], k);
        a[k].mantissa = w->negative ? -a[k].mantissa : a[k].mantissa;
        b[k] = part_at(w->b_format, o->b[column], o->place[row][k]);
    }
    return tensor_sum(addend, -126, a, b, count);
}

static void float_row(struct exec_state *state, const struct uop_wgmma *w, const struct operands *o,
                      struct wgmma_row *r, const struct wgmma_parts *b, uint32_t row, bool adds)
{
    double addend[WGMMA_COLUMNS];
    const uint32_t columns = r->columns;
    for (uint32_t k = 0; k < r->count; k++) {
        struct tensor_part part = part_at(w->a_format, o->a[row], k);
        r->mantissa[k] = w->negative ? -part.mantissa : part.mantissa;
        r->exponent[k] = part.exponent;
        r->b[k] = &b[o->place[row][k]];
    }
    for (uint32_t j = 0; j < columns; j++)
        addend[j] =
            addend_at(&r->c.mantissa[j], &r->c.exponent[j], w, adds ? d_bits(state, w, row, j) : 0);
    w->sum(r);
    for (uint32_t j = 0; j < columns; j++) {
        double sum = r->top[j] > SPECIAL ? special_sum(w, o, row, j, addend[j]) : r->sum[j];
        put_d(state, w, row, j, rounded(w, sum));
    }
}

static void float_product(struct exec_state *state, const struct uop_wgmma *w,
                          const struct operands *o, bool adds)
{
    struct wgmma_parts b[WGMMA_DEPTH];
    struct wgmma_row r = {
        .columns = w->mnk.n,
        .count = STEP_BYTES / isa_type_info(w->a_type)->bytes,
        .bits = w->a_format->sign == 0x80 ? 13 : 25,
    };
    for (uint32_t k = 0; k < w->mnk.k; k++)
        for (uint32_t j = 0; j < w->mnk.n; j++) {
            struct tensor_part part = part_at(w->b_format, o->b[j], k);
            b[k].mantissa[j] = part.mantissa;
            b[k].exponent[j] = part.exponent;
        }
    for (uint32_t row = 0; row < WARP_ROWS; row++)
        float_row(state, w, o, &r, b, row, adds);
}

static int32_t byte_at(enum isa_type type, uint8_t byte)
{
    return type == TYPE_s8 ? (int8_t)byte : byte;
}

static int64_t whole_sum(const struct uop_wgmma *w, const struct operands *o, uint32_t row,
                         uint32_t column)
{
    int32_t sum = 0;
    for (uint32_t k = 0; k < STEP_BYTES; k++) {
        uint8_t a = o->a[row][k], b = o->b[column][o->place[row][k]];
        sum += w->a_type == TYPE_NONE ? __builtin_popcount(a & b)
                                      : byte_at(w->a_type, a) * byte_at(w->b_type, b);
    }
    return sum;
}

static void whole_product(struct exec_state *state, const struct uop_wgmma *w,
                          const struct operands *o, bool adds)
{
    for (uint32_t row = 0; row < WARP_ROWS; row++)
        for (uint32_t j = 0; j < w->mnk.n; j++) {
            int64_t sum = whole_sum(w, o, row, j);
            sum += adds ? (int32_t)d_bits(state, w, row, j) : 0;
            put_d(state, w, row, j,
                  (uint32_t)(w->saturate ? lane_clamp_s32(sum) : (int32_t)(uint32_t)sum));
        }
}

static bool read_operands(struct exec_warp *warp, const struct uop_wgmma *w, struct operands *o,
                          uint32_t lane)
{
    const struct exec_state *state = warp->state;
    uint32_t first = state->first_thread / WARP_LANES % 4 * WARP_ROWS;
    uint32_t bytes = STEP_BYTES * (w->sparse ? 2 : 1);
    if (w->a_in_registers)
        gather_registers(o, state, w);
    else if (!gather(warp, o->a[0], STEP_BYTES, element_get(state, &w->a[0], lane), first,
                     WARP_ROWS, STEP_BYTES, w->a_transposed))
        return false;
    if (w->sparse)
        find_places(o, state, w);
    else
        dense_places(o, STEP_BYTES);
    return gather(warp, o->b[0], sizeof o->b[0], element_get(state, &w->b, lane), 0, w->mnk.n,
                  bytes, w->b_transposed);
}

static enum exec_event run_wgmma(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    const struct uop_wgmma *w = uop->wgmma;
    struct operands o;
    if (!mask)
        return advance(warp);
    uint32_t lane = lowest_lane(mask);
    bool adds = pred_lanes(warp->state, uop, 0) >> lane & 1;
    if (!read_operands(warp, w, &o, lane))
        return EXEC_FAULT;
    if (w->a_format)
        float_product(warp->state, w, &o, adds);
    else
        whole_product(warp->state, w, &o, adds);
    return advance(warp);
}

/* ---- decoding ---- */

/* Registers of d: nothing reads them before the group is waited for, so nobody waits for them. */
static int decode_result(struct decoder *d, struct uop_wgmma *w, const struct ptx_operand *operand)
{
    uint8_t known = d->info->dst_count;
    int rc = SONDE_OK;
    w->count = operand->count;
    for (uint32_t i = 0; rc == SONDE_OK && i < w->count; i++) {
        rc = decode_dest_element(d, &w->d[i], &operand->elems[i]);
        d->info->dst_count = known;
    }
    return rc;
}

/* Of floats the signs of a and b, and of 16 bits which is transposed; a's only where it has one. */
static int decode_switches(struct decoder *d, struct uop_wgmma *w, const struct ptx_operand *o,
                           uint32_t count)
{
    if (count < 2)
        return SONDE_OK;
    for (uint32_t i = 0; i < count; i++) {
        int32_t value = (int32_t)o[i].imm;
        if (i < 2 ? value != 1 && value != -1 : value != 0 && value != 1)
            return error_at(SONDE_EINPUT, decode_file(d->module, d->function->func),
                            d->insn->loc.line, d->insn->loc.column, "'%s': got %d, expected %s",
                            isa_row(d->insn->op)->name, value, i < 2 ? "1 or -1" : "0 or 1");
    }
    w->negative = o[0].imm != o[1].imm;
    w->a_transposed = count == 4 && o[2].imm;
    w->b_transposed = count > 2 && o[count - 1].imm;
    return SONDE_OK;
}

static int decode_factor(struct decoder *d, struct uop_wgmma *w, const struct ptx_operand *a)
{
    w->a_in_registers = a->kind == OPERAND_VECTOR;
    if (!w->a_in_registers)
        return decode_source_element(d, &w->a[0], a, 8);
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < 4; i++)
        rc = decode_source_element(d, &w->a[i], &a->elems[i], 4);
    return rc;
}

/* Groups: when they are over is the timing model's business. */
int decode_wgmma_group(struct decoder *d)
{
    bool waits = d->insn->op == OP_WGMMA_WAIT;
    d->info->is_async = true;
    d->info->products = waits ? GROUPS_WAIT : GROUPS_COMMIT;
    d->info->products_left = waits ? (uint8_t)(d->insn->operands[0].imm & 7) : 0;
    d->uop->run = run_nop;
    return SONDE_OK;
}

/* d a b [metadata selector] add-to-d switches */
int decode_wgmma(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    bool bits = insn->op == OP_WGMMA_BITS, sparse = insn->op == OP_WGMMA_SPARSE;
    struct uop_wgmma *w = arena_alloc(d->arena, sizeof *w);
    if (!w)
        return error_memory();
    d->uop->wgmma = w;
    d->uop->run = run_wgmma;
    w->mnk = isa_wgmma_mnk((enum isa_mod)insn->mods[MODC_WG]);
    w->d_type = insn->tuple.d;
    w->a_type = bits ? TYPE_NONE : insn->types[1];
    w->b_type = bits ? TYPE_NONE : insn->types[2];
    w->a_format = format_of_type(w->a_type);
    w->b_format = format_of_type(w->b_type);
    w->sparse = sparse;
    w->saturate = insn->mods[MODC_SATFINITE] != MOD_NONE;
    w->sum = wgmma_sum_choose();
    d->info->is_async = true;
    d->info->product_columns = w->mnk.n;
    int rc = decode_result(d, w, &o[0]);
    if (rc == SONDE_OK)
        rc = decode_factor(d, w, &o[1]);
    if (rc == SONDE_OK)
        rc = decode_source_element(d, &w->b, &o[2], 8);
    if (rc == SONDE_OK && sparse)
        rc = decode_source_element(d, &w->metadata, &o[3], 4);
    w->selector = sparse ? (uint32_t)o[4].imm & 1 : 0;
    uint32_t at = sparse ? 5 : 3;
    if (rc == SONDE_OK)
        rc = decode_pred_source(d, 0, &o[at]);
    return rc == SONDE_OK ? decode_switches(d, w, &o[at + 1], insn->operand_count - at - 1) : rc;
}
