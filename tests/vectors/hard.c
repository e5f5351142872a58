/*
 * Operands where rounding is hard, beside the uniform ones of operands.c. A lane has a theme, the
 * same for all operands of a form in this lane; the operands of matrices have one for a warp. So
 * operands fit each other: products and quotients fall on the border of subnormal numbers, on
 * overflow and on ties, sums cancel, values lie next to a tie of a narrower format, to an integer,
 * or to a corner.
 */
#include "vectors/hard.h"

#include <math.h>
#include <string.h>

/* A binary format: bits of its exponent and of its mantissa. */
struct shape {
    uint32_t exponent_bits, mantissa_bits;
};
static const struct shape f16_shape = {5, 10}, bf16_shape = {8, 7}, f32_shape = {8, 23},
                          f64_shape = {11, 52}, tf32_shape = {8, 10}, e4m3_shape = {4, 3},
                          e5m2_shape = {5, 2};

static uint64_t ones(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static int bias_of(const struct shape *s)
{
    return (int)ones(s->exponent_bits - 1);
}

/* A mantissa of `bits`: any, or one whose low part is (next to) nothing, a half or all. */
static uint64_t hard_mantissa(struct rng *rng, uint32_t bits)
{
    uint64_t any = rng_u64(rng) & ones(bits), low;
    uint32_t cut = 1 + (uint32_t)rng_below(rng, bits);
    switch (rng_below(rng, 8)) {
    case 0:
        return any;
    case 1:
        low = 0;
        break;
    case 2:
        low = 1;
        break;
    case 3:
        low = ones(cut);
        break;
    case 4:
        low = UINT64_C(1) << (cut - 1);
        break;
    case 5:
        low = (UINT64_C(1) << (cut - 1)) + 1;
        break;
    case 6:
        low = (UINT64_C(1) << (cut - 1)) - 1;
        break;
    default: /* few ones */
        return any & rng_u64(rng) & rng_u64(rng);
    }
    return ((any >> cut << cut) | low) & ones(bits);
}

/* The code whose exponent field is nearest to bias + exponent. */
static uint64_t code_of(const struct shape *s, int exponent, uint64_t mantissa, bool negative)
{
    int field = exponent + bias_of(s), top = (int)ones(s->exponent_bits);
    field = field < 0 ? 0 : field > top ? top : field;
    return ((uint64_t)negative << s->exponent_bits | (uint64_t)field) << s->mantissa_bits |
           (mantissa & ones(s->mantissa_bits));
}

static long double value_of(const struct shape *s, uint64_t code)
{
    uint64_t field = code >> s->mantissa_bits & ones(s->exponent_bits);
    uint64_t mantissa = code & ones(s->mantissa_bits);
    bool negative = code >> (s->exponent_bits + s->mantissa_bits) & 1;
    int lowest = 1 - bias_of(s) - (int)s->mantissa_bits;
    long double value;
    if (field == ones(s->exponent_bits))
        value = mantissa ? (long double)NAN : (long double)INFINITY;
    else if (field == 0)
        value = ldexpl((long double)mantissa, lowest);
    else
        value = ldexpl((long double)(mantissa | UINT64_C(1) << s->mantissa_bits),
                       lowest + (int)field - 1);
    return negative ? -value : value;
}

/* The code nearest to a value (towards zero where it lies between), without NaNs and infinities. */
static uint64_t nearest_code(const struct shape *s, long double value)
{
    bool negative = signbit(value);
    uint64_t largest = (ones(s->exponent_bits) << s->mantissa_bits) - 1;
    uint64_t sign = (uint64_t)negative << (s->exponent_bits + s->mantissa_bits);
    if (!(fabsl(value) < value_of(s, largest)))
        return sign | largest;
    int exponent, lowest = 1 - bias_of(s);
    frexpl(value, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    uint64_t units =
        value == 0 ? 0 : (uint64_t)ldexpl(fabsl(value), (int)s->mantissa_bits - exponent);
    return sign | (units + ((uint64_t)(exponent - lowest) << s->mantissa_bits));
}

/* A code some units beside another; codes of finite numbers stay such. */
static uint64_t beside(struct rng *rng, const struct shape *s, uint64_t code)
{
    uint32_t width = s->exponent_bits + s->mantissa_bits;
    uint64_t sign = code & (UINT64_C(1) << width), magnitude = code & ones(width);
    uint64_t step = rng_below(rng, 4) ? rng_below(rng, 3) : rng_below(rng, 40);
    uint64_t moved = rng_below(rng, 2) ? magnitude + step : magnitude - step;
    return moved <= ones(width) ? sign | moved : code;
}

static int between_exponents(struct rng *rng, int low, int high)
{
    return low + (int)rng_below(rng, (uint64_t)(high - low + 1));
}

/* Where results are hard: round the smallest normal, the smallest subnormal, overflow, and 1. */
static long double border(struct rng *rng, const struct shape *s)
{
    int bias = bias_of(s), least = 1 - bias, sub = least - (int)s->mantissa_bits;
    switch (rng_below(rng, 6)) {
    case 0:
    case 1:
    case 2:
        return ldexpl(1, least);
    case 3:
        return ldexpl((long double)(1 + rng_below(rng, 64)) / 2, sub);
    case 4:
        return ldexpl(1, bias + 1);
    default:
        return ldexpl(1, between_exponents(rng, least, bias));
    }
}

static long double signed_like(struct rng *rng, long double value)
{
    return rng_below(rng, 2) ? -value : value;
}

/* b so that a op b meets `target`, a few units off. */
static uint64_t partner(struct rng *rng, const struct shape *s, long double value)
{
    if (!(fabsl(value) <= 0x1p16383L))
        return hard_mantissa(rng, s->mantissa_bits);
    return beside(rng, s, nearest_code(s, signed_like(rng, value)));
}

/* A number of half as many bits, whose products and squares have ties; or any hard one. */
static uint64_t short_code(struct rng *rng, const struct shape *s, int exponent)
{
    uint32_t keep = 1 + (uint32_t)rng_below(rng, s->mantissa_bits / 2 + 2);
    uint64_t mantissa = rng_u64(rng) & ones(s->mantissa_bits);
    keep = keep > s->mantissa_bits ? s->mantissa_bits : keep;
    mantissa = mantissa >> (s->mantissa_bits - keep) << (s->mantissa_bits - keep);
    return code_of(s, exponent, mantissa, rng_below(rng, 2));
}

enum theme { PRODUCT, TIE, CANCEL, QUOTIENT, CUT, UNARY, WILD, THEMES };

/* Where conversions are hard: integers up to 2^66, and the ends of narrower formats. */
static int conversion_exponent(struct rng *rng, int least, int most)
{
    static const int ends[] = {-6, -9, -14, -16, -24, -126, -133, -136, -149, 8, 15, 127};
    if (rng_below(rng, 3) == 0)
        return ends[rng_below(rng, sizeof ends / sizeof *ends)] + between_exponents(rng, -2, 1);
    return between_exponents(rng, least < -30 ? -30 : least, most < 66 ? most : 66);
}

/* The first operand, a. */
static uint64_t first_operand(struct rng *rng, const struct shape *s, enum theme theme)
{
    int bias = bias_of(s), least = 1 - bias, m = (int)s->mantissa_bits;
    bool negative = rng_below(rng, 2);
    switch (theme) {
    case TIE:
        return short_code(rng, s, between_exponents(rng, -3, 3));
    case CUT:
        return code_of(s, conversion_exponent(rng, least, bias),
                       hard_mantissa(rng, s->mantissa_bits), negative);
    case UNARY: { /* what reciprocals and roots send to a border, squares, borders themselves */
        long double half =
            value_of(s, short_code(rng, s, between_exponents(rng, least / 2, bias / 2)));
        switch (rng_below(rng, 4)) {
        case 0:
            return partner(rng, s, 1 / border(rng, s));
        case 1:
            return partner(rng, s, half * half);
        case 2:
            return partner(rng, s, 1 / (half == 0 ? 1 : half));
        default:
            return partner(rng, s, border(rng, s));
        }
    }
    case WILD: /* NaNs with payloads, infinities, zeros, subnormals */
        return code_of(s, rng_below(rng, 2) ? bias + 1 : -bias - 1,
                       rng_below(rng, 3) ? hard_mantissa(rng, s->mantissa_bits) : 0, negative);
    default:
        return code_of(s, between_exponents(rng, least - m / 4, bias),
                       hard_mantissa(rng, s->mantissa_bits), negative);
    }
}

static uint64_t second_operand(struct rng *rng, const struct shape *s, enum theme theme,
                               uint64_t first)
{
    long double a = value_of(s, first);
    switch (theme) {
    case PRODUCT:
        return partner(rng, s, border(rng, s) / a);
    case TIE:
        return short_code(rng, s,
                          between_exponents(rng, -3, 3) +
                              (rng_below(rng, 2) ? (int)s->mantissa_bits : 0));
    case CANCEL:
        return rng_below(rng, 4) ? partner(rng, s, a) : partner(rng, s, border(rng, s) + fabsl(a));
    case QUOTIENT: /* a is b times a quotient at a border, or one that ends where a tie does */
        if (rng_below(rng, 2))
            return partner(rng, s, a / border(rng, s));
        return partner(rng, s,
                       a / (1 + ldexpl((long double)(rng_below(rng, 64) * 2 + 1),
                                       -(int)s->mantissa_bits - 1)));
    default:
        return first_operand(rng, s, theme);
    }
}

static uint64_t third_operand(struct rng *rng, const struct shape *s, enum theme theme,
                              uint64_t first, uint64_t second)
{
    long double a = value_of(s, first), b = value_of(s, second), product = a * b;
    int exponent = 0;
    if (theme == WILD || !(fabsl(product) <= 0x1p16383L))
        return first_operand(rng, s, theme);
    frexpl(product, &exponent);
    switch (rng_below(rng, 6)) {
    case 0: /* the sum cancels to the product's last bits */
        return partner(rng, s, product);
    case 1: /* the product is the sum's sticky bit, or a half of its last place */
        return code_of(s, exponent + (int)s->mantissa_bits + between_exponents(rng, -1, 3),
                       hard_mantissa(rng, s->mantissa_bits), rng_below(rng, 2));
    case 2: /* the sum's sticky bit */
        return code_of(s, exponent - (int)s->mantissa_bits - between_exponents(rng, -2, 12),
                       hard_mantissa(rng, s->mantissa_bits), rng_below(rng, 2));
    case 3: /* the sum comes to a border */
        return partner(rng, s, signed_like(rng, border(rng, s)) - product);
    case 4:
        return (uint64_t)rng_below(rng, 2) << (s->exponent_bits + s->mantissa_bits);
    default:
        return partner(rng, s, border(rng, s));
    }
}

static uint64_t float_operand(struct rng *rng, const struct shape *s, enum theme theme,
                              uint32_t slice, uint64_t first, uint64_t second)
{
    if (slice % 3 == 0)
        return first_operand(rng, s, theme);
    return slice % 3 == 1 ? second_operand(rng, s, theme, first)
                          : third_operand(rng, s, theme, first, second);
}

/* Integers round powers of two, and such that products and quotients meet them. */
static uint64_t integer_operand(struct rng *rng, uint32_t bits, uint32_t slice, uint64_t first)
{
    uint64_t power = UINT64_C(1) << rng_below(rng, bits), step = rng_below(rng, 3);
    uint64_t near = rng_below(rng, 2) ? power + step : power - step;
    uint64_t divisor = first ? first : 1;
    switch (rng_below(rng, slice > 0 ? 6 : 2)) {
    case 0:
        return near;
    case 1:
        return 0 - near;
    case 2:
        return first + step;
    case 3:
        return 0 - first - step;
    case 4:
        return power / divisor + step;
    default:
        return rng_below(rng, 2) ? UINT32_MAX / ((uint32_t)divisor ? (uint32_t)divisor : 1) + step
                                 : ~first + step;
    }
}

/* Operands of matrices: exponents and mantissas as the warp's theme says. */
static uint64_t matrix_element(struct rng *rng, struct rng theme, const struct shape *s)
{
    uint64_t kind = rng_below(&theme, 8);
    int top = between_exponents(&theme, -8, 6), span = (int)rng_below(&theme, 31);
    bool sparse = rng_below(&theme, 2), small = rng_below(&theme, 2);
    uint64_t specials = rng_below(&theme, 2) ? 400 : 12;
    int bias = bias_of(s), reach = bias < 64 ? bias : 64, exponent = top;
    uint64_t mantissa = rng_u64(rng) & ones(s->mantissa_bits);
    if (sparse)
        mantissa = hard_mantissa(rng, s->mantissa_bits);
    bool negative = rng_below(rng, 2);
    switch (kind) {
    case 0: /* all exponents of a range */
        exponent = top - (int)rng_below(rng, (uint64_t)span + 1);
        break;
    case 1: /* two magnitudes */
        exponent = rng_below(rng, 3) ? top : top - span;
        break;
    case 2: /* few and large ones, which cancel, of one value */
        if (rng_below(rng, 3) == 0)
            mantissa = 0;
        else
            exponent = top - 6 - (int)rng_below(rng, 8);
        break;
    case 3: /* short numbers: sums are exact, or ties */
        mantissa = mantissa >> (s->mantissa_bits - 2) << (s->mantissa_bits - 2);
        exponent = top - (int)rng_below(rng, 3);
        break;
    case 4: /* subnormal and just above; or where products of a wide format come there */
        exponent = (small || bias <= 64 ? -bias : -66) + (int)rng_below(rng, 5);
        break;
    case 5: /* everything of the format up to overflow */
        exponent = between_exponents(rng, -reach, reach);
        break;
    case 6: /* zeros between, an infinity or a NaN now and then */
        if (rng_below(rng, 2))
            return (uint64_t)negative << (s->exponent_bits + s->mantissa_bits);
        exponent = rng_below(rng, specials) == 0 ? bias + 1 : top - (int)rng_below(rng, 12);
        break;
    default:
        exponent = top - (int)rng_below(rng, 4);
        break;
    }
    return code_of(s, exponent, mantissa, negative);
}

/* The accumulator of such products: about as large as they, much larger, or much smaller. */
static uint64_t matrix_addend(struct rng *rng, struct rng theme, const struct shape *s)
{
    uint64_t kind = rng_below(&theme, 8);
    int top = 2 * between_exponents(&theme, -8, 6), bias = bias_of(s);
    int exponent = top + between_exponents(rng, -30, 14);
    if (kind == 4 || kind == 5) /* as far out as the operands */
        exponent = kind == 5 && rng_below(rng, 2) ? bias - (int)rng_below(rng, 4)
                                                  : -bias + (int)rng_below(rng, 28);
    if (rng_below(rng, 8) == 0)
        return (uint64_t)rng_below(rng, 2) << (s->exponent_bits + s->mantissa_bits);
    return code_of(s, exponent, hard_mantissa(rng, s->mantissa_bits), rng_below(rng, 2));
}

static uint64_t matrix_pair(struct rng *rng, const struct rng *theme, const struct shape *s,
                            uint32_t slice)
{
    uint32_t bits = 1 + s->exponent_bits + s->mantissa_bits;
    bool addend = slice == 6 || slice == 7;
    uint64_t low = addend ? matrix_addend(rng, *theme, s) : matrix_element(rng, *theme, s);
    uint64_t high = addend ? matrix_addend(rng, *theme, s) : matrix_element(rng, *theme, s);
    return high << bits | low;
}

static uint64_t four_elements(struct rng *rng, const struct rng *theme, const struct shape *s)
{
    uint64_t codes = 0;
    for (int i = 0; i < 4; i++)
        codes = codes << 8 | matrix_element(rng, *theme, s);
    return codes;
}

/* f32 near multiples of a step: integers for 2^x, eighths of a turn for angles. */
static uint64_t near_multiple(struct rng *rng, double step, int range)
{
    double value = step * between_exponents(rng, -range, range);
    uint64_t code = nearest_code(&f32_shape, (long double)value);
    if (rng_below(rng, 8) == 0)
        code = code_of(&f32_shape, between_exponents(rng, -127, -1), hard_mantissa(rng, 23),
                       rng_below(rng, 2));
    return rng_below(rng, 16) ? beside(rng, &f32_shape, code) : code & 0x80000000;
}

static uint64_t pair_operand(struct rng *rng, const struct shape *s, enum theme low,
                             enum theme high, uint32_t slice, uint64_t first, uint64_t second)
{
    return float_operand(rng, s, high, slice, first >> 16, second >> 16) << 16 |
           float_operand(rng, s, low, slice, first & 0xffff, second & 0xffff);
}

bool hard_operand(uint64_t *out, const struct hard_place *at, struct rng *rng)
{
    struct rng lane, warp;
    rng_seed(&lane, at->seed * 31 + at->lane * UINT64_C(0x9e3779b97f4a7c15));
    rng_seed(&warp, at->seed * 37 + (at->lane / 32 + 1) * UINT64_C(0xbf58476d1ce4e5b9));
    enum theme theme = (enum theme)rng_below(&lane, THEMES);
    enum theme other = (enum theme)rng_below(&lane, THEMES);
    uint64_t first = at->first, second = at->second;
    switch (at->fill) {
    case FILL_INT:
        *out = integer_operand(rng, at->bits, at->slice, first);
        return true;
    case FILL_F16:
        *out = float_operand(rng, &f16_shape, theme, at->slice, first, second);
        return true;
    case FILL_BF16:
        *out = float_operand(rng, &bf16_shape, theme, at->slice, first, second);
        return true;
    case FILL_F32:
        *out = float_operand(rng, &f32_shape, theme, at->slice, first, second);
        return true;
    case FILL_F64:
        *out = float_operand(rng, &f64_shape, theme, at->slice, first, second);
        return true;
    case FILL_F16X2:
        *out = pair_operand(rng, &f16_shape, theme, other, at->slice, first, second);
        return true;
    case FILL_BF16X2:
        *out = pair_operand(rng, &bf16_shape, theme, other, at->slice, first, second);
        return true;
    case FILL_HALVES:
        *out = matrix_pair(rng, &warp, &f16_shape, at->slice);
        return true;
    case FILL_BHALVES:
        *out = matrix_pair(rng, &warp, &bf16_shape, at->slice);
        return true;
    case FILL_E4M3:
        *out = four_elements(rng, &warp, &e4m3_shape);
        return true;
    case FILL_E5M2:
        *out = four_elements(rng, &warp, &e5m2_shape);
        return true;
    case FILL_TF32:
        *out = matrix_element(rng, warp, &tf32_shape) << 13;
        return true;
    case FILL_LOWF:
        *out = matrix_addend(rng, warp, &f32_shape);
        return true;
    case FILL_LOWD:
        *out = matrix_element(rng, warp, &f64_shape);
        return true;
    case FILL_EXPONENT:
        *out = near_multiple(rng, 0.5, 320);
        return true;
    case FILL_ANGLE:
        *out = near_multiple(rng, 0.78539816339744830962, 4);
        return true;
    default:
        return false;
    }
}
