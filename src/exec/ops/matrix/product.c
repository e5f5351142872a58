/*
 * See product.h. Sums of floats follow tensor_sum.h, by loops over many at once (product_loops.h);
 * a row with a special or a subnormal sum is done again one by one. With more products than are
 * added up at once what a step leaves is cut to f32 before the next. Of wgmma's 8-bit floats 13
 * bits are kept below the largest exponent, and an f32 result is cut to 13 behind the point. sm_90
 * has no mma of 8-bit floats: its assembler makes two products of halves of one, the first of the
 * two lower bytes of every four of a row, from zero, the second of the upper ones onto it; the
 * addend comes last, by an ordinary addition.
 * Integers are exact.
 */
#include "exec/ops/matrix/product.h"

#include <assert.h>
#include <string.h>

#include "exec/ops/matrix/tensor_sum.h"
#include "isa/lane_math.h"

#define WHOLE_DEPTH 128 /* of b, in integers of 4 bits */
#define TF32_LANES 4    /* rows and columns have a multiple of them */
#define LONG_SUM 25
#define SHORT_SUM 13
#define SHORT_MASK 0x3ffu /* what a short sum leaves out of f32 */

struct parts {
    _Alignas(32) int32_t mantissa[PRODUCT_DEPTH * PRODUCT_COLUMNS];
    _Alignas(32) int32_t exponent[PRODUCT_DEPTH * PRODUCT_COLUMNS];
};

/* ---- floats ---- */

static void codes_of_line(uint32_t *codes, const uint8_t *line, uint32_t bits, uint32_t count)
{
    if (bits == 32) {
        for (uint32_t k = 0; k < count; k += TF32_LANES) {
            uint32_t words[TF32_LANES];
            memcpy(words, line + 4 * (size_t)k, sizeof words);
            for (uint32_t i = 0; i < TF32_LANES; i++)
                codes[k + i] = words[i] >> 13;
        }
    } else if (bits == 16) {
        for (uint32_t k = 0; k < count; k++) {
            uint16_t code;
            memcpy(&code, line + 2 * (size_t)k, 2);
            codes[k] = code;
        }
    } else {
        for (uint32_t k = 0; k < count; k++)
            codes[k] = line[k];
    }
}

/* What codes stand for. */
static void split_codes(int32_t *mantissa, int32_t *exponent, const struct product *p,
                        const struct float_format *format, uint32_t *codes, uint32_t count)
{
    if (p->pairwise)
        p->loops->halves(codes, format == &format_e4m3, count);
    p->loops->parts(mantissa, exponent, p->pairwise ? &format_f16 : format, codes, count);
}

static uint32_t rounded_up(uint32_t count)
{
    return (count + PRODUCT_LANES - 1) / PRODUCT_LANES * PRODUCT_LANES;
}

/* Of a pairwise product those of the first step come first: the place of product k. */
static uint32_t pairwise_place(uint32_t k, uint32_t terms)
{
    return k / 4 * 2 + k % 2 + (k & 2 ? terms / 2 : 0);
}

/* b's parts by rows, n apart. */
static void split_b(struct parts *b, const struct product *p, const struct product_operands *o)
{
    uint32_t line[PRODUCT_DEPTH], codes[PRODUCT_DEPTH * PRODUCT_COLUMNS];
    const uint32_t n = p->mnk.n;
    const bool turned = p->pairwise && !p->sparse;
    for (uint32_t j = 0; j < n; j++) {
        codes_of_line(line, o->b[j], p->element_bits, p->mnk.k);
        for (uint32_t k = 0; k < p->mnk.k; k++)
            codes[(turned ? pairwise_place(k, p->terms) : k) * n + j] = line[k];
    }
    split_codes(b->mantissa, b->exponent, p, p->b_format, codes, p->mnk.k * n);
}

/* a's parts by rows, `stride` apart, with mantissas as product_row wants them. */
static void split_a(struct parts *a, const struct product *p, const struct product_operands *o,
                    uint32_t stride, int32_t scale)
{
    uint32_t codes[PRODUCT_ROWS * PRODUCT_TERMS], count = stride * p->mnk.m;
    if (stride != p->terms)
        memset(codes, 0, count * sizeof *codes); /* the last of a row */
    for (uint32_t row = 0; row < p->mnk.m; row++) {
        uint32_t *line = &codes[(size_t)row * stride], inorder[PRODUCT_TERMS];
        codes_of_line(p->pairwise ? inorder : line, o->a[row], p->element_bits, p->terms);
        for (uint32_t k = 0; p->pairwise && k < p->terms; k++)
            line[pairwise_place(k, p->terms)] = inorder[k];
    }
    split_codes(a->mantissa, a->exponent, p, p->a_format, codes, count);
    scale = p->negative ? -scale : scale;
    for (uint32_t i = 0; i < count; i++)
        a->mantissa[i] *= scale;
}

static double value_of(uint32_t code, bool half)
{
    return half ? format_widen(&format_f16, code & 0xffff) : (double)lane_float(code);
}

/* One sum by the rule, whatever its operands are. */
static double exact_sum(const struct product_row *r, uint32_t column, uint32_t code, bool half)
{
    struct tensor_part a[PRODUCT_TERMS], b[PRODUCT_TERMS];
    for (uint32_t k = 0; k < r->count; k++) {
        a[k] = (struct tensor_part){r->mantissa[k] / product_scale(r->bits), r->exponent[k]};
        b[k] = (struct tensor_part){r->b_mantissa[k][column], r->b_exponent[k][column]};
    }
    return tensor_sum(value_of(code, half), half ? format_f16.min_exponent : -126, a, b, r->count);
}

static void codes_one_by_one(uint32_t *codes, const struct product_row *r, bool half, bool to_half)
{
    for (uint32_t j = 0; j < r->columns; j++) {
        double sum = r->top[j] > TENSOR_LIMIT ? exact_sum(r, j, codes[j], half) : r->sum[j];
        codes[j] = to_half ? tensor_round_f16(sum) : lane_bits_f32(tensor_cut_f32(sum));
    }
}

static void cut_short(uint32_t *codes, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        if ((codes[j] & 0x7f800000) != 0x7f800000)
            codes[j] &= ~SHORT_MASK;
}

/* Where one of addend and result is f16 the sum is one of f32, and the result is rounded once more.
 */
static void widen_addends(const struct product *p, uint32_t *d, uint32_t count)
{
    for (uint32_t j = 0; j < count && p->c_half && !p->half; j++)
        d[j] = lane_bits_f32((float)format_widen(&format_f16, d[j] & 0xffff));
}

static void narrow_results(const struct product *p, uint32_t *d, uint32_t count)
{
    for (uint32_t j = 0; j < count && p->half && !p->c_half; j++)
        d[j] = format_narrow(&format_f16, (double)lane_float(d[j]), ROUND_NEAREST, false);
}

/* c of a pairwise product, by add.rn of f32 or f16. */
static void add_last(const struct product *p, uint32_t *d, const uint32_t *c, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++) {
        double sum = value_of(d[j], p->half) + value_of(c[j], p->c_half);
        if (p->half)
            d[j] = sum == sum ? format_narrow(&format_f16, sum, ROUND_NEAREST, false) : HALF_NAN;
        else
            d[j] = lane_bits_f32(lane_nan_f32((float)sum));
    }
}

/* The rows of b of what a step adds up, in a's order. */
static void step_terms(struct product_row *r, const struct product *p, const struct parts *b,
                       const uint8_t *place, uint32_t first)
{
    const size_t n = p->mnk.n;
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t term = first + k;
        if (place)
            term = place[p->pairwise ? k / 2 * 4 + k % 2 + (first ? 2 : 0) : term];
        r->b_mantissa[k] = &b->mantissa[term * n];
        r->b_exponent[k] = &b->exponent[term * n];
    }
}

/* All rows of the products from `first` on. */
static void float_step(const struct product *p, struct product_operands *o, struct product_row *r,
                       const struct parts *a, const struct parts *b, uint32_t first)
{
    const bool halves = p->half && p->c_half, half = halves && (first == 0 || p->pairwise);
    const bool to_half = halves && (first + p->block >= p->terms || p->pairwise);
    const uint32_t stride = rounded_up(p->terms);
    r->count = p->terms - first < p->block ? p->terms - first : p->block;
    if (!p->sparse)
        step_terms(r, p, b, NULL, first);
    for (uint32_t row = 0; row < p->mnk.m; row++) {
        uint32_t *d = &o->d[(size_t)row * p->mnk.n];
        r->mantissa = &a->mantissa[(size_t)row * stride + first];
        r->exponent = &a->exponent[(size_t)row * stride + first];
        if (p->sparse)
            step_terms(r, p, b, o->place[row], first);
        if (!p->loops->whole_row(d, r, half, to_half)) {
            p->loops->sums(r, d, half);
            codes_one_by_one(d, r, half, to_half);
        }
    }
}

static void float_product(const struct product *p, struct product_operands *o)
{
    struct parts a, b;
    struct product_row r; /* the rest is set where it is used: to clear it would take a tenth */
    uint32_t addends[16 * PRODUCT_LANES];
    const uint32_t count = (uint32_t)p->mnk.m * p->mnk.n;
    r.columns = p->mnk.n;
    r.bits = p->short_sum ? SHORT_SUM : LONG_SUM;
    split_a(&a, p, o, rounded_up(p->terms), product_scale(r.bits));
    split_b(&b, p, o);
    if (p->pairwise) {
        assert(count <= sizeof addends / sizeof *addends);
        memcpy(addends, o->d, count * sizeof *addends);
        memset(o->d, 0, count * sizeof *addends);
    } else {
        widen_addends(p, o->d, count);
    }
    for (uint32_t first = 0; first < p->terms; first += p->block)
        float_step(p, o, &r, &a, &b, first);
    if (p->pairwise)
        add_last(p, o->d, addends, count);
    else
        narrow_results(p, o->d, count);
    if (p->short_sum && !p->half)
        cut_short(o->d, count);
}

/* ---- integers ---- */

static void widen_line(int16_t *out, const uint8_t *line, uint32_t bits, bool is_signed,
                       uint32_t count)
{
    for (uint32_t k = 0; bits == 8 && k < count; k++)
        out[k] = is_signed ? (int8_t)line[k] : line[k];
    const int16_t sign = is_signed ? 8 : 0; /* as a number of four bits: (code ^ 8) - 8 */
    for (uint32_t k = 0; bits == 4 && k < count / 2; k++) {
        out[2 * k] = (int16_t)(((line[k] & 15) ^ sign) - sign);
        out[2 * k + 1] = (int16_t)((line[k] >> 4 ^ sign) - sign);
    }
}

/* A row of a as long as a column of b: zeros where a sparse one has nothing. */
static void spread_line(int16_t *out, const struct product *p, const struct product_operands *o,
                        uint32_t row)
{
    if (!p->sparse) {
        widen_line(out, o->a[row], p->element_bits, p->a_signed, p->terms);
        return;
    }
    int16_t there[PRODUCT_PLACES] = {0};
    widen_line(there, o->a[row], p->element_bits, p->a_signed, p->terms);
    for (uint32_t k = 0; k < p->mnk.k; k++)
        out[k] = 0;
    for (uint32_t k = 0; k < p->terms; k++)
        out[o->place[row][k]] = there[k];
}

static void add_whole(const struct product *p, uint32_t *d, int32_t products)
{
    int64_t sum = (int64_t)(int32_t)*d + products;
    *d = (uint32_t)(p->saturate ? lane_clamp_s32(sum) : (int32_t)(uint32_t)sum);
}

/* Of integers of 8 and 4 bits. */
static void whole_product(const struct product *p, struct product_operands *o)
{
    int16_t a[PRODUCT_ROWS][WHOLE_DEPTH], b[WHOLE_DEPTH];
    const uint32_t n = p->mnk.n;
    for (uint32_t row = 0; row < p->mnk.m; row++)
        spread_line(a[row], p, o, row);
    for (uint32_t j = 0; j < n; j++) {
        widen_line(b, o->b[j], p->element_bits, p->b_signed, p->mnk.k);
        for (uint32_t row = 0; row < p->mnk.m; row++)
            add_whole(p, &o->d[(size_t)row * n + j], p->loops->dot(a[row], b, p->mnk.k));
    }
}

static int32_t bits_sum(const uint8_t *a, const uint8_t *b, uint32_t bytes, bool exclusive)
{
    int32_t sum = 0;
    for (uint32_t k = 0; k < bytes; k++)
        sum += __builtin_popcount(exclusive ? a[k] ^ b[k] : a[k] & b[k]);
    return sum;
}

static void bits_product(const struct product *p, struct product_operands *o)
{
    for (uint32_t row = 0; row < p->mnk.m; row++)
        for (uint32_t j = 0; j < p->mnk.n; j++)
            add_whole(p, &o->d[(size_t)row * p->mnk.n + j],
                      bits_sum(o->a[row], o->b[j], p->mnk.k / 8u, p->exclusive));
}

void product_run(const struct product *p, struct product_operands *o)
{
    if (p->a_format)
        float_product(p, o);
    else if (p->element_bits == 1)
        bits_product(p, o);
    else
        whole_product(p, o);
}
