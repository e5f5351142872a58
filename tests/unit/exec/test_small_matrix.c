/*
 * ldmatrix, stmatrix, movmatrix. Shared memory holds 256 elements of 16 bits, element i of value i:
 * four matrices of 8 x 8, one after the other, rows of 16 bytes. The expected places are those of
 * the manual's figure: lane l has row l / 4, columns 2 (l % 4) and the next.
 */
#include "support/exec_device.h"

/* Thread t fills words 4 t .. 4 t + 3; %r0 becomes the address of row t, 16 bytes on from the last.
 */
#define FILL                                                                                       \
    ".shared .align 16 .b32 s[128];\nmov.u32 %r0, s; mad.lo.u32 %r0, %t, 16, %r0;\n"               \
    "mul.lo.u32 %r1, %t, 0x00080008; add.u32 %r1, %r1, 0x00010000; st.shared.u32 [%r0], %r1;\n"    \
    "add.u32 %r1, %r1, 0x00020002; st.shared.u32 [%r0+4], %r1;\n"                                  \
    "add.u32 %r1, %r1, 0x00020002; st.shared.u32 [%r0+8], %r1;\n"                                  \
    "add.u32 %r1, %r1, 0x00020002; st.shared.u32 [%r0+12], %r1;\nbar.sync 0;\n"
#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"

static uint32_t element(uint32_t matrix, uint32_t row, uint32_t column)
{
    return matrix * 64 + row * 8 + column;
}

static uint32_t pair(uint32_t low, uint32_t high)
{
    return low | high << 16;
}

static void each_lane_gets_two_neighbours_of_a_row(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL("", FILL
               "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r0];\n" STORE32(
                   "%r6")),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t row = t / 4, column = t % 4 * 2;
        assert_int_equal((uint32_t)out[t],
                         pair(element(2, row, column), element(2, row, column + 1)));
    }
    device_close(&dev);
}

static void transposed_each_lane_gets_two_neighbours_of_a_column(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL(
            "", FILL
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%r0];\n" STORE32("%r5")),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t column = t / 4, row = t % 4 * 2;
        assert_int_equal((uint32_t)out[t],
                         pair(element(1, row, column), element(1, row + 1, column)));
    }
    device_close(&dev);
}

static void what_is_stored_is_what_was_loaded(void **state)
{
    (void)state;
    struct device dev;
    /* Loaded transposed and stored as it is: the matrix in memory is transposed. */
    uint64_t *out = device_results(
        &dev,
        KERNEL("", FILL
               "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r0];\nbar.sync 0;\n"
               "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r4};\nbar.sync 0;\n"
               "mov.u32 %r2, s; mad.lo.u32 %r2, %t, 4, %r2; ld.shared.u32 %r3, [%r2];\n" STORE32(
                   "%r3")),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t row = t / 4, column = t % 4 * 2;
        assert_int_equal((uint32_t)out[t],
                         pair(element(0, column, row), element(0, column + 1, row)));
    }
    device_close(&dev);
}

static void registers_are_transposed_without_memory(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL("", FILL "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r0];\n"
                        "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;\n" STORE32("%r5")),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t column = t / 4, row = t % 4 * 2;
        assert_int_equal((uint32_t)out[t],
                         pair(element(0, row, column), element(0, row + 1, column)));
    }
    device_close(&dev);
}

/* Every lane's address is the same, so that all rows of the matrix are that one. */
static void a_variable_named_without_a_space_is_addressed_in_its_own(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL("", FILL "ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [s+16];\nbar.sync 0;\n"
                        "stmatrix.sync.aligned.m8n8.x1.b16 [s+32], {%r4};\nbar.sync 0;\n"
                        "and.b32 %r2, %t, 3; shl.b32 %r2, %r2, 2; mov.u32 %r3, s; "
                        "add.u32 %r2, %r2, %r3; ld.shared.u32 %r5, [%r2+32];\n"
                        "mov.b64 %l19, {%r4, %r5}; st.global.u64 [%out], %l19;\n"),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t row_1 = pair(element(0, 1, t % 4 * 2), element(0, 1, t % 4 * 2 + 1));
        assert_int_equal((uint32_t)out[t], row_1);
        assert_int_equal((uint32_t)(out[t] >> 32), row_1);
    }
    device_close(&dev);
}

/* Lane 0 holds the first two elements of row 0 in its first two registers. */
static void wmma_stores_and_loads_at_a_shared_variable_named_without_a_space(void **state)
{
    (void)state;
#define SUM "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"
    struct device dev;
    uint64_t *out = device_results(
        &dev,
        KERNEL("",
               ".shared .align 32 .b32 s[256];\ncvt.rn.f32.u32 %f8, %t; mov.f32 %f0, 0f42C80000;\n"
               "mov.f32 %f1, %f8; mov.f32 %f2, %f8; mov.f32 %f3, %f8; mov.f32 %f4, %f8;\n"
               "mov.f32 %f5, %f8; mov.f32 %f6, %f8; add.f32 %f7, %f8, 0f42C80000;\n"
               "wmma.store.d.sync.aligned.row.m16n16k16.f32 [s], " SUM ";\nbar.sync 0;\n"
               "ld.shared.b32 %r0, [s];\n"
               "mov.f32 %f7, 0f00000000;\n"
               "wmma.load.c.sync.aligned.row.m16n16k16.f32 " SUM ", [s];\n"
               "mov.b32 %r1, %f7; mov.b64 %l19, {%r0, %r1}; st.global.u64 [%out], %l19;\n"),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        float loaded, expected = (float)t + 100.0F;
        uint32_t bits = (uint32_t)(out[t] >> 32);
        memcpy(&loaded, &bits, sizeof loaded);
        assert_int_equal((uint32_t)out[t], 0x42C80000);
        assert_true(loaded == expected);
    }
    device_close(&dev);
#undef SUM
}

static void a_matrix_in_local_memory_is_refused_by_name(void **state)
{
    (void)state;
    const char *text = KERNEL("", ".local .align 16 .b8 v[512];\n"
                                  "ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [v];\n");
    struct ptx_module *module;
    struct exec_program *program;
    assert_int_equal(ptx_parse(&module, "k.ptx", text, strlen(text)), SONDE_OK);
    assert_int_equal(exec_program_create(&program, module, module->funcs[0], NULL),
                     SONDE_EUNSUPPORTED);
    assert_non_null(strstr(error_text(), "k.ptx:"));
    assert_non_null(
        strstr(error_text(), "'ldmatrix.sync.aligned' of 'v' in .local is not implemented"));
    ptx_module_destroy(module);
}

static void a_row_beyond_shared_memory_or_misaligned_is_a_fault(void **state)
{
    (void)state;
    static const char *const offsets[] = {"+8", "+65536"};
    for (int i = 0; i < 2; i++) {
        struct device dev;
        char text[4096];
        snprintf(text, sizeof text, "%s%s%s",
                 KERNEL_BEGIN("") FILL "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r0",
                 offsets[i], "];\nret;\n}\n");
        device_open(&dev, text, "k");
        device_arg_u64(&dev, device_alloc(&dev, 4096));
        assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
        assert_non_null(strstr(error_text(), "misaligned or out of bounds"));
        device_close(&dev);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lane_gets_two_neighbours_of_a_row),
        cmocka_unit_test(transposed_each_lane_gets_two_neighbours_of_a_column),
        cmocka_unit_test(what_is_stored_is_what_was_loaded),
        cmocka_unit_test(registers_are_transposed_without_memory),
        cmocka_unit_test(a_variable_named_without_a_space_is_addressed_in_its_own),
        cmocka_unit_test(wmma_stores_and_loads_at_a_shared_variable_named_without_a_space),
        cmocka_unit_test(a_matrix_in_local_memory_is_refused_by_name),
        cmocka_unit_test(a_row_beyond_shared_memory_or_misaligned_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
