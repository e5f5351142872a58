/*
 * Matrix products of a warp: mma and wmma. A fragment lies in registers as recordings of an H200
 * show and the manual's figures of mma say. With g = lane / 4, t = lane % 4 and e elements in a
 * register, register r and element i of it are
 *
 *     a:  row g + 8 (r mod m/8)        column e t + i + 4 e (r div m/8)
 *     b:  row e t + i + 4 e (r mod K)  column g + 8 (r div K),  K = k / (4 e)
 *     c:  row g + 8 (s mod m/8)        column 2 t + i + 8 (s div m/8),  s counts pairs of elements
 *
 * and wmma's fragments of f16 hold every element more than once, of which the first counts. Sums of
 * f64 are in doubles.c. Sums of narrower floats are the H200's
 * (tensor_sum.h), of 16 products at once (of tf32 8, in wmma 4). Saturated results clamp. Loads and
 * stores are in fragment_move.c; mma.m8n8k4 of f16, four products at once, is in quads.c. Source:
 * PTX ISA 9.0, 9.7.14.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "exec/fault.h"
#include "exec/memory/image.h"
#include "exec/observe.h"
#include "exec/ops/decoders.h"
#include "exec/ops/matrix/matrix.h"
#include "isa/fragment.h"
#include "isa/lane_math.h"
#include "util/error.h"

/* See matrix_place(): of a product that is not transposed. */
static void place_upright(uint32_t *row, uint32_t *column, const struct fragment *f, char matrix,
                          struct isa_mnk mnk, uint32_t lane, uint32_t r, uint32_t i)
{
    uint32_t g = lane / 4, t = lane % 4, e = elements_in(f), rows = mnk.m / 8u;
    uint32_t blocks = mnk.k / (4 * e), halves = rows > 1 ? 2 : 1;
    if (matrix == 'a') {
        assert(rows > 0 && blocks > 0); /* the table of shapes has no smaller ones */
        r %= rows * blocks;
        *row = g + 8 * (r % halves) + 16 * (r / (halves * blocks));
        *column = e * t + i + 4 * e * (r / halves % blocks);
    } else if (matrix == 'b') {
        assert(blocks > 0 && mnk.n >= 8);
        r %= blocks * (mnk.n / 8u);
        *row = e * t + i + 4 * e * (r % blocks);
        *column = g + 8 * (r / blocks);
    } else {
        assert(rows > 0);
        uint32_t pair = (r * e + i) / 2;
        *row = g + 8 * (pair % rows);
        *column = 2 * t + (r * e + i) % 2 + 8 * (pair / rows);
    }
}

/* The product of 8 rows and 32 columns is that of 32 and 8, transposed. */
static bool is_turned(struct isa_mnk mnk)
{
    return mnk.n > 2 * mnk.m;
}

static struct isa_mnk upright(struct isa_mnk mnk)
{
    return is_turned(mnk) ? (struct isa_mnk){mnk.n, mnk.m, mnk.k} : mnk;
}

void matrix_place(uint32_t *row, uint32_t *column, const struct fragment *f, struct isa_mnk mnk,
                  uint32_t lane, uint32_t r, uint32_t i)
{
    if (!is_turned(mnk)) {
        place_upright(row, column, f, f->matrix, mnk, lane, r, i);
        return;
    }
    char matrix = f->matrix == 'c' ? 'c' : f->matrix == 'a' ? 'b' : 'a';
    place_upright(column, row, f, matrix, upright(mnk), lane, r, i);
}

enum exec_event run_product(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    (void)access;
    const struct uop_matrix *m = uop->matrix;
    struct product_operands o;
    if (!mask)
        return advance(warp);
    if (!m->product.loops) {
        doubles_product(warp->state, m, mask);
        return advance(warp);
    }
    const struct product *p = &m->product;
    product_gather_a(&o, warp->state, p, m->a.registers);
    product_gather_b(&o, warp->state, p, m->b.registers);
    product_gather_sums(&o, warp->state, p, m->c.registers, m->c.count);
    if (p->sparse)
        product_places(&o, warp->state, &m->metadata, p, m->selector);
    product_run(p, &o);
    product_scatter_sums(&o, warp->state, p, m->d.registers, m->d.count, mask);
    return advance(warp);
}

/* The host's view of a lane's element, or NULL with the fault set. */
uint8_t *matrix_pointer(struct exec_warp *warp, const struct uop_matrix *m, uint32_t lane,
                        uint64_t address, uint32_t bytes)
{
    const struct exec_cta *cta = warp->cta;
    enum isa_space space = m->space;
    if (space == SPACE_NONE && address - EXEC_SHARED_WINDOW < EXEC_WINDOW_BYTES) {
        space = SPACE_SHARED;
        address -= EXEC_SHARED_WINDOW;
    }
    if (address % bytes == 0) {
        if (space == SPACE_SHARED && address < cta->shared_bytes &&
            bytes <= cta->shared_bytes - address)
            return cta->shared + address;
        if (space != SPACE_SHARED && image_valid(cta->launch->memory, address, bytes))
            return (uint8_t *)(uintptr_t)address;
    }
    if (cta->launch->observer && cta->launch->observer->stops)
        cta->launch->observer->stops(
            warp, lane, space == SPACE_SHARED ? SPACE_SHARED : SPACE_GLOBAL, address, bytes, bytes);
    fault_set(warp, warp->pc, lane, address,
              "matrix element of %u bytes at 0x%" PRIx64 " is misaligned or out of bounds", bytes,
              address);
    return NULL;
}

/* What is multiplied, and how many products are added up at once. */
static void choose_product(struct uop_matrix *m, const struct ptx_insn *insn)
{
    bool sparse = isa_row(insn->op)->shape == SHAPE_PRODUCT_SPARSE;
    bool halves = insn->op == OP_WMMA_MMA_F16, nibbles = insn->mods[MODC_X4] != MOD_NONE;
    bool packed = nibbles || insn->mods[MODC_B1A] != MOD_NONE;
    bool wmma = halves || insn->op == OP_WMMA_MMA;
    enum isa_type a = packed ? TYPE_NONE : halves ? TYPE_f16 : insn->types[1];
    enum isa_type b = packed ? TYPE_NONE : halves ? TYPE_f16 : insn->types[2];
    struct product *p = &m->product;
    m->mnk = upright(m->mnk);
    if (a == TYPE_f64)
        return;
    product_of_types(p, m->mnk, a, b, insn->tuple.d, sparse);
    p->block = a == TYPE_tf32 ? (wmma ? 4 : 8) : 16;
    p->pairwise = p->a_format && p->element_bits == 8;
    if (p->pairwise)
        p->block = p->terms / 2;
    if (nibbles)
        p->element_bits = 4;
    p->a_signed |= insn->mods[MODC_X4] == MOD_X4_s4;
    p->b_signed |= insn->mods[MODC_Y4] == MOD_Y4_s4;
    p->exclusive = insn->mods[MODC_ATOM] == MOD_ATOM_xor;
    p->saturate = insn->mods[MODC_SATFINITE] != MOD_NONE;
    p->c_half = insn->tuple.s == TYPE_f16;
}

/* The lanes of a group of four that tell are one, two, or all of them. */
static int decode_sparse(struct decoder *d, struct uop_matrix *m, const struct ptx_operand *o)
{
    uint32_t bits = m->product.element_bits, row = m->product.mnk.k * bits / 16;
    uint32_t choices = bits >= 16 ? (row == 16 ? 4 : 2) : (row == 16 ? 2 : 1);
    if (o[1].imm >= choices)
        return error_at(SONDE_EINPUT, decode_file(d->module, d->function->func), d->insn->loc.line,
                        d->insn->loc.column, "'%s': the selector is %llu, expected 0 to %u",
                        isa_row(d->insn->op)->name, (unsigned long long)o[1].imm, choices - 1);
    m->selector = (uint32_t)o[1].imm;
    return decode_source_element(d, &m->metadata, &o[0], 4);
}

#define STEP_BYTES 4096u /* rows by columns by bytes of depth of one machine instruction */
#define STEP_DOUBLES 256u

/* For the time it takes. */
static void note_steps(struct decoder *d, const struct uop_matrix *m, bool doubles)
{
    const struct product *p = &m->product;
    uint32_t places = (uint32_t)m->mnk.m * m->mnk.n,
             bytes = places * p->terms * p->element_bits / 8;
    uint32_t steps = doubles ? places * m->mnk.k / STEP_DOUBLES : bytes / STEP_BYTES;
    d->info->product = doubles ? STEP_DOUBLE : bytes < STEP_BYTES ? STEP_SHALLOW : STEP_DEEP;
    d->info->product_steps = (uint8_t)(steps > 0 ? steps : 1);
}

int decode_product(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    struct uop_matrix *m = matrix_begin(d);
    if (!m)
        return error_memory();
    if (insn->op == OP_MMA && insn->mods[MODC_MNK] == MOD_MNK_m8n8k4 && insn->types[1] == TYPE_f16)
        return decode_quads(d, m);
    if (insn->mods[MODC_RND] != MOD_NONE && insn->mods[MODC_RND] != MOD_RND_rn)
        return decode_refuse(d, "'%s' that rounds other than .rn is not implemented",
                             isa_row(insn->op)->name);
    d->uop->run = run_product;
    bool turned = is_turned(m->mnk); /* then a and b are of one type */
    choose_product(m, insn);
    enum isa_type a = m->product.loops ? TYPE_b32 : TYPE_f64;
    note_steps(d, m, a == TYPE_f64);
    int rc = matrix_decode_fragment(d, &m->d, 'c', insn->tuple.d, &o[0], true);
    if (rc == SONDE_OK)
        rc = matrix_decode_fragment(d, &m->a, 'a', a, &o[turned ? 2 : 1], false);
    if (rc == SONDE_OK)
        rc = matrix_decode_fragment(d, &m->b, 'b', a, &o[turned ? 1 : 2], false);
    if (rc == SONDE_OK)
        rc = matrix_decode_fragment(d, &m->c, 'c', insn->tuple.s, &o[3], false);
    return rc == SONDE_OK && m->product.sparse ? decode_sparse(d, m, &o[4]) : rc;
}

int matrix_decode_place(struct decoder *d, struct uop_matrix *m, const struct ptx_operand *address)
{
    m->space = decode_address_space(d->insn, address);
    if (m->space == SPACE_LOCAL)
        return decode_refuse(d, "'%s' of '%s' in .local is not implemented",
                             isa_row(d->insn->op)->name, address->var->name);
    uint64_t value = 0;
    bool relative = false;
    int rc = SONDE_OK;
    if (address->var)
        rc = decode_var_address(d, &value, &relative, address->var);
    m->offset = value + address->imm;
    if (rc != SONDE_OK || !address->has_reg)
        return rc;
    struct ptx_operand base = {.kind = OPERAND_REG, .reg = address->reg, .type = address->type};
    m->has_base = true;
    return decode_source_element(d, &m->base, &base, 0);
}
