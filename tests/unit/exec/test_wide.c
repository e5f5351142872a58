/* 128 bits: moves, loads, stores, and the two atomics that have them (PTX ISA 9.0, 9.7.9, 9.7.13).
 */
#include "support/exec_device.h"

#define LANES 32u

static uint64_t at;

/* %q0: the lane's pair, of words 2 lane and 2 lane + 1 of `p`, which are 1, 2, 3, ..; %d0: p, %d1:
 * p + 16 lane. */
static const uint64_t *run(struct device *dev, const char *body)
{
    char text[4096];
    snprintf(
        text, sizeof text,
        ".version 8.4\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) {\n.reg .b128 %%q<8>;\n.reg .b64 %%d<8>;\n"
        ".reg .b32 %%r<8>;\n.reg .pred %%g;\n.shared .align 16 .b8 m[512];\n"
        "ld.param.u64 %%d0, [p];\nmov.u32 %%r0, %%laneid;\nmad.wide.u32 %%d1, %%r0, 16, %%d0;\n"
        "ld.global.b128 %%q0, [%%d1];\n%s\nret;\n}\n",
        body);
    device_open(dev, text, "k");
    at = device_alloc(dev, 4096);
    device_arg_u64(dev, at);
    uint64_t *words = device_pointer(at);
    for (uint32_t i = 0; i < 2 * LANES; i++)
        words[i] = i + 1;
    dev->launch.block[0] = LANES;
    assert_int_equal(exec_run_launch_with(&dev->launch, &dev->options), SONDE_OK);
    return words;
}

static void moves_pack_and_unpack_two_or_four_parts(void **state)
{
    (void)state;
    struct device dev;
    const uint64_t *words = run(
        &dev,
        "mov.b128 {%d2, %d3}, %q0;\nmov.b128 %q1, {%d3, %d2};\nmov.b128 %q2, %q1;\n"
        "mov.b128 {%r1, %r2, %r3, %r4}, %q2;\nmov.b128 %q3, {%r2, %r1, %r4, %r3};\n"
        "mov.b128 {%d4, _}, %q0;\nst.global.b128 [%d1+512], %q3;\nst.global.u64 [%d1+1024], %d4;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_true(words[64 + 2 * i] == (uint64_t)(2 * i + 2) << 32);
        assert_true(words[65 + 2 * i] == (uint64_t)(2 * i + 1) << 32);
        assert_true(words[128 + 2 * i] == 2 * i + 1);
    }
    device_close(&dev);
}

static void shared_memory_and_generic_addresses_have_them_too(void **state)
{
    (void)state;
    struct device dev;
    const uint64_t *words = run(
        &dev,
        "mov.u32 %r1, m;\nmad.lo.u32 %r2, %r0, 16, %r1;\nst.shared.b128 [%r2], %q0;\n"
        "bar.warp.sync 0xffffffff;\nxor.b32 %r3, %r2, 16;\nld.volatile.shared.b128 %q1, [%r3];\n"
        "st.relaxed.gpu.b128 [%d1+512], %q1;");
    for (uint32_t i = 0; i < 2 * LANES; i++)
        assert_true(words[64 + i] == (i ^ 2) + 1);
    device_close(&dev);
}

static void lanes_exchange_one_after_the_other(void **state)
{
    (void)state;
    struct device dev;
    const uint64_t *words = run(&dev, "atom.global.exch.b128 %q1, [%d0+512], %q0;\n"
                                      "st.global.b128 [%d1+1024], %q1;");
    assert_true(words[64] == 63 && words[65] == 64); /* the last lane's */
    assert_true(words[128] == 0 && words[129] == 0);
    for (uint32_t i = 2; i < 2 * LANES; i++)
        assert_true(words[128 + i] == i - 1);
    device_close(&dev);
}

static void a_swap_wants_both_halves_equal(void **state)
{
    (void)state;
    struct device dev;
    /* Lane by lane: {0, 0} becomes {1, 2}, and nothing else does; then {1, 0} is not equal. */
    const uint64_t *words = run(
        &dev,
        "mov.u64 %d2, 0;\nmov.b128 %q1, {%d2, %d2};\n"
        "atom.acq_rel.gpu.global.cas.b128 %q2, [%d0+512], %q1, %q0;\nst.global.b128 [%d1+1024], "
        "%q2;\n"
        "mov.u64 %d3, 1;\nmov.b128 %q3, {%d3, %d2};\natom.global.cas.b128 _, [%d0+512], %q3, %q1;");
    assert_true(words[64] == 1 && words[65] == 2);
    assert_true(words[128] == 0 && words[129] == 0);
    for (uint32_t i = 2; i < 2 * LANES; i++)
        assert_true(words[128 + i] == i % 2 + 1);
    device_close(&dev);
}

/* ptxas 13 leaves 64 bits of zeros above them, also above -1. */
static void constants_fill_the_lower_half(void **state)
{
    (void)state;
    struct device dev;
    const uint64_t *words = run(
        &dev, "mov.b128 %q1, -1;\nst.global.b128 [%d1+512], %q1;\nst.global.b128 [%d1+1024], 5;\n"
              "atom.global.exch.b128 %q2, [%d1+1024], 0x8000000000000001;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_true(words[64 + 2 * i] == UINT64_MAX && words[65 + 2 * i] == 0);
        assert_true(words[128 + 2 * i] == UINT64_C(0x8000000000000001) && words[129 + 2 * i] == 0);
    }
    device_close(&dev);
}

/* ptxas 13 makes the same machine code of these and of moves to one register and then {..} from it.
 */
static void addresses_and_constants_are_unpacked(void **state)
{
    (void)state;
    struct device dev;
    const uint64_t *words =
        run(&dev, "mov.b128 %q1, m;\nst.global.b128 [%d1+512], %q1;\nmov.b128 {%d2, %d3}, m+16;\n"
                  "mov.b64 {%r1, %r2}, -5;\nmov.b64 {%r3, _}, m+48;\ncvt.u64.u32 %d4, %r2;\n"
                  "cvt.u64.u32 %d5, %r3;\nadd.u64 %d2, %d2, %d5;\nadd.u64 %d3, %d3, %d4;\n"
                  "mov.b128 %q2, {%d2, %d3};\nst.global.b128 [%d1+1024], %q2;\n"
                  ".reg .b16 %h<4>;\nmov.b32 {%h1, %h2}, %tid.x;\nmov.b64 {%h0, _, _, %h3}, 1.5;\n"
                  "cvt.u64.u16 %d6, %h1;\ncvt.u64.u16 %d7, %h3;\nmov.b128 %q3, {%d6, %d7};\n"
                  "st.global.b128 [%d1+1536], %q3;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_true(words[64 + 2 * i] == 0 && words[65 + 2 * i] == 0); /* m begins at 0 */
        assert_true(words[128 + 2 * i] == 64 && words[129 + 2 * i] == UINT32_MAX);
        assert_true(words[192 + 2 * i] == i && words[193 + 2 * i] == 0x3ff8);
    }
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_pack_and_unpack_two_or_four_parts),
        cmocka_unit_test(shared_memory_and_generic_addresses_have_them_too),
        cmocka_unit_test(lanes_exchange_one_after_the_other),
        cmocka_unit_test(constants_fill_the_lower_half),
        cmocka_unit_test(addresses_and_constants_are_unpacked),
        cmocka_unit_test(a_swap_wants_both_halves_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
