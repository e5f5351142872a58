/* Loops of products: each table of them gives, sum by sum, what the rule gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exec/ops/matrix/product_loops.h"
#include "exec/ops/matrix/tensor_sum.h"
#include "isa/lane_math.h"

#define DRAWN 1500
#define ROWS 3
#define COLUMNS 16
#define TERMS 16
#define KEPT_BITS 25

static uint64_t state = 42;

static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* Exponents near each other, far apart, anything, or sums as large as they get. */
static uint32_t draw_code(const struct float_format *format, uint32_t theme)
{
    uint32_t bits = draw() & (2 * format->sign - 1);
    uint32_t fields = (format->sign - 1) >> format->mantissa_bits;
    uint32_t ones = (1u << format->mantissa_bits) - 1;
    if (theme == 3)
        return fields / 2 << format->mantissa_bits | (ones - draw() % 2);
    uint32_t field = theme == 0 ? fields / 2 + draw() % 3 : fields / 4 + draw() % (fields / 2);
    return theme == 2 ? bits
                      : (bits & format->sign) | field << format->mantissa_bits | (bits & ones);
}

struct drawn {
    _Alignas(32) int32_t b[2 * PRODUCT_PARTS];
    _Alignas(32) int32_t mantissa[ROWS * TERMS], exponent[ROWS * TERMS];
    _Alignas(32) uint32_t addends[ROWS * COLUMNS];
    uint8_t place[ROWS * PRODUCT_PLACES];
    struct product_rows rows;
    bool half, to_half;
};

static void draw_operands(struct drawn *d, const struct product_loops *loops,
                          const struct float_format *format, uint32_t theme)
{
    uint32_t codes[TERMS * COLUMNS], a[ROWS * TERMS];
    for (uint32_t i = 0; i < TERMS * COLUMNS; i++)
        codes[i] = draw_code(format, theme);
    for (uint32_t i = 0; i < ROWS * TERMS; i++)
        a[i] = draw_code(format, theme);
    loops->parts(d->b, d->b + PRODUCT_PARTS, format, codes, TERMS * COLUMNS, 1);
    loops->parts(d->mantissa, d->exponent, format, a, ROWS * TERMS, product_scale(KEPT_BITS));
    for (uint32_t j = 0; j < ROWS * COLUMNS; j++)
        d->addends[j] = d->half      ? draw() & 0xffff
                        : theme == 2 ? draw()
                        : theme == 3 ? lane_bits_f32(2 - (float)(draw() % 8) * 0x1p-22f)
                                     : lane_bits_f32((float)(int32_t)draw() * 0x1p-31f);
}

/* Each row has its own rows of b, of eight columns told by their places as well. */
static void draw_places(struct drawn *d)
{
    d->rows.whole = d->b;
    d->rows.place = d->rows.columns == PRODUCT_LANES ? d->place : NULL;
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t k = 0; k < TERMS; k++) {
            uint32_t place = draw() % TERMS;
            d->place[row * PRODUCT_PLACES + k] = (uint8_t)place;
            d->rows.b[row][k] = &d->b[place * (size_t)d->rows.columns];
        }
}

/* Rows have the same rows of b, or each its own. */
static void draw_rows(struct drawn *d, const struct product_loops *loops)
{
    d->half = draw() % 4 == 0;
    d->to_half = d->half && draw() & 1;
    draw_operands(d, loops, draw() & 1 ? &format_f16 : &format_bf16, draw() % 4);
    d->rows.rows = ROWS;
    d->rows.columns = draw() & 1 ? 8 : COLUMNS;
    d->rows.count = 4u << draw() % 3;
    d->rows.bits = KEPT_BITS;
    d->rows.apart = TERMS;
    d->rows.same = draw() & 1;
    d->rows.mantissa = d->mantissa;
    d->rows.exponent = d->exponent;
    if (!d->rows.same)
        draw_places(d);
    else
        d->rows.place = NULL;
    for (uint32_t k = 0; k < TERMS && d->rows.same; k++)
        d->rows.b[0][k] = &d->b[k * (size_t)COLUMNS];
}

/* One sum by the rule. */
static uint32_t wanted(const struct drawn *d, uint32_t row, uint32_t column)
{
    struct tensor_part a[TERMS], b[TERMS];
    uint32_t code = d->addends[row * d->rows.columns + column];
    for (uint32_t k = 0; k < d->rows.count; k++) {
        const int32_t *of_b = d->rows.b[d->rows.same ? 0 : row][k] + column;
        a[k] = (struct tensor_part){d->mantissa[row * TERMS + k] / product_scale(KEPT_BITS),
                                    d->exponent[row * TERMS + k]};
        b[k] = (struct tensor_part){of_b[0], of_b[PRODUCT_PARTS]};
    }
    double c = d->half ? format_widen(&format_f16, code) : (double)lane_float(code);
    double sum = tensor_sum(c, d->half ? format_f16.min_exponent : -126, a, b, d->rows.count);
    return d->to_half ? tensor_round_f16(sum) : lane_bits_f32(tensor_cut_f32(sum));
}

static void check_loops(const struct product_loops *loops)
{
    static struct drawn d;
    uint32_t whole = 0;
    for (uint32_t i = 0; i < DRAWN; i++) {
        _Alignas(32) uint32_t codes[ROWS * COLUMNS];
        draw_rows(&d, loops);
        memcpy(codes, d.addends, sizeof codes);
        uint32_t left = loops->whole_rows(codes, &d.rows, d.half, d.to_half);
        assert_true(left < 1u << ROWS);
        for (uint32_t at = 0; at < ROWS * d.rows.columns; at++) {
            uint32_t row = at / d.rows.columns;
            bool done = !(left >> row & 1);
            whole += at % d.rows.columns == 0 && done;
            assert_int_equal(codes[at],
                             done ? wanted(&d, row, at % d.rows.columns) : d.addends[at]);
        }
    }
    assert_true(whole > DRAWN * ROWS / 2 && whole < DRAWN * ROWS);
}

/* All 256 codes of both formats: the same number, or a NaN. */
static void check_halves(const struct product_loops *loops)
{
    for (uint32_t e4m3 = 0; e4m3 < 2; e4m3++) {
        const struct float_format *format = e4m3 ? &format_e4m3 : &format_e5m2;
        _Alignas(32) uint32_t codes[256];
        for (uint32_t i = 0; i < 256; i++)
            codes[i] = i;
        loops->halves(codes, e4m3, 256);
        for (uint32_t i = 0; i < 256; i++) {
            double number = format_widen(format, i), half = format_widen(&format_f16, codes[i]);
            if (number == number)
                assert_memory_equal(&half, &number, sizeof half);
            else
                assert_int_equal(codes[i], HALF_NAN);
        }
    }
}

static void codes_of_8_bits_become_the_same_number(void **unused)
{
    (void)unused;
    check_halves(&product_loops_portable);
    check_halves(product_loops_choose());
}

static void check_dots(const struct product_loops *loops)
{
    _Alignas(32) int16_t a[64], b[64];
    for (uint32_t terms = 16; terms <= 64; terms += 16) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < 64; i++) {
            a[i] = (int16_t)((int32_t)(draw() % 512) - 256);
            b[i] = (int16_t)((int32_t)(draw() % 512) - 256);
            sum += i < terms ? a[i] * b[i] : 0;
        }
        assert_int_equal(loops->dot(a, b, terms), sum);
    }
}

static void sums_of_small_integers_take_each_term_once(void **unused)
{
    (void)unused;
    check_dots(&product_loops_portable);
    check_dots(product_loops_choose());
}

static void loops_for_any_processor_follow_the_rule(void **unused)
{
    (void)unused;
    check_loops(&product_loops_portable);
}

static void loops_for_this_processor_follow_the_rule(void **unused)
{
    (void)unused;
    check_loops(product_loops_choose());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_for_any_processor_follow_the_rule),
        cmocka_unit_test(loops_for_this_processor_follow_the_rule),
        cmocka_unit_test(codes_of_8_bits_become_the_same_number),
        cmocka_unit_test(sums_of_small_integers_take_each_term_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
