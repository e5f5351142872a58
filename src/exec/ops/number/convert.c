/*
 * Conversions to and from f16, bf16, tf32 and the 8-bit floats, and packing of integers. Others are
 * lane loops. Source: PTX ISA 9.0, 9.7.9.21.
 */
#include <math.h>

#include "exec/lane/float_format.h"
#include "exec/ops/value.h"
#include "isa/lane_math.h"

static bool has(const struct ptx_insn *insn, enum isa_mod_class cls)
{
    return insn->mods[cls] != MOD_NONE;
}

/* The source as a double: exact, or rounded to odd when a large integer. */
static double source_number(const struct ptx_insn *insn, uint64_t bits)
{
    enum isa_type type = insn->tuple.s;
    const struct isa_type_info *info = isa_type_info(type);
    bool ftz = has(insn, MODC_FTZ);
    const struct float_format *format = format_of_type(type);
    if (format) {
        uint32_t code = (uint32_t)bits & 0xffff;
        if (ftz && insn->tuple.d != TYPE_f32 && !(code & format->infinity))
            code &= format->sign;
        return format_widen(format, code);
    }
    if (type == TYPE_f64)
        return lane_double(bits);
    if (type == TYPE_f32) {
        uint32_t word = (uint32_t)bits;
        return (double)lane_float(ftz && !(word & 0x7f800000) ? word & 0x80000000 : word);
    }
    uint32_t spare = 64 - 8 * info->bytes;
    if (info->kind != KIND_SIGNED)
        return odd_from_integer(bits << spare >> spare, false);
    int64_t value = (int64_t)(bits << spare) >> spare;
    return odd_from_integer(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

static double rounded_to_integer(const struct ptx_insn *insn, double v)
{
    switch (insn->mods[MODC_IRND]) {
    case MOD_IRND_rni:
        return rint(v);
    case MOD_IRND_rzi:
        return trunc(v);
    case MOD_IRND_rmi:
        return floor(v);
    case MOD_IRND_rpi:
        return ceil(v);
    default:
        return v;
    }
}

/* The integer of the type nearest to v, sign-extended when signed. */
static uint64_t clamped_integer(enum isa_type type, enum isa_type from, double v)
{
    const struct isa_type_info *info = isa_type_info(type);
    uint32_t bits = info->bytes * 8u;
    bool is_signed = info->kind == KIND_SIGNED;
    if (v != v) /* one bit, where 64 are involved */
        return bits == 64 || from == TYPE_f64 ? UINT64_C(1) << (bits - 1) : 0;
    lane_s128 high = ((lane_s128)1 << (bits - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
    return (uint64_t)lane_float_to_int(v, low, high);
}

static double limited(const struct ptx_insn *insn, double v)
{
    if (has(insn, MODC_SAT))
        v = v > 0 ? (v < 1 ? v : 1) : 0;
    if (has(insn, MODC_RELU) && v <= 0)
        v = 0;
    return v;
}

/*
 * NaNs that keep their payload: to and from f64, whose NaNs are made quiet; from bf16, whose bits
 * are the upper half of an f32; and tf32's rounding away, which drops bits.
 */
static bool nan_payload(const struct ptx_insn *insn, uint64_t *out, uint64_t bits)
{
    enum isa_type to = insn->tuple.d, from = insn->tuple.s;
    if (has(insn, MODC_SAT) || has(insn, MODC_RELU))
        return false;
    if (to == TYPE_f64 && from == TYPE_f16)
        *out = (bits & 0x8000) << 48 | 0x7ff8000000000000 | (bits & 0x3ff) << 42;
    else if (to == TYPE_f16 && from == TYPE_f64)
        *out = (bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x3ff);
    else if (to == TYPE_f32 && from == TYPE_bf16)
        *out = (bits & 0xffff) << 16;
    else if (to == TYPE_tf32)
        *out = insn->op == OP_CVT_TF32_RNA ? bits & 0xffffe000 : 0x7fffe000;
    else
        return false;
    return true;
}

uint64_t value_convert(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    enum isa_type to = insn->tuple.d;
    const struct float_format *format = format_of_type(to);
    double number = rounded_to_integer(insn, source_number(insn, v[0]));
    uint64_t payload;
    if (number != number && nan_payload(insn, &payload, v[0]))
        return payload;
    enum rounding rounding =
        insn->op == OP_CVT_TF32_RNA ? ROUND_AWAY : rounding_of((enum isa_mod)insn->mods[MODC_RND]);
    if (format == &format_tf32) {
        uint32_t code =
            format_narrow(format, limited(insn, number), rounding, has(insn, MODC_SATFINITE));
        return (uint64_t)code << 13;
    }
    if (format) {
        uint32_t code =
            format_narrow(format, limited(insn, number), rounding, has(insn, MODC_SATFINITE));
        bool flushes = has(insn, MODC_FTZ) && to == TYPE_f16 && insn->tuple.s == TYPE_f16;
        return flushes && !(code & format->infinity) ? code & format->sign : code;
    }
    if (to == TYPE_f32)
        return lane_bits_f32(lane_nan_f32((float)limited(insn, number)));
    if (to == TYPE_f64)
        return lane_bits_f64(limited(insn, number));
    return clamped_integer(to, insn->tuple.s, number);
}

/* Two floats to a pair of halves: a is the upper. */
uint64_t value_convert_pair(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    const struct float_format *format = format_of_type(insn->tuple.d);
    enum rounding rounding = rounding_of((enum isa_mod)insn->mods[MODC_RND]);
    uint64_t pair = 0;
    for (int i = 0; i < 2; i++)
        pair = pair << 16 | format_narrow(format, limited(insn, source_number(insn, v[i])),
                                          rounding, has(insn, MODC_SATFINITE));
    return pair;
}

static const struct float_format *fp8_format(enum isa_type type)
{
    return type == TYPE_e4m3x2 ? &format_e4m3 : &format_e5m2;
}

/* From two f32 (a is the upper), or from the halves of an f16x2. */
uint64_t value_convert_fp8(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    const struct float_format *format = fp8_format(insn->tuple.d);
    double high, low;
    if (insn->tuple.s == TYPE_f16x2) {
        high = format_widen(&format_f16, v[0] >> 16 & 0xffff);
        low = format_widen(&format_f16, v[0] & 0xffff);
    } else {
        high = source_number(insn, v[0]);
        low = source_number(insn, v[1]);
    }
    return format_narrow(format, limited(insn, high), ROUND_NEAREST, true) << 8 |
           format_narrow(format, limited(insn, low), ROUND_NEAREST, true);
}

uint64_t value_widen_fp8(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    const struct float_format *format = fp8_format(insn->tuple.s);
    uint64_t pair = 0;
    for (int shift = 8; shift >= 0; shift -= 8)
        pair = pair << 16 |
               format_narrow(&format_f16, limited(insn, format_widen(format, v[0] >> shift & 0xff)),
                             ROUND_NEAREST, false);
    return pair;
}

/* cvt.pack.sat: two clamped integers, in the low bits of which c's are shifted out. */
uint64_t value_pack(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    uint32_t bits = isa_type_info(insn->tuple.d)->bytes * 8u;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t high = clamped_integer(insn->tuple.d, TYPE_s32, (double)(int32_t)v[0]) & mask;
    uint64_t low = clamped_integer(insn->tuple.d, TYPE_s32, (double)(int32_t)v[1]) & mask;
    return (uint32_t)((bits == 8 ? v[2] << 16 : 0) | high << bits | low);
}
