/*
 * Video instructions: on whole words, with an optional second operation on c, and on bytes or
 * halves side by side. Operands are widened as their types say, so that the first operation cannot
 * overflow; then comes saturation to the range of the result's type. Selectors and masks of bytes
 * are not parsed. Source: PTX ISA 9.0, 9.7.17.
 */
#include "exec/ops/value.h"

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_AVRG,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_SET
};

/* clang-format off */
static const struct {
    enum video_op op;
    uint8_t bits; /* of an element */
} video[OP_COUNT] = {
    [OP_VADD] = {VIDEO_ADD, 32}, [OP_VADD_OP] = {VIDEO_ADD, 32},
    [OP_VSUB] = {VIDEO_SUB, 32}, [OP_VSUB_OP] = {VIDEO_SUB, 32},
    [OP_VABSDIFF] = {VIDEO_ABSDIFF, 32}, [OP_VABSDIFF_OP] = {VIDEO_ABSDIFF, 32},
    [OP_VMIN] = {VIDEO_MIN, 32}, [OP_VMIN_OP] = {VIDEO_MIN, 32},
    [OP_VMAX] = {VIDEO_MAX, 32}, [OP_VMAX_OP] = {VIDEO_MAX, 32},
    [OP_VSHL] = {VIDEO_SHL, 32}, [OP_VSHL_OP] = {VIDEO_SHL, 32},
    [OP_VSHR] = {VIDEO_SHR, 32}, [OP_VSHR_OP] = {VIDEO_SHR, 32},
    [OP_VSET] = {VIDEO_SET, 32}, [OP_VSET_OP] = {VIDEO_SET, 32},
    [OP_VADD2] = {VIDEO_ADD, 16}, [OP_VADD4] = {VIDEO_ADD, 8},
    [OP_VSUB2] = {VIDEO_SUB, 16}, [OP_VSUB4] = {VIDEO_SUB, 8},
    [OP_VAVRG2] = {VIDEO_AVRG, 16}, [OP_VAVRG4] = {VIDEO_AVRG, 8},
    [OP_VABSDIFF2] = {VIDEO_ABSDIFF, 16}, [OP_VABSDIFF4] = {VIDEO_ABSDIFF, 8},
    [OP_VMIN2] = {VIDEO_MIN, 16}, [OP_VMIN4] = {VIDEO_MIN, 8},
    [OP_VMAX2] = {VIDEO_MAX, 16}, [OP_VMAX4] = {VIDEO_MAX, 8},
    [OP_VSET2] = {VIDEO_SET, 16}, [OP_VSET4] = {VIDEO_SET, 8},
};
/* clang-format on */

/* One element of an operand, as its type says. */
static int64_t video_element(uint32_t word, uint32_t at, uint32_t bits, enum isa_type type)
{
    uint32_t part = word >> at << (32 - bits);
    return type == TYPE_s32 ? (int32_t)part >> (32 - bits) : (int64_t)(part >> (32 - bits));
}

static int64_t video_shift(const struct ptx_insn *insn, int64_t a, int64_t b, bool left)
{
    uint32_t count = (uint32_t)b;
    if (insn->mods[MODC_LIMIT] == MOD_LIMIT_wrap)
        count &= 31;
    else if (count > 32)
        count = 32;
    if (!left)
        return a >> count;
    /* 33 bits shifted by 32 do not fit; the low half is 0, and saturation sees something large. */
    if (count == 32 && a != 0)
        return a < 0 ? -(INT64_C(1) << 62) : INT64_C(1) << 62;
    return a * (INT64_C(1) << count);
}

static int64_t video_result(const struct ptx_insn *insn, int64_t a, int64_t b)
{
    switch (video[insn->op].op) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_SHL:
        return video_shift(insn, a, b, true);
    case VIDEO_SHR:
        return video_shift(insn, a, b, false);
    default: /* values of 33 bits are exact as doubles */
        return compare_holds(insn->mods[MODC_CMP], (double)a, (double)b);
    }
}

/* vset gives no type for its result: it is unsigned. */
static void video_types(const struct ptx_insn *insn, enum isa_type *d, enum isa_type *a,
                        enum isa_type *b)
{
    bool sets = video[insn->op].op == VIDEO_SET;
    *d = sets ? TYPE_u32 : insn->types[0];
    *a = insn->types[sets ? 0 : 1];
    *b = insn->types[sets ? 1 : 2];
}

static int64_t video_saturate(int64_t r, uint32_t bits, bool is_signed)
{
    int64_t high = (INT64_C(1) << (bits - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
    return r < low ? low : r > high ? high : r;
}

/* Elements side by side; .add sums them up and adds c. */
uint64_t value_video(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    enum isa_type d, a, b;
    uint32_t bits = video[insn->op].bits, packed = 0, sum = (uint32_t)v[2];
    video_types(insn, &d, &a, &b);
    for (uint32_t at = 0; at < 32; at += bits) {
        int64_t r = video_result(insn, video_element((uint32_t)v[0], at, bits, a),
                                 video_element((uint32_t)v[1], at, bits, b));
        if (insn->mods[MODC_SAT] != MOD_NONE)
            r = video_saturate(r, bits, d == TYPE_s32);
        packed |= ((uint32_t)r & (UINT32_MAX >> (32 - bits))) << at;
        sum += (uint32_t)r;
    }
    return insn->mods[MODC_ATOM] == MOD_ATOM_add ? sum : packed;
}

/* A whole word, and what a second operation makes of it and c: of the result's type, without
 * saturation. */
uint64_t value_video_word(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    enum isa_type d, a, b;
    video_types(insn, &d, &a, &b);
    int64_t r = video_result(insn, video_element((uint32_t)v[0], 0, 32, a),
                             video_element((uint32_t)v[1], 0, 32, b));
    if (insn->mods[MODC_SAT] != MOD_NONE)
        r = video_saturate(r, 32, d == TYPE_s32);
    int64_t word = video_element((uint32_t)r, 0, 32, d),
            c = video_element((uint32_t)v[2], 0, 32, d);
    switch (insn->mods[MODC_ATOM]) {
    case MOD_ATOM_add:
        return (uint32_t)(word + c);
    case MOD_ATOM_min:
        return (uint32_t)(word < c ? word : c);
    case MOD_ATOM_max:
        return (uint32_t)(word > c ? word : c);
    default:
        return (uint32_t)word;
    }
}
