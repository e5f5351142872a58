/* Copies into, out of and between arrays: regions go to their place and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rt/queue/queue.h"
#include "rt/rt.h"
#include "util/error.h"

static const struct texel_format u8x4 = {TEXEL_UNSIGNED, 8, 4};

static struct model *model;
static struct rt *rt;

static int set_up(void **state)
{
    (void)state;
    return model_load(&model, "gtx780") < 0 || rt_create(&rt, model) < 0;
}

static int tear_down(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static struct rt_image *make(struct texel_format format, uint32_t width, uint32_t height,
                             const void *texels)
{
    struct image_spec spec = {
        .shape = IMAGE_2D, .format = format, .width = width, .height = height, .surface = true};
    struct rt_image *image;
    struct rt_image_region whole;
    if (rt_image_create(rt, &image, &spec) < 0)
        fail_msg("%s", error_text());
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    if (texels)
        assert_int_equal(rt_image_write(rt, image, &whole, texels), 0);
    return image;
}

static void copies_stay_inside_the_image(void **state)
{
    (void)state;
    uint32_t texels[64];
    struct rt_image *image = make(u8x4, 8, 4, NULL);
    const struct rt_image_region rows[] = {
        {.x = 1, .width = 8, .height = 1, .depth = 1},
        {.y = 4, .width = 1, .height = 1, .depth = 1},
        {.z = 1, .width = 1, .height = 1, .depth = 1},
        {.level = 1, .width = 1, .height = 1, .depth = 1},
        {.x = UINT32_MAX, .width = 2, .height = 1, .depth = 1},
        {.width = 8, .height = 2, .depth = 1, .row_bytes = 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(rt_image_read(rt, texels, image, &rows[i]), SONDE_EINPUT);
        assert_int_equal(rt_image_write(rt, image, &rows[i], texels), SONDE_EINPUT);
    }
}

static void a_region_is_copied_to_its_place_and_nowhere_else(void **state)
{
    (void)state;
    uint16_t texels[11][13], part[3][5], back[11][13];
    for (int i = 0; i < 11 * 13; i++)
        texels[i / 13][i % 13] = (uint16_t)i;
    for (int i = 0; i < 15; i++)
        part[i / 5][i % 5] = (uint16_t)(1000 + i);
    struct rt_image *image = make((struct texel_format){TEXEL_UNSIGNED, 16, 1}, 13, 11, texels);
    struct rt_image_region region = {.x = 6, .y = 7, .width = 5, .height = 3, .depth = 1}, whole;
    assert_int_equal(rt_image_write(rt, image, &region, part), 0);
    assert_int_equal(rt_image_whole(&whole, image, 0), 0);
    assert_int_equal(rt_image_read(rt, back, image, &whole), 0);
    for (int y = 0; y < 11; y++)
        for (int x = 0; x < 13; x++) {
            bool inside = x >= 6 && x < 11 && y >= 7 && y < 10;
            assert_int_equal(back[y][x], inside ? part[y - 7][x - 6] : texels[y][x]);
        }
}

static void a_copy_between_arrays_moves_a_region_to_another_place(void **state)
{
    (void)state;
    enum { WIDTH = 13, HEIGHT = 11 };
    const struct texel_format u16 = {TEXEL_UNSIGNED, 16, 1};
    uint16_t from[HEIGHT][WIDTH], to[HEIGHT][WIDTH], back[HEIGHT][WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        from[i / WIDTH][i % WIDTH] = (uint16_t)i;
        to[i / WIDTH][i % WIDTH] = (uint16_t)(1000 + i);
    }
    struct rt_image *source = make(u16, WIDTH, HEIGHT, from);
    struct rt_image *target = make(u16, WIDTH, HEIGHT, to);
    struct rt_copy copy = {.src = {.kind = RT_END_IMAGE, .image = source, .x_bytes = 4, .y = 1},
                           .dst = {.kind = RT_END_IMAGE, .image = target, .x_bytes = 10, .y = 6},
                           .width_bytes = 10,
                           .height = 3,
                           .depth = 1,
                           .waits = true};
    assert_int_equal(rt_enqueue_copy(rt_stream_default(rt), &copy), 0);
    assert_int_equal(rt_sync(rt), 0);
    struct rt_image_region whole;
    assert_int_equal(rt_image_whole(&whole, target, 0), 0);
    assert_int_equal(rt_image_read(rt, back, target, &whole), 0);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            bool inside = x >= 5 && x < 10 && y >= 6 && y < 9;
            assert_int_equal(back[y][x], inside ? from[y - 5][x - 3] : to[y][x]);
        }
    assert_int_equal(rt_image_whole(&whole, source, 0), 0);
    assert_int_equal(rt_image_read(rt, back, source, &whole), 0);
    assert_memory_equal(back, from, sizeof from);
}

static void a_copy_of_an_array_that_needs_more_than_32_bits_is_refused(void **state)
{
    (void)state;
    uint8_t host[4] = {0};
    const uint64_t beyond = UINT64_C(1) << 32;
    struct rt_image *image = make(u8x4, 8, 4, NULL);
    for (int field = 0; field < 7; field++) {
        struct rt_copy copy = {.dst = {.kind = RT_END_IMAGE, .image = image},
                               .src = {.kind = RT_END_HOST, .host = host},
                               .width_bytes = 4,
                               .height = 1,
                               .depth = 1,
                               .waits = true};
        uint64_t *const fields[] = {&copy.dst.x_bytes, &copy.dst.y,  &copy.dst.z,
                                    &copy.width_bytes, &copy.height, &copy.depth};
        if (field < 6) {
            *fields[field] += beyond;
        }
        int rc = rt_enqueue_copy(rt_stream_default(rt), &copy);
        assert_int_equal(rc, field < 6 ? SONDE_EINPUT : 0);
    }
    assert_int_equal(rt_sync(rt), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(copies_stay_inside_the_image),
        TEST(a_region_is_copied_to_its_place_and_nowhere_else),
        TEST(a_copy_between_arrays_moves_a_region_to_another_place),
        TEST(a_copy_of_an_array_that_needs_more_than_32_bits_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
