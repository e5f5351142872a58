/*
 * Video instructions: on whole words, with an optional second operation on c, and on bytes or
 * halves side by side. Operands are widened as their types say, so that the first operation cannot
 * overflow; then comes saturation to the range of the result's type or of the part of it that is
 * written. vmad multiplies and adds.
 *
 * sm_90 has none of these; what its assembler makes of them is not always the manual's, and is
 * followed here: a part of the result is saturated as an unsigned number (negative ones become the
 * largest), .h1 of it has the result's own upper half, vmad takes its factors for signed words once
 * they are extended, and c too, and shifts a product of unsigned ones as 64 bits without a sign.
 * Source: PTX ISA 9.0, 9.7.17; recordings of an H200
 * (tests/vectors/matrix.txt).
 */
#include "exec/ops/value.h"
#include "isa/lane_math.h"

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

/* Element i of an operand: what its selector names of the elements of a, then of b. */
static int64_t video_chosen(const struct ptx_insn *insn, const uint64_t *v, uint32_t operand,
                            uint32_t i, enum isa_type type)
{
    uint32_t bits = video[insn->op].bits, count = 32 / bits;
    uint16_t selector = insn->operands[operand].selector;
    uint32_t at = selector ? ptx_selector_digit(selector, i) : (operand - 1) * count + i;
    return video_element((uint32_t)v[at / count], at % count * bits, bits, type);
}

static bool video_is_written(uint16_t mask, uint32_t i)
{
    bool written = mask == 0;
    for (uint32_t k = 0; k < ptx_selector_count(mask); k++)
        written = written || ptx_selector_digit(mask, k) == i;
    return written;
}

/* Elements side by side; .add sums them up and adds c; what a mask leaves out is c's. */
uint64_t value_video(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    enum isa_type d, a, b;
    uint32_t bits = video[insn->op].bits, packed = 0, sum = (uint32_t)v[2];
    video_types(insn, &d, &a, &b);
    for (uint32_t i = 0; i < 32 / bits; i++) {
        uint32_t field = UINT32_MAX >> (32 - bits) << i * bits;
        int64_t r =
            video_result(insn, video_chosen(insn, v, 1, i, a), video_chosen(insn, v, 2, i, b));
        if (insn->mods[MODC_SAT] != MOD_NONE)
            r = video_saturate(r, bits, d == TYPE_s32);
        bool written = video_is_written(insn->operands[0].selector, i);
        packed |= (written ? (uint32_t)r << i * bits : (uint32_t)v[2]) & field;
        sum += written ? (uint32_t)r : 0;
    }
    return insn->mods[MODC_ATOM] == MOD_ATOM_add ? sum : packed;
}

static uint32_t part_bits(uint16_t selector)
{
    return selector == 0 ? 32 : ptx_selector_is_halves(selector) ? 16 : 8;
}

/* The largest value of a part. */
static uint32_t part_most(uint16_t selector, enum isa_type type)
{
    return UINT32_MAX >> (32 - part_bits(selector) + (type == TYPE_s32));
}

/* The byte, half or word of an operand that a word instruction takes. */
static int64_t video_part(const struct ptx_insn *insn, const uint64_t *v, uint32_t operand,
                          enum isa_type type)
{
    uint16_t selector = insn->operands[operand].selector;
    uint32_t bits = part_bits(selector);
    return video_element((uint32_t)v[operand - 1], ptx_selector_digit(selector, 0) * bits, bits,
                         type);
}

static uint32_t video_merge(uint16_t selector, uint32_t part, uint32_t c)
{
    uint32_t bits = part_bits(selector), at = ptx_selector_digit(selector, 0) * bits;
    uint32_t field = UINT32_MAX >> (32 - bits) << at;
    bool upper_half = bits == 16 && at == 16;
    return (c & ~field) | ((upper_half ? part : part << at) & field);
}

/* A whole word, and what a second operation makes of it and c: of the result's type, without
 * saturation. */
uint64_t value_video_word(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    enum isa_type d, a, b;
    uint16_t part = insn->operands[0].selector;
    video_types(insn, &d, &a, &b);
    int64_t r = video_result(insn, video_part(insn, v, 1, a), video_part(insn, v, 2, b));
    bool saturates = insn->mods[MODC_SAT] != MOD_NONE;
    if (part) {
        if (saturates && (r < 0 || r > part_most(part, d)))
            r = part_most(part, d);
        return video_merge(part, (uint32_t)r, (uint32_t)v[2]);
    }
    if (saturates)
        r = video_saturate(r, 32, d == TYPE_s32);
    if (video[insn->op].op == VIDEO_SET && (a == TYPE_s32 || b == TYPE_s32))
        d = TYPE_s32;
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

/* The product and c, to which a one comes: with .po, or as the end of a negation. */
uint64_t value_vmad(const struct ptx_insn *insn, const uint64_t v[VALUE_SOURCES])
{
    const struct ptx_operand *o = insn->operands;
    enum isa_type a = insn->types[1], b = insn->types[2];
    bool turned = o[1].negate != o[2].negate, c_turned = !turned && o[3].negate;
    bool is_signed = a == TYPE_s32 || b == TYPE_s32 || turned || o[3].negate;
    lane_s128 sum =
        (lane_s128)(int32_t)video_part(insn, v, 1, a) * (int32_t)video_part(insn, v, 2, b);
    uint32_t c = c_turned ? ~(uint32_t)v[2] : (uint32_t)v[2];
    if (turned)
        sum = -sum - 1;
    sum += (int32_t)c;
    sum += turned || c_turned || insn->mods[MODC_PO] != MOD_NONE;
    uint32_t shift = insn->mods[MODC_SCALE] == MOD_SCALE_shr7 ? 7 : 15;
    if (insn->mods[MODC_SCALE] != MOD_NONE)
        sum = is_signed ? sum >> shift : (lane_s128)((uint64_t)sum >> shift);
    int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
    if (insn->mods[MODC_SAT] != MOD_NONE)
        sum = sum < low ? low : sum > high ? high : sum;
    return (uint32_t)sum;
}
