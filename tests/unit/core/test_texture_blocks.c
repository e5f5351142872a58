/*
 * Two-dimensional linear memory as a texture cache sees it that permutes addresses
 * (sm.texture.blocks_linear): a permutation of the image's bytes, tiled as arrays are, and fewer
 * pieces for what is near in two dimensions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"

static struct bench b;

static struct exec_image pitched(uint32_t width, uint32_t height, uint32_t channels,
                                 uint64_t pitch_bytes, uint64_t address)
{
    struct exec_image image = {.spec = {.shape = IMAGE_PITCH,
                                        .format = {TEXEL_UNSIGNED, 32, (uint8_t)channels},
                                        .width = width,
                                        .height = height,
                                        .depth = 1,
                                        .levels = 1,
                                        .pitch_bytes = pitch_bytes,
                                        .address = address}};
    image_lay_out(&image, address);
    return image;
}

static void every_texel_has_a_place_of_its_own_inside_the_image(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, channels;
        uint64_t pitch_bytes;
    } rows[] = {{64, 64, 1, 256},  {64, 64, 1, 320}, {61, 37, 1, 256}, {33, 8, 1, 160},
                {33, 16, 1, 132},  {7, 5, 4, 112},   {40, 9, 2, 336},  {1, 100, 1, 4},
                {100, 1, 1, 1024}, {16, 24, 4, 256}};
    static uint8_t seen[1 << 16];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct exec_image image =
            pitched(rows[i].width, rows[i].height, rows[i].channels, rows[i].pitch_bytes, 4096);
        uint64_t bytes = (rows[i].height - 1) * rows[i].pitch_bytes +
                         (uint64_t)rows[i].width * image.texel_bytes;
        memset(seen, 0, sizeof seen);
        for (uint32_t y = 0; y < rows[i].height; y++) {
            for (uint32_t x = 0; x < rows[i].width; x++) {
                uint64_t at =
                    image_byte(&image, image.level, (uint64_t)x * image.texel_bytes, y, 0);
                uint64_t to = image_blocked_address(&image, at) - 4096;
                assert_in_range(to, 0, bytes - image.texel_bytes);
                assert_int_equal(to % image.texel_bytes, 0);
                assert_int_equal(seen[to]++, 0);
            }
        }
    }
}

/* Whole blocks lie as an array's. */
static void blocks_are_those_of_arrays(void **state)
{
    (void)state;
    struct exec_image linear = pitched(64, 32, 1, 256, 8192);
    struct exec_image array = linear;
    array.spec.shape = IMAGE_2D;
    image_lay_out(&array, 8192);
    for (uint32_t y = 0; y < 32; y++) {
        for (uint32_t x = 0; x < 256; x += 4) {
            uint64_t at = image_byte(&linear, linear.level, x, y, 0);
            assert_int_equal(image_blocked_address(&linear, at),
                             image_byte(&array, array.level, x, y, 0));
        }
    }
}

static void other_images_stay_as_they_are(void **state)
{
    (void)state;
    struct buffer_texture buffer;
    buffer_texture_make(&buffer, 4096, 1 << 14);
    for (uint64_t at = 4096; at < 4096 + (1 << 14); at += 4) {
        assert_int_equal(image_blocked_address(&buffer.image, at), at);
    }
}

/* A warp of 4 x 8 texels of 4 bytes: eight rows, or four blocks of 16 bytes x 2 rows. */
static void a_warp_that_fetches_a_patch_asks_for_fewer_pieces(void **state)
{
    (void)state;
    for (uint32_t blocks = 0; blocks < 2; blocks++) {
        bench_defaults(&b);
        b.with_texture = true;
        b.texture_bytes = 64;
        b.pitch_bytes = 1024;
        b.pitch_rows = 64;
        b.spec.texture.blocks_linear = blocks;
        assert_true(
            bench_run(&b,
                      "mov.u64 %rd6, 0xfe00000000;\nmov.u32 %r1, %laneid;\nand.b32 %r2, %r1, 3;\n"
                      "shr.u32 %r3, %r1, 2;\n"
                      "tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd6, {%r2, %r3}];\n"
                      "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                      "st.global.u32 [%rd1+131072], %r4;\n",
                      1, 32));
        uint32_t fetches = 0;
        for (uint32_t i = 0; i < b.log_count; i++) {
            fetches += b.log[i].port == BENCH_TEXTURE;
        }
        assert_int_equal(fetches, blocks ? 4 : 8);
        bench_free(&b);
    }
}

/* The values are those of the linear memory: only times are permuted. */
static void values_do_not_change(void **state)
{
    (void)state;
    for (uint32_t blocks = 0; blocks < 2; blocks++) {
        bench_defaults(&b);
        b.with_texture = true;
        b.texture_bytes = 64;
        b.pitch_bytes = 160;
        b.pitch_rows = 32;
        b.spec.texture.blocks_linear = blocks;
        assert_true(bench_run(&b,
                              "mov.u64 %rd6, 0xfe00000000;\nmov.u32 %r1, %tid.x;\n"
                              "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                              "st.global.u32 [%rd1], %r1;\nmembar.gl;\nbar.sync 0;\n"
                              "and.b32 %r2, %r1, 31;\nshr.u32 %r3, %r1, 5;\n"
                              "tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd6, {%r2, %r3}];\n"
                              "st.global.u32 [%rd1+131072], %r4;\n",
                              1, 512));
        for (uint32_t i = 0; i < 512; i++) {
            uint32_t place = i / 32 * 40 + i % 32;
            assert_int_equal(b.out[131072 / 4 + i], place < 512 ? place : 0);
        }
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_texel_has_a_place_of_its_own_inside_the_image),
        cmocka_unit_test(blocks_are_those_of_arrays),
        cmocka_unit_test(other_images_stay_as_they_are),
        cmocka_unit_test(a_warp_that_fetches_a_patch_asks_for_fewer_pieces),
        cmocka_unit_test(values_do_not_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
