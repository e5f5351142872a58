/* Modules, variables, kernels and launches through the runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/error.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static struct model *model;
static struct rt *rt;

static int setup(void **state)
{
    (void)state;
    return model_load(&model, "gtx780") < 0 ? -1 : rt_create(&rt, model);
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static struct rt_module *load(const char *text)
{
    struct rt_module *module;
    int rc = rt_module_load(rt, &module, "test.ptx", text, strlen(text));
    if (rc < 0) {
        print_error("%s\n", error_text());
    }
    assert_int_equal(rc, 0);
    return module;
}

static struct rt_kernel *kernel_of(struct rt_module *module, const char *name)
{
    struct rt_kernel *kernel;
    int rc = rt_kernel_get(module, &kernel, name);
    if (rc < 0) {
        print_error("%s\n", error_text());
    }
    assert_int_equal(rc, 0);
    return kernel;
}

static const char *const vector_add =
    HEAD ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;\n"
         "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 "
         "%r1, [n];\n"
         "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
         "mad.lo.u32 %r2, %r2, %r3, %r4; setp.ge.u32 %p, %r2, %r1; @%p bra DONE;\n"
         "mul.wide.u32 %rd4, %r2, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4;\n"
         "add.u64 %rd3, %rd3, %rd4; ld.global.u32 %r5, [%rd1]; ld.global.u32 %r6, [%rd2];\n"
         "add.u32 %r5, %r5, %r6; st.global.u32 [%rd3], %r5;\nDONE: ret;\n}\n";

static void run_vector_add(bool functional)
{
    enum { N = 10000 };
    struct rt_kernel *kernel = kernel_of(load(vector_add), "add");
    static uint32_t host[N];
    uint64_t a, b, c;
    uint32_t n = N;
    assert_int_equal(rt_mem_alloc(rt, &a, sizeof host), 0);
    assert_int_equal(rt_mem_alloc(rt, &b, sizeof host), 0);
    assert_int_equal(rt_mem_alloc(rt, &c, sizeof host), 0);
    for (uint32_t i = 0; i < N; i++) {
        host[i] = i * i;
    }
    assert_int_equal(rt_copy_to_device(rt, a, host, sizeof host), 0);
    assert_int_equal(rt_memset(rt, b, 1, sizeof host), 0);
    const void *args[] = {&a, &b, &c, &n};
    struct rt_launch launch = {.grid = {(N + 255) / 256, 1, 1},
                               .block = {256, 1, 1},
                               .args = args,
                               .arg_count = 4,
                               .functional = functional};
    uint64_t cycles;
    assert_int_equal(rt_launch(rt, kernel, &launch, &cycles), 0);
    assert_int_equal(cycles > 0, !functional);
    assert_int_equal(rt_copy_from_device(rt, host, c, sizeof host), 0);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(host[i], i * i + 0x01010101);
    }
}

static void vectors_are_added_with_timing(void **state)
{
    (void)state;
    run_vector_add(false);
}

static void vectors_are_added_without_timing(void **state)
{
    (void)state;
    run_vector_add(true);
}

static void variables_are_initialised_and_relocated(void **state)
{
    (void)state;
    struct rt_module *module = load(
        HEAD
        ".global .align 4 .u32 numbers[4] = {1, 2, 3};\n"
        ".const .align 2 .u16 short_one = 77;\n"
        ".visible .global .align 8 .u64 pointers[2] = {numbers, numbers+8};\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b16 %h;\n"
        "ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [pointers+8]; ld.global.u32 %r1, [%rd2];\n"
        "st.global.u32 [%rd1], %r1; ld.const.u16 %h, [short_one]; cvt.u32.u16 %r2, %h;\n"
        "st.global.u32 [%rd1+4], %r2; ret;\n}\n");
    uint64_t numbers, pointers, bytes, values[2], out;
    assert_int_equal(rt_global_get(module, "numbers", &numbers, &bytes), 0);
    assert_int_equal(bytes, 16);
    assert_int_equal(rt_global_get(module, "pointers", &pointers, &bytes), 0);
    assert_int_equal(rt_copy_from_device(rt, values, pointers, 16), 0);
    assert_int_equal(values[0], numbers);
    assert_int_equal(values[1], numbers + 8);
    assert_int_equal(rt_mem_alloc(rt, &out, 8), 0);
    const void *args[] = {&out};
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 1};
    assert_int_equal(rt_launch(rt, kernel_of(module, "k"), &launch, NULL), 0);
    uint32_t result[2];
    assert_int_equal(rt_copy_from_device(rt, result, out, 8), 0);
    assert_int_equal(result[0], 3);
    assert_int_equal(result[1], 77);
    assert_int_equal(rt_global_get(module, "nothing", &numbers, &bytes), SONDE_EINPUT);
}

static void parameters_of_every_size_arrive_where_they_belong(void **state)
{
    (void)state;
    struct rt_kernel *kernel = kernel_of(
        load(
            HEAD
            ".visible .entry k(.param .u8 a, .param .u64 out, .param .u16 b, .param .u32 c,\n"
            ".param .align 8 .b8 d[12])\n{\n.reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .b16 %h<3>;\n"
            "ld.param.u64 %rd1, [out]; ld.param.u8 %h1, [a]; cvt.u32.u16 %r1, %h1; ld.param.u16 "
            "%h2, [b];\n"
            "cvt.u32.u16 %r2, %h2; ld.param.u32 %r3, [c]; ld.param.u32 %r4, [d+8];\n"
            "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3;\n"
            "st.global.u32 [%rd1+12], %r4; ret;\n}\n"),
        "k");
    assert_int_equal(rt_kernel_param_count(kernel), 5);
    uint64_t out;
    uint8_t a = 200;
    uint16_t b = 60000;
    uint32_t c = 4000000000u, d[3] = {1, 2, 3}, result[4];
    assert_int_equal(rt_mem_alloc(rt, &out, 16), 0);
    const void *args[] = {&a, &out, &b, &c, d};
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 5};
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), 0);
    assert_int_equal(rt_copy_from_device(rt, result, out, 16), 0);
    assert_int_equal(result[0], 200);
    assert_int_equal(result[1], 60000);
    assert_int_equal(result[2], 4000000000u);
    assert_int_equal(result[3], 3);
    launch.arg_count = 4;
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), SONDE_EINPUT);
    args[2] = NULL;
    launch.arg_count = 5;
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), SONDE_EINPUT);
}

static void impossible_shapes_are_refused_with_the_reason(void **state)
{
    (void)state;
    struct rt_module *module = load(HEAD ".visible .entry plain()\n{\nret;\n}\n"
                                         ".visible .entry exact() .reqntid 64, 2\n{\nret;\n}\n"
                                         ".visible .entry most() .maxntid 96\n{\nret;\n}\n");
    static const struct {
        const char *kernel;
        uint32_t grid[3], block[3];
        const char *text;
    } rows[] = {
        {"plain", {0, 1, 1}, {1, 1, 1}, "grid.x is 0"},
        {"plain", {1, 65536, 1}, {1, 1, 1}, "grid.y is 65536"},
        {"plain", {1, 1, 1}, {1025, 1, 1}, "block.x is 1025"},
        {"plain", {1, 1, 1}, {1, 1, 65}, "block.z is 65"},
        {"plain", {1, 1, 1}, {1024, 2, 1}, "2048 threads"},
        {"exact", {1, 1, 1}, {64, 1, 1}, ".reqntid wants 2"},
        {"most", {1, 1, 1}, {97, 1, 1}, ".maxntid allows 96"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rt_launch launch = {0};
        memcpy(launch.grid, rows[i].grid, sizeof launch.grid);
        memcpy(launch.block, rows[i].block, sizeof launch.block);
        assert_int_equal(rt_launch(rt, kernel_of(module, rows[i].kernel), &launch, NULL),
                         SONDE_EINPUT);
        assert_non_null(strstr(error_text(), rows[i].text));
    }
    struct rt_launch good = {.grid = {1, 1, 1}, .block = {64, 2, 1}};
    assert_int_equal(rt_launch(rt, kernel_of(module, "exact"), &good, NULL), 0);
}

static void shared_memory_is_checked_against_the_device(void **state)
{
    (void)state;
    struct rt_module *module =
        load(HEAD ".extern .shared .align 4 .b8 dynamic[];\n"
                  ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                  "ld.param.u64 %rd1, [out]; mov.u32 %r1, 5; st.shared.u32 [dynamic+49148], %r1;\n"
                  "ld.shared.u32 %r2, [dynamic+49148]; st.global.u32 [%rd1], %r2; ret;\n}\n");
    uint64_t out;
    uint32_t result;
    assert_int_equal(rt_mem_alloc(rt, &out, 4), 0);
    const void *args[] = {&out};
    struct rt_launch launch = {.grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .args = args,
                               .arg_count = 1,
                               .dynamic_shared_bytes = 48 << 10};
    assert_int_equal(rt_launch(rt, kernel_of(module, "k"), &launch, NULL), 0);
    assert_int_equal(rt_copy_from_device(rt, &result, out, 4), 0);
    assert_int_equal(result, 5);
    launch.dynamic_shared_bytes = (48 << 10) - 4; /* the kernel reaches past it */
    assert_int_equal(rt_launch(rt, kernel_of(module, "k"), &launch, NULL), SONDE_EFAULT);
    rt_recover(rt);
    launch.dynamic_shared_bytes = 64 << 10;
    assert_int_equal(rt_launch(rt, kernel_of(module, "k"), &launch, NULL), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "shared memory"));
}

static void a_launch_gets_the_carve_out_that_its_blocks_need(void **state)
{
    (void)state;
    struct model *fermi;
    struct rt *device;
    struct rt_module *module;
    struct rt_kernel *kernel;
    static const char text[] = HEAD ".visible .entry k()\n{\nret;\n}\n";
    assert_int_equal(model_load(&fermi, "gtx560ti"), 0);
    fermi->carveout.initial = 1; /* 16 KB shared, 48 KB L1 */
    assert_int_equal(rt_create(&device, fermi), 0);
    assert_int_equal(rt_module_load(device, &module, "k.ptx", text, strlen(text)), 0);
    assert_int_equal(rt_kernel_get(module, &kernel, NULL), 0);
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    static const struct {
        uint32_t shared_bytes, choice;
    } rows[] = {{16 << 10, 1}, {(16 << 10) + 1, 0}, {48 << 10, 0}, {0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        launch.dynamic_shared_bytes = rows[i].shared_bytes;
        assert_int_equal(rt_launch(device, kernel, &launch, NULL), 0);
        assert_int_equal(gpu_carveout(rt_gpu(device)), rows[i].choice);
    }
    rt_destroy(device);
    model_destroy(fermi);
}

static void pointers_of_32_bits_are_refused_where_they_do_not_reach(void **state)
{
    (void)state;
    struct model *fermi;
    struct rt *device;
    struct rt_module *module;
    uint64_t address;
    static const char text[] = ".version 3.1\n.target sm_20\n.address_size 32\n"
                               ".visible .entry k(.param .u32 p)\n{\nret;\n}\n";
    assert_int_equal(model_load(&fermi, "gtx560ti"), 0);
    assert_int_equal(rt_create(&device, fermi), 0);
    assert_int_equal(rt_module_load(device, &module, "k.ptx", text, strlen(text)),
                     SONDE_EUNSUPPORTED);
    assert_non_null(strstr(error_text(), "do not reach this device's memory"));
    rt_destroy(device);
    assert_int_equal(rt_create_narrow(&device, fermi), 0);
    assert_int_equal(rt_module_load(device, &module, "k.ptx", text, strlen(text)), 0);
    assert_int_equal(rt_mem_alloc(device, &address, 4096), 0);
    assert_true(address + 4096 <= UINT64_C(1) << 32);
    rt_destroy(device);
    model_destroy(fermi);
}

static void an_endless_kernel_can_be_interrupted_in_both_modes(void **state)
{
    (void)state;
    struct rt_kernel *kernel =
        kernel_of(load(HEAD ".visible .entry k()\n{\nL: bra L;\nret;\n}\n"), "k");
    volatile int cancel = 1;
    rt_set_cancel(rt, &cancel);
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), SONDE_EINTERRUPTED);
    launch.functional = true;
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), SONDE_EINTERRUPTED);
}

static void faults_name_kernel_and_address_and_spoil_the_context(void **state)
{
    (void)state;
    struct rt_kernel *kernel = kernel_of(
        load(HEAD ".visible .entry poke(.param .u64 at)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                  "ld.param.u64 %rd1, [at]; mov.u32 %r1, 5; st.global.u32 [%rd1], %r1; ret;\n}\n"),
        "poke");
    uint64_t out, at;
    assert_int_equal(rt_mem_alloc(rt, &out, 256), 0);
    const void *args[] = {&at};
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 1};
    const uint64_t bad[] = {0, out + 256, out + 2, out - 4, UINT64_MAX - 3};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int functional = 0; functional < 2; functional++) {
            at = bad[i];
            launch.functional = functional;
            assert_int_equal(rt_launch(rt, kernel, &launch, NULL), SONDE_EFAULT);
            assert_non_null(strstr(error_text(), "poke"));
            assert_int_equal(rt_launch(rt, kernel, &launch, NULL), SONDE_EFAULT);
            assert_non_null(strstr(error_text(), "after an earlier fault: "));
            rt_recover(rt);
        }
    }
    at = out;
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), 0);
}

static void bad_modules_and_names_are_refused(void **state)
{
    (void)state;
    struct rt_module *module;
    struct rt_kernel *kernel;
    assert_int_equal(rt_module_load(rt, &module, "x.ptx", "nonsense", 8), SONDE_EINPUT);
    assert_null(module);
    assert_non_null(strstr(error_text(), "x.ptx:1"));
    module = load(HEAD ".visible .entry k()\n{\nret;\n}\n.func f()\n{\nret;\n}\n");
    assert_int_equal(rt_kernel_get(module, &kernel, "missing"), SONDE_EINPUT);
    assert_int_equal(rt_kernel_get(module, &kernel, "f"), SONDE_EINPUT);
    assert_ptr_equal(kernel_of(module, "k"), kernel_of(module, "k"));
}

static void unloading_gives_the_variables_back(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rt_module *module = load(HEAD ".global .align 4 .u32 big[4194304];\n");
        struct rt_module *other = load(HEAD ".global .u32 small;\n");
        uint64_t address, bytes;
        assert_int_equal(rt_global_get(module, "big", &address, &bytes), 0);
        assert_int_equal(rt_mem_free(rt, address), SONDE_EINPUT);
        assert_int_equal(rt_memset(rt, address, 1, bytes), 0);
        rt_module_unload(rt, module);
        assert_int_equal(rt_mem_free(rt, address), SONDE_EINPUT);
        assert_int_equal(rt_global_get(other, "small", &address, &bytes), 0);
        rt_module_unload(rt, other);
    }
}

/* Modules hold kernels for other GPUs, and functions that nobody calls. */
static void what_is_not_implemented_refuses_the_kernel_that_reaches_it_alone(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {".version 8.0\n.target sm_90\n", "multimem.ld_reduce.global.add.f32 %f0, [%d0];"},
        {".version 8.6\n.target sm_100a\n", "tcgen05.fence::before_thread_sync;"},
        {".version 8.8\n.target sm_100a\n",
         "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r0];"},
        {".version 8.8\n.target sm_100\n", "min.f32 %f0, %f1, %f2, %f3;"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[1024], place[96];
        struct rt_kernel *kernel;
        (void)snprintf(text, sizeof text,
                       "%s.address_size 64\n.func late()\n{ .reg .b64 %%d<2>; .reg .b32 %%r<4>; "
                       ".reg .f32 %%f<4>;\n%s\nret; }\n.visible .entry good() { ret; }\n"
                       ".visible .entry reaches() { call late; ret; }\n",
                       forms[i][0], forms[i][1]);
        struct rt_module *module = load(text);
        kernel_of(module, "good");
        assert_int_equal(rt_kernel_get(module, &kernel, "reaches"), SONDE_EUNSUPPORTED);
        (void)snprintf(place, sizeof place, "test.ptx:6:");
        assert_non_null(strstr(error_text(), place));
        (void)snprintf(place, sizeof place, "%.*s", (int)strcspn(forms[i][1], ". "), forms[i][1]);
        assert_non_null(strstr(error_text(), place));
        rt_module_unload(rt, module);
    }
}

/* A mistake is one in any kernel of the module, as a driver has it. */
static void what_is_no_instruction_refuses_the_module(void **state)
{
    (void)state;
    static const char *const wrong[] = {HEAD ".entry k() { frobnicate.u32; ret; }\n",
                                        HEAD ".entry k() { bar.sync.u77 0; ret; }\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rt_module *module;
        assert_int_equal(rt_module_load(rt, &module, "test.ptx", wrong[i], strlen(wrong[i])),
                         SONDE_EINPUT);
        assert_non_null(strstr(error_text(), "test.ptx:4:"));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vectors_are_added_with_timing),
        TEST(vectors_are_added_without_timing),
        TEST(variables_are_initialised_and_relocated),
        TEST(parameters_of_every_size_arrive_where_they_belong),
        TEST(impossible_shapes_are_refused_with_the_reason),
        TEST(shared_memory_is_checked_against_the_device),
        TEST(a_launch_gets_the_carve_out_that_its_blocks_need),
        TEST(pointers_of_32_bits_are_refused_where_they_do_not_reach),
        TEST(an_endless_kernel_can_be_interrupted_in_both_modes),
        TEST(faults_name_kernel_and_address_and_spoil_the_context),
        TEST(bad_modules_and_names_are_refused),
        TEST(what_is_not_implemented_refuses_the_kernel_that_reaches_it_alone),
        TEST(what_is_no_instruction_refuses_the_module),
        TEST(unloading_gives_the_variables_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
