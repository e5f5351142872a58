/*
 * Arithmetic of several words: add.cc, addc, sub.cc, subc, mad.cc, madc read and write a carry flag
 * of each lane, which no other instruction sees. Also prmt's named modes, which choose bytes by the
 * low bits of the selector. Source: PTX ISA 9.0, 9.7.2 and 9.7.8.7.
 */
#include "exec/ops/decoders.h"
#include "isa/lane_math.h"
#include "util/error.h"

/* uop->option of run_carry */
enum {
    CARRY_IN = 1,
    CARRY_OUT = 2,
    CARRY_SUBTRACT = 4,
    CARRY_MULTIPLY = 8,
    CARRY_HIGH = 16,
    CARRY_SIGNED = 32
};

static uint64_t product(unsigned option, uint64_t a, uint64_t b, uint32_t bytes)
{
    if (!(option & CARRY_HIGH))
        return a * b;
    if (bytes == 8)
        return option & CARRY_SIGNED ? (uint64_t)lane_mul_hi_s64((int64_t)a, (int64_t)b)
                                     : lane_mul_hi_u64(a, b);
    return option & CARRY_SIGNED ? (uint32_t)lane_mul_hi_s32((int32_t)a, (int32_t)b)
                                 : lane_mul_hi_u32((uint32_t)a, (uint32_t)b);
}

/* One lane; `*carry` in and out. After a subtraction the flag says that nothing was borrowed. */
static uint64_t combine(unsigned option, uint64_t a, uint64_t b, bool *carry, uint32_t bytes)
{
    uint64_t top = bytes == 8 ? UINT64_MAX : UINT32_MAX, in = option & CARRY_IN ? *carry : 0;
    if (option & CARRY_SUBTRACT) {
        uint64_t borrow = option & CARRY_IN ? !*carry : 0;
        *carry = (lane_u128)a >= (lane_u128)b + borrow;
        return (a - b - borrow) & top;
    }
    *carry = (lane_u128)a + b + in > top;
    return (a + b + in) & top;
}

enum exec_event run_carry(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    uint32_t bytes = uop->dst_bytes;
    uint64_t top = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t v[3] = {0};
        for (int i = 0; i < 3; i++)
            v[i] = element_get(state, &(struct element){uop->source[i], (uint8_t)bytes}, lane);
        bool carry = state->carry >> lane & 1;
        if (uop->option & CARRY_MULTIPLY) {
            v[0] = product(uop->option, v[0], v[1], bytes) & top;
            v[1] = v[2];
        }
        uint64_t sum = combine(uop->option, v[0], v[1], &carry, bytes);
        element_set(state, &(struct element){uop->dst, (uint8_t)bytes}, lane, sum);
        if (uop->option & CARRY_OUT)
            state->carry = (state->carry & ~(1u << lane)) | (uint32_t)carry << lane;
    }
    return advance(warp);
}

int decode_carry(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct isa_type_info *type = isa_type_info(insn->types[0]);
    unsigned option = type->kind == KIND_SIGNED ? CARRY_SIGNED : 0;
    unsigned out = insn->mods[MODC_CC] != MOD_NONE ? CARRY_OUT : 0;
    switch (insn->op) {
    case OP_ADD_CC:
        option |= CARRY_OUT;
        break;
    case OP_ADDC:
        option |= CARRY_IN | out;
        break;
    case OP_SUB_CC:
        option |= CARRY_SUBTRACT | CARRY_OUT;
        break;
    case OP_SUBC:
        option |= CARRY_SUBTRACT | CARRY_IN | out;
        break;
    case OP_MAD_LO_CC:
        option |= CARRY_MULTIPLY | CARRY_OUT;
        break;
    case OP_MAD_HI_CC:
        option |= CARRY_MULTIPLY | CARRY_HIGH | CARRY_OUT;
        break;
    case OP_MADC_LO:
        option |= CARRY_MULTIPLY | CARRY_IN | out;
        break;
    default:
        option |= CARRY_MULTIPLY | CARRY_HIGH | CARRY_IN | out;
        break;
    }
    d->uop->run = run_carry;
    d->uop->option = (uint16_t)option;
    d->uop->dst_bytes = type->bytes;
    int rc = decode_dest(d, &d->uop->dst, &insn->operands[0], type->bytes);
    for (int i = 0; rc == SONDE_OK && i + 1 < insn->operand_count && i < 3; i++)
        rc = decode_source(d, i, &insn->operands[1 + i], type->bytes);
    return rc;
}

/* The bytes of b:a that a mode picks, as one selector nibble each. */
static uint32_t mode_selectors(unsigned mode, uint32_t c)
{
    static const uint16_t table[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e: four bytes forward from c */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e: four bytes backward */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8: one byte four times */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl: clamped from the left */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr: clamped from the right */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16: one half twice */
    };
    return table[mode][c & 3];
}

enum exec_event run_prmt_mode(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                              struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    const lane_word *a = lanes_at(state, uop->source[0]), *b = lanes_at(state, uop->source[1]);
    const lane_word *c = lanes_at(state, uop->source[2]);
    lane_word *to = lanes_at(state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        to[lane] = lane_prmt(a[lane], b[lane], mode_selectors(uop->option, c[lane]));
    }
    return advance(warp);
}

int decode_prmt_mode(struct decoder *d)
{
    d->uop->run = run_prmt_mode;
    d->uop->option = (uint16_t)(d->insn->mods[MODC_PRMT] - MOD_PRMT_f4e);
    int rc = decode_dest(d, &d->uop->dst, &d->insn->operands[0], 4);
    for (int i = 0; rc == SONDE_OK && i < 3; i++)
        rc = decode_source(d, i, &d->insn->operands[1 + i], 4);
    return rc;
}
