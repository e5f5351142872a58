/*
 * What the runtime provides for the paths beside global memory: textures, banks, local memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rt/rt.h"
#include "util/error.h"

static struct model *model;
static struct rt *rt;

static void open_model(const char *name)
{
    assert_int_equal(model_load(&model, name), 0);
    assert_int_equal(rt_create(&rt, model), 0);
}

static void close_model(void)
{
    rt_destroy(rt);
    model_destroy(model);
}

static struct rt_kernel *load(const char *params, const char *body)
{
    static char text[8192];
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry k(.param .u64 out%s)\n{\n  .reg .b32 %%r<16>;\n"
                          "  .reg .b64 %%rd<16>;\n  .reg .pred %%p<4>;\n"
                          "  ld.param.u64 %%rd0, [out];\n%s\n  ret;\n}\n",
                          params, body);
    struct rt_module *module;
    struct rt_kernel *kernel;
    if (rt_module_load(rt, &module, "k.ptx", text, (size_t)length) < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(rt_kernel_get(module, &kernel, NULL), 0);
    return kernel;
}

static int launch_clusters(struct rt_kernel *kernel, uint32_t ctas, uint32_t threads,
                           uint32_t cluster, bool functional, uint64_t out, uint64_t second)
{
    const void *args[] = {&out, &second};
    struct rt_launch run = {.grid = {ctas, 1, 1},
                            .block = {threads, 1, 1},
                            .cluster = {cluster, cluster > 0, cluster > 0},
                            .args = args,
                            .arg_count = rt_kernel_param_count(kernel),
                            .functional = functional};
    uint64_t cycles;
    rt_recover(rt);
    return rt_launch(rt, kernel, &run, &cycles);
}

static int launch(struct rt_kernel *kernel, uint32_t ctas, uint32_t threads, bool functional,
                  uint64_t out, uint64_t second)
{
    return launch_clusters(kernel, ctas, threads, 0, functional, out, second);
}

/* Thread i of a warp fetches texel i - 1 of 16. */
static const char fetch[] =
    "  ld.param.u64 %rd1, [texture];\n  mov.u32 %r1, %tid.x;\n  sub.s32 %r2, %r1, 1;\n"
    "  tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r2}];\n"
    "  mul.wide.u32 %rd2, %r1, 16;\n  add.u64 %rd2, %rd2, %rd0;\n"
    "  st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};\n";

static void a_texture_is_fetched_alike_timed_and_functionally(void **state)
{
    (void)state;
    uint32_t texels[16], got[32][4];
    for (uint32_t i = 0; i < 16; i++) {
        texels[i] = i * 2654435761u + 1;
    }
    for (int functional = 0; functional < 2; functional++) {
        open_model(functional ? "gtx780" : "gtx560ti");
        uint64_t memory, out, handle;
        assert_int_equal(rt_mem_alloc(rt, &memory, sizeof texels), 0);
        assert_int_equal(rt_mem_alloc(rt, &out, sizeof got), 0);
        assert_int_equal(rt_copy_to_device(rt, memory, texels, sizeof texels), 0);
        assert_int_equal(rt_texture_create(rt, &handle, memory, sizeof texels), 0);
        struct rt_kernel *kernel = load(", .param .u64 texture", fetch);
        assert_int_equal(launch(kernel, 1, 32, functional, out, handle), 0);
        assert_int_equal(rt_copy_from_device(rt, got, out, sizeof got), 0);
        for (uint32_t i = 0; i < 32; i++) {
            bool inside = i >= 1 && i <= 16;
            assert_int_equal(got[i][0], inside ? texels[i - 1] : 0);
            assert_int_equal(got[i][1], 0);
            assert_int_equal(got[i][2], 0);
            assert_int_equal(got[i][3], 0);
        }
        close_model();
    }
}

static void a_texture_must_be_whole_texels_of_one_allocation(void **state)
{
    (void)state;
    open_model("gtx780");
    uint64_t memory, handle = 1;
    assert_int_equal(rt_mem_alloc(rt, &memory, 4096), 0);
    const struct {
        uint64_t address, bytes;
    } rows[] = {{memory, 0},    {memory, 6},        {memory + 2, 8},
                {memory, 8192}, {memory + 4096, 4}, {0, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(rt_texture_create(rt, &handle, rows[i].address, rows[i].bytes),
                         SONDE_EINPUT);
        assert_int_equal(handle, 0);
    }
    close_model();
}

static void a_destroyed_texture_is_none_and_its_handle_is_given_again(void **state)
{
    (void)state;
    open_model("gtx780");
    uint64_t memory, first, second, third;
    assert_int_equal(rt_mem_alloc(rt, &memory, 4096), 0);
    assert_int_equal(rt_texture_create(rt, &first, memory, 64), 0);
    assert_int_equal(rt_texture_create(rt, &second, memory, 128), 0);
    assert_true(first != second);
    assert_int_equal(rt_texture_destroy(rt, first), 0);
    assert_int_equal(rt_texture_destroy(rt, first), SONDE_EINPUT);
    assert_int_equal(rt_texture_destroy(rt, 12345), SONDE_EINPUT);
    struct rt_kernel *kernel = load(", .param .u64 texture", fetch);
    assert_int_equal(launch(kernel, 1, 32, false, memory, second), 0);
    assert_int_equal(rt_texture_create(rt, &third, memory, 64), 0);
    assert_int_equal(third, first);
    assert_int_equal(rt_texture_destroy(rt, first), 0);
    assert_int_equal(launch(kernel, 1, 32, false, memory, first), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "is no texture"));
    close_model();
}

static void a_texture_of_freed_memory_is_a_fault(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        open_model("gtx780");
        uint64_t memory, out, handle;
        assert_int_equal(rt_mem_alloc(rt, &out, 4096), 0);
        assert_int_equal(rt_mem_alloc(rt, &memory, 4096), 0);
        assert_int_equal(rt_texture_create(rt, &handle, memory, 4096), 0);
        assert_int_equal(rt_mem_free(rt, memory), 0);
        struct rt_kernel *kernel = load(", .param .u64 texture", fetch);
        assert_int_equal(launch(kernel, 1, 32, functional, out, handle), SONDE_EFAULT);
        close_model();
    }
}

static void banks_are_chosen_where_the_model_has_a_choice(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t bytes;
        int rc;
    } rows[] = {{"gtx780", 0, 0},
                {"gtx780", 4, 0},
                {"gtx780", 8, 0},
                {"gtx780", 16, SONDE_EUNSUPPORTED},
                {"gtx560ti", 0, 0},
                {"gtx560ti", 4, 0},
                {"gtx560ti", 8, SONDE_EUNSUPPORTED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_model(rows[i].model);
        assert_int_equal(rt_set_shared_bank_bytes(rt, rows[i].bytes), rows[i].rc);
        close_model();
    }
}

/* Passes beyond the first of one store and one load of a warp at a stride of 6 words. */
static uint64_t conflicts(uint32_t bank_bytes)
{
    assert_int_equal(rt_set_shared_bank_bytes(rt, bank_bytes), 0);
    struct gpu_stats before, after;
    gpu_stats(rt_gpu(rt), &before);
    struct rt_kernel *kernel =
        load("", "  .shared .align 8 .b8 s[1024];\n  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, s;\n"
                 "  mad.lo.u32 %r2, %r1, 24, %r2;\n  st.volatile.shared.u32 [%r2], %r1;\n"
                 "  ld.volatile.shared.u32 %r3, [%r2];\n");
    assert_int_equal(launch(kernel, 1, 32, false, 0, 0), 0);
    gpu_stats(rt_gpu(rt), &after);
    return after.shared_conflicts - before.shared_conflicts;
}

static void the_chosen_banks_are_in_force_until_the_default_is_chosen_again(void **state)
{
    (void)state;
    open_model("gtx780");
    assert_int_equal(conflicts(0), 2); /* 4 bytes: two-way, twice */
    assert_int_equal(conflicts(8), 0);
    assert_int_equal(conflicts(4), 2);
    assert_int_equal(conflicts(8), 0);
    assert_int_equal(conflicts(0), 2);
    close_model();
}

/* Each thread fills 16 words of its own with numbers and adds them up again. It has 32 KiB, so that
 * no page holds what two SMs have. */
static const char locals[] =
    "  .local .align 4 .b8 own[32768];\n  mov.u64 %rd1, own;\n  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n  mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "  mov.u32 %r4, 0;\nFILL:\n  mul.wide.u32 %rd2, %r4, 4;\n  add.u64 %rd2, %rd2, %rd1;\n"
    "  mad.lo.u32 %r5, %r1, 16, %r4;\n  st.local.u32 [%rd2], %r5;\n  add.u32 %r4, %r4, 1;\n"
    "  setp.lt.u32 %p0, %r4, 16;\n  @%p0 bra FILL;\n  mov.u32 %r4, 0;\n  mov.u32 %r6, 0;\nSUM:\n"
    "  mul.wide.u32 %rd2, %r4, 4;\n  add.u64 %rd2, %rd2, %rd1;\n  ld.local.u32 %r5, [%rd2];\n"
    "  add.u32 %r6, %r6, %r5;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p0, %r4, 16;\n"
    "  @%p0 bra SUM;\n  mul.wide.u32 %rd2, %r1, 4;\n  add.u64 %rd2, %rd2, %rd0;\n"
    "  st.global.u32 [%rd2], %r6;\n";

/* Grids of so many CTAs of so many threads, in clusters of so many CTAs. */
static void keep_locals(const char *name, const uint32_t (*shapes)[3], size_t count)
{
    static uint32_t got[40 * 512];
    open_model(name);
    uint64_t out;
    assert_int_equal(rt_mem_alloc(rt, &out, sizeof got), 0);
    struct rt_kernel *kernel = load("", locals);
    for (size_t i = 0; i < count; i++) {
        uint32_t threads = shapes[i][0] * shapes[i][1];
        int rc = launch_clusters(kernel, shapes[i][0], shapes[i][1], shapes[i][2], false, out, 0);
        if (rc < 0) {
            fail_msg("%s, grid of %u, clusters of %u: %s", name, shapes[i][0], shapes[i][2],
                     error_text());
        }
        assert_int_equal(rt_copy_from_device(rt, got, out, threads * 4), 0);
        for (uint32_t t = 0; t < threads; t++) {
            assert_int_equal(got[t], 256 * t + 120);
        }
    }
    struct gpu_stats stats;
    gpu_stats(rt_gpu(rt), &stats);
    assert_true(stats.l1_reads > 0);
    close_model();
}

static void local_memory_keeps_what_each_thread_put_there(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{1, 1}, {3, 64}, {100, 96}, {40, 512}, {2, 32}};
    keep_locals("gtx560ti", shapes, sizeof shapes / sizeof *shapes);
}

/* Where a grid of few CTAs does not begin with SM 0, and where clusters lie together. */
static void local_memory_has_a_place_on_whichever_sms_few_ctas_go_to(void **state)
{
    (void)state;
    static const uint32_t few[][3] = {{1, 1}, {3, 64}, {100, 96}, {200, 64}},
                          clusters[][3] = {{8, 64, 8}, {2, 32, 2}, {24, 96, 4}};
    keep_locals("h200", few, sizeof few / sizeof *few);
    keep_locals("h200", clusters, sizeof clusters / sizeof *clusters);
    keep_locals("gh100", clusters, sizeof clusters / sizeof *clusters);
}

static void local_memory_that_does_not_fit_the_device_is_refused(void **state)
{
    (void)state;
    open_model("gtx560ti");
    uint64_t filler, out;
    assert_int_equal(rt_mem_alloc(rt, &out, 4096), 0);
    /* All but a few pages of the device's 1 GiB. */
    assert_int_equal(rt_mem_alloc(rt, &filler, (1024u - 64) << 20), 0);
    struct rt_kernel *large = load("", "  .local .align 4 .b8 own[65536];\n  mov.u64 %rd1, own;\n"
                                       "  ld.local.u32 %r1, [%rd1];\n"
                                       "  st.global.u32 [%rd0], %r1;\n");
    assert_int_equal(launch(large, 64, 512, false, out, 0), SONDE_ENOMEM);
    assert_non_null(strstr(error_text(), "local memory"));
    assert_int_equal(launch(large, 1, 32, false, out, 0), 0); /* one warp's does */
    assert_int_equal(rt_mem_free(rt, filler), 0);
    assert_int_equal(launch(large, 16, 512, false, out, 0), 0);
    close_model();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_texture_is_fetched_alike_timed_and_functionally),
        cmocka_unit_test(a_texture_must_be_whole_texels_of_one_allocation),
        cmocka_unit_test(a_destroyed_texture_is_none_and_its_handle_is_given_again),
        cmocka_unit_test(a_texture_of_freed_memory_is_a_fault),
        cmocka_unit_test(banks_are_chosen_where_the_model_has_a_choice),
        cmocka_unit_test(the_chosen_banks_are_in_force_until_the_default_is_chosen_again),
        cmocka_unit_test(local_memory_keeps_what_each_thread_put_there),
        cmocka_unit_test(local_memory_has_a_place_on_whichever_sms_few_ctas_go_to),
        cmocka_unit_test(local_memory_that_does_not_fit_the_device_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
