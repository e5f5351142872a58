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

#define ROWS_DRAWN 4000
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

/* Exponents near each other, far apart, or anything. */
static uint32_t draw_code(const struct float_format *format, uint32_t theme)
{
    uint32_t bits = draw() & (2 * format->sign - 1);
    uint32_t fields = (format->sign - 1) >> format->mantissa_bits;
    uint32_t field = theme == 0 ? fields / 2 + draw() % 3 : fields / 4 + draw() % (fields / 2);
    uint32_t fraction = bits & (((uint32_t)1 << format->mantissa_bits) - 1);
    return theme == 2 ? bits : (bits & format->sign) | field << format->mantissa_bits | fraction;
}

struct drawn {
    _Alignas(32) int32_t b_mantissa[TERMS * COLUMNS], b_exponent[TERMS * COLUMNS];
    _Alignas(32) int32_t mantissa[TERMS], exponent[TERMS];
    _Alignas(32) uint32_t addends[COLUMNS];
    struct product_row row;
    bool half, to_half;
};

static void draw_row(struct drawn *d, const struct product_loops *loops)
{
    const struct float_format *format = draw() & 1 ? &format_f16 : &format_bf16;
    uint32_t codes[TERMS * COLUMNS], a[TERMS], theme = draw() % 3;
    for (uint32_t i = 0; i < TERMS * COLUMNS; i++)
        codes[i] = draw_code(format, theme);
    for (uint32_t i = 0; i < TERMS; i++)
        a[i] = draw_code(format, theme);
    loops->parts(d->b_mantissa, d->b_exponent, format, codes, TERMS * COLUMNS);
    loops->parts(d->mantissa, d->exponent, format, a, TERMS);
    d->half = draw() % 4 == 0;
    d->to_half = d->half && draw() & 1;
    for (uint32_t j = 0; j < COLUMNS; j++)
        d->addends[j] = d->half      ? draw() & 0xffff
                        : theme == 2 ? draw()
                                     : lane_bits_f32((float)(int32_t)draw() * 0x1p-31f);
    d->row = (struct product_row){.columns = draw() & 1 ? 8 : COLUMNS,
                                  .count = 4u << draw() % 3,
                                  .bits = KEPT_BITS,
                                  .mantissa = d->mantissa,
                                  .exponent = d->exponent};
    for (uint32_t k = 0; k < TERMS; k++) {
        d->row.b_mantissa[k] = &d->b_mantissa[(size_t)k * COLUMNS];
        d->row.b_exponent[k] = &d->b_exponent[(size_t)k * COLUMNS];
    }
}

/* One sum by the rule. */
static uint32_t wanted(const struct drawn *d, uint32_t column)
{
    struct tensor_part a[TERMS], b[TERMS];
    uint32_t code = d->addends[column];
    for (uint32_t k = 0; k < d->row.count; k++) {
        a[k] = (struct tensor_part){d->mantissa[k], d->exponent[k]};
        b[k] = (struct tensor_part){d->row.b_mantissa[k][column], d->row.b_exponent[k][column]};
    }
    double c = d->half ? format_widen(&format_f16, code) : (double)lane_float(code);
    double sum = tensor_sum(c, d->half ? format_f16.min_exponent : -126, a, b, d->row.count);
    return d->to_half ? tensor_round_f16(sum) : lane_bits_f32(tensor_cut_f32(sum));
}

static void check_loops(const struct product_loops *loops)
{
    uint32_t whole = 0;
    for (uint32_t i = 0; i < ROWS_DRAWN; i++) {
        struct drawn d;
        _Alignas(32) uint32_t codes[COLUMNS];
        draw_row(&d, loops);
        memcpy(codes, d.addends, sizeof codes);
        bool done = loops->whole_row(codes, &d.row, d.half, d.to_half);
        whole += done;
        if (!done)
            assert_memory_equal(codes, d.addends, sizeof codes);
        for (uint32_t j = 0; done && j < d.row.columns; j++)
            assert_int_equal(codes[j], wanted(&d, j));
    }
    assert_true(whole > ROWS_DRAWN / 2 && whole < ROWS_DRAWN);
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
        cmocka_unit_test(sums_of_small_integers_take_each_term_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
