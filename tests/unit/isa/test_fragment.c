/* Matrix fragments: register counts against the manual's tables. */
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
        enum isa_product kind;
        enum isa_mod shape;
        enum isa_type a_type, sum;
        uint32_t a, b, c;
    } cases[] = {
        {ISA_WMMA, MOD_MNK_m16n16k16, TYPE_f16, TYPE_f32, 8, 8, 8},
        {ISA_WMMA, MOD_MNK_m8n32k16, TYPE_f16, TYPE_f16, 8, 8, 4},
        {ISA_WMMA, MOD_MNK_m16n16k16, TYPE_bf16, TYPE_f32, 4, 4, 8},
        {ISA_WMMA, MOD_MNK_m8n32k16, TYPE_bf16, TYPE_f32, 2, 8, 8},
        {ISA_WMMA, MOD_MNK_m32n8k16, TYPE_s8, TYPE_s32, 4, 1, 8},
        {ISA_WMMA, MOD_MNK_m16n16k8, TYPE_tf32, TYPE_f32, 4, 4, 8},
        {ISA_WMMA, MOD_MNK_m8n8k4, TYPE_f64, TYPE_f64, 1, 1, 2},
        {ISA_MMA, MOD_MNK_m8n8k4, TYPE_f16, TYPE_f32, 2, 2, 8},
        {ISA_MMA, MOD_MNK_m16n8k16, TYPE_f16, TYPE_f16, 4, 2, 2},
        {ISA_MMA, MOD_MNK_m16n8k8, TYPE_tf32, TYPE_f32, 4, 2, 4},
        {ISA_MMA, MOD_MNK_m16n8k32, TYPE_u8, TYPE_s32, 4, 2, 4},
        {ISA_MMA, MOD_MNK_m16n8k32, TYPE_e4m3, TYPE_f32, 4, 2, 4},
        {ISA_MMA, MOD_MNK_m16n8k16, TYPE_f64, TYPE_f64, 8, 4, 4},
        {ISA_MMA_SPARSE, MOD_MNK_m16n8k16, TYPE_f16, TYPE_f16, 2, 2, 2},
        {ISA_MMA_SPARSE, MOD_MNK_m16n8k16, TYPE_tf32, TYPE_f32, 4, 4, 4},
        {ISA_MMA_SPARSE, MOD_MNK_m16n8k64, TYPE_e4m3, TYPE_f32, 4, 4, 4},
        {ISA_MMA_SPARSE, MOD_MNK_m16n8k32, TYPE_u8, TYPE_s32, 2, 2, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum isa_type reg, a = cases[i].a_type;
        enum isa_product kind = cases[i].kind;
        assert_int_equal(isa_fragment(&reg, kind, cases[i].shape, 'a', a, a), cases[i].a);
        assert_int_equal(isa_fragment(&reg, kind, cases[i].shape, 'b', a, a), cases[i].b);
        assert_int_equal(isa_fragment(&reg, kind, cases[i].shape, 'c', cases[i].sum, a),
                         cases[i].c);
        assert_int_equal(reg, cases[i].sum == TYPE_f16 ? TYPE_f16x2 : cases[i].sum);
    }
}

static void packed_integers_have_as_many_as_well(void **state)
{
    (void)state;
    static const struct {
        enum isa_product kind;
        enum isa_mod shape;
        uint32_t bits, a, b, c;
    } cases[] = {
        {ISA_MMA, MOD_MNK_m8n8k32, 4, 1, 1, 2},
        {ISA_MMA, MOD_MNK_m16n8k64, 4, 4, 2, 4},
        {ISA_MMA, MOD_MNK_m16n8k256, 1, 4, 2, 4},
        {ISA_WMMA, MOD_MNK_m8n8k128, 1, 1, 1, 2},
        {ISA_MMA_SPARSE, MOD_MNK_m16n8k64, 4, 2, 2, 4},
        {ISA_MMA_SPARSE, MOD_MNK_m16n8k128, 4, 4, 4, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum isa_type reg;
        enum isa_product kind = cases[i].kind;
        uint32_t bits = cases[i].bits;
        assert_int_equal(isa_packed_fragment(&reg, kind, cases[i].shape, 'a', bits), cases[i].a);
        assert_int_equal(isa_packed_fragment(&reg, kind, cases[i].shape, 'b', bits), cases[i].b);
        assert_int_equal(reg, TYPE_b32);
        assert_int_equal(isa_packed_fragment(&reg, kind, cases[i].shape, 'c', bits), cases[i].c);
        assert_int_equal(reg, TYPE_s32);
    }
}

static void products_that_do_not_exist_have_no_registers(void **state)
{
    (void)state;
    enum isa_type reg;
    assert_int_equal(isa_fragment(&reg, ISA_WMMA, MOD_MNK_m16n8k16, 'a', TYPE_f16, TYPE_f16), 0);
    assert_int_equal(isa_fragment(&reg, ISA_MMA, MOD_MNK_m16n16k16, 'a', TYPE_f16, TYPE_f16), 0);
    assert_int_equal(isa_fragment(&reg, ISA_WMMA, MOD_MNK_m16n16k16, 'c', TYPE_s32, TYPE_f16), 0);
    assert_int_equal(isa_fragment(&reg, ISA_WMMA, MOD_MNK_m16n16k16, 'a', TYPE_f64, TYPE_f64), 0);
    assert_int_equal(isa_fragment(&reg, ISA_MMA_SPARSE, MOD_MNK_m16n8k8, 'a', TYPE_f16, TYPE_f16),
                     0);
    assert_int_equal(isa_fragment(&reg, ISA_MMA_SPARSE, MOD_MNK_m16n8k64, 'c', TYPE_f16, TYPE_e4m3),
                     0);
    assert_int_equal(isa_packed_fragment(&reg, ISA_WMMA, MOD_MNK_m16n8k64, 'a', 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_as_many_as_the_manual_says),
        cmocka_unit_test(packed_integers_have_as_many_as_well),
        cmocka_unit_test(products_that_do_not_exist_have_no_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
