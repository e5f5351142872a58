/*
 * Images, texture and surface objects: what the runtime accepts, and what kernels read and write.
 * Expectations are those of the CUDA C Programming Guide ("Texture Fetching") and PTX ISA 9.0,
 * 9.7.10 and 9.7.11; what hardware gives to the bit is in tests/textures.
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

#define LANES 32

static struct model *model;
static struct rt *rt;
static uint64_t in, out;
static uint32_t got[LANES][4];

static int set_up(void **state)
{
    (void)state;
    return model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0 ||
           rt_mem_alloc(rt, &in, LANES * 32) < 0 || rt_mem_alloc(rt, &out, sizeof got) < 0;
}

static int tear_down(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

/* A lane has its eight words in %r0 to %r7 and gives %o0 to %o3; %h is the handle. */
static struct rt_module *load(const char *declarations, const char *body)
{
    static char text[8192];
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_50\n.address_size 64\n%s\n"
                          ".visible .entry k(.param .u64 h, .param .u64 in, .param .u64 out)\n{\n"
                          "  .reg .b32 %%r<9>, %%o<4>;\n  .reg .b64 %%h, %%a, %%b;\n"
                          "  .reg .pred %%p<4>;\n"
                          "  ld.param.u64 %%h, [h];\n  ld.param.u64 %%a, [in];\n"
                          "  ld.param.u64 %%b, [out];\n  mov.u32 %%r8, %%tid.x;\n"
                          "  mad.wide.u32 %%a, %%r8, 32, %%a;\n  mad.wide.u32 %%b, %%r8, 16, %%b;\n"
                          "  ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%a];\n"
                          "  ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%a+16];\n"
                          "  mov.b32 %%o0, 7;\n  mov.b32 %%o1, 7;\n  mov.b32 %%o2, 7;\n"
                          "  mov.b32 %%o3, 7;\n%s\n"
                          "  st.global.v4.b32 [%%b], {%%o0, %%o1, %%o2, %%o3};\n  ret;\n}\n",
                          declarations, body);
    struct rt_module *module;
    if (rt_module_load(rt, &module, "k.ptx", text, (size_t)length) < 0)
        fail_msg("%s", error_text());
    return module;
}

static int run_module(struct rt_module *module, uint64_t handle, const void *words,
                      uint32_t lane_bytes, uint32_t lanes, bool functional)
{
    uint32_t lines[LANES][8] = {{0}};
    struct rt_kernel *kernel;
    if (rt_kernel_get(module, &kernel, NULL) < 0)
        fail_msg("%s", error_text());
    for (uint32_t i = 0; i < lanes; i++)
        memcpy(lines[i], (const uint8_t *)words + (size_t)i * lane_bytes, lane_bytes);
    assert_int_equal(rt_copy_to_device(rt, in, lines, sizeof lines), 0);
    const void *args[] = {&handle, &in, &out};
    struct rt_launch run = {.grid = {1, 1, 1},
                            .block = {lanes, 1, 1},
                            .args = args,
                            .arg_count = 3,
                            .functional = functional};
    uint64_t cycles;
    int rc = rt_launch(rt, kernel, &run, &cycles);
    return rc < 0 ? rc : rt_copy_from_device(rt, got, out, sizeof got);
}

/* The body for each lane's words; both ways of running give the same. */
static void run(const char *body, uint64_t handle, const void *words, uint32_t lane_bytes,
                uint32_t lanes)
{
    struct rt_module *module = load("", body);
    uint32_t first[LANES][4];
    if (run_module(module, handle, words, lane_bytes, lanes, true) < 0)
        fail_msg("%s", error_text());
    memcpy(first, got, sizeof got);
    if (run_module(module, handle, words, lane_bytes, lanes, false) < 0)
        fail_msg("%s", error_text());
    assert_memory_equal(first, got, lanes * sizeof *got);
    rt_module_unload(rt, module);
}

static float result(uint32_t lane, uint32_t component)
{
    float value;
    memcpy(&value, &got[lane][component], sizeof value);
    return value;
}

static struct rt_image *make(enum image_shape shape, struct texel_format format, uint32_t width,
                             uint32_t height, uint32_t depth, const void *texels)
{
    struct image_spec spec = {.shape = shape,
                              .format = format,
                              .width = width,
                              .height = height,
                              .depth = depth,
                              .surface = true};
    struct rt_image *image;
    struct rt_image_region whole;
    if (rt_image_create(rt, &image, &spec) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    if (texels)
        assert_int_equal(rt_image_write(rt, image, &whole, texels), 0);
    return image;
}

static uint64_t object(const struct rt_image *image, enum texture_address mode, bool linear,
                       bool normalized)
{
    struct texture_view view = {.address = {mode, mode, mode},
                                .linear = linear,
                                .normalized = normalized,
                                .level_max = 100};
    uint64_t handle;
    if (rt_texture_object(rt, &handle, image, &view) < 0)
        fail_msg("%s", error_text());
    return handle;
}

static const struct texel_format f32 = {TEXEL_FLOAT, 32, 1}, u8x4 = {TEXEL_UNSIGNED, 8, 4};
static const char tex_1d[] = "tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0}];";
static const char tex_2d[] = "tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1}];";

static void nearest_takes_the_floor_and_fills_up_with_zeros(void **state)
{
    (void)state;
    const float texels[4] = {10, 20, 30, 40}, at[6] = {0, 0.99f, 1, 2.5f, 3.75f, 3.99f};
    static const float want[6] = {10, 10, 20, 30, 40, 40};
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, texels);
    run(tex_1d, object(image, TEXTURE_CLAMP, false, false), at, 4, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(result(i, 0) == want[i]);
        assert_true(result(i, 1) == 0 && result(i, 2) == 0 && result(i, 3) == 0);
    }
}

static void address_modes_say_what_lies_outside(void **state)
{
    (void)state;
    const float texels[4] = {10, 20, 30, 40};
    const float at[6] = {-0.125f, -0.375f, 1.125f, 1.375f, -1.125f, 2.125f};
    static const float want[4][6] = {{40, 30, 10, 20, 40, 10},
                                     {10, 10, 40, 40, 10, 40},
                                     {10, 20, 40, 30, 40, 10},
                                     {0, 0, 0, 0, 0, 0}};
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, texels);
    for (int mode = 0; mode < 4; mode++) {
        run(tex_1d, object(image, (enum texture_address)mode, false, true), at, 4, 6);
        for (uint32_t i = 0; i < 6; i++)
            assert_true(result(i, 0) == want[mode][i]);
    }
}

static void without_normalized_coordinates_wrap_and_mirror_clamp(void **state)
{
    (void)state;
    const float texels[4] = {10, 20, 30, 40}, at[2] = {-1.5f, 6.5f};
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, texels);
    for (int mode = 0; mode < 3; mode++) {
        run(tex_1d, object(image, (enum texture_address)mode, false, false), at, 4, 2);
        assert_true(result(0, 0) == 10 && result(1, 0) == 40);
    }
}

static void linear_filtering_weighs_neighbours_by_256ths(void **state)
{
    (void)state;
    /* The centre of texel i is i + 0.5. */
    const float texels[4] = {0, 256, 512, 1024};
    const float at[5] = {0.5f, 1, 1.5f + 1 / 256.0f, 1.5f + 255 / 256.0f, 3};
    static const float want[5] = {0, 128, 257, 511, 768};
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, texels);
    run(tex_1d, object(image, TEXTURE_CLAMP, true, false), at, 4, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(result(i, 0) == want[i]);
}

static void linear_filtering_in_two_dimensions_takes_four_texels(void **state)
{
    (void)state;
    const float texels[4] = {0, 64, 128, 256}, at[3][2] = {{1, 1}, {0.75f, 1.25f}, {1.5f, 1}};
    struct rt_image *image = make(IMAGE_2D, f32, 2, 2, 0, texels);
    run(tex_2d, object(image, TEXTURE_CLAMP, true, false), at, 8, 3);
    /* (0.75, 1.25): a = 1/4, b = 3/4: 3/16 x 128 x 3 + 3/16 x 256 + 64/16 */
    assert_true(result(0, 0) == 112);
    assert_true(result(1, 0) == 0.75f * 0.75f * 128 + 0.25f * 0.75f * 256 + 0.25f * 0.25f * 64);
    assert_true(result(2, 0) == 160);
}

static void small_integers_become_numbers_up_to_one_or_stay_as_they_are(void **state)
{
    (void)state;
    const uint8_t texels[2][4] = {{0, 255, 51, 128}, {1, 2, 3, 4}};
    const float at[2] = {0.5f, 1.5f};
    struct rt_image *image = make(IMAGE_1D, u8x4, 2, 0, 0, texels);
    run(tex_1d, object(image, TEXTURE_CLAMP, false, false), at, 4, 2);
    assert_true(result(0, 0) == 0 && result(0, 1) == 1 && result(0, 2) == 0.2f);
    struct texture_view view = {.address = {TEXTURE_CLAMP}, .as_integer = true};
    uint64_t handle;
    assert_int_equal(rt_texture_object(rt, &handle, image, &view), 0);
    run("tex.1d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0}];", handle, at, 4, 2);
    assert_int_equal(got[1][0], 1);
    assert_int_equal(got[1][3], 4);
    assert_int_equal(got[0][1], 255);
}

static void srgb_bytes_become_linear_before_they_are_filtered(void **state)
{
    (void)state;
    const uint8_t texels[2][4] = {{0, 255, 10, 128}, {188, 55, 128, 255}};
    /* By IEC 61966-2-1: 188 is 0.50289, 55 is 0.03820, 128 is 0.21586, 10 is 10 / 255 / 12.92. */
    const double want[3][4] = {{0, 1, 0.003035, 128 / 255.0},
                               {0.502886, 0.038204, 0.215861, 1},
                               {0.251443, 0.519102, 0.109448, 383 / 510.0}};
    struct rt_image *image = make(IMAGE_1D, u8x4, 2, 0, 0, texels);
    for (uint32_t count = 2; count <= 3; count++) { /* the third is between the two */
        struct texture_view view = {.address = {TEXTURE_CLAMP}, .srgb = true, .linear = count == 3};
        uint64_t srgb;
        assert_int_equal(rt_texture_object(rt, &srgb, image, &view), 0);
        run(tex_1d, srgb, (const float[]){0.5f, 1.5f, 1}, 4, count);
        for (uint32_t i = 0; i < 4 * count; i++) {
            assert_float_equal(result(i / 4, i % 4), want[i / 4][i % 4], 1e-5);
        }
    }
}

static void signed_integers_keep_their_sign(void **state)
{
    (void)state;
    const int8_t texels[4] = {-128, -127, 127, 0};
    const float at[3] = {0.5f, 1.5f, 2.5f};
    struct rt_image *image =
        make(IMAGE_1D, (struct texel_format){TEXEL_SIGNED, 8, 1}, 4, 0, 0, texels);
    run(tex_1d, object(image, TEXTURE_CLAMP, false, false), at, 4, 3);
    assert_true(result(0, 0) == -1 && result(1, 0) == -1 && result(2, 0) == 1);
}

static void layers_are_clamped_and_never_mixed(void **state)
{
    (void)state;
    const float texels[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    const struct {
        uint32_t layer;
        float x;
    } at[4] = {{0, 1}, {1, 1}, {2, 1.5f}, {9, 0.5f}};
    struct rt_image *image = make(IMAGE_1D_LAYERED, f32, 2, 0, 3, texels);
    run("tex.a1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1}];",
        object(image, TEXTURE_CLAMP, true, false), at, 8, 4);
    assert_true(result(0, 0) == 1.5f && result(1, 0) == 3.5f);
    assert_true(result(2, 0) == 6 && result(3, 0) == 5);
}

static void a_cube_has_a_face_for_each_direction(void **state)
{
    (void)state;
    const float texels[6] = {1, 2, 3, 4, 5, 6};
    const float at[6][3] = {{2, 0.5f, 1},  {-3, 0, 1},   {0.1f, 1, 0.2f},
                            {0, -1, 0.5f}, {0, 0.5f, 2}, {0.25f, 0, -1}};
    struct rt_image *image = make(IMAGE_CUBE, f32, 1, 1, 0, texels);
    run("tex.cube.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1, %r2, %r3}];",
        object(image, TEXTURE_CLAMP, false, true), at, 12, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(result(i, 0) == (float)(i + 1));
}

static void levels_are_chosen_and_mixed(void **state)
{
    (void)state;
    struct image_spec spec = {
        .shape = IMAGE_2D, .format = f32, .width = 4, .height = 4, .levels = 3};
    struct texture_view view = {.normalized = true, .level_linear = true, .level_max = 2};
    struct rt_image *image;
    uint64_t handle;
    assert_int_equal(rt_image_create(rt, &image, &spec), 0);
    for (uint32_t level = 0; level < 3; level++) {
        float texels[16];
        struct rt_image_region whole;
        for (int i = 0; i < 16; i++)
            texels[i] = (float)(level * 100);
        assert_int_equal(rt_image_whole(&whole, image, level), 0);
        assert_int_equal(whole.width, 4u >> level);
        assert_int_equal(rt_image_write(rt, image, &whole, texels), 0);
    }
    assert_int_equal(rt_texture_object(rt, &handle, image, &view), 0);
    const float at[5][3] = {{0.3f, 0.3f, 0},
                            {0.3f, 0.3f, 0.5f},
                            {0.3f, 0.3f, 1.25f},
                            {0.3f, 0.3f, 9},
                            {0.3f, 0.3f, -3}};
    static const float want[5] = {0, 50, 125, 200, 0};
    run("tex.level.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1}], %r2;", handle, at, 12, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(result(i, 0) == want[i]);
    /* A texel of level 1 is two of level 0 wide. */
    const float steps[2][6] = {{0.3f, 0.3f, 0.5f, 0, 0, 0.25f}, {0.3f, 0.3f, 0.25f, 0, 0, 1}};
    run("tex.grad.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1}], {%r2, %r3}, {%r4, %r5};",
        handle, steps, 24, 2);
    assert_true(result(0, 0) == 100 && result(1, 0) == 200);
}

static void a_gather_goes_round_counter_clockwise_from_the_lower_left(void **state)
{
    (void)state;
    const float texels[4] = {1, 2, 3, 4}, at[2] = {1, 1};
    struct rt_image *image = make(IMAGE_2D, f32, 2, 2, 0, texels);
    run("tld4.r.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1}];",
        object(image, TEXTURE_CLAMP, false, false), at, 8, 1);
    assert_true(result(0, 0) == 3 && result(0, 1) == 4 && result(0, 2) == 2 && result(0, 3) == 1);
}

static void offsets_count_texels(void **state)
{
    (void)state;
    const float texels[4] = {1, 2, 3, 4}, at[1] = {0.5f};
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, texels);
    run("tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0}], {2};",
        object(image, TEXTURE_CLAMP, false, false), at, 4, 1);
    assert_true(result(0, 0) == 3);
}

static void queries_tell_what_the_image_is(void **state)
{
    (void)state;
    struct rt_image *image = make(IMAGE_3D, u8x4, 7, 5, 3, NULL);
    uint64_t handle = object(image, TEXTURE_BORDER, true, true), surface;
    const uint32_t nothing = 0;
    run("txq.width.b32 %o0, [%h]; txq.height.b32 %o1, [%h]; txq.depth.b32 %o2, [%h];\n"
        "txq.channel_data_type.b32 %o3, [%h];",
        handle, &nothing, 4, 1);
    assert_int_equal(got[0][0], 7);
    assert_int_equal(got[0][1], 5);
    assert_int_equal(got[0][2], 3);
    assert_int_equal(got[0][3], 0x10d2); /* CL_UNORM_INT8 */
    run("txq.channel_order.b32 %o0, [%h]; txq.normalized_coords.b32 %o1, [%h];\n"
        "txq.filter_mode.b32 %o2, [%h]; txq.addr_mode_1.b32 %o3, [%h];",
        handle, &nothing, 4, 1);
    assert_int_equal(got[0][0], 0x10b5); /* CL_RGBA */
    assert_int_equal(got[0][1], 1);
    assert_int_equal(got[0][2], 1);
    assert_int_equal(got[0][3], 3);
    assert_int_equal(rt_surface_object(rt, &surface, image), 0);
    run("suq.width.b32 %o0, [%h]; suq.channel_data_type.b32 %o1, [%h];", surface, &nothing, 4, 1);
    assert_int_equal(got[0][0], 7);
    assert_int_equal(got[0][1], 0x10da); /* CL_UNSIGNED_INT8 */
}

/* References, samplers. */

static void a_reference_means_what_it_was_bound_to(void **state)
{
    (void)state;
    const float first[2] = {1, 2}, second[2] = {3, 4}, at[1] = {1.5f};
    uint64_t one = object(make(IMAGE_1D, f32, 2, 0, 0, first), TEXTURE_CLAMP, false, false);
    uint64_t two = object(make(IMAGE_1D, f32, 2, 0, 0, second), TEXTURE_CLAMP, false, false);
    struct rt_module *module =
        load(".global .texref t;\n.global .surfref s;\n",
             "tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [t, {%r0}];\n"
             "mov.u64 %h, t;\nistypep.texref %p0, %h;\nistypep.surfref %p1, %h;\n"
             "selp.b32 %o1, 1, 0, %p0;\nselp.b32 %o2, 1, 0, %p1;\n"
             "tex.1d.v4.f32.f32 {%o3, _, _, _}, [%h, {%r0}];");
    assert_int_equal(rt_reference_bind(module, "t", one), 0);
    assert_int_equal(run_module(module, 0, at, 4, 1, false), 0);
    assert_true(result(0, 0) == 2 && result(0, 3) == 2);
    assert_int_equal(got[0][1], 1);
    assert_int_equal(got[0][2], 0);
    assert_int_equal(rt_reference_bind(module, "t", two), 0);
    assert_int_equal(run_module(module, 0, at, 4, 1, true), 0);
    assert_true(result(0, 0) == 4);
    assert_int_equal(rt_reference_bind(module, "s", one), SONDE_EINPUT);
    assert_int_equal(rt_reference_bind(module, "t", 12345), SONDE_EINPUT);
    assert_int_equal(rt_reference_bind(module, "k", one), SONDE_EINPUT);
    assert_int_equal(rt_reference_bind(module, "t", 0), 0);
    assert_int_equal(run_module(module, 0, at, 4, 1, true), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "is no texture"));
}

static void a_reference_is_bound_to_no_surface_that_was_not_made(void **state)
{
    (void)state;
    struct rt_module *module = load(".global .surfref s;\n", "");
    uint64_t first = 0;
    assert_int_equal(rt_reference_bind(module, "s", EXEC_SURFACE_HANDLE), SONDE_EINPUT);
    struct rt_image *image = make(IMAGE_1D, u8x4, 4, 0, 0, NULL);
    for (uint32_t made = 1; made <= 20; made++) {
        uint64_t handle;
        assert_int_equal(rt_surface_object(rt, &handle, image), 0);
        first = made == 1 ? handle : first;
        assert_int_equal(handle, first + made - 1);
        assert_int_equal(rt_reference_bind(module, "s", handle), 0);
        assert_int_equal(rt_reference_bind(module, "s", handle + 1), SONDE_EINPUT);
    }
    assert_int_equal(rt_reference_bind(module, "s", first - 1), SONDE_EINPUT);
    assert_int_equal(rt_surface_destroy(rt, first), 0);
    assert_int_equal(rt_reference_bind(module, "s", first), SONDE_EINPUT);
}

static void a_sampler_beside_the_texture_takes_the_place_of_its_own(void **state)
{
    (void)state;
    const float texels[4] = {10, 20, 30, 40}, at[1] = {-0.125f};
    uint64_t handle = object(make(IMAGE_1D, f32, 4, 0, 0, texels), TEXTURE_CLAMP, true, true);
    struct rt_module *module =
        load(".global .samplerref wraps = {addr_mode_0 = wrap, filter_mode = nearest};\n"
             ".global .samplerref zero = {addr_mode_0 = clamp_to_border};\n",
             "tex.1d.v4.f32.f32 {%o0, _, _, _}, [%h, wraps, {%r0}];\n"
             "tex.1d.v4.f32.f32 {%o1, _, _, _}, [%h, zero, {%r0}];\n"
             "txq.filter_mode.b32 %o2, [wraps];\n txq.addr_mode_0.b32 %o3, [zero];");
    assert_int_equal(run_module(module, handle, at, 4, 1, false), 0);
    assert_true(result(0, 0) == 40 && result(0, 1) == 0);
    assert_int_equal(got[0][2], 0);
    assert_int_equal(got[0][3], 3);
}

static void a_sampler_cannot_filter_integers(void **state)
{
    (void)state;
    const uint32_t texels[2] = {1, 2};
    const float at[1] = {1.75f};
    const struct texel_format u32 = {TEXEL_UNSIGNED, 32, 1};
    uint64_t handle = object(make(IMAGE_1D, u32, 2, 0, 0, texels), TEXTURE_CLAMP, false, false);
    static const char declarations[] = ".global .samplerref near = {filter_mode = nearest};\n"
                                       ".global .samplerref far = {filter_mode = linear};\n";
    struct rt_module *nearest =
        load(declarations, "tex.1d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%h, near, {%r0}];");
    assert_int_equal(run_module(nearest, handle, at, 4, 1, false), 0);
    assert_int_equal(got[0][0], 2);
    struct rt_module *linear =
        load(declarations, "tex.1d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%h, far, {%r0}];");
    assert_int_equal(run_module(linear, handle, at, 4, 1, false), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "linear filtering"));
}

/* Surfaces. */

static void surfaces_count_bytes_and_textures_see_what_was_written(void **state)
{
    (void)state;
    const uint32_t at[4][3] = {{0, 0, 11}, {4, 0, 22}, {0, 1, 33}, {60, 8, 44}};
    const float centres[4][2] = {{0.5f, 0.5f}, {1.5f, 0.5f}, {0.5f, 1.5f}, {15.5f, 8.5f}};
    const struct texel_format u32 = {TEXEL_UNSIGNED, 32, 1};
    struct rt_image *image = make(IMAGE_2D, u32, 16, 9, 0, NULL);
    uint64_t surface, texture;
    struct texture_view view = {.as_integer = true};
    assert_int_equal(rt_surface_object(rt, &surface, image), 0);
    assert_int_equal(rt_texture_object(rt, &texture, image, &view), 0);
    run("sust.b.2d.b32.trap [%h, {%r0, %r1}], {%r2};", surface, at, 12, 4);
    run("suld.b.2d.b32.trap {%o0}, [%h, {%r0, %r1}];", surface, at, 12, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(got[i][0], at[i][2]);
    run("tex.2d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1}];", texture, centres, 8, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(got[i][0], at[i][2]);
    uint32_t texels[9][16];
    struct rt_image_region whole;
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    assert_int_equal(rt_image_read(rt, texels, image, &whole), 0);
    assert_int_equal(texels[1][0], 33);
    assert_int_equal(texels[8][15], 44);
}

static void outside_of_a_surface_clamp_moves_zero_reads_zero_and_trap_faults(void **state)
{
    (void)state;
    const uint32_t texels[4] = {1, 2, 3, 4}, minus = (uint32_t)-4;
    const uint32_t at[4] = {minus, 16, 4, 1000000};
    const struct texel_format u32 = {TEXEL_UNSIGNED, 32, 1};
    uint64_t surface;
    struct rt_image *image = make(IMAGE_1D, u32, 4, 0, 0, texels);
    assert_int_equal(rt_surface_object(rt, &surface, image), 0);
    run("suld.b.1d.b32.clamp {%o0}, [%h, {%r0}];", surface, at, 4, 4);
    assert_int_equal(got[0][0], 1);
    assert_int_equal(got[1][0], 4);
    assert_int_equal(got[2][0], 2);
    assert_int_equal(got[3][0], 4);
    run("suld.b.1d.b32.zero {%o0}, [%h, {%r0}];", surface, at, 4, 4);
    assert_int_equal(got[0][0], 0);
    assert_int_equal(got[1][0], 0);
    assert_int_equal(got[2][0], 2);
    run("suld.b.1d.b32.zero {%o0}, [%h, {%r0}];", surface, at, 4, 2); /* all lanes outside */
    assert_int_equal(got[0][0], 0);
    struct rt_module *module = load("", "suld.b.1d.b32.trap {%o0}, [%h, {%r0}];");
    assert_int_equal(run_module(module, surface, at, 4, 2, false), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "outside"));
    assert_non_null(strstr(error_text(), "k.ptx:"));
}

static void a_surface_narrower_than_the_access_has_nothing_to_clamp_to(void **state)
{
    (void)state;
    const uint32_t at[3] = {0, 16, (uint32_t)-16};
    uint64_t surface;
    struct rt_image *image = make(IMAGE_1D, u8x4, 2, 0, 0, NULL);
    assert_int_equal(rt_surface_object(rt, &surface, image), 0);
    run("suld.b.1d.v4.b32.clamp {%o0, %o1, %o2, %o3}, [%h, {%r0}];", surface, at, 4, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(got[i][0] | got[i][1] | got[i][2] | got[i][3], 0);
}

static void a_texture_that_is_a_parameter_of_the_kernel_is_fetched_from(void **state)
{
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .texref t)\n{\n  .reg .f32 %f<6>;\n"
        "  .reg .b64 %rd;\n  ld.param.u64 %rd, [out];\n  mov.f32 %f0, 0f3FC00000;\n"
        "  tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f0}];\n"
        "  st.global.f32 [%rd], %f1;\n  ret;\n}\n";
    const float texels[2] = {1, 2};
    uint64_t handle = object(make(IMAGE_1D, f32, 2, 0, 0, texels), TEXTURE_CLAMP, false, false);
    const void *args[] = {&out, &handle};
    struct rt_module *module;
    struct rt_kernel *kernel;
    uint64_t cycles;
    if (rt_module_load(rt, &module, "p.ptx", text, sizeof text - 1) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(rt_kernel_get(module, &kernel, NULL), 0);
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 2};
    assert_int_equal(rt_launch(rt, kernel, &launch, &cycles), 0);
    assert_int_equal(rt_copy_from_device(rt, got, out, 4), 0);
    assert_true(result(0, 0) == 2);
}

static void reductions_on_a_surface_add_up(void **state)
{
    (void)state;
    const uint32_t at[8][2] = {{0, 1}, {0, 2}, {4, 3}, {0, 4}, {4, 5}, {8, 6}, {12, 7}, {16, 8}};
    const struct texel_format u32 = {TEXEL_UNSIGNED, 32, 1};
    uint32_t texels[4] = {100, 200, 300, 400};
    struct rt_image_region whole;
    uint64_t surface;
    struct rt_image *image = make(IMAGE_1D, u32, 4, 0, 0, texels);
    assert_int_equal(rt_surface_object(rt, &surface, image), 0);
    struct rt_module *module = load("", "sured.b.add.1d.u32.zero [%h, {%r0}], %r1;");
    assert_int_equal(run_module(module, surface, at, 8, 8, false), 0);
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    assert_int_equal(rt_image_read(rt, texels, image, &whole), 0);
    assert_int_equal(texels[0], 107);
    assert_int_equal(texels[1], 208);
    assert_int_equal(texels[2], 306);
    assert_int_equal(texels[3], 407);
}

/* The cache sees tiles: 32 bytes are 16 x 2 of a level, a line of 128 bytes is 32 x 4. */

static uint64_t sectors_of(uint64_t handle, const float (*at)[2])
{
    struct rt_module *module = load("", tex_2d);
    struct gpu_stats before, after;
    gpu_stats(rt_gpu(rt), &before);
    if (run_module(module, handle, at, 8, LANES, false) < 0)
        fail_msg("%s", error_text());
    gpu_stats(rt_gpu(rt), &after);
    return after.texture_reads - before.texture_reads;
}

static void a_square_of_texels_takes_fewer_sectors_than_a_row(void **state)
{
    (void)state;
    float row[LANES][2], tile[LANES][2], centre[LANES][2];
    struct rt_image *image = make(IMAGE_2D, f32, 64, 64, 0, NULL);
    for (int i = 0; i < LANES; i++) {
        row[i][0] = (float)i + 0.5f, row[i][1] = 0.5f;
        tile[i][0] = (float)(i % 8) + 0.5f, tile[i][1] = (float)((unsigned)i >> 3) + 0.5f;
        centre[i][0] = 4, centre[i][1] = 2; /* between four texels, in four sectors */
    }
    assert_int_equal(sectors_of(object(image, TEXTURE_CLAMP, false, false), row), 8);
    assert_int_equal(sectors_of(object(image, TEXTURE_CLAMP, false, false), tile), 4);
    assert_int_equal(sectors_of(object(image, TEXTURE_CLAMP, false, false), centre), 1);
    assert_int_equal(sectors_of(object(image, TEXTURE_CLAMP, true, false), centre), 4);
}

/* What is refused. */

static void what_no_image_can_be_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        struct image_spec spec;
        const char *text;
    } rows[] = {
        {{.shape = IMAGE_2D, .format = {TEXEL_FLOAT, 8, 1}, .width = 4, .height = 4}, "texels of"},
        {{.shape = IMAGE_2D, .format = {TEXEL_FLOAT, 32, 3}, .width = 4, .height = 4}, "texels of"},
        {{.shape = IMAGE_2D, .format = {TEXEL_FLOAT, 32, 1}, .width = 0, .height = 4}, "sizes are"},
        {{.shape = IMAGE_1D, .format = {TEXEL_FLOAT, 32, 1}, .width = 200000}, "sizes are"},
        {{.shape = IMAGE_CUBE, .format = {TEXEL_FLOAT, 32, 1}, .width = 4, .height = 8}, "square"},
        {{.shape = IMAGE_2D, .format = {TEXEL_FLOAT, 32, 1}, .width = 8, .height = 4, .levels = 5},
         "no 5 levels"},
        {{.shape = IMAGE_2D,
          .format = {TEXEL_FLOAT, 32, 1},
          .width = 131072,
          .height = 1,
          .levels = 18},
         "has no levels"},
        {{.shape = IMAGE_1D, .format = {TEXEL_FLOAT, 32, 1}, .width = 32769, .levels = 2},
         "has no levels"},
        {{.shape = (enum image_shape)77, .format = {TEXEL_FLOAT, 32, 1}, .width = 8}, "unknown"},
        {{.shape = IMAGE_PITCH,
          .format = {TEXEL_FLOAT, 32, 1},
          .width = 8,
          .height = 4,
          .pitch_bytes = 31},
         "pitch"},
        {{.shape = IMAGE_BUFFER, .format = {TEXEL_FLOAT, 32, 1}, .width = 8, .address = 4},
         "leaves its allocation"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rt_image *image;
        assert_int_equal(rt_image_create(rt, &image, &rows[i].spec), SONDE_EINPUT);
        assert_null(image);
        assert_non_null(strstr(error_text(), rows[i].text));
    }
}

static void what_no_texture_can_be_is_refused_by_name(void **state)
{
    (void)state;
    struct texture_view linear = {.linear = true, .as_integer = true},
                        odd = {.address = {(enum texture_address)9}};
    struct rt_image *image = make(IMAGE_2D, u8x4, 4, 4, 0, NULL);
    uint64_t handle = 1;
    assert_int_equal(rt_texture_object(rt, &handle, image, &linear), SONDE_EINPUT);
    assert_int_equal(handle, 0);
    assert_non_null(strstr(error_text(), "linear filtering"));
    assert_int_equal(rt_texture_object(rt, &handle, image, &odd), SONDE_EINPUT);
    struct image_spec plain = {.shape = IMAGE_1D, .format = u8x4, .width = 4};
    assert_int_equal(rt_image_create(rt, &image, &plain), 0);
    handle = 1;
    assert_int_equal(rt_surface_object(rt, &handle, image), SONDE_EINPUT);
    assert_int_equal(handle, 0);
    assert_int_equal(rt_surface_destroy(rt, 5), SONDE_EINPUT);
}

static void a_kernel_that_fetches_from_a_destroyed_array_faults(void **state)
{
    (void)state;
    const float at[1] = {0};
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, NULL);
    uint64_t handle = object(image, TEXTURE_CLAMP, false, false);
    assert_int_equal(rt_image_destroy(rt, image), 0);
    assert_int_equal(rt_image_destroy(rt, image), SONDE_EINPUT);
    struct rt_module *module = load("", tex_1d);
    assert_int_equal(run_module(module, handle, at, 4, 1, false), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "was destroyed"));
}

static void linear_memory_that_was_freed_is_neither_copied_nor_fetched(void **state)
{
    (void)state;
    uint8_t texels[64][64] = {{0}};
    uint64_t memory, smaller;
    struct image_spec spec = {.shape = IMAGE_PITCH,
                              .format = {TEXEL_UNSIGNED, 8, 1},
                              .width = 64,
                              .height = 64,
                              .pitch_bytes = 64};
    struct rt_image *image;
    struct rt_image_region whole;
    assert_int_equal(rt_mem_alloc(rt, &memory, sizeof texels), 0);
    spec.address = memory;
    assert_int_equal(rt_image_create(rt, &image, &spec), 0);
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    assert_int_equal(rt_image_write(rt, image, &whole, texels), 0);
    assert_int_equal(rt_mem_free(rt, memory), 0);
    assert_int_equal(rt_mem_alloc(rt, &smaller, 256), 0);
    assert_int_equal(smaller, memory);
    assert_int_equal(rt_image_write(rt, image, &whole, texels), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "has been freed"));
    whole.height = 4; /* these rows are there */
    assert_int_equal(rt_image_read(rt, texels, image, &whole), 0);
    const float at[2] = {0, 4};
    struct rt_module *module = load("", tex_2d);
    assert_int_equal(
        run_module(module, object(image, TEXTURE_CLAMP, false, false), at, 8, 1, false),
        SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "has been freed"));
}

static void an_array_is_not_freed_as_memory(void **state)
{
    (void)state;
    const float texels[4] = {10, 20, 30, 40};
    float back[4] = {0};
    uint64_t address;
    struct rt_image_region whole;
    assert_int_equal(rt_mem_alloc(rt, &address, 512), 0);
    assert_int_equal(rt_mem_free(rt, address), 0);
    struct rt_image *image = make(IMAGE_1D, f32, 4, 0, 0, texels); /* takes its place */
    assert_int_equal(rt_mem_free(rt, address), SONDE_EINPUT);
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    assert_int_equal(rt_image_read(rt, back, image, &whole), 0);
    assert_memory_equal(back, texels, sizeof texels);
    assert_int_equal(rt_image_destroy(rt, image), 0);
}

static void what_was_an_array_reads_as_zero_in_memory_and_in_arrays(void **state)
{
    (void)state;
    static const float nothing[4096];
    static float texels[4096], back[4096];
    uint64_t address;
    struct rt_image_region whole;
    for (int i = 0; i < 4096; i++)
        texels[i] = (float)(i + 1);
    struct rt_image *image = make(IMAGE_1D, f32, 4096, 0, 0, texels);
    assert_int_equal(rt_image_destroy(rt, image), 0);
    assert_int_equal(rt_mem_alloc(rt, &address, sizeof back), 0);
    assert_int_equal(rt_copy_from_device(rt, back, address, sizeof back), 0);
    assert_memory_equal(back, nothing, sizeof back);
    assert_int_equal(rt_copy_to_device(rt, address, texels, sizeof texels), 0);
    assert_int_equal(rt_mem_free(rt, address), 0);
    image = make(IMAGE_1D, f32, 4096, 0, 0, NULL);
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    assert_int_equal(rt_image_read(rt, back, image, &whole), 0);
    assert_memory_equal(back, nothing, sizeof back);
}

static void a_fetch_by_another_geometry_faults(void **state)
{
    (void)state;
    const float at[2] = {0, 0};
    uint64_t handle = object(make(IMAGE_1D, f32, 4, 0, 0, NULL), TEXTURE_CLAMP, false, false);
    struct rt_module *module = load("", tex_2d);
    assert_int_equal(run_module(module, handle, at, 8, 1, true), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "another shape"));
}

static void forms_without_an_implementation_are_refused_when_they_are_loaded(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "tex.2dms.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%h, {%r0, %r1, %r2, %r3}];",
        "suq.memory_layout.b32 %o0, [%h];",
        "txq.num_samples.b32 %o0, [%h];",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct rt_module *module = load("", bodies[i]);
        struct rt_kernel *kernel;
        assert_int_equal(rt_kernel_get(module, &kernel, NULL), SONDE_EUNSUPPORTED);
        assert_non_null(strstr(error_text(), "not implemented"));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nearest_takes_the_floor_and_fills_up_with_zeros),
        TEST(address_modes_say_what_lies_outside),
        TEST(without_normalized_coordinates_wrap_and_mirror_clamp),
        TEST(linear_filtering_weighs_neighbours_by_256ths),
        TEST(linear_filtering_in_two_dimensions_takes_four_texels),
        TEST(small_integers_become_numbers_up_to_one_or_stay_as_they_are),
        TEST(srgb_bytes_become_linear_before_they_are_filtered),
        TEST(signed_integers_keep_their_sign),
        TEST(layers_are_clamped_and_never_mixed),
        TEST(a_cube_has_a_face_for_each_direction),
        TEST(levels_are_chosen_and_mixed),
        TEST(a_gather_goes_round_counter_clockwise_from_the_lower_left),
        TEST(offsets_count_texels),
        TEST(queries_tell_what_the_image_is),
        TEST(a_reference_means_what_it_was_bound_to),
        TEST(a_reference_is_bound_to_no_surface_that_was_not_made),
        TEST(a_sampler_beside_the_texture_takes_the_place_of_its_own),
        TEST(a_sampler_cannot_filter_integers),
        TEST(surfaces_count_bytes_and_textures_see_what_was_written),
        TEST(outside_of_a_surface_clamp_moves_zero_reads_zero_and_trap_faults),
        TEST(a_surface_narrower_than_the_access_has_nothing_to_clamp_to),
        TEST(a_texture_that_is_a_parameter_of_the_kernel_is_fetched_from),
        TEST(reductions_on_a_surface_add_up),
        TEST(a_square_of_texels_takes_fewer_sectors_than_a_row),
        TEST(what_no_image_can_be_is_refused_by_name),
        TEST(what_no_texture_can_be_is_refused_by_name),
        TEST(a_kernel_that_fetches_from_a_destroyed_array_faults),
        TEST(linear_memory_that_was_freed_is_neither_copied_nor_fetched),
        TEST(an_array_is_not_freed_as_memory),
        TEST(what_was_an_array_reads_as_zero_in_memory_and_in_arrays),
        TEST(a_fetch_by_another_geometry_faults),
        TEST(forms_without_an_implementation_are_refused_when_they_are_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
