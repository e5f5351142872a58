/* What a request takes of its SM's port, beside what an H200 takes (docs/h200.md, "What an SM
 * sends"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mem/noc/noc.h"

static const struct noc_spec h200 = {.header_bytes = 32,
                                     .write_granule_bytes = 32,
                                     .request_bytes_per_cycle = 32,
                                     .folds_header = true};

static uint32_t cycles(const struct mem_request *request)
{
    return noc_request_bytes(&h200, request) / h200.request_bytes_per_cycle;
}

static void loads_take_a_cycle(void **state)
{
    (void)state;
    assert_int_equal(cycles(&(struct mem_request){.kind = MEM_READ, .bytes = 128}), 1);
}

static void whole_sectors_go_without_a_header(void **state)
{
    (void)state;
    struct mem_request line = {.kind = MEM_WRITE, .bytes = 128, .lanes = 32, .sectors = 4};
    struct mem_request sector = {
        .kind = MEM_WRITE, .paddr = 64, .bytes = 32, .lanes = 8, .sectors = 1};
    struct mem_request ends = line;
    ends.sectors = 2;
    ends.written[0] = UINT32_MAX;                 /* the first sector .. */
    ends.written[1] = (uint64_t)UINT32_MAX << 32; /* .. and the last */
    assert_int_equal(cycles(&line), 4);
    assert_int_equal(cycles(&sector), 1);
    assert_int_equal(cycles(&ends), 2);
}

static void parts_of_sectors_have_one(void **state)
{
    (void)state;
    struct mem_request word = {.kind = MEM_WRITE, .paddr = 4, .bytes = 4, .lanes = 1, .sectors = 1};
    struct mem_request half = {.kind = MEM_WRITE, .bytes = 16, .lanes = 4, .sectors = 1};
    struct mem_request words = {.kind = MEM_WRITE, .bytes = 100, .lanes = 4, .sectors = 4};
    words.written[0] = words.written[1] = 0xf0000000f; /* a word of each sector */
    assert_int_equal(cycles(&word), 2);
    assert_int_equal(cycles(&half), 2);
    assert_int_equal(cycles(&words), 5);
    words.bytes = 128; /* as if the last one had been written to its end */
    assert_int_equal(cycles(&words), 5);
}

static struct mem_request atomic(uint32_t lanes, uint32_t sectors, uint32_t passes)
{
    return (struct mem_request){.kind = MEM_ATOMIC,
                                .bytes = sectors * 32,
                                .lanes = (uint8_t)lanes,
                                .sectors = sectors,
                                .passes = passes};
}

static void lanes_that_want_one_word_of_an_atomic_go_one_by_one(void **state)
{
    (void)state;
    struct mem_request one = atomic(1, 1, 1), same = atomic(32, 1, 32), sector = atomic(8, 1, 1),
                       hot = atomic(32, 1, 31), line = atomic(32, 4, 4), eight = atomic(32, 4, 32),
                       two = atomic(2, 2, 2), aggregated = atomic(32, 1, 0);
    assert_int_equal(cycles(&one), 1);
    assert_int_equal(cycles(&same), 32);
    assert_int_equal(cycles(&sector), 2);
    assert_int_equal(cycles(&hot), 32); /* a turn of two words, thirty of one */
    assert_int_equal(cycles(&line), 5);
    assert_int_equal(cycles(&eight), 40); /* a word of each sector, eight times */
    assert_int_equal(cycles(&two), 3);
    assert_int_equal(cycles(&aggregated), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_take_a_cycle),
        cmocka_unit_test(whole_sectors_go_without_a_header),
        cmocka_unit_test(parts_of_sectors_have_one),
        cmocka_unit_test(lanes_that_want_one_word_of_an_atomic_go_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
