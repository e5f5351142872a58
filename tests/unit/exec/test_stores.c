/* Stores that are kept back, against a plain copy of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "exec/memory/stores.h"
#include "util/rng.h"

#define BYTES 100000u

static uint8_t image[BYTES], expected[BYTES], before[BYTES];

static uint64_t address_of(uint32_t offset)
{
    return (uint64_t)(uintptr_t)&image[offset];
}

static void random_stores_read_back_and_publish_as_plain_ones_do(void **state)
{
    (void)state;
    struct rng rng;
    struct exec_stores *stores;
    rng_seed(&rng, 7);
    assert_int_equal(exec_stores_create(&stores), 0);
    for (uint32_t round = 0; round < 60; round++) {
        memcpy(before, image, BYTES);
        uint32_t span = round % 3 ? BYTES - 300 : 2000; /* the small one overlaps itself often */
        for (uint32_t i = 0; i < 20u << round % 7; i++) {
            uint8_t bytes[256], read[256];
            uint32_t offset = (uint32_t)rng_below(&rng, span);
            uint32_t count = 1 + (uint32_t)rng_below(&rng, i % 5 ? 16 : 256);
            for (uint32_t k = 0; k < count; k++) {
                bytes[k] = (uint8_t)rng_below(&rng, 256);
            }
            assert_int_equal(exec_stores_put(stores, address_of(offset), bytes, count), 0);
            memcpy(&expected[offset], bytes, count);
            assert_true(exec_stores_may_hold(stores, address_of(offset + count - 1), 1));
            offset = (uint32_t)rng_below(&rng, span);
            memcpy(read, &image[offset], sizeof read);
            exec_stores_patch(stores, address_of(offset), read, sizeof read);
            assert_memory_equal(read, &expected[offset], sizeof read);
        }
        assert_memory_equal(image, before, BYTES); /* nobody else has seen anything */
        exec_stores_publish(stores);
        assert_memory_equal(image, expected, BYTES);
        assert_false(exec_stores_may_hold(stores, address_of(0), BYTES));
    }
    exec_stores_destroy(stores);
}

static void what_is_cleared_never_was(void **state)
{
    (void)state;
    struct exec_stores *stores;
    uint8_t byte = 1, read = 9;
    memset(image, 0, BYTES);
    assert_int_equal(exec_stores_create(&stores), 0);
    for (uint32_t i = 0; i < 700; i++) {
        assert_int_equal(exec_stores_put(stores, address_of(i * 130), &byte, 1), 0);
    }
    exec_stores_clear(stores);
    exec_stores_patch(stores, address_of(130), &read, 1);
    assert_int_equal(read, 9);
    exec_stores_publish(stores);
    for (uint32_t i = 0; i < BYTES; i++) {
        assert_int_equal(image[i], 0);
    }
    exec_stores_destroy(stores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_stores_read_back_and_publish_as_plain_ones_do),
        cmocka_unit_test(what_is_cleared_never_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
