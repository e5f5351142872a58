/* The heap's allocator alone: random traffic against a map of what is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "rt/heap.h"
#include "util/rng.h"

#define BASE 0x10000u
#define UNITS 4096
#define BYTES (UNITS * 16u)
#define LIVE_MAX 300

static uint8_t taken[UNITS];

/* Marks the units of an allocation as taken or free; all must have been the opposite. */
static void mark(uint64_t address, uint64_t bytes, uint8_t value)
{
    assert_true(address >= BASE && address % 16 == 0 && address + bytes <= BASE + BYTES);
    for (uint64_t i = (address - BASE) / 16; i < (address - BASE + bytes + 15) / 16; i++) {
        assert_int_equal(taken[i], !value);
        taken[i] = value;
    }
}

static void random_traffic_never_overlaps_and_all_of_it_comes_back(void **state)
{
    (void)state;
    struct heap *heap;
    struct rng rng;
    uint64_t address[LIVE_MAX], bytes[LIVE_MAX];
    uint32_t live = 0;
    memset(taken, 0, sizeof taken);
    rng_seed(&rng, 7);
    assert_int_equal(heap_create(&heap, BASE, BYTES), 0);
    for (int step = 0; step < 100000; step++) {
        if (live < LIVE_MAX && rng_below(&rng, 100) < 55) {
            uint64_t align = 16u << rng_below(&rng, 6);
            bytes[live] = 1 + rng_below(&rng, rng_below(&rng, 10) ? 200 : 20000);
            address[live] = heap_take(heap, bytes[live], align);
            if (address[live]) {
                assert_int_equal(address[live] % align, 0);
                mark(address[live], bytes[live], 1);
                live++;
            }
        } else if (live > 0) {
            uint64_t i = rng_below(&rng, live);
            assert_true(heap_give(heap, address[i]));
            assert_false(heap_give(heap, address[i]));
            mark(address[i], bytes[i], 0);
            live--;
            address[i] = address[live];
            bytes[i] = bytes[live];
        }
    }
    while (live > 0)
        assert_true(heap_give(heap, address[--live]));
    assert_int_equal(heap_used_bytes(heap), 0);
    /* Neighbours have joined: the whole heap is one block again. */
    assert_int_equal(heap_take(heap, BYTES, 16), BASE);
    assert_int_equal(heap_take(heap, 1, 16), 0);
    heap_destroy(heap);
}

static void what_no_allocation_begins_at_is_not_freed(void **state)
{
    (void)state;
    struct heap *heap;
    assert_int_equal(heap_create(&heap, BASE, BYTES), 0);
    assert_false(heap_give(heap, BASE));
    uint64_t address = heap_take(heap, 64, 16);
    assert_false(heap_give(heap, address + 16));
    assert_false(heap_give(heap, 0));
    assert_true(heap_give(heap, address));
    heap_destroy(heap);
    assert_true(heap_create(&heap, BASE, 8) < 0);
    assert_null(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traffic_never_overlaps_and_all_of_it_comes_back),
        cmocka_unit_test(what_no_allocation_begins_at_is_not_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
