/* util/vec.h and util/strbuf.h: growth, impossible sizes, handing over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/container/vec.h"

struct point {
    int x, y;
};

struct point_vec VEC_FIELDS(struct point);

static int push_point(struct point_vec *points, int x)
{
    return vec_push(points, (struct point){.x = x, .y = -x});
}

static void pushing_keeps_values_in_order(void **state)
{
    (void)state;
    struct point_vec points = {0};
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(push_point(&points, i), 0);
    }
    assert_int_equal(points.count, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(points.data[i].x, i);
        assert_int_equal(points.data[i].y, -i);
    }
    assert_int_equal(vec_last(&points).x, 999);
    assert_int_equal(vec_pop(&points).x, 999);
    assert_int_equal(points.count, 999);
    vec_clear(&points);
    assert_int_equal(points.count, 0);
    assert_true(points.capacity >= 1000);
    vec_free(&points);
    assert_null(points.data);
    assert_int_equal(points.capacity, 0);
}

static void an_impossible_reserve_leaves_the_array_as_it_was(void **state)
{
    (void)state;
    VEC(uint64_t) numbers = {0};
    assert_int_equal(vec_push(&numbers, 42), 0);
    assert_int_equal(vec_reserve(&numbers, SIZE_MAX), SONDE_ENOMEM);
    assert_int_equal(vec_reserve(&numbers, SIZE_MAX / 8), SONDE_ENOMEM);
    assert_int_equal(numbers.count, 1);
    assert_int_equal(numbers.data[0], 42);
    assert_int_equal(vec_reserve(&numbers, 100), 0);
    assert_true(numbers.capacity >= 100);
    vec_free(&numbers);
}

static void a_string_grows_and_is_handed_over(void **state)
{
    (void)state;
    struct strbuf buf = {0};
    assert_string_equal(strbuf_text(&buf), "");
    for (int i = 0; i < 500; i++) {
        assert_int_equal(strbuf_printf(&buf, "%d,", i), 0);
    }
    assert_int_equal(buf.length, 10 * 2 + 90 * 3 + 400 * 4);
    assert_int_equal(strlen(strbuf_text(&buf)), buf.length);
    strbuf_clear(&buf);
    strbuf_append(&buf, "set ");
    strbuf_append_char(&buf, '7');
    strbuf_append_n(&buf, ", way 3 (cut)", 7);
    char *text = strbuf_take(&buf);
    assert_string_equal(text, "set 7, way 3");
    assert_int_equal(buf.length, 0);
    free(text);
    text = strbuf_take(&buf);
    assert_string_equal(text, "");
    free(text);
}

static void a_failed_append_is_remembered(void **state)
{
    (void)state;
    struct strbuf buf = {0};
    strbuf_append(&buf, "x");
    assert_int_equal(strbuf_append_n(&buf, "y", SIZE_MAX - 2), SONDE_ENOMEM);
    assert_int_equal(strbuf_append(&buf, "z"), SONDE_ENOMEM);
    assert_true(strbuf_failed(&buf));
    assert_null(strbuf_take(&buf));
    assert_false(strbuf_failed(&buf));
    strbuf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing_keeps_values_in_order),
        cmocka_unit_test(an_impossible_reserve_leaves_the_array_as_it_was),
        cmocka_unit_test(a_string_grows_and_is_handed_over),
        cmocka_unit_test(a_failed_append_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
