/*
 * wgmma: a product of 64 rows by four warps, b and mostly a from shared memory. Each warp makes its
 * 16 rows when it issues, which the manual allows: operands must not change, nor results be read,
 * before the group is waited for. So fences have nothing to do, and groups that one: they are the
 * four warps' together, and a wait for one is over when all four have come so far (exec/barrier.h).
 *
 * A descriptor (9.7.15.5.1.1) names a matrix in shared memory in pieces of 16 bytes; L and S are
 * its two offsets, in 64 bits:
 *
 *     63 62     51 49      45 32     29 16     13 0
 *     | swizzle | | base | | S / 16 | | L / 16 | | start / 16 |  swizzle 1, 2, 3: 128, 64, 32 bytes
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
#include <string.h>

#include "exec/fault.h"
#include "exec/observe.h"
#include "exec/ops/decoders.h"
#include "exec/ops/matrix/matrix.h"
#include "exec/ops/matrix/product.h"
#include "isa/fragment.h"
#include "util/error.h"

#define WARP_ROWS 16
#define STEP_BYTES 32 /* of a row of a, in one instruction */
#define D_REGISTERS 128
#define PIECE_BYTES 16

struct uop_wgmma {
    struct product product; /* of one warp */
    bool a_in_registers, a_transposed, b_transposed;
    uint32_t selector, count; /* count: registers of d */
    struct element d[D_REGISTERS], a[4], b, metadata;
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
    const struct exec_observer *observer = warp->cta->launch->observer;
    bool seen = observer && observer->multiplies;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t piece = 0; piece < pieces; piece++) {
            uint32_t row = transposed ? i : i + first, at = transposed ? piece + first / 8 : piece;
            const uint8_t *from = find_piece(warp, descriptor, row / 8, row % 8, at, transposed);
            if (!from)
                return false;
            if (seen)
                observer->multiplies(warp, lowest_lane(warp->active),
                                     (uint64_t)(from - warp->cta->shared), PIECE_BYTES);
            if (!transposed)
                memcpy(out + (size_t)i * pitch + (size_t)piece * PIECE_BYTES, from, PIECE_BYTES);
            for (uint32_t k = 0; transposed && k < 8; k++)
                memcpy(out + (size_t)(piece * 8 + k) * pitch + (size_t)i * 2, from + (size_t)k * 2,
                       2);
        }
    return true;
}

static bool read_operands(struct exec_warp *warp, const struct uop_wgmma *w,
                          struct product_operands *o, uint32_t lane)
{
    const struct exec_state *state = warp->state;
    uint32_t first = state->first_thread / WARP_LANES % 4 * WARP_ROWS;
    uint32_t bytes = STEP_BYTES * (w->product.sparse ? 2 : 1);
    if (w->a_in_registers)
        product_gather_a(o, state, &w->product, w->a);
    else if (!gather(warp, o->a[0], STEP_BYTES, element_get(state, &w->a[0], lane), first,
                     WARP_ROWS, STEP_BYTES, w->a_transposed))
        return false;
    if (w->product.sparse)
        product_places(o, state, &w->metadata, &w->product, w->selector);
    return gather(warp, o->b[0], sizeof o->b[0], element_get(state, &w->b, lane), 0,
                  w->product.mnk.n, bytes, w->b_transposed);
}

static enum exec_event run_wgmma(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    const struct uop_wgmma *w = uop->wgmma;
    struct product_operands o;
    if (!mask)
        return advance(warp);
    uint32_t lane = lowest_lane(mask);
    bool adds = pred_lanes(warp->state, uop, 0) >> lane & 1;
    if (!read_operands(warp, w, &o, lane))
        return EXEC_FAULT;
    if (adds)
        product_gather_sums(&o, warp->state, &w->product, w->d, w->count);
    else
        memset(o.d, 0, sizeof o.d[0] * w->product.mnk.m * w->product.mnk.n);
    product_run(&w->product, &o);
    product_scatter_sums(&o, warp->state, &w->product, w->d, w->count, UINT32_MAX);
    return advance(warp);
}

/* ---- decoding ---- */

/* Registers of d: nothing reads them before the group is waited for, so nobody waits for them; but
 * what is loaded into one must be there before the product, whether it adds to it or not. */
static int decode_result(struct decoder *d, struct uop_wgmma *w, const struct ptx_operand *operand)
{
    struct exec_uop_info *info = d->info;
    uint8_t known = info->dst_count;
    int rc = SONDE_OK;
    w->count = operand->count;
    uint16_t *sums = arena_alloc(d->arena, w->count * sizeof *sums + 1);
    if (!sums)
        return error_memory();
    info->sums = sums;
    for (uint32_t i = 0; rc == SONDE_OK && i < w->count; i++) {
        rc = decode_dest_element(d, &w->d[i], &operand->elems[i]);
        for (uint32_t k = known; k < info->dst_count; k++)
            sums[info->sum_count++] = info->dst[k];
        info->dst_count = known;
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
    w->product.negative = o[0].imm != o[1].imm;
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

/* Who keeps the CTA lets warps of a warpgroup wait for each other; when products are over is the
 * timing model's business. */
static enum exec_event run_group(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    if (!mask)
        return advance(warp);
    const struct exec_uop_info *info = &warp->state->program->infos[warp->pc];
    bool waits = info->products == GROUPS_WAIT;
    warp->barrier_kind = waits ? BARRIER_PRODUCTS_WAIT : BARRIER_PRODUCTS_ARRIVE;
    warp->barrier_id = info->products_left;
    warp->barrier_threads = warp->barrier_value = 0;
    warp->barrier_lanes = mask;
    warp->state->barrier_uop = uop;
    advance(warp);
    return EXEC_BARRIER;
}

int decode_wgmma_group(struct decoder *d)
{
    bool waits = d->insn->op == OP_WGMMA_WAIT;
    d->info->is_async = true;
    d->info->products = waits ? GROUPS_WAIT : GROUPS_COMMIT;
    d->info->products_left = waits ? (uint8_t)(d->insn->operands[0].imm & 7) : 0;
    d->uop->run = run_group;
    d->uop->whole = true;
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
    d->uop->whole = true;
    struct isa_mnk mnk = isa_wgmma_mnk((enum isa_mod)insn->mods[MODC_WG]);
    mnk.m = WARP_ROWS;
    product_of_types(&w->product, mnk, bits ? TYPE_NONE : insn->types[1],
                     bits ? TYPE_NONE : insn->types[2], insn->tuple.d, sparse);
    w->product.short_sum = w->product.a_format && w->product.element_bits == 8;
    w->product.saturate = insn->mods[MODC_SATFINITE] != MOD_NONE;
    d->info->is_async = true;
    d->info->product_columns = mnk.n;
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
