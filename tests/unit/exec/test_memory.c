/* The memory image: what is mapped, what is not, and what an unmapped address is told about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exec/memory/memory.h"
#include "util/error.h"

static struct exec_memory *memory;

static int open_memory(void **state)
{
    (void)state;
    return exec_memory_create(&memory, UINT64_C(4) << 30);
}

static int close_memory(void **state)
{
    (void)state;
    exec_memory_destroy(memory);
    return 0;
}

static void bytes_of_a_mapping_are_valid_and_those_around_it_are_not(void **state)
{
    (void)state;
    uint64_t base = exec_memory_base(memory);
    assert_int_equal(exec_memory_map(memory, base + 4096, 4096), 0);
    assert_true(exec_memory_valid(memory, base + 4096, 4096));
    assert_true(exec_memory_valid(memory, base + 8191, 1));
    assert_false(exec_memory_valid(memory, base + 4095, 1));
    assert_false(exec_memory_valid(memory, base + 4095, 2));
    assert_false(exec_memory_valid(memory, base + 8191, 2));
    assert_false(exec_memory_valid(memory, base + 8192, 1));
    assert_false(exec_memory_valid(memory, UINT64_MAX, 8));
    assert_false(exec_memory_valid(memory, 0, 8));
}

static void mappings_are_found_in_any_order_and_after_others_went(void **state)
{
    (void)state;
    uint64_t base = exec_memory_base(memory);
    static const uint32_t order[] = {5, 1, 7, 3, 0, 6, 2, 4};
    for (int i = 0; i < 8; i++)
        assert_int_equal(exec_memory_map(memory, base + order[i] * 1024, 512), 0);
    for (int i = 0; i < 8; i += 2)
        assert_int_equal(exec_memory_unmap(memory, base + order[i] * 1024), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(exec_memory_valid(memory, base + order[i] * 1024, 512), i % 2);
    assert_int_equal(exec_memory_unmap(memory, base + 1024 + 8), SONDE_EINPUT);
}

static void overlapping_and_outside_mappings_are_refused(void **state)
{
    (void)state;
    uint64_t base = exec_memory_base(memory);
    assert_int_equal(exec_memory_map(memory, base + 4096, 4096), 0);
    assert_int_equal(exec_memory_map(memory, base + 8191, 1), SONDE_EINPUT);
    assert_int_equal(exec_memory_map(memory, base, 4097), SONDE_EINPUT);
    assert_int_equal(exec_memory_map(memory, base + 5000, 1), SONDE_EINPUT);
    assert_int_equal(exec_memory_map(memory, base, 0), SONDE_EINPUT);
    assert_int_equal(exec_memory_map(memory, base - 4096, 4096), SONDE_EINPUT);
    assert_int_equal(exec_memory_map(memory, base, UINT64_MAX), SONDE_EINPUT);
    assert_int_equal(exec_memory_map(memory, base, 4096), 0);
}

static void memory_is_zero_again_after_unmapping(void **state)
{
    (void)state;
    uint64_t base = exec_memory_base(memory);
    unsigned char *bytes = (unsigned char *)(uintptr_t)(base + 100);
    assert_int_equal(exec_memory_map(memory, base + 100, 20000), 0);
    assert_int_equal(exec_memory_map(memory, base, 100), 0);
    memset(bytes, 0xab, 20000);
    memset(bytes - 100, 0xcd, 100);
    assert_int_equal(exec_memory_unmap(memory, base + 100), 0);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(bytes[i], 0);
    assert_int_equal(bytes[-1], 0xcd);
}

static void a_bad_address_is_described_by_its_nearest_neighbour(void **state)
{
    (void)state;
    uint64_t base = exec_memory_base(memory);
    char text[256];
    exec_memory_describe(memory, base, text, sizeof text);
    assert_string_equal(text, "nothing is allocated");
    assert_int_equal(exec_memory_map(memory, base + 4096, 256), 0);
    assert_int_equal(exec_memory_map(memory, base + 65536, 256), 0);
    exec_memory_describe(memory, base + 4352 + 8, text, sizeof text);
    assert_non_null(strstr(text, "8 bytes after the allocation"));
    assert_non_null(strstr(text, "of 256 bytes"));
    exec_memory_describe(memory, base + 65536 - 16, text, sizeof text);
    assert_non_null(strstr(text, "16 bytes before the allocation"));
    exec_memory_describe(memory, 8, text, sizeof text);
    assert_non_null(strstr(text, "before the allocation"));
}

static void two_devices_have_ranges_of_their_own_and_a_slot_is_used_again(void **state)
{
    (void)state;
    struct exec_memory *other;
    assert_int_equal(exec_memory_create(&other, UINT64_C(100) << 30), 0);
    uint64_t first = exec_memory_base(other);
    assert_true(first >= exec_memory_base(memory) + exec_memory_range_bytes(memory));
    assert_true(exec_memory_range_bytes(other) >= UINT64_C(100) << 30);
    exec_memory_destroy(other);
    assert_int_equal(exec_memory_create(&other, 1), 0);
    assert_int_equal(exec_memory_base(other), first);
    exec_memory_destroy(other);
}

static void a_hundred_gigabytes_may_be_mapped_of_which_little_is_touched(void **state)
{
    (void)state;
    struct exec_memory *big;
    uint64_t bytes = UINT64_C(100) << 30;
    assert_int_equal(exec_memory_create(&big, bytes), 0);
    uint64_t base = exec_memory_base(big);
    assert_int_equal(exec_memory_map(big, base, bytes), 0);
    *(volatile char *)(uintptr_t)(base + bytes - 1) = 1;
    assert_int_equal(exec_memory_unmap(big, base), 0);
    exec_memory_destroy(big);
}

static void impossible_capacities_are_refused(void **state)
{
    (void)state;
    struct exec_memory *none;
    assert_int_equal(exec_memory_create(&none, 0), SONDE_EINPUT);
    assert_null(none);
    assert_int_equal(exec_memory_create(&none, UINT64_MAX), SONDE_EINPUT);
    exec_memory_destroy(NULL);
}

#define WITH_MEMORY(test) cmocka_unit_test_setup_teardown(test, open_memory, close_memory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY(bytes_of_a_mapping_are_valid_and_those_around_it_are_not),
        WITH_MEMORY(mappings_are_found_in_any_order_and_after_others_went),
        WITH_MEMORY(overlapping_and_outside_mappings_are_refused),
        WITH_MEMORY(memory_is_zero_again_after_unmapping),
        WITH_MEMORY(a_bad_address_is_described_by_its_nearest_neighbour),
        WITH_MEMORY(two_devices_have_ranges_of_their_own_and_a_slot_is_used_again),
        WITH_MEMORY(a_hundred_gigabytes_may_be_mapped_of_which_little_is_touched),
        cmocka_unit_test(impossible_capacities_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
