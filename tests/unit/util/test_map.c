/* util/map.h: finding, replacing, order, growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "util/container/map.h"

static void absent_keys_are_not_found_in_an_empty_map(void **state)
{
    (void)state;
    struct map map = {0};
    struct u64_map numbers = {0};
    uint64_t value = 5;
    assert_null(map_get(&map, "x"));
    assert_null(map_find(&map, ""));
    assert_null(u64_map_find(&numbers, 0));
    assert_false(u64_map_get(&value, &numbers, 0));
    assert_int_equal(value, 5);
    map_free(&map);
    u64_map_free(&numbers);
}

static void texts_are_found_in_the_order_of_their_insertion(void **state)
{
    (void)state;
    struct map map = {0};
    static int values[5000];
    char key[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "%%r%d", i * 7919 % 5000);
        assert_int_equal(map_put(&map, key, &values[i]), 0);
    }
    assert_int_equal(map.count, 5000);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "%%r%d", i * 7919 % 5000);
        assert_ptr_equal(map_get(&map, key), &values[i]);
        assert_string_equal(map.entries[i].key, key);
    }
    assert_null(map_get(&map, "%r5000"));
    assert_null(map_get(&map, "%r"));
    map_free(&map);
    assert_int_equal(map.count, 0);
}

static void putting_again_replaces_the_value(void **state)
{
    (void)state;
    struct map map = {0};
    int one, two;
    map_put(&map, "L1", &one);
    map_put(&map, "", &two);
    map_put(&map, "L1", &two);
    map_put(&map, "nothing", NULL);
    assert_int_equal(map.count, 3);
    assert_ptr_equal(map_get(&map, "L1"), &two);
    assert_ptr_equal(map_get(&map, ""), &two);
    assert_null(map_get(&map, "nothing"));
    assert_non_null(map_find(&map, "nothing"));
    map_free(&map);
}

static void a_key_may_be_part_of_a_longer_text(void **state)
{
    (void)state;
    struct map map = {0};
    int bar, barrier;
    map_put_n(&map, "barrier", 3, &bar);
    map_put(&map, "barrier", &barrier);
    assert_ptr_equal(map_get(&map, "bar"), &bar);
    assert_ptr_equal(map_get_n(&map, "barrel", 3), &bar);
    assert_ptr_equal(map_get_n(&map, "barrier.sync", 7), &barrier);
    assert_null(map_get_n(&map, "barrier", 4));
    assert_null(map_get_n(&map, "barrier", 0));
    map_free(&map);
}

static void numbers_are_found_in_the_order_of_their_insertion(void **state)
{
    (void)state;
    struct u64_map map = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(u64_map_put(&map, i << 7, i * i), 0);
    }
    assert_int_equal(u64_map_put(&map, UINT64_MAX, 1), 0);
    assert_int_equal(u64_map_put(&map, 0, 77), 0);
    assert_int_equal(map.count, 20001);
    uint64_t value;
    for (uint64_t i = 1; i < 20000; i++) {
        assert_true(u64_map_get(&value, &map, i << 7));
        assert_int_equal(value, i * i);
        assert_int_equal(map.entries[i].key, i << 7);
    }
    assert_true(u64_map_get(&value, &map, 0));
    assert_int_equal(value, 77);
    assert_false(u64_map_get(&value, &map, 3));
    u64_map_clear(&map);
    assert_int_equal(map.count, 0);
    assert_null(u64_map_find(&map, 128));
    int thing;
    u64_map_put_pointer(&map, 9, &thing);
    assert_ptr_equal(u64_map_get_pointer(&map, 9), &thing);
    assert_null(u64_map_get_pointer(&map, 10));
    u64_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_keys_are_not_found_in_an_empty_map),
        cmocka_unit_test(texts_are_found_in_the_order_of_their_insertion),
        cmocka_unit_test(putting_again_replaces_the_value),
        cmocka_unit_test(a_key_may_be_part_of_a_longer_text),
        cmocka_unit_test(numbers_are_found_in_the_order_of_their_insertion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
