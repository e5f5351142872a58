/*
 * Integer instructions that have no lane loop: pairs of 16 bits, testp, dp2a, fns, szext. Source:
 * PTX ISA 9.0, 9.7.1 and 9.7.3.2.
 */
#include "exec/ops/value.h"
#include "isa/lane_math.h"

static int32_t pair_element(const struct ptx_insn *insn, uint32_t a, uint32_t b)
{
    bool is_signed = insn->tuple.s == TYPE_s16x2;
    int32_t x = is_signed ? (int16_t)a : (uint16_t)a, y = is_signed ? (int16_t)b : (uint16_t)b;
    switch (insn->op) {
    case OP_MIN_16X2:
        return x < y ? x : y;
    case OP_MAX_16X2:
        return x > y ? x : y;
    case OP_MIN_RELU_16X2:
        return x < y ? (x < 0 ? 0 : x) : (y < 0 ? 0 : y);
    case OP_MAX_RELU_16X2:
        return x > y ? (x < 0 ? 0 : x) : (y < 0 ? 0 : y);
    default:
        return x + y;
    }
}

uint64_t value_pair(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    uint32_t a = (uint32_t)v[0], b = (uint32_t)v[1];
    uint32_t low = (uint32_t)pair_element(insn, a & 0xffff, b & 0xffff) & 0xffff;
    return low | (uint32_t)pair_element(insn, a >> 16, b >> 16) << 16;
}

uint64_t value_testp(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    uint32_t test = (uint32_t)(insn->mods[MODC_TESTP] - MOD_TESTP_finite);
    return insn->tuple.s == TYPE_f64
               ? lane_testp(v[0], 0x7ff0000000000000, 0x000fffffffffffff, test)
               : lane_testp((uint32_t)v[0], 0x7f800000, 0x007fffff, test);
}

uint64_t value_dp2a(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    return (uint32_t)v[2] + lane_dp2a((uint32_t)v[0], (uint32_t)v[1],
                                      insn->mods[MODC_HALF] == MOD_HALF_hi,
                                      insn->tuple.d == TYPE_s32, insn->tuple.s == TYPE_s32);
}

uint64_t value_fns(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    (void)insn;
    return lane_fns((uint32_t)v[0], (uint32_t)v[1], (int32_t)v[2]);
}

uint64_t value_szext(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    uint32_t bits = (uint32_t)v[1];
    if (insn->mods[MODC_LIMIT] == MOD_LIMIT_wrap)
        bits &= 31;
    return lane_szext((uint32_t)v[0], bits, insn->tuple.s == TYPE_s32);
}
