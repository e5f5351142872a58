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

#define WHOLE_DEPTH 128   /* of b, in integers of 4 bits */
#define TF32_LANES 4      /* rows and columns have a multiple of them */
#define SHORT_MASK 0x3ffu /* what a short sum leaves out of f32 */

struct parts {
    _Alignas(32) int32_t mantissa[PRODUCT_PARTS], exponent[PRODUCT_PARTS];
};

/* ---- floats ---- */

static inline void codes_of_words(uint32_t *codes, const uint8_t *line, uint32_t count)
{
    for (uint32_t k = 0; k < count; k += TF32_LANES) {
        uint32_t words[TF32_LANES];
        memcpy(words, line + 4 * (size_t)k, sizeof words);
        for (uint32_t i = 0; i < TF32_LANES; i++)
            codes[k + i] = words[i] >> 13;
    }
}

static void codes_of_line(uint32_t *codes, const uint8_t *line, uint32_t bits, uint32_t count)
{
    for (uint32_t k = 0; k < count && bits == 16; k++) {
        uint16_t code;
        memcpy(&code, line + 2 * (size_t)k, 2);
        codes[k] = code;
    }
    for (uint32_t k = 0; k < count && bits == 8; k++)
        codes[k] = line[k];
}

/* Columns of tf32 as rows, `n` apart. */
static void codes_across(uint32_t *codes, const struct product_operands *o, uint32_t n,
                         uint32_t depth)
{
    for (uint32_t k = 0; k < depth; k += TF32_LANES)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t words[TF32_LANES];
            memcpy(words, &o->b[j][4 * (size_t)k], sizeof words);
            for (uint32_t i = 0; i < TF32_LANES; i++)
                codes[(k + i) * n + j] = words[i] >> 13;
        }
}

/* Of a pairwise product those of the first step come first: which products each step takes. */
static const uint8_t pairwise_order[2][PRODUCT_TERMS / 2] = {
    {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29},
    {2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31}};

static void line_in_order(uint32_t *codes, const uint8_t *line, uint32_t terms)
{
    for (uint32_t k = 0; k < terms / 2; k++) {
        codes[k] = line[pairwise_order[0][k]];
        codes[k + terms / 2] = line[pairwise_order[1][k]];
    }
}

/* What codes stand for. */
static void split_codes(struct parts *out, const struct product *p,
                        const struct float_format *format, uint32_t *codes, uint32_t count,
                        int32_t scale)
{
    if (p->pairwise)
        p->loops->halves(codes, format == &format_e4m3, count);
    p->loops->parts(out->mantissa, out->exponent, p->pairwise ? &format_f16 : format, codes, count,
                    scale);
}

/* b's parts by rows, n apart. */
static void split_b(struct parts *b, const struct product *p, const struct product_operands *o)
{
    uint32_t line[PRODUCT_DEPTH] = {0}, codes[PRODUCT_DEPTH * PRODUCT_COLUMNS];
    const uint32_t n = p->mnk.n, depth = p->mnk.k;
    if (p->element_bits == 32)
        codes_across(codes, o, n, depth);
    for (uint32_t j = 0; j < n && p->element_bits < 32; j++) {
        uint32_t *at = &codes[j];
        if (p->pairwise && !p->sparse)
            line_in_order(line, o->b[j], depth);
        else
            codes_of_line(line, o->b[j], p->element_bits, depth);
        for (uint32_t k = 0; k < depth; k++, at += n)
            *at = line[k];
    }
    split_codes(b, p, p->b_format, codes, depth * n, 1);
}

/* a's parts by rows, with mantissas times `scale`. */
static void split_a(struct parts *a, const struct product *p, const struct product_operands *o,
                    int32_t scale)
{
    uint32_t codes[PRODUCT_ROWS * PRODUCT_TERMS], count = p->terms * p->mnk.m;
    for (uint32_t row = 0; row < p->mnk.m; row++)
        if (p->element_bits == 32)
            codes_of_words(&codes[(size_t)row * p->terms], o->a[row], p->terms);
        else if (p->pairwise)
            line_in_order(&codes[(size_t)row * p->terms], o->a[row], p->terms);
        else
            codes_of_line(&codes[(size_t)row * p->terms], o->a[row], p->element_bits, p->terms);
    split_codes(a, p, p->a_format, codes, count, p->negative ? -scale : scale);
}

static double value_of(uint32_t code, bool half)
{
    return half ? format_widen(&format_f16, code & 0xffff) : (double)lane_float(code);
}

/* One sum by the rule, whatever its operands are. */
static double exact_sum(const struct product_rows *r, uint32_t row, uint32_t column, uint32_t code,
                        bool half)
{
    struct tensor_part a[PRODUCT_TERMS], b[PRODUCT_TERMS];
    const size_t first = (size_t)row * r->apart;
    for (uint32_t k = 0; k < r->count; k++) {
        const int32_t *of_b = r->b[r->same ? 0 : row][k] + column;
        a[k] = (struct tensor_part){r->mantissa[first + k] / product_scale(r->bits),
                                    r->exponent[first + k]};
        b[k] = (struct tensor_part){of_b[0], of_b[PRODUCT_PARTS]};
    }
    return tensor_sum(value_of(code, half), half ? format_f16.min_exponent : -126, a, b, r->count);
}

static void codes_one_by_one(uint32_t *codes, const struct product_rows *r, uint32_t row, bool half,
                             bool to_half)
{
    for (uint32_t j = 0; j < r->columns; j++) {
        double sum = r->top[j] > TENSOR_LIMIT ? exact_sum(r, row, j, codes[j], half) : r->sum[j];
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
    for (uint32_t j = 0; j < count && !p->half && !p->c_half; j++)
        d[j] = lane_bits_f32(lane_nan_f32(lane_float(d[j]) + lane_float(c[j])));
    for (uint32_t j = 0; j < count && (p->half || p->c_half); j++) {
        double sum = value_of(d[j], p->half) + value_of(c[j], p->c_half);
        if (p->half)
            d[j] = sum == sum ? format_narrow(&format_f16, sum, ROUND_NEAREST, false) : HALF_NAN;
        else
            d[j] = lane_bits_f32(lane_nan_f32((float)sum));
    }
}

/* The rows of b of what a step adds up, in a's order. */
static void step_terms(struct product_rows *r, const struct product *p,
                       const struct product_operands *o, const struct parts *b, uint32_t first)
{
    const uint32_t n = p->mnk.n;
    for (uint32_t k = 0; k < r->count && !p->sparse; k++)
        r->b[0][k] = &b->mantissa[(first + k) * n];
    for (uint32_t row = 0; row < r->rows && p->sparse; row++) {
        const uint8_t *place = p->pairwise ? o->place[row] : &o->place[row][first];
        const uint8_t *order = pairwise_order[first > 0];
        for (uint32_t k = 0; k < r->count; k++)
            r->b[row][k] = &b->mantissa[place[p->pairwise ? order[k] : k] * n];
    }
}

/* The products from `first` on. Of few columns whole_rows() finds the rows of b by itself. */
static void float_step(const struct product *p, struct product_operands *o, struct product_rows *r,
                       const struct parts *a, const struct parts *b, uint32_t first)
{
    const bool halves = p->half && p->c_half, half = halves && (first == 0 || p->pairwise);
    const bool to_half = halves && (first + p->block >= p->terms || p->pairwise);
    const bool by_place = p->sparse && !p->pairwise && p->mnk.n == PRODUCT_LANES;
    r->count = p->terms - first < p->block ? p->terms - first : p->block;
    r->mantissa = &a->mantissa[first];
    r->exponent = &a->exponent[first];
    r->same = !p->sparse;
    r->place = by_place ? &o->place[0][first] : NULL;
    r->whole = b->mantissa;
    if (!by_place)
        step_terms(r, p, o, b, first);
    uint32_t left = p->loops->whole_rows(o->d, r, half, to_half);
    if (left && by_place)
        step_terms(r, p, o, b, first);
    for (; left; left &= left - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(left), *d = &o->d[(size_t)row * r->columns];
        p->loops->sums(r, row, d, half);
        codes_one_by_one(d, r, row, half, to_half);
    }
}

static void float_product(const struct product *p, struct product_operands *o)
{
    struct parts a, b;
    struct product_rows r; /* the rest is set where it is used: to clear it would take a tenth */
    uint32_t addends[16 * PRODUCT_LANES];
    const uint32_t count = (uint32_t)p->mnk.m * p->mnk.n;
    r.rows = p->mnk.m;
    r.columns = p->mnk.n;
    r.bits = p->short_sum ? PRODUCT_SHORT : PRODUCT_LONG;
    r.apart = p->terms;
    split_a(&a, p, o, product_scale(r.bits));
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
