/*
 * How often a strided access of shared memory conflicts, for every stride of Mei et al. 2014,
 * Figs 5 and 7, against rules that are derived here from numbers alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/memory/banks.h"

static const struct shared_spec fermi = {.banks = 32, .bank_bytes = 4};
static const struct shared_spec kepler_4 = {.banks = 32, .bank_bytes = 8, .word_bytes = 4};
static const struct shared_spec kepler_8 = {.banks = 32, .bank_bytes = 8, .word_bytes = 8};

static uint32_t passes(const struct shared_spec *spec, uint32_t stride_bytes, uint8_t bytes)
{
    struct exec_access access = {
        .kind = ACCESS_LOAD, .space = SPACE_SHARED, .mask = UINT32_MAX, .bytes = bytes, .vec = 1};
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] = (uint64_t)lane * stride_bytes;
    }
    return banks_passes(spec, &access);
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b ? gcd(b, a % b) : a;
}

static void on_fermi_the_ways_are_the_gcd_of_stride_and_32(void **state)
{
    (void)state;
    for (uint32_t stride = 0; stride <= 64; stride++) {
        assert_int_equal(passes(&fermi, stride * 4, 4), stride ? gcd(stride, 32) : 1);
    }
}

/*
 * Words of 4 bytes: the g = gcd(s, 32) lanes of a bank lie s / g * 32 words apart. If that is 32,
 * two and two share a row of 64 words; if it is more, each has its own.
 */
static void in_kepler_4_byte_mode_two_lanes_share_a_row_where_they_are_32_words_apart(void **state)
{
    (void)state;
    for (uint32_t stride = 1; stride <= 64; stride++) {
        uint32_t lanes = gcd(stride, 32);
        uint32_t ways = stride == lanes && lanes > 1 ? lanes / 2 : lanes;
        assert_int_equal(passes(&kepler_4, stride * 4, 4), ways);
    }
    assert_int_equal(passes(&kepler_4, 0, 4), 1);
}

/*
 * Words of 8 bytes, elements of 4: an even stride is half as many words. With an odd one, lane d
 * for which s d = 1 modulo 64 shares lane 0's bank in another row, or where s d = 63 lane d + 1
 * shares lane 1's; d is below 32 in one of the two. Strides 1 (the same row) and 33 (d = 31, so
 * that lane d + 1 is not there) are the exceptions.
 */
static void in_kepler_8_byte_mode_even_strides_count_half(void **state)
{
    (void)state;
    for (uint32_t stride = 1; stride <= 64; stride++) {
        uint32_t odd_ways = stride == 1 || stride == 33 ? 1 : 2;
        assert_int_equal(passes(&kepler_8, stride * 4, 4),
                         stride % 2 ? odd_ways : gcd(stride / 2, 32));
    }
    assert_int_equal(passes(&kepler_8, 0, 4), 1);
}

static void words_of_8_bytes_conflict_as_fermis_words_do(void **state)
{
    (void)state;
    for (uint32_t stride = 0; stride <= 64; stride++) {
        assert_int_equal(passes(&kepler_8, stride * 8, 8), stride ? gcd(stride, 32) : 1);
    }
    assert_int_equal(passes(&kepler_4, 8, 8), 1); /* one row is what a warp asks for */
}

static void the_modes_differ_as_figure_7_shows(void **state)
{
    (void)state;
    static const struct {
        uint32_t stride, fermi, four, eight;
    } rows[] = {{2, 2, 1, 1}, {4, 4, 2, 2}, {6, 2, 2, 1}, {10, 2, 2, 1}, {12, 4, 4, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(passes(&fermi, rows[i].stride * 4, 4), rows[i].fermi);
        assert_int_equal(passes(&kepler_4, rows[i].stride * 4, 4), rows[i].four);
        assert_int_equal(passes(&kepler_8, rows[i].stride * 4, 4), rows[i].eight);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_fermi_the_ways_are_the_gcd_of_stride_and_32),
        cmocka_unit_test(in_kepler_4_byte_mode_two_lanes_share_a_row_where_they_are_32_words_apart),
        cmocka_unit_test(in_kepler_8_byte_mode_even_strides_count_half),
        cmocka_unit_test(words_of_8_bytes_conflict_as_fermis_words_do),
        cmocka_unit_test(the_modes_differ_as_figure_7_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
