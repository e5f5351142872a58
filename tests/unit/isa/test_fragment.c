/* Matrix fragments: register counts against the manual's tables, and layouts that cover a matrix.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "isa/fragment.h"

static void registers_are_as_many_as_the_manual_says(void **state)
{
    (void)state;
    static const struct {
        bool is_wmma;
        enum isa_mod shape;
        enum isa_type a_type, sum;
        uint32_t a, b, c;
    } cases[] = {
        {true, MOD_MNK_m16n16k16, TYPE_f16, TYPE_f32, 8, 8, 8},
        {true, MOD_MNK_m8n32k16, TYPE_f16, TYPE_f16, 8, 8, 4},
        {true, MOD_MNK_m16n16k16, TYPE_bf16, TYPE_f32, 4, 4, 8},
        {true, MOD_MNK_m8n32k16, TYPE_bf16, TYPE_f32, 2, 8, 8},
        {true, MOD_MNK_m32n8k16, TYPE_s8, TYPE_s32, 4, 1, 8},
        {true, MOD_MNK_m16n16k8, TYPE_tf32, TYPE_f32, 4, 4, 8},
        {true, MOD_MNK_m8n8k4, TYPE_f64, TYPE_f64, 1, 1, 2},
        {false, MOD_MNK_m8n8k4, TYPE_f16, TYPE_f32, 2, 2, 8},
        {false, MOD_MNK_m16n8k16, TYPE_f16, TYPE_f16, 4, 2, 2},
        {false, MOD_MNK_m16n8k8, TYPE_tf32, TYPE_f32, 4, 2, 4},
        {false, MOD_MNK_m16n8k32, TYPE_u8, TYPE_s32, 4, 2, 4},
        {false, MOD_MNK_m16n8k32, TYPE_e4m3, TYPE_f32, 4, 2, 4},
        {false, MOD_MNK_m16n8k16, TYPE_f64, TYPE_f64, 8, 4, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum isa_type reg, a = cases[i].a_type;
        bool wmma = cases[i].is_wmma;
        assert_int_equal(isa_fragment(&reg, wmma, cases[i].shape, 'a', a, a), cases[i].a);
        assert_int_equal(isa_fragment(&reg, wmma, cases[i].shape, 'b', a, a), cases[i].b);
        assert_int_equal(isa_fragment(&reg, wmma, cases[i].shape, 'c', cases[i].sum, a),
                         cases[i].c);
        assert_int_equal(reg, cases[i].sum == TYPE_f16 ? TYPE_f16x2 : cases[i].sum);
    }
}

static void products_that_do_not_exist_have_no_registers(void **state)
{
    (void)state;
    enum isa_type reg;
    assert_int_equal(isa_fragment(&reg, true, MOD_MNK_m16n8k16, 'a', TYPE_f16, TYPE_f16), 0);
    assert_int_equal(isa_fragment(&reg, false, MOD_MNK_m16n16k16, 'a', TYPE_f16, TYPE_f16), 0);
    assert_int_equal(isa_fragment(&reg, true, MOD_MNK_m16n16k16, 'c', TYPE_s32, TYPE_f16), 0);
    assert_int_equal(isa_fragment(&reg, true, MOD_MNK_m16n16k16, 'a', TYPE_f64, TYPE_f64), 0);
}

/* Every place of the matrix is held `times` times. */
static void check_cover(bool is_wmma, enum isa_mod shape, char matrix, enum isa_type element,
                        enum isa_type a_type)
{
    struct isa_mnk mnk = isa_mnk(shape);
    uint32_t rows = matrix == 'b' ? mnk.k : mnk.m, columns = matrix == 'a' ? mnk.k : mnk.n;
    uint8_t held[32][32] = {{0}};
    enum isa_type reg;
    uint32_t count = isa_fragment(&reg, is_wmma, shape, matrix, element, a_type);
    count *= (uint32_t)isa_type_info(reg)->bytes / isa_type_info(element)->bytes;
    assert_true(count > 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t row, column;
            assert_true(
                isa_fragment_place(&row, &column, is_wmma, shape, matrix, element, lane, i));
            assert_true(row < rows && column < columns);
            held[row][column]++;
        }
    }
    uint32_t times = 32 * count / (rows * columns);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++)
            assert_int_equal(held[row][column], times);
}

static void layouts_hold_every_element_equally_often(void **state)
{
    (void)state;
    static const enum isa_type factors[] = {TYPE_f16, TYPE_bf16, TYPE_tf32, TYPE_u8,
                                            TYPE_s8,  TYPE_f64,  TYPE_e4m3};
    for (int wmma = 0; wmma < 2; wmma++)
        for (int shape = MOD_MNK_m16n16k16; shape <= MOD_MNK_m16n8k32; shape++)
            for (size_t t = 0; t < sizeof factors / sizeof factors[0]; t++) {
                enum isa_type reg, a = factors[t];
                enum isa_type sum = a == TYPE_u8 || a == TYPE_s8 ? TYPE_s32
                                    : a == TYPE_f64              ? a
                                                                 : TYPE_f32;
                if (isa_fragment(&reg, wmma, (enum isa_mod)shape, 'a', a, a) == 0 ||
                    (!wmma && shape == MOD_MNK_m8n8k4 && a == TYPE_f16))
                    continue;
                check_cover(wmma, (enum isa_mod)shape, 'a', a, a);
                check_cover(wmma, (enum isa_mod)shape, 'b', a, a);
                check_cover(wmma, (enum isa_mod)shape, 'c', sum, a);
            }
}

static void the_layout_of_m16n8k16_is_the_manuals(void **state)
{
    (void)state;
    uint32_t row, column;
    isa_fragment_place(&row, &column, false, MOD_MNK_m16n8k16, 'a', TYPE_f16, 13, 7);
    assert_int_equal(row, 13 / 4 + 8);
    assert_int_equal(column, 13 % 4 * 2 + 1 + 8);
    isa_fragment_place(&row, &column, false, MOD_MNK_m16n8k16, 'b', TYPE_f16, 13, 2);
    assert_int_equal(row, 13 % 4 * 2 + 8);
    assert_int_equal(column, 13 / 4);
    isa_fragment_place(&row, &column, false, MOD_MNK_m16n8k16, 'c', TYPE_f32, 13, 3);
    assert_int_equal(row, 13 / 4 + 8);
    assert_int_equal(column, 13 % 4 * 2 + 1);
    assert_false(isa_fragment_place(&row, &column, false, MOD_MNK_m8n8k4, 'a', TYPE_f16, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_as_many_as_the_manual_says),
        cmocka_unit_test(products_that_do_not_exist_have_no_registers),
        cmocka_unit_test(layouts_hold_every_element_equally_often),
        cmocka_unit_test(the_layout_of_m16n8k16_is_the_manuals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
