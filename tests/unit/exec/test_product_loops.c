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
#define ROWS 4
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
    _Alignas(32) int32_t b[ROWS * PRODUCT_PARTS + TERMS * COLUMNS]; /* as product_rows.b has it */
    _Alignas(32) int32_t mantissa[ROWS * TERMS], exponent[ROWS * TERMS];
    _Alignas(32) uint32_t addends[ROWS * COLUMNS];
    struct product_rows rows;
    bool half, to_half;
};

static void draw_parts(int32_t *mantissa, int32_t *exponent, uint32_t count, int32_t scale,
                       const struct float_format *format, const struct product_loops *loops,
                       uint32_t theme)
{
    uint32_t codes[TERMS * COLUMNS];
    for (uint32_t i = 0; i < count; i++)
        codes[i] = draw_code(format, theme);
    loops->parts(mantissa, exponent, format, codes, count, scale);
}

/* Up to four rows, which have one b in common or one each. */
static void draw_rows(struct drawn *d, const struct product_loops *loops)
{
    const struct float_format *format = draw() & 1 ? &format_f16 : &format_bf16;
    uint32_t theme = draw() % 3;
    d->half = draw() % 4 == 0;
    d->to_half = d->half && draw() & 1;
    d->rows = (struct product_rows){.rows = 1 + draw() % ROWS,
                                    .columns = draw() & 1 ? 8 : COLUMNS,
                                    .count = 4u << draw() % 3,
                                    .bits = KEPT_BITS,
                                    .apart = TERMS,
                                    .same = draw() & 1,
                                    .mantissa = d->mantissa,
                                    .exponent = d->exponent};
    for (uint32_t row = 0; row < d->rows.rows; row++) {
        int32_t *b = d->b + (size_t)row * TERMS * COLUMNS;
        draw_parts(b, b + PRODUCT_PARTS, TERMS * COLUMNS, 1, format, loops, theme);
        draw_parts(d->mantissa + row * TERMS, d->exponent + row * TERMS, TERMS,
                   product_scale(KEPT_BITS), format, loops, theme);
        for (uint32_t k = 0; k < TERMS; k++)
            d->rows.b[row][k] = b + (size_t)k * COLUMNS;
    }
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        d->addends[i] = d->half      ? draw() & 0xffff
                        : theme == 2 ? draw()
                                     : lane_bits_f32((float)(int32_t)draw() * 0x1p-31f);
}

/* One sum by the rule. */
static uint32_t wanted(const struct drawn *d, uint32_t row, uint32_t column)
{
    struct tensor_part a[TERMS], b[TERMS];
    uint32_t code = d->addends[row * d->rows.columns + column];
    for (uint32_t k = 0; k < d->rows.count; k++) {
        const int32_t *of_b = d->rows.b[d->rows.same ? 0 : row][k] + column;
        uint32_t i = row * TERMS + k;
        a[k] = (struct tensor_part){d->mantissa[i] / product_scale(KEPT_BITS), d->exponent[i]};
        b[k] = (struct tensor_part){of_b[0], of_b[PRODUCT_PARTS]};
    }
    double c = d->half ? format_widen(&format_f16, code) : (double)lane_float(code);
    double sum = tensor_sum(c, d->half ? format_f16.min_exponent : -126, a, b, d->rows.count);
    return d->to_half ? tensor_round_f16(sum) : lane_bits_f32(tensor_cut_f32(sum));
}

static void check_row(const struct drawn *d, uint32_t row, const uint32_t *codes, bool left)
{
    const uint32_t columns = d->rows.columns;
    if (left)
        assert_memory_equal(codes, d->addends + row * columns, columns * sizeof *codes);
    for (uint32_t j = 0; !left && j < columns; j++)
        assert_int_equal(codes[j], wanted(d, row, j));
}

static void check_loops(const struct product_loops *loops)
{
    static struct drawn d;
    uint32_t whole = 0, all = 0;
    for (uint32_t i = 0; i < DRAWN; i++) {
        _Alignas(32) uint32_t codes[ROWS * COLUMNS];
        draw_rows(&d, loops);
        memcpy(codes, d.addends, sizeof codes);
        uint32_t left = loops->whole_rows(codes, &d.rows, d.half, d.to_half);
        assert_int_equal(left >> d.rows.rows, 0);
        for (uint32_t row = 0; row < d.rows.rows; row++) {
            bool is_left = left >> row & 1;
            check_row(&d, row, codes + row * d.rows.columns, is_left);
            whole += !is_left;
            all++;
        }
    }
    assert_true(whole > all / 2 && whole < all);
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
