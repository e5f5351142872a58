/* Instructions that only touch registers, run as programs: operands of all kinds, widths, guards.
 */
#include "support/exec_device.h"

#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"
#define STORE64(r) "st.global.u64 [%out], " r ";\n"

static void check32(const char *text, uint32_t (*want)(uint32_t t))
{
    struct device dev;
    uint64_t *out = device_results(&dev, text, 64);
    for (uint32_t t = 0; t < 64; t++)
        if ((uint32_t)out[t] != want(t))
            fail_msg("thread %u: %x, not %x", t, (uint32_t)out[t], want(t));
    device_close(&dev);
}

static void check64(const char *text, uint64_t (*want)(uint32_t t))
{
    struct device dev;
    uint64_t *out = device_results(&dev, text, 64);
    for (uint32_t t = 0; t < 64; t++)
        if (out[t] != want(t))
            fail_msg("thread %u: %" PRIx64 ", not %" PRIx64, t, out[t], want(t));
    device_close(&dev);
}

static uint32_t want_wrap(uint32_t t)
{
    return t & 1 ? 0x80000000u + t - 1 : 7;
}

static void add_s32_wraps_and_leaves_inactive_lanes_alone(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.u32 %r0, 7; and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 1;\n"
                       "@%p0 add.s32 %r0, %t, 0x7fffffff;\n" STORE32("%r0")),
            want_wrap);
}

static uint32_t want_negated_guard(uint32_t t)
{
    return t < 10 ? 1 : 2;
}

static void a_negated_guard_runs_the_other_lanes(void **state)
{
    (void)state;
    check32(
        KERNEL("", "setp.lt.u32 %p0, %t, 10; @%p0 mov.u32 %r0, 1; @!%p0 mov.u32 %r0, 2;\n" STORE32(
                       "%r0")),
        want_negated_guard);
}

static uint32_t want_max(uint32_t t)
{
    return t % 2 ? 1 : 0x80000000u;
}

/* A second operation on a comparison is signed where an operand is. */
static void vset_takes_its_second_operation_by_the_operands_types(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.u32 %r0, 0x80000000; and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 1;\n"
                       "vset.u32.u32.lt.max %r2, %t, 100, %r0;\n"
                       "@%p0 vset.s32.u32.lt.max %r2, %t, 100, %r0;\n" STORE32("%r2")),
            want_max);
}

static uint64_t want_wide(uint32_t t)
{
    return (uint64_t)((int64_t)(int32_t)(0 - t) * 0x12345678);
}

static void mul_wide_s32_gives_64_bits(void **state)
{
    (void)state;
    check64(KERNEL("", "neg.s32 %r0, %t; mul.wide.s32 %l0, %r0, 0x12345678;\n" STORE64("%l0")),
            want_wide);
}

static uint64_t want_carry(uint32_t t)
{
    return (UINT64_C(0xffffffff00000000) | (0u - t)) + 0x1ffffffffu;
}

static void a_carry_chain_adds_64_bits_in_two_words(void **state)
{
    (void)state;
    check64(KERNEL("", "neg.s32 %r0, %t; mov.u32 %r1, 0xffffffff;\n"
                       "add.cc.u32 %r2, %r0, 0xffffffff; addc.u32 %r3, %r1, 1;\n"
                       "mov.b64 %l0, {%r2, %r3};\n" STORE64("%l0")),
            want_carry);
}

static uint64_t want_borrow(uint32_t t)
{
    return (UINT64_C(5) << 32) - (t + 1);
}

static void a_borrow_chain_subtracts_64_bits_in_two_words(void **state)
{
    (void)state;
    check64(KERNEL("", "add.u32 %r0, %t, 1; mov.u32 %r1, 0; mov.u32 %r4, 5;\n"
                       "sub.cc.u32 %r2, %r1, %r0; subc.u32 %r3, %r4, 0;\n"
                       "mov.b64 %l0, {%r2, %r3};\n" STORE64("%l0")),
            want_borrow);
}

static uint64_t want_halves(uint32_t t)
{
    return (uint64_t)t << 32 | (t ^ 0xffff);
}

static void mov_packs_and_unpacks_halves(void **state)
{
    (void)state;
    check64(KERNEL("", "xor.b32 %r0, %t, 0xffff; mov.b64 %l0, {%t, %r0}; mov.b64 {%r1, %r2}, %l0;\n"
                       "mov.b64 %l1, {%r2, %r1};\n" STORE64("%l1")),
            want_halves);
}

static uint32_t want_quarters(uint32_t t)
{
    return (t * 3 & 0xffff) << 16 | (t & 0xffff);
}

static void mov_packs_16_bit_registers(void **state)
{
    (void)state;
    check32(
        KERNEL("",
               "cvt.u16.u32 %h0, %t; mul.lo.u16 %h1, %h0, 3; mov.b32 %r0, {%h0, %h1};\n" STORE32(
                   "%r0")),
        want_quarters);
}

static uint32_t want_swapped(uint32_t t)
{
    return t << 16 | (t + 5);
}

static void mov_swaps_the_elements_of_a_vector(void **state)
{
    (void)state;
    check32(
        KERNEL("",
               ".reg .v2 .b32 v; mov.u32 v.x, %t; add.u32 v.y, %t, 5;\n"
               "mov.v2.b32 v, {v.y, v.x}; shl.b32 %r0, v.y, 16; or.b32 %r0, %r0, v.x;\n" STORE32(
                   "%r0")),
        want_swapped);
}

static uint64_t want_s8(uint32_t t)
{
    return (uint64_t)(int64_t)(int8_t)(t * 5);
}

static void cvt_sign_extends_into_a_wider_register(void **state)
{
    (void)state;
    check64(KERNEL("", "mul.lo.u32 %r0, %t, 5; cvt.s64.s8 %l0, %r0;\n" STORE64("%l0")), want_s8);
    check64(KERNEL("", "mul.wide.u32 %l1, %t, 5; cvt.s8.s64 %l0, %l1;\n" STORE64("%l0")), want_s8);
    check64(KERNEL("", "mul.wide.u32 %l1, %t, 5; cvt.s8.s8 %l0, %l1;\n" STORE64("%l0")), want_s8);
}

static uint32_t want_selp(uint32_t t)
{
    return t >= 32 ? t : t * 2;
}

static void selp_and_slct_choose_by_predicate_and_by_sign(void **state)
{
    (void)state;
    check32(
        KERNEL(
            "",
            "setp.ge.u32 %p0, %t, 32; add.u32 %r1, %t, %t; selp.b32 %r0, %t, %r1, %p0;\n" STORE32(
                "%r0")),
        want_selp);
    check32(
        KERNEL(
            "",
            "sub.s32 %r2, %t, 32; add.u32 %r1, %t, %t; slct.u32.s32 %r0, %t, %r1, %r2;\n" STORE32(
                "%r0")),
        want_selp);
}

static uint32_t want_setp(uint32_t t)
{
    bool less = t < 20, odd = t & 1;
    return (uint32_t)(less && odd) | (uint32_t)(!less && odd) << 1 | (uint32_t)(less || !odd) << 2 |
           (uint32_t)(less != odd) << 3;
}

static void setp_combines_with_a_predicate_and_gives_the_complement(void **state)
{
    (void)state;
    check32(KERNEL("",
                   "and.b32 %r0, %t, 1; setp.ne.u32 %p0, %r0, 0;\n"
                   "setp.lt.and.u32 %p1|%p2, %t, 20, %p0; setp.lt.or.u32 %p3, %t, 20, !%p0;\n"
                   "setp.lt.xor.u32 %p4, %t, 20, %p0;\n"
                   "selp.b32 %r0, 1, 0, %p1; selp.b32 %r1, 2, 0, %p2; selp.b32 %r2, 4, 0, %p3;\n"
                   "selp.b32 %r3, 8, 0, %p4; or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r2;\n"
                   "or.b32 %r0, %r0, %r3;\n" STORE32("%r0")),
            want_setp);
}

static uint32_t want_pred_logic(uint32_t t)
{
    bool p = t < 40, q = t & 4;
    return (uint32_t)(p && q) | (uint32_t)(p || !q) << 1 | (uint32_t)(p != q) << 2 |
           (uint32_t)!p << 3;
}

static void predicates_have_logic_of_their_own(void **state)
{
    (void)state;
    check32(KERNEL("",
                   "setp.lt.u32 %p0, %t, 40; and.b32 %r0, %t, 4; setp.ne.u32 %p1, %r0, 0;\n"
                   "and.pred %p2, %p0, %p1; or.pred %p3, %p0, !%p1; xor.pred %p4, %p0, %p1;\n"
                   "not.pred %p5, %p0; mov.pred %p6, %p5;\n"
                   "selp.b32 %r0, 1, 0, %p2; selp.b32 %r1, 2, 0, %p3; selp.b32 %r2, 4, 0, %p4;\n"
                   "selp.b32 %r3, 8, 0, %p6; or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r2;\n"
                   "or.b32 %r0, %r0, %r3;\n" STORE32("%r0")),
            want_pred_logic);
}

static uint32_t want_set(uint32_t t)
{
    return t < 9 ? 0xffffffff : 0;
}
static uint32_t want_set_float(uint32_t t)
{
    return t < 9 ? 0x3f800000 : 0;
}

static void set_gives_all_ones_or_one(void **state)
{
    (void)state;
    check32(KERNEL("", "set.lt.u32.u32 %r0, %t, 9;\n" STORE32("%r0")), want_set);
    check32(KERNEL("", "set.lt.f32.u32 %f0, %t, 9; mov.b32 %r0, %f0;\n" STORE32("%r0")),
            want_set_float);
}

/* Odd threads compare a number with zero, even ones zero with zero. */
static uint32_t want_subnormal_above_zero(uint32_t t)
{
    return t & 1 ? 0x3c00 : 0;
}
static uint32_t want_nothing_above_zero(uint32_t t)
{
    (void)t;
    return 0;
}

static void set_flushes_subnormals_of_either_sign_and_side_only_where_it_is_asked(void **state)
{
    (void)state;
#define SET_HALF(form, a, b)                                                                       \
    KERNEL("", "and.b32 %r0, %t, 1; neg.s32 %r0, %r0; and.b32 %r1, %r0, " a ";\n"                  \
               "and.b32 %r2, %r0, " b "; mov.b32 %f0, %r1; mov.b32 %f1, %r2;\n"                    \
               "set." form ".f16.f32 %h0, %f0, %f1; cvt.u32.u16 %r0, %h0;\n" STORE32("%r0"))
    check32(SET_HALF("gt", "0x00000001", "0"), want_subnormal_above_zero);
    check32(SET_HALF("gt.ftz", "0x00000001", "0"), want_nothing_above_zero);
    check32(SET_HALF("lt", "0x807fffff", "0"), want_subnormal_above_zero);
    check32(SET_HALF("lt.ftz", "0x807fffff", "0"), want_nothing_above_zero);
    check32(SET_HALF("lt", "0", "0x007fffff"), want_subnormal_above_zero);
    check32(SET_HALF("lt.ftz", "0", "0x007fffff"), want_nothing_above_zero);
    check32(SET_HALF("gt.ftz", "0x00800000", "0"), want_subnormal_above_zero);
    check32(SET_HALF("lt.ftz", "0", "0x00800000"), want_subnormal_above_zero);
    check32(SET_HALF("lt.ftz", "0x80800000", "0"), want_subnormal_above_zero);
#undef SET_HALF
}

static uint32_t want_float(uint32_t t)
{
    float f = (float)t * 0.1f + 3.0f;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static void float_multiply_and_add_round_twice_unless_fused(void **state)
{
    (void)state;
    check32(KERNEL("",
                   "cvt.rn.f32.u32 %f0, %t; mul.f32 %f1, %f0, 0f3dcccccd; add.f32 %f2, %f1, 3.0;\n"
                   "mov.b32 %r0, %f2;\n" STORE32("%r0")),
            want_float);
}

static uint32_t want_rz(uint32_t t)
{
    return t == 0 ? 0 : 0x3f7fffff;
}

static void rounding_modes_flushing_and_saturation_act_around_the_loop(void **state)
{
    (void)state;
    /* 1 - 2^-30 * t: rounds to 1 to nearest, to the number below toward zero */
    check32(KERNEL("", "cvt.rn.f32.u32 %f0, %t; mul.f32 %f0, %f0, 0fB0800000;\n"
                       "setp.eq.u32 %p0, %t, 0; add.rz.f32 %f1, %f0, 0f3F800000;\n"
                       "@%p0 mov.f32 %f1, 0f00000000; mov.b32 %r0, %f1;\n" STORE32("%r0")),
            want_rz);
}

static uint32_t want_ftz(uint32_t t)
{
    (void)t;
    return 0;
}
static uint32_t want_sat(uint32_t t)
{
    return t == 0 ? 0 : 0x3f800000;
}

static void ftz_flushes_and_sat_clamps(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.b32 %f0, 0f00000001; mov.b32 %r1, %t; mov.b32 %f1, %r1;\n"
                       "add.ftz.f32 %f2, %f0, %f1; mov.b32 %r0, %f2;\n" STORE32("%r0")),
            want_ftz);
    check32(
        KERNEL("", "cvt.rn.f32.u32 %f0, %t; add.sat.f32 %f1, %f0, %f0; mov.b32 %r0, %f1;\n" STORE32(
                       "%r0")),
        want_sat);
}

static uint32_t want_prmt(uint32_t t)
{
    return t & 2 ? (t & 1 ? 0x06050403 : 0x05040302) : (t & 1 ? 0x04030201 : 0x03020100);
}

static void prmt_has_named_modes(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.u32 %r1, 0x03020100; mov.u32 %r2, 0x07060504;\n"
                       "prmt.b32.f4e %r0, %r1, %r2, %t;\n" STORE32("%r0")),
            want_prmt);
}

static uint32_t want_laneid(uint32_t t)
{
    return (t & 31) | ((1u << (t & 31)) - 1) << 8;
}

static uint32_t want_saturated(uint32_t t)
{
    (void)t;
    return 0x7fffffffu - 0x80000000u;
}

/* 1 << 32 and -1 << 32 do not fit 33 bits; each saturates at its own end. */
static void a_video_shift_beyond_all_bits_saturates_at_the_end_of_its_sign(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.u32 %r0, 1; mov.u32 %r1, -1; mov.u32 %r2, 40;\n"
                       "vshl.s32.s32.u32.sat.clamp %r3, %r0, %r2;\n"
                       "vshl.s32.s32.u32.sat.clamp %r4, %r1, %r2;\n"
                       "sub.u32 %r5, %r3, %r4;\n" STORE32("%r5")),
            want_saturated);
}

static uint32_t want_same_products(uint32_t t)
{
    return 2 * (0xfffffff0u * (t + 7) + 5) + 1 + 0xfffffff0u * (t + 7) - 5;
}

/* -a times -b is a times b, whatever is done to c. */
static void vmad_with_both_factors_negated_negates_nothing(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.u32 %r0, 0xfffffff0; mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 7;\n"
                       "mov.u32 %r2, 5; vmad.u32.u32.u32 %r3, -%r0, -%r1, %r2;\n"
                       "vmad.u32.u32.u32.po %r4, -%r0, -%r1, %r2; add.u32 %r3, %r3, %r4;\n"
                       "vmad.u32.u32.u32 %r4, -%r0, -%r1, -%r2;\n"
                       "add.u32 %r5, %r3, %r4;\n" STORE32("%r5")),
            want_same_products);
}

static void lane_masks_are_of_the_lane(void **state)
{
    (void)state;
    check32(KERNEL("", "mov.u32 %r0, %laneid; mov.u32 %r1, %lanemask_lt; shl.b32 %r1, %r1, 8;\n"
                       "or.b32 %r0, %r0, %r1;\n" STORE32("%r0")),
            want_laneid);
}

static void special_registers_give_the_coordinates_of_3d_blocks(void **state)
{
    (void)state;
    static const char text[] = PTX_HEAD
        ".visible .entry k(.param .u64 out) {\n"
        ".reg .b32 %r<40>; .reg .b64 %l<8>;\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"
        "mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;\n"
        "mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;\n"
        "mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y; mov.u32 %r11, %nctaid.z;\n"
        "mad.lo.u32 %r12, %r8, %r10, %r7; mad.lo.u32 %r12, %r12, %r9, %r6;\n"
        "mul.lo.u32 %r13, %r3, %r4; mul.lo.u32 %r13, %r13, %r5;\n"
        "mad.lo.u32 %r14, %r2, %r4, %r1; mad.lo.u32 %r14, %r14, %r3, %r0;\n"
        "mad.lo.u32 %r15, %r12, %r13, %r14;\n"
        "shl.b32 %r16, %r2, 8; or.b32 %r16, %r16, %r1; shl.b32 %r16, %r16, 8; or.b32 %r16, %r16, "
        "%r0;\n"
        "ld.param.u64 %l0, [out]; mad.wide.u32 %l0, %r15, 4, %l0; st.global.u32 [%l0], %r16;\n"
        "ret; }\n";
    struct device dev;
    device_open(&dev, text, "k");
    dev.launch.grid[1] = 2;
    dev.launch.grid[2] = 2;
    dev.launch.block[1] = 3;
    dev.launch.block[2] = 4;
    uint64_t out = device_alloc(&dev, 3 * 2 * 2 * 5 * 3 * 4 * 4);
    device_arg_u64(&dev, out);
    device_run(&dev, 3, 5);
    const uint32_t *values = device_pointer(out);
    for (uint32_t cta = 0; cta < 12; cta++)
        for (uint32_t z = 0; z < 4; z++)
            for (uint32_t y = 0; y < 3; y++)
                for (uint32_t x = 0; x < 5; x++)
                    assert_int_equal(values[((cta * 4 + z) * 3 + y) * 5 + x], z << 16 | y << 8 | x);
    device_close(&dev);
}

static void clock_advances_between_two_reads(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out =
        device_results(&dev,
                       KERNEL("", "mov.u32 %r0, %clock; add.u32 %r2, %t, 1;\n"
                                  "mov.u32 %r1, %clock; sub.u32 %r0, %r1, %r0;\n" STORE32("%r0")),
                       1);
    assert_int_equal(out[0], 2 * 16); /* instructions, and what each counts as */
    device_close(&dev);
}

static void what_cannot_be_executed_is_refused_with_its_place(void **state)
{
    (void)state;
    struct device dev;
    assert_int_equal(device_try_open(&dev, KERNEL("", "isspacep.const %p0, %out;"), "k"),
                     SONDE_EUNSUPPORTED);
    assert_error_has("test.ptx:");
    assert_error_has("isspacep.const is not implemented");
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_s32_wraps_and_leaves_inactive_lanes_alone),
        cmocka_unit_test(a_negated_guard_runs_the_other_lanes),
        cmocka_unit_test(mul_wide_s32_gives_64_bits),
        cmocka_unit_test(vset_takes_its_second_operation_by_the_operands_types),
        cmocka_unit_test(a_carry_chain_adds_64_bits_in_two_words),
        cmocka_unit_test(a_borrow_chain_subtracts_64_bits_in_two_words),
        cmocka_unit_test(mov_packs_and_unpacks_halves),
        cmocka_unit_test(mov_packs_16_bit_registers),
        cmocka_unit_test(mov_swaps_the_elements_of_a_vector),
        cmocka_unit_test(cvt_sign_extends_into_a_wider_register),
        cmocka_unit_test(selp_and_slct_choose_by_predicate_and_by_sign),
        cmocka_unit_test(setp_combines_with_a_predicate_and_gives_the_complement),
        cmocka_unit_test(predicates_have_logic_of_their_own),
        cmocka_unit_test(set_gives_all_ones_or_one),
        cmocka_unit_test(set_flushes_subnormals_of_either_sign_and_side_only_where_it_is_asked),
        cmocka_unit_test(float_multiply_and_add_round_twice_unless_fused),
        cmocka_unit_test(rounding_modes_flushing_and_saturation_act_around_the_loop),
        cmocka_unit_test(ftz_flushes_and_sat_clamps),
        cmocka_unit_test(prmt_has_named_modes),
        cmocka_unit_test(a_video_shift_beyond_all_bits_saturates_at_the_end_of_its_sign),
        cmocka_unit_test(vmad_with_both_factors_negated_negates_nothing),
        cmocka_unit_test(lane_masks_are_of_the_lane),
        cmocka_unit_test(special_registers_give_the_coordinates_of_3d_blocks),
        cmocka_unit_test(clock_advances_between_two_reads),
        cmocka_unit_test(what_cannot_be_executed_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
