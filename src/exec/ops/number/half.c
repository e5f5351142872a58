/*
 * Arithmetic and comparison of f16 and bf16, alone and in pairs. One NaN is the result of all
 * arithmetic: 0x7fff. Source: PTX ISA 9.0, 9.7.4 and 9.7.7.
 */
#include <math.h>

#include "exec/lane/float_format.h"
#include "exec/ops/value.h"
#include "isa/lane_math.h"

static bool is_nan(const struct float_format *format, uint32_t code)
{
    return (code & (format->sign - 1)) > format->infinity;
}

static uint32_t flush(const struct float_format *format, uint32_t code)
{
    return code & format->infinity ? code : code & format->sign;
}

static uint32_t minimum(const struct ptx_insn *insn, const struct float_format *format, uint32_t a,
                        uint32_t b, bool largest)
{
    uint32_t sign = (a ^ b) & format->sign;
    bool magnitudes = insn->mods[MODC_XORSIGN] != MOD_NONE;
    if (magnitudes) {
        a &= ~format->sign;
        b &= ~format->sign;
    }
    bool a_nan = is_nan(format, a), b_nan = is_nan(format, b);
    uint32_t r;
    if ((a_nan && b_nan) || (insn->mods[MODC_NANP] != MOD_NONE && (a_nan || b_nan)))
        return format->nan;
    if (a_nan || b_nan) {
        r = a_nan ? b : a;
    } else {
        double x = format_widen(format, a), y = format_widen(format, b);
        bool first = x < y || (x == y && signbit(x));
        r = first != largest ? a : b;
    }
    return magnitudes ? (r & ~format->sign) | sign : r;
}

static uint32_t finish(const struct ptx_insn *insn, const struct float_format *format, double r)
{
    if (insn->mods[MODC_SAT] != MOD_NONE)
        r = r > 0 ? (r < 1 ? r : 1) : 0;
    if (insn->mods[MODC_RELU] != MOD_NONE && r <= 0)
        r = 0;
    /* .ftz looks at the result rounded as if there were no smallest exponent: a tie goes up. */
    double normal = lane_power_of_two(format->min_exponent);
    double half_place = lane_power_of_two(format->min_exponent - format->mantissa_bits - 2);
    if (insn->mods[MODC_FTZ] != MOD_NONE && fabs(r) < normal - half_place)
        r = copysign(0, r);
    return format_narrow(format, r, ROUND_NEAREST, false);
}

static uint32_t approximate(const struct ptx_insn *insn, const struct float_format *format,
                            uint32_t a)
{
    if (insn->op == OP_TANH_APPROX_HALF)
        return format_narrow(format, (double)lane_tanh_f32((float)format_widen(format, a)),
                             ROUND_NEAREST, false);
    bool flushes = insn->op == OP_EX2_APPROX_BF16;
    uint32_t r =
        format_narrow(format, lane_exp2(format_widen(format, flushes ? flush(format, a) : a)),
                      ROUND_NEAREST, false);
    return flushes ? flush(format, r) : r;
}

static uint32_t one_half(const struct ptx_insn *insn, const struct float_format *format, uint32_t a,
                         uint32_t b, uint32_t c)
{
    if (insn->mods[MODC_FTZ] != MOD_NONE) {
        a = flush(format, a);
        b = flush(format, b);
        c = flush(format, c);
    }
    double x = format_widen(format, a), y = format_widen(format, b), z = format_widen(format, c);
    switch (insn->op) {
    case OP_ADD_F16:
    case OP_ADD_BF16:
        return finish(insn, format, odd_add(x, y));
    case OP_SUB_F16:
    case OP_SUB_BF16:
        return finish(insn, format, odd_add(x, -y));
    case OP_MUL_F16:
    case OP_MUL_BF16:
        return finish(insn, format, x * y);
    case OP_FMA_OOB:
        if (a == 0xffff || b == 0xffff || c == 0xffff)
            return 0;
        return finish(insn, format, odd_add(x * y, z));
    case OP_FMA_F16:
    case OP_FMA_BF16:
        return finish(insn, format, odd_add(x * y, z));
    case OP_NEG_F16:
    case OP_NEG_BF16:
        return is_nan(format, a) ? format->nan : a ^ format->sign;
    case OP_ABS_F16:
    case OP_ABS_BF16:
        return is_nan(format, a) ? format->nan : a & ~format->sign;
    case OP_MIN_F16:
    case OP_MIN_BF16:
        return minimum(insn, format, a, b, false);
    case OP_MAX_F16:
    case OP_MAX_BF16:
        return minimum(insn, format, a, b, true);
    default:
        return approximate(insn, format, a);
    }
}

uint64_t value_half(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    const struct float_format *format = format_of_type(insn->tuple.d);
    uint32_t low = one_half(insn, format, (uint16_t)v[0], (uint16_t)v[1], (uint16_t)v[2]);
    if (isa_type_info(insn->tuple.d)->bytes == 2)
        return low;
    return low |
           one_half(insn, format, v[0] >> 16 & 0xffff, v[1] >> 16 & 0xffff, v[2] >> 16 & 0xffff)
               << 16;
}

bool compare_holds(enum isa_mod cmp, double a, double b)
{
    bool unordered = a != a || b != b;
    switch (cmp) {
    case MOD_CMP_eq:
        return a == b;
    case MOD_CMP_ne:
        return !unordered && a != b;
    case MOD_CMP_lt:
    case MOD_CMP_lo:
        return a < b;
    case MOD_CMP_le:
    case MOD_CMP_ls:
        return a <= b;
    case MOD_CMP_gt:
    case MOD_CMP_hi:
        return a > b;
    case MOD_CMP_ge:
    case MOD_CMP_hs:
        return a >= b;
    case MOD_CMP_equ:
        return unordered || a == b;
    case MOD_CMP_neu:
        return unordered || a != b;
    case MOD_CMP_ltu:
        return unordered || a < b;
    case MOD_CMP_leu:
        return unordered || a <= b;
    case MOD_CMP_gtu:
        return unordered || a > b;
    case MOD_CMP_geu:
        return unordered || a >= b;
    case MOD_CMP_num:
        return !unordered;
    default:
        return unordered;
    }
}

static bool joined(const struct ptx_insn *insn, bool compared, bool other)
{
    switch (insn->mods[MODC_BOOL]) {
    case MOD_BOOL_and:
        return compared && other;
    case MOD_BOOL_or:
        return compared || other;
    case MOD_BOOL_xor:
        return compared != other;
    default:
        return compared;
    }
}

/* Half `which` of a and b, compared. */
static bool compare_half(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES],
                         uint32_t which)
{
    const struct float_format *format = format_of_type(insn->tuple.s);
    uint32_t a = v[0] >> 16 * which & 0xffff, b = v[1] >> 16 * which & 0xffff;
    if (insn->mods[MODC_FTZ] != MOD_NONE) {
        a = flush(format, a);
        b = flush(format, b);
    }
    return joined(insn,
                  compare_holds((enum isa_mod)insn->mods[MODC_CMP], format_widen(format, a),
                                format_widen(format, b)),
                  v[2] & 1);
}

/* Of one half, q is the opposite comparison; of a pair, the upper half's. */
uint64_t value_half_compare(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    bool p = compare_half(insn, v, 0), q = false;
    if (isa_type_info(insn->tuple.s)->bytes == 4)
        q = compare_half(insn, v, 1);
    return (uint64_t)p | (uint64_t)q << 1;
}

/* Integers and wider floats compared, for set.CMP.f16.TYPE. */
static bool compare_other(const struct ptx_insn *insn, uint64_t a, uint64_t b)
{
    const struct isa_type_info *type = isa_type_info(insn->tuple.s);
    enum isa_mod cmp = (enum isa_mod)insn->mods[MODC_CMP];
    uint32_t spare = 64 - 8 * type->bytes;
    if (type->kind == KIND_FLOAT) {
        bool wide = type->bytes == 8, ftz = insn->mods[MODC_FTZ] != MOD_NONE;
        if (ftz && !wide) {
            a = a & 0x7f800000 ? a : a & 0x80000000;
            b = b & 0x7f800000 ? b : b & 0x80000000;
        }
        return compare_holds(cmp, wide ? lane_double(a) : (double)lane_float((uint32_t)a),
                             wide ? lane_double(b) : (double)lane_float((uint32_t)b));
    }
    a <<= spare;
    b <<= spare;
    bool less = type->kind == KIND_SIGNED ? (int64_t)a < (int64_t)b : a < b;
    return compare_holds(cmp, less ? -1 : a == b ? 0 : 1, 0);
}

/* True is 1.0 in a float, all ones in an integer. */
static uint64_t truth(enum isa_type type, bool holds)
{
    if (!holds)
        return 0;
    switch (type) {
    case TYPE_f16:
    case TYPE_f16x2:
        return 0x3c00;
    case TYPE_bf16:
    case TYPE_bf16x2:
        return 0x3f80;
    default:
        return isa_type_info(type)->bytes == 2 ? 0xffff : 0xffffffff;
    }
}

uint64_t value_half_set(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    enum isa_type to = insn->tuple.d, from = insn->tuple.s;
    bool pair = from == TYPE_f16x2 || from == TYPE_bf16x2;
    if (!format_of_type(from))
        return truth(to, joined(insn, compare_other(insn, v[0], v[1]), v[2] & 1));
    uint64_t low = truth(to, compare_half(insn, v, 0));
    if (!pair)
        return isa_type_info(to)->kind == KIND_SIGNED && isa_type_info(to)->bytes == 2
                   ? (uint64_t)(int64_t)(int16_t)low
                   : low;
    return (low & 0xffff) | (truth(to, compare_half(insn, v, 1)) & 0xffff) << 16;
}
