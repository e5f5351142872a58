/* util/arena.h: alignment, zeroing, large and hostile sizes, text helpers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/container/arena.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    unsigned char *last = NULL;
    size_t last_size = 0;
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *memory = arena_alloc(arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(memory[i], 0);
        }
        memset(memory, 0xff, size);
        if (last) {
            assert_true(memory >= last + last_size || memory + size <= last);
        }
        last = memory;
        last_size = size;
    }
    assert_true(arena_used(arena) >= 3000 / 7 * 1500);
    arena_destroy(arena);
}

static void large_pieces_lie_beside_small_ones(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char *small = arena_alloc(arena, 16);
    char *large = arena_alloc(arena, 1 << 20);
    char *next = arena_alloc(arena, 16);
    assert_non_null(large);
    assert_ptr_equal(next, small + 16);
    memset(large, 1, 1 << 20);
    assert_int_equal(arena_used(arena), (1 << 20) + 32);
    arena_destroy(arena);
}

static void impossible_sizes_give_null(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    assert_null(arena_alloc(arena, SIZE_MAX));
    assert_null(arena_alloc(arena, SIZE_MAX - 20));
    assert_null(arena_array(arena, SIZE_MAX / 4, 8));
    assert_null(arena_array(arena, 8, SIZE_MAX / 4));
    assert_non_null(arena_array(arena, 0, 8));
    assert_non_null(arena_array(arena, 8, 0));
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void texts_are_copied(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char source[] = "warp";
    char *copy = arena_strdup(arena, source);
    source[0] = 'W';
    assert_string_equal(copy, "warp");
    assert_string_equal(arena_strndup(arena, "barrier", 3), "bar");
    assert_string_equal(arena_strndup(arena, "bar", 30), "bar");
    assert_string_equal(arena_strndup(arena, "", 0), "");
    assert_string_equal(arena_printf(arena, "%s.%d", "u", 32), "u.32");
    assert_string_equal(arena_printf(arena, "%s", ""), "");
    char *wide = arena_printf(arena, "%100000d", 7);
    assert_int_equal(strlen(wide), 100000);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(large_pieces_lie_beside_small_ones),
        cmocka_unit_test(impossible_sizes_give_null),
        cmocka_unit_test(texts_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
