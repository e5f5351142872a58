/* Transactions of a warp's access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/memory/coalesce.h"

static struct transaction out[COALESCE_MAX];

static struct exec_access strided(uint64_t first, uint32_t stride_bytes, uint8_t bytes)
{
    struct exec_access access = {
        .kind = ACCESS_LOAD, .space = SPACE_GLOBAL, .mask = UINT32_MAX, .bytes = bytes, .vec = 1};
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] = first + (uint64_t)lane * stride_bytes;
    }
    return access;
}

static void a_warp_of_neighbours_is_one_transaction(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1000, 4, 4);
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
    assert_int_equal(out[0].address, 0x1000);
    assert_int_equal(out[0].bytes, 128);
}

static void a_misaligned_warp_touches_two_segments(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1040, 4, 4);
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 2);
    assert_int_equal(out[0].address, 0x1040);
    assert_int_equal(out[0].bytes, 64);
    assert_int_equal(out[1].address, 0x1080);
    assert_int_equal(out[1].bytes, 64);
}

static void strides_cost_a_segment_each(void **state)
{
    (void)state;
    for (uint32_t stride = 4; stride <= 256; stride += 4) {
        struct exec_access access = strided(0, stride, 4);
        uint32_t expected = stride >= 128 ? 32 : (31 * stride + 3) / 128 + 1;
        assert_int_equal(coalesce(out, &access, 128, 32, 32), expected);
    }
}

static void sectors_are_of_the_size_asked_for(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1234, 40, 4);
    access.mask = 5; /* bytes 0x1234 and 0x1284: sectors of 16 bytes, of one segment and the next */
    assert_int_equal(coalesce(out, &access, 64, 16, 32), 2);
    assert_int_equal(out[0].address, 0x1230);
    assert_int_equal(out[0].bytes, 16);
    assert_int_equal(out[1].address, 0x1280);
    assert_int_equal(out[1].bytes, 16);
    access.mask = 1;
    assert_int_equal(coalesce(out, &access, 64, 4, 32), 1);
    assert_int_equal(out[0].address, 0x1234);
    assert_int_equal(out[0].bytes, 4);
}

static void one_lane_reads_its_sector(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1234, 4, 4);
    access.mask = 1;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
    assert_int_equal(out[0].address, 0x1220);
    assert_int_equal(out[0].bytes, 32);
}

static void writes_carry_exactly_their_bytes(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1004, 4, 4);
    access.kind = ACCESS_STORE;
    access.mask = 0x7;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
    assert_int_equal(out[0].address, 0x1004);
    assert_int_equal(out[0].bytes, 12);
}

static void lanes_in_any_order_share_their_segment(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1000, 4, 4);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] = 0x1000 + (lane * 7 % 32) * 4 + (lane & 1) * 0x1000;
    }
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 2);
}

static void half_warps_do_not_share(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1000, 0, 4);
    assert_int_equal(coalesce(out, &access, 128, 32, 16), 2);
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
}

static void inactive_lanes_ask_for_nothing(void **state)
{
    (void)state;
    struct exec_access access = strided(0, 4096, 8);
    access.mask = 0x80000000;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
    assert_int_equal(out[0].address, 31 * 4096);
    access.mask = 0;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 0);
}

static void an_element_across_segments_is_split(void **state)
{
    (void)state;
    struct exec_access access = strided(0x103C, 0, 8);
    access.kind = ACCESS_STORE;
    access.mask = 1;
    assert_int_equal(coalesce(out, &access, 32, 32, 32), 2);
    assert_int_equal(out[0].bytes, 4);
    assert_int_equal(out[1].address, 0x1040);
    assert_int_equal(out[1].bytes, 4);
}

/* CUDA C Programming Guide 2.3, section 5.1.2.1 and its figures, for compute capability 1.2. */
static void halving_asks_for_the_part_of_a_segment_that_is_used(void **state)
{
    (void)state;
    static const struct {
        uint64_t first;
        uint32_t stride_bytes;
        uint8_t bytes;
        uint32_t mask;
        struct {
            uint64_t address;
            uint32_t bytes;
        } expected[3];                                   /* up to the one of no bytes */
    } rows[] = {{0x1000, 4, 4, 0xffff, {{0x1000, 64}}},  /* half a segment */
                {0x1000, 4, 4, 0x00ff, {{0x1000, 32}}},  /* a quarter */
                {0x1004, 4, 4, 0xffff, {{0x1000, 128}}}, /* over the middle */
                {0x1020, 4, 4, 0xffff, {{0x1000, 128}}}, /* the middle half */
                {0x1040, 4, 4, 0xffff, {{0x1040, 64}}},  /* the upper half */
                {0x1060, 4, 4, 0xffff, {{0x1060, 32}, {0x1080, 32}}}, /* two segments */
                {0x1064, 4, 4, 0xffff, {{0x1060, 32}, {0x1080, 64}}}, /* of either its part */
                {0x1000, 8, 8, 0xffff, {{0x1000, 128}}},              /* elements of 8 bytes */
                {0x1000, 16, 16, 0xffff, {{0x1000, 128}, {0x1080, 128}}},
                {0x1000, 1, 1, 0xffff, {{0x1000, 32}}}, /* segments of 32 bytes */
                {0x1018, 1, 1, 0xffff, {{0x1000, 32}, {0x1020, 32}}},
                {0x1000, 2, 2, 0xffff, {{0x1000, 32}}}, /* segments of 64 bytes */
                {0x1010, 2, 2, 0xffff, {{0x1000, 64}}},
                {0x1030, 2, 2, 0xffff, {{0x1020, 32}, {0x1040, 32}}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct exec_access access = strided(rows[i].first, rows[i].stride_bytes, rows[i].bytes);
        access.mask = rows[i].mask;
        uint32_t count = coalesce(out, &access, coalesce_segment(&access, 128), 32, 16);
        coalesce_halve(out, count);
        for (uint32_t k = 0; k < count; k++) {
            assert_int_equal(out[k].address, rows[i].expected[k].address);
            assert_int_equal(out[k].bytes, rows[i].expected[k].bytes);
        }
        assert_int_equal(rows[i].expected[count].bytes, 0);
    }
}

/* Lanes over `words` words in a row: passes of all sectors together. */
static uint32_t passes(uint32_t words, bool alone)
{
    struct exec_access access = strided(0x1000, 0, 4);
    access.kind = ACCESS_REDUCTION;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        access.address[lane] += (uint64_t)(lane % words) * 4;
    }
    uint32_t count = coalesce(out, &access, 128, 32, 32);
    assert_int_equal(count, 1);
    coalesce_passes(out, count, &access, alone);
    return out[0].passes;
}

/* An H200 takes 46, 23, 11.6, 4.7, 4.7, 4.7 cycles for these: 1.2 to 1.45 a pass. */
static void lanes_of_an_atomic_that_share_a_word_take_turns(void **state)
{
    (void)state;
    assert_int_equal(passes(1, false), 32);
    assert_int_equal(passes(2, false), 16);
    assert_int_equal(passes(4, false), 8);
    assert_int_equal(passes(8, false), 4);
    assert_int_equal(passes(16, false), 4);
    assert_int_equal(passes(32, false), 4);
    assert_int_equal(passes(1, true), 0); /* nobody says, so one */
}

static void a_write_tells_which_sectors_it_touches(void **state)
{
    (void)state;
    struct exec_access access = strided(0x1000, 64, 4);
    access.kind = ACCESS_STORE;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 16);
    assert_int_equal(out[3].bytes, 68);
    assert_int_equal(out[3].sectors, 5);
    access = strided(0x1010, 4, 4);
    access.kind = ACCESS_STORE;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 2);
    assert_int_equal(out[0].sectors, 15);
    assert_int_equal(out[1].sectors, 1);
}

static void a_store_tells_which_bytes_it_writes_where_not_all_are(void **state)
{
    (void)state;
    uint64_t written[2];
    struct exec_access access = strided(0x1000, 4, 4);
    access.kind = ACCESS_STORE;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
    coalesce_written(written, &out[0], &access);
    assert_true(written[0] == 0 && written[1] == 0); /* all from first to last */
    access.mask = 0xfff0fff0;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 1);
    coalesce_written(written, &out[0], &access);
    assert_true(written[0] == UINT64_C(0xffffffffffff0000));
    assert_true(written[1] == UINT64_C(0xffffffffffff0000));
    access = strided(0x1040, 8, 2);
    access.kind = ACCESS_STORE;
    assert_int_equal(coalesce(out, &access, 128, 32, 32), 3);
    coalesce_written(written, &out[0], &access);
    assert_true(written[0] == 0 && written[1] == UINT64_C(0x0303030303030303));
    coalesce_written(written, &out[2], &access);
    assert_true(written[0] == UINT64_C(0x0303030303030303) && written[1] == 0);
    access.space = SPACE_NONE; /* lanes in other spaces write elsewhere */
    memset(access.lane_space, SPACE_SHARED, sizeof access.lane_space);
    access.lane_space[0] = access.lane_space[1] = SPACE_GLOBAL;
    coalesce_written(written, &out[0], &access);
    assert_true(written[0] == 0 && written[1] == 0x0303);
}

/* Four bytes at both ends of a sector, and 24 bytes of the next: as many as the first is long. */
static void what_other_transactions_write_does_not_fill_a_store_s_gaps(void **state)
{
    (void)state;
    uint64_t written[2];
    struct exec_access access = strided(0x1000, 4, 4);
    access.kind = ACCESS_STORE;
    access.mask = 0xff;
    access.address[1] = 0x101c;
    for (uint32_t lane = 2; lane < 8; lane++) {
        access.address[lane] = 0x1020 + (lane - 2) * 4;
    }
    assert_int_equal(coalesce(out, &access, 32, 32, 32), 2);
    assert_int_equal(out[0].bytes, 32);
    coalesce_written(written, &out[0], &access);
    assert_true(written[0] == UINT64_C(0xf000000f) && written[1] == 0);
    coalesce_written(written, &out[1], &access);
    assert_true(written[0] == 0 && written[1] == 0); /* all from first to last */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_of_neighbours_is_one_transaction),
        cmocka_unit_test(a_misaligned_warp_touches_two_segments),
        cmocka_unit_test(strides_cost_a_segment_each),
        cmocka_unit_test(one_lane_reads_its_sector),
        cmocka_unit_test(sectors_are_of_the_size_asked_for),
        cmocka_unit_test(writes_carry_exactly_their_bytes),
        cmocka_unit_test(lanes_in_any_order_share_their_segment),
        cmocka_unit_test(half_warps_do_not_share),
        cmocka_unit_test(inactive_lanes_ask_for_nothing),
        cmocka_unit_test(an_element_across_segments_is_split),
        cmocka_unit_test(lanes_of_an_atomic_that_share_a_word_take_turns),
        cmocka_unit_test(a_write_tells_which_sectors_it_touches),
        cmocka_unit_test(a_store_tells_which_bytes_it_writes_where_not_all_are),
        cmocka_unit_test(what_other_transactions_write_does_not_fill_a_store_s_gaps),
        cmocka_unit_test(halving_asks_for_the_part_of_a_segment_that_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
