/* Fat binaries, built here byte by byte by the layout that nvcc writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "fatbin/fatbin.h"
#include "util/error.h"

struct image {
    uint8_t bytes[4096];
    size_t length, container;
};

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static void begin(struct image *image)
{
    image->container = image->length;
    uint8_t *at = image->bytes + image->length;
    memset(at, 0, FATBIN_HEADER_BYTES);
    put(at, FATBIN_MAGIC, 4);
    put(at + 4, 1, 2);
    put(at + 6, FATBIN_HEADER_BYTES, 2);
    image->length += FATBIN_HEADER_BYTES;
}

static void entry(struct image *image, unsigned kind, unsigned sm, uint64_t flags,
                  const void *payload, size_t compressed, size_t bytes)
{
    uint8_t *at = image->bytes + image->length;
    size_t stored = compressed ? compressed : bytes, padded = (stored + 7) / 8 * 8;
    memset(at, 0, 64 + padded);
    put(at, kind, 2);
    put(at + 2, 0x0101, 2);
    put(at + 4, 64, 4);
    put(at + 8, padded, 8);
    put(at + 16, compressed, 4);
    put(at + 28, sm, 4);
    put(at + 40, flags, 8);
    put(at + 56, compressed ? bytes : 0, 8);
    memcpy(at + 64, payload, stored);
    image->length += 64 + padded;
    put(image->bytes + image->container + 8, image->length - image->container - FATBIN_HEADER_BYTES,
        8);
}

static void ptx(struct image *image, unsigned sm, const char *text)
{
    entry(image, FATBIN_PTX, sm, 0x11, text, 0, strlen(text));
}

static void assert_chosen(const struct image *image, uint32_t sm, const char *expected)
{
    struct fatbin_entry chosen;
    char *text;
    size_t length;
    assert_int_equal(1, fatbin_choose(&chosen, image->bytes, image->length, sm));
    assert_int_equal(0, fatbin_text(&text, &length, &chosen));
    assert_string_equal(expected, text);
    assert_int_equal(strlen(expected), length);
    free(text);
}

static void the_highest_ptx_that_the_target_allows_is_chosen(void **state)
{
    struct image image = {0};
    (void)state;
    begin(&image);
    ptx(&image, 50, "fifty");
    ptx(&image, 80, "eighty");
    ptx(&image, 75, "seventy-five");
    assert_chosen(&image, 79, "seventy-five");
    assert_chosen(&image, 90, "eighty");
    assert_chosen(&image, 50, "fifty");
    assert_chosen(&image, 35, "fifty"); /* none is for it: the least that is asked of it */
}

static void ptx_of_one_target_is_for_that_target(void **state)
{
    struct image image = {0};
    (void)state;
    begin(&image);
    ptx(&image, 80, "any");
    entry(&image, FATBIN_PTX, 90, 0x100011, "only 90", 0, 7);
    assert_chosen(&image, 90, "only 90");
    assert_chosen(&image, 100, "any");
    assert_chosen(&image, 35, "any");
}

static void containers_lie_back_to_back_and_may_be_empty(void **state)
{
    struct image image = {0};
    (void)state;
    begin(&image);
    begin(&image);
    ptx(&image, 75, "second");
    assert_chosen(&image, 75, "second");
    struct image empty = {0};
    struct fatbin_entry chosen;
    begin(&empty);
    assert_int_equal(0, fatbin_choose(&chosen, empty.bytes, empty.length, 75));
}

static void zstd_frames_are_unpacked(void **state)
{
    struct image image = {0};
    char text[500], packed[600];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    size_t length = ZSTD_compress(packed, sizeof packed, text, sizeof text, 1);
    begin(&image);
    entry(&image, FATBIN_PTX, 75, 0x8011, packed, length, sizeof text);
    assert_chosen(&image, 75, text);
}

/* Token 0x44: four literals and a match of 8; then five literals. LZ4 block format. */
static const uint8_t lz4_block[] = {0x44, 'a', 'b', 'c', 'd', 4, 0, 0x50, 'e', 'f', 'g', 'h', 'i'};

static void lz4_blocks_are_unpacked(void **state)
{
    struct image image = {0};
    (void)state;
    begin(&image);
    entry(&image, FATBIN_PTX, 75, 0x2011, lz4_block, sizeof lz4_block, 17);
    assert_chosen(&image, 75, "abcdabcdabcdefghi");
}

static void a_match_that_reaches_before_the_text_is_refused(void **state)
{
    uint8_t block[sizeof lz4_block], out[64];
    (void)state;
    memcpy(block, lz4_block, sizeof block);
    block[5] = 5;
    assert_int_equal(SONDE_EINPUT, fatbin_lz4(out, sizeof out, block, sizeof block));
    assert_int_equal(SONDE_EINPUT, fatbin_lz4(out, 10, lz4_block, sizeof lz4_block));
}

static void machine_code_alone_is_told_with_the_remedy(void **state)
{
    struct image image = {0};
    struct fatbin_entry chosen;
    (void)state;
    begin(&image);
    entry(&image, FATBIN_MACHINE_CODE, 75, 0x11, "\177ELF", 0, 4);
    assert_int_equal(SONDE_EUNSUPPORTED, fatbin_choose(&chosen, image.bytes, image.length, 75));
    assert_non_null(strstr(error_text(), "arch=compute_75,code=compute_75"));
}

/* Whatever single byte of the headers is changed: an answer, and no access outside (the
 * sanitizers' build tells). */
static void damaged_headers_are_answered(void **state)
{
    (void)state;
    for (size_t at = 0; at < FATBIN_HEADER_BYTES + 64; at++) {
        for (unsigned value = 0; value < 256; value += 5) {
            struct image image = {0};
            begin(&image);
            ptx(&image, 75, "text");
            image.bytes[at] = (uint8_t)value;
            uint8_t *exact = malloc(image.length);
            assert_non_null(exact);
            memcpy(exact, image.bytes, image.length);
            struct fatbin_entry chosen;
            int rc = fatbin_choose(&chosen, exact, image.length, 75);
            if (rc > 0) {
                char *text;
                size_t length;
                if (fatbin_text(&text, &length, &chosen) == 0) {
                    free(text);
                }
            } else if (rc < 0) {
                assert_true(rc == SONDE_EINPUT || rc == SONDE_EUNSUPPORTED);
                assert_true(error_text()[0] != '\0');
            }
            free(exact);
        }
    }
}

static void what_is_cut_off_is_refused(void **state)
{
    struct image image = {0};
    struct fatbin_entry chosen;
    (void)state;
    begin(&image);
    ptx(&image, 75, "some text");
    for (size_t length = 0; length < image.length; length++) {
        assert_int_equal(SONDE_EINPUT, fatbin_choose(&chosen, image.bytes, length, 75));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_ptx_that_the_target_allows_is_chosen),
        cmocka_unit_test(ptx_of_one_target_is_for_that_target),
        cmocka_unit_test(containers_lie_back_to_back_and_may_be_empty),
        cmocka_unit_test(zstd_frames_are_unpacked),
        cmocka_unit_test(lz4_blocks_are_unpacked),
        cmocka_unit_test(a_match_that_reaches_before_the_text_is_refused),
        cmocka_unit_test(machine_code_alone_is_told_with_the_remedy),
        cmocka_unit_test(damaged_headers_are_answered),
        cmocka_unit_test(what_is_cut_off_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
