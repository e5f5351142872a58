/* The simulator as a device, end to end: PTX in, results out, and what cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/device.h"
#include "util/error.h"

static const char vector_add[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
    "    .reg .pred %p<2>;\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<8>;\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.s32 %r4, %r1, %r2, %r3;\n    ld.param.u32 %r5, [n];\n"
    "    setp.ge.u32 %p1, %r4, %r5;\n    @%p1 bra DONE;\n"
    "    ld.param.u64 %rd1, [a];\n    ld.param.u64 %rd2, [b];\n    ld.param.u64 %rd3, [c];\n"
    "    mul.wide.u32 %rd4, %r4, 4;\n    add.s64 %rd5, %rd1, %rd4;\n    add.s64 %rd6, %rd2, %rd4;\n"
    "    add.s64 %rd7, %rd3, %rd4;\n    ld.global.u32 %r6, [%rd5];\n    ld.global.u32 %r7, "
    "[%rd6];\n"
    "    add.s32 %r6, %r6, %r7;\n    st.global.u32 [%rd7], %r6;\nDONE:\n    ret;\n}\n";

#define COUNT 1000

static struct device *open_device(const char *spec)
{
    struct device *device = NULL;
    if (device_open(&device, spec) < 0) {
        fail_msg("%s", error_text());
    }
    return device;
}

static struct device_kernel *load_add(struct device *device, struct device_module **module)
{
    struct device_kernel *kernel;
    if (device_module_load(device, module, "add.ptx", vector_add, sizeof(vector_add) - 1) < 0 ||
        device_kernel_get(device, &kernel, *module, "add") < 0) {
        fail_msg("%s", error_text());
    }
    return kernel;
}

static void add_vectors_in(struct device *device, struct device_kernel *kernel, bool untimed)
{
    uint32_t a[COUNT], b[COUNT], c[COUNT] = {0}, n = COUNT;
    uint64_t address[3];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = i * 7;
        b[i] = 1000000 - i;
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(device_mem_alloc(device, &address[i], sizeof(a)), 0);
    }
    assert_int_equal(device_copy_to(device, address[0], a, sizeof(a)), 0);
    assert_int_equal(device_copy_to(device, address[1], b, sizeof(b)), 0);
    struct device_launch launch = {.grid = {(COUNT + 127) / 128, 1, 1},
                                   .block = {128, 1, 1},
                                   .args = {&address[0], &address[1], &address[2], &n},
                                   .arg_sizes = {8, 8, 8, 4},
                                   .arg_count = 4,
                                   .untimed = untimed};
    if (device_launch(device, kernel, &launch) < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(device_copy_from(device, c, address[2], sizeof(c)), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(c[i], 1000000 + 6 * i);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(device_mem_free(device, address[i]), 0);
    }
}

static void add_vectors(struct device *device, struct device_kernel *kernel)
{
    add_vectors_in(device, kernel, false);
}

/* Stores 1 at p, or how long a load of it takes at `out`. */
static const char store_and_load[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 p)\n{\n    .reg .b64 %a;\n    ld.param.u64 %a, [p];\n"
    "    st.global.u32 [%a], 1;\n    ret;\n}\n"
    ".visible .entry load(.param .u64 p, .param .u64 out)\n{\n"
    "    .reg .b32 %r<4>;\n    .reg .b64 %a, %b;\n"
    "    ld.param.u64 %a, [p];\n    ld.param.u64 %b, [out];\n    mov.u32 %r1, %clock;\n"
    "    ld.global.cg.u32 %r2, [%a];\n    st.global.u32 [%b+4], %r2;\n    mov.u32 %r3, %clock;\n"
    "    sub.u32 %r1, %r3, %r1;\n    st.global.u32 [%b], %r1;\n    ret;\n}\n";

/* How long the load of a line takes that a store has just written. */
static uint32_t cycles_after_store(struct device *device, struct device_module *module,
                                   uint64_t address, bool untimed)
{
    struct device_kernel *store, *load;
    uint64_t out;
    uint32_t result[2] = {0};
    assert_int_equal(device_kernel_get(device, &store, module, "store"), 0);
    assert_int_equal(device_kernel_get(device, &load, module, "load"), 0);
    assert_int_equal(device_mem_alloc(device, &out, 4096), 0);
    struct device_launch launch = {.grid = {1, 1, 1},
                                   .block = {1, 1, 1},
                                   .args = {&address, &out},
                                   .arg_sizes = {8, 8},
                                   .arg_count = 1,
                                   .untimed = untimed};
    assert_int_equal(device_launch(device, store, &launch), 0);
    launch.arg_count = 2;
    launch.untimed = false;
    assert_int_equal(device_launch(device, load, &launch), 0);
    assert_int_equal(device_copy_from(device, result, out, sizeof(result)), 0);
    assert_int_equal(result[1], 1);
    assert_int_equal(device_mem_free(device, out), 0);
    return result[0];
}

static void an_untimed_launch_writes_memory_and_leaves_caches_alone(void **state)
{
    (void)state;
    struct device_module *module;
    struct device *device = open_device("sim:gtx560ti");
    add_vectors_in(device, load_add(device, &module), true);
    uint64_t lines;
    assert_int_equal(device_mem_alloc(device, &lines, 1 << 20), 0);
    assert_int_equal(device_module_load(device, &module, "lines.ptx", store_and_load,
                                        sizeof(store_and_load) - 1),
                     0);
    uint32_t missed = cycles_after_store(device, module, lines + 65536, true);
    uint32_t hit = cycles_after_store(device, module, lines + 131072, false);
    assert_true(missed > hit + 100);
    device_close(device);
}

static void vectors_are_added_on_every_shipped_model(void **state)
{
    (void)state;
    static const char *const specs[] = {"sim:gtx560ti",
                                        "sim:gtx560ti-48k",
                                        "sim:gtx780",
                                        "sim:" SONDE_SOURCE_DIR "/tests/models/liar.yaml",
                                        "sim:" SONDE_SOURCE_DIR "/tests/models/sectored.yaml",
                                        "sim:" SONDE_SOURCE_DIR "/tests/models/tiny_unequal.yaml"};
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct device_module *module;
        struct device *device = open_device(specs[i]);
        struct device_kernel *kernel = load_add(device, &module);
        add_vectors(device, kernel);
        add_vectors(device, kernel);
        device_module_unload(device, module);
        device_close(device);
    }
}

static void it_tells_what_the_models_driver_says(void **state)
{
    (void)state;
    struct device *device = open_device("sim:" SONDE_SOURCE_DIR "/tests/models/liar.yaml");
    assert_int_equal(device->info.kind, DEVICE_SIM);
    assert_string_equal(device->info.name, "GeForce GTX 560 Ti");
    assert_memory_equal(device->info.driver, "sonde ", 6);
    assert_int_equal(device->info.l2_bytes_reported, 50 << 20);
    assert_int_equal(device->info.clock_hz, 5000000000);
    assert_int_equal(device->info.compute_major, 9);
    device_close(device);
    device = open_device("sim:" SONDE_SOURCE_DIR "/tests/models/tiny.yaml");
    assert_string_equal(device->info.name, "tiny");
    assert_int_equal(device->info.clock_hz, 1000000000);
    device_close(device);
}

static void a_block_is_promised_no_more_shared_memory_than_there_is(void **state)
{
    (void)state;
    struct device *device = open_device("sim:" SONDE_SOURCE_DIR "/tests/models/small_shared.yaml");
    assert_int_equal(device->info.shared_per_block_bytes, 16 << 10);
    device_close(device);
    device = open_device("sim:gtx560ti"); /* another division has so much */
    assert_int_equal(device->info.shared_per_block_bytes, 48 << 10);
    device_close(device);
}

static void arguments_must_fit_the_kernel(void **state)
{
    (void)state;
    struct device *device = open_device("sim:gtx780");
    struct device_module *module;
    struct device_kernel *kernel = load_add(device, &module), *none = NULL;
    uint64_t address = 0;
    uint32_t n = 0;
    struct device_launch launch = {.grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .args = {&address, &address, &address, &n},
                                   .arg_sizes = {8, 8, 8, 8},
                                   .arg_count = 4};
    assert_int_equal(device_launch(device, kernel, &launch), SONDE_EINPUT);
    assert_string_equal(error_text(), "argument 3 (n) has 4 bytes, not 8");
    launch.arg_count = 3;
    assert_int_equal(device_launch(device, kernel, &launch), SONDE_EINPUT);
    assert_string_equal(error_text(), "the kernel takes 4 arguments, not 3");
    launch.arg_count = DEVICE_MAX_ARGS + 1;
    assert_int_equal(device_launch(device, kernel, &launch), SONDE_EUSAGE);
    assert_int_equal(device_kernel_get(device, &none, module, "sub"), SONDE_EINPUT);
    assert_null(none);
    device_close(device);
}

static void a_kernel_that_leaves_its_memory_faults_and_the_device_lives_on(void **state)
{
    (void)state;
    struct device *device = open_device("sim:gtx780");
    struct device_module *module;
    struct device_kernel *kernel = load_add(device, &module);
    uint64_t nowhere = 64;
    uint32_t n = 32;
    struct device_launch launch = {.grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .args = {&nowhere, &nowhere, &nowhere, &n},
                                   .arg_sizes = {8, 8, 8, 4},
                                   .arg_count = 4};
    assert_int_equal(device_launch(device, kernel, &launch), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "add"));
    add_vectors(device, kernel);
    device_close(device);
}

static void bad_ptx_is_refused_with_its_place(void **state)
{
    (void)state;
    struct device *device = open_device("sim:gtx780");
    struct device_module *module = NULL;
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\nnonsense\n";
    assert_int_equal(device_module_load(device, &module, "k.ptx", ptx, sizeof(ptx) - 1),
                     SONDE_EINPUT);
    assert_memory_equal(error_text(), "k.ptx:4:1: ", 11);
    assert_null(module);
    device_close(device);
}

static void a_fixed_division_grants_what_it_has(void **state)
{
    (void)state;
    struct device *device = open_device("sim:gtx560ti");
    struct device_module *module;
    struct device_kernel *kernel = load_add(device, &module);
    assert_int_equal(device_set_carveout(device, kernel, 1024), 0);
    assert_int_equal(device_set_carveout(device, kernel, 48 << 10), 0);
    assert_int_equal(device_set_carveout(device, kernel, (48 << 10) + 1), SONDE_EUNSUPPORTED);
    assert_string_equal(error_text(),
                        "GeForce GTX 560 Ti has at most 49152 bytes of shared memory for a "
                        "kernel, not 49153");
    add_vectors(device, kernel);
    device_close(device);
}

static void mapped_memory_grows_to_what_the_model_has(void **state)
{
    (void)state;
    struct device *device = open_device("sim:gtx560ti");
    uint64_t address = 0, page_bytes = 0, all = device->info.memory_bytes;
    uint32_t word = 7, read = 0;
    assert_int_equal(device_mem_map(device, &address, 5000000, &page_bytes), 0);
    assert_int_equal(page_bytes, 2 << 20);
    assert_int_equal(device_mem_map(device, &address, all / 8 * 5, &page_bytes), 0);
    assert_int_equal(device_mem_map(device, &address, all / 8 * 7, &page_bytes), 0);
    assert_int_equal(device_copy_to(device, address + all / 8 * 7 - 4, &word, 4), 0);
    assert_int_equal(device_copy_from(device, &read, address + all / 8 * 7 - 4, 4), 0);
    assert_int_equal(read, 7);
    uint64_t before = address;
    assert_int_equal(device_mem_map(device, &address, 2 * all, &page_bytes), SONDE_ENOMEM);
    assert_int_equal(address, before); /* it is as it was */
    assert_int_equal(device_copy_to(device, address + all / 8 * 7 - 4, &word, 4), 0);
    assert_int_equal(device_mem_map(device, &address, UINT64_MAX, &page_bytes), SONDE_ENOMEM);
    assert_int_equal(device_mem_map(device, &address, all / 2, &page_bytes), 0);
    assert_int_equal(device_mem_unmap(device, address), 0);
    device_close(device);
}

static void a_modules_constants_can_be_written(void **state)
{
    (void)state;
    static const char ptx[] = ".version 5.0\n.target sm_30\n.address_size 64\n"
                              ".visible .const .align 4 .b8 table[64];\n"
                              ".visible .entry none()\n{\n    ret;\n}\n";
    struct device *device = open_device("sim:gtx780");
    struct device_module *module;
    uint64_t address = 0, bytes = 0;
    uint32_t word = 5, read = 0;
    assert_int_equal(device_module_load(device, &module, "k.ptx", ptx, sizeof(ptx) - 1), 0);
    assert_int_equal(device_module_global(device, module, "table", &address, &bytes), 0);
    assert_int_equal(bytes, 64);
    assert_int_equal(device_copy_to(device, address + 60, &word, 4), 0);
    assert_int_equal(device_copy_from(device, &read, address + 60, 4), 0);
    assert_int_equal(read, 5);
    assert_true(device_module_global(device, module, "chair", &address, &bytes) < 0);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_added_on_every_shipped_model),
        cmocka_unit_test(an_untimed_launch_writes_memory_and_leaves_caches_alone),
        cmocka_unit_test(it_tells_what_the_models_driver_says),
        cmocka_unit_test(a_block_is_promised_no_more_shared_memory_than_there_is),
        cmocka_unit_test(arguments_must_fit_the_kernel),
        cmocka_unit_test(a_kernel_that_leaves_its_memory_faults_and_the_device_lives_on),
        cmocka_unit_test(bad_ptx_is_refused_with_its_place),
        cmocka_unit_test(mapped_memory_grows_to_what_the_model_has),
        cmocka_unit_test(a_modules_constants_can_be_written),
        cmocka_unit_test(a_fixed_division_grants_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
