/* Tensor maps, against words that the driver of an H200 wrote. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "isa/tensor/tensor_map.h"

static struct tensor_map tiled(void)
{
    return (struct tensor_map){.address = 0x7f1da0800000,
                               .type = TENSOR_F32,
                               .rank = 3,
                               .size = {64, 32, 16},
                               .stride = {4, 256, 8192},
                               .box = {32, 8, 4},
                               .step = {1, 1, 1}};
}

static void expect_words(const struct tensor_map *map, const uint32_t wanted[19])
{
    uint32_t words[32];
    struct tensor_map again;
    tensor_map_write(words, map);
    for (int i = 0; i < 32; i++)
        assert_int_equal(words[i], i < 19 ? wanted[i] : 0);
    assert_true(tensor_map_read(&again, words));
    assert_int_equal(again.address, map->address);
    assert_int_equal(again.type, map->type);
    for (uint32_t i = 0; i < map->rank; i++) {
        assert_int_equal(again.size[i], map->size[i]);
        assert_int_equal(again.stride[i], map->stride[i]);
        assert_int_equal(again.step[i], map->step[i]);
    }
}

static void a_tiled_map_is_the_drivers(void **state)
{
    (void)state;
    struct tensor_map map = tiled();
    expect_words(&map, (uint32_t[19]){0xa0800000, 0x7f1d, 0x3a0, 0x10, 0x200, 0, 0, 0, 0x3f, 0x1f,
                                      0xf, 0, 0, 0x1f000000, 0x307, 0, 0x1000, 0, 0x10});
}

static void types_and_modes_have_their_bits(void **state)
{
    (void)state;
    struct tensor_map map = tiled();
    map.type = TENSOR_TF32_FTZ;
    map.box[0] = 16;
    map.stride[1] = 512;
    map.stride[2] = 16384;
    expect_words(&map, (uint32_t[19]){0xa0800000, 0x7f1d, 0x10420, 0x20, 0x400, 0, 0, 0, 0x3f, 0x1f,
                                      0xf, 0, 0, 0x0f000000, 0x307, 0, 0x800, 0, 0x10});
    map = tiled();
    map.swizzle = 3;
    expect_words(&map, (uint32_t[19]){0xa0800000, 0x7f1d, 0x63a0, 0x10, 0x200, 0, 0, 0, 0x3f, 0x1f,
                                      0xf, 0, 0, 0x1f000000, 0x307, 0, 0x1000, 0, 0x400});
    map = tiled();
    map.fill_nan = true;
    map.step[1] = 8;
    expect_words(&map, (uint32_t[19]){0xa0800000, 0x7f1d, 0x83a0, 0x10, 0x200, 0, 0, 0, 0x3f, 0x1f,
                                      0xf, 0, 0, 0x1f000038, 0x307, 0, 0x200, 0, 0x10});
}

static void strides_have_36_bits(void **state)
{
    (void)state;
    struct tensor_map map = {.address = 0x7f1da0800000,
                             .type = TENSOR_F32,
                             .rank = 5,
                             .size = {16, 16, 16, 16, 16},
                             .stride = {4, 64, 1024, 16384, 0xff00000000},
                             .box = {4, 4, 4, 2, 2},
                             .step = {1, 1, 1, 1, 1}};
    expect_words(&map,
                 (uint32_t[19]){0xa0800000, 0x7f1d, 0x3c0, 4, 0x40, 0x400, 0xf0000000, 0xf000, 0xf,
                                0xf, 0xf, 0xf, 0xf, 0x3000000, 0x1010303, 0, 0x400, 0, 0x10});
}

static void corners_of_im2col_share_a_word(void **state)
{
    (void)state;
    struct tensor_map map = {.address = 0x7f1da0800000,
                             .im2col = true,
                             .type = TENSOR_F16,
                             .rank = 5,
                             .size = {64, 20, 18, 9, 4},
                             .stride = {2, 128, 2560, 46080, 414720},
                             .box = {32, 16},
                             .step = {1, 1, 1, 1, 1},
                             .lower = {-1, -2, -1},
                             .upper = {-1, 0, 1}};
    expect_words(&map,
                 (uint32_t[19]){0xa0800000, 0x7f1d, 0x341, 8, 0xa0, 0xb40, 0x6540, 0, 0x3f, 0x13,
                                0x11, 8, 3, 0x1f000000, 0x41f7fdf, 0xf, 0x400, 0, 0x10});
    uint32_t words[32];
    struct tensor_map again;
    tensor_map_write(words, &map);
    assert_true(tensor_map_read(&again, words));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(again.lower[i], map.lower[i]);
        assert_int_equal(again.upper[i], map.upper[i]);
    }
}

static void fields_are_replaced_as_the_processor_does_it(void **state)
{
    (void)state;
    uint32_t words[32];
    struct tensor_map map = tiled();
    tensor_map_write(words, &map);
    tensor_map_replace(words, TENSOR_RANK, 0, 3);
    assert_int_equal(words[2], 0x3b0);
    tensor_map_replace(words, TENSOR_BOX, 2, 3);
    assert_int_equal(words[14], 0x207);
    tensor_map_replace(words, TENSOR_SIZE, 3, 3);
    assert_int_equal(words[11], 2);
    tensor_map_replace(words, TENSOR_STRIDE, 2, 0x123456789a0);
    assert_int_equal(words[5], 0x3456789a);
    assert_int_equal(words[7], 0x200);
    tensor_map_replace(words, TENSOR_STEP, 4, 3);
    assert_int_equal(words[13], 0x1f002000);
    tensor_map_replace(words, TENSOR_TYPE, 0, 10);
    assert_int_equal(words[2], 0x530);
    tensor_map_replace(words, TENSOR_FILL, 0, 1);
    assert_int_equal(words[2], 0x8530);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiled_map_is_the_drivers),
        cmocka_unit_test(types_and_modes_have_their_bits),
        cmocka_unit_test(strides_have_36_bits),
        cmocka_unit_test(corners_of_im2col_share_a_word),
        cmocka_unit_test(fields_are_replaced_as_the_processor_does_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
