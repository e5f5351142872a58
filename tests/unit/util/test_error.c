/* util/error.h: the thread's error text, its bounds, places and prefixes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "util/error.h"

static void set_keeps_the_text_and_returns_the_code(void **state)
{
    (void)state;
    assert_int_equal(error_set(SONDE_EINPUT, "line %d of %s", 3, "x"), SONDE_EINPUT);
    assert_string_equal(error_text(), "line 3 of x");
    error_clear();
    assert_string_equal(error_text(), "");
}

static void a_place_leaves_out_what_is_not_known(void **state)
{
    (void)state;
    assert_int_equal(error_at(SONDE_EINPUT, "a.ptx", 3, 14, "bad"), SONDE_EINPUT);
    assert_string_equal(error_text(), "a.ptx:3:14: bad");
    error_at(SONDE_EINPUT, "a.ptx", 3, 0, "bad");
    assert_string_equal(error_text(), "a.ptx:3: bad");
    error_at(SONDE_EINPUT, "a.ptx", 0, 5, "bad");
    assert_string_equal(error_text(), "a.ptx: bad");
    error_at(SONDE_EINPUT, NULL, 1, 1, "bad");
    assert_string_equal(error_text(), "input:1:1: bad");
}

static void a_prefix_goes_in_front(void **state)
{
    (void)state;
    int rc = error_set(SONDE_EIO, "disk full");
    assert_int_equal(error_prefix(rc, "writing %s", "r.json"), SONDE_EIO);
    assert_string_equal(error_text(), "writing r.json: disk full");
}

static void the_text_may_quote_itself(void **state)
{
    (void)state;
    error_set(SONDE_EIO, "inner");
    error_set(SONDE_EIO, "outer (%s)", error_text());
    assert_string_equal(error_text(), "outer (inner)");
    error_at(SONDE_EIO, error_text(), 1, 2, "again: %s", error_text());
    assert_string_equal(error_text(), "outer (inner):1:2: again: outer (inner)");
    error_prefix(SONDE_EIO, "%s", error_text());
    assert_string_equal(error_text(), "outer (inner):1:2: again: outer (inner): "
                                      "outer (inner):1:2: again: outer (inner)");
}

static void long_text_is_cut_and_says_so(void **state)
{
    (void)state;
    char text[3 * ERROR_TEXT_MAX];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    error_set(SONDE_EINPUT, "%s", text);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_MAX - 1);
    assert_string_equal(error_text() + ERROR_TEXT_MAX - 5, "x...");
    error_prefix(SONDE_EINPUT, "%s", text);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_MAX - 1);
    error_at(SONDE_EINPUT, text, 7, 8, "%s", text);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_MAX - 1);
    assert_non_null(strstr(error_text(), "x:7:8: x"));
}

static void *set_elsewhere(void *unused)
{
    (void)unused;
    error_set(SONDE_EIO, "another thread's");
    return NULL;
}

static void threads_have_their_own_text(void **state)
{
    (void)state;
    pthread_t thread;
    error_set(SONDE_EIO, "mine");
    assert_int_equal(pthread_create(&thread, NULL, set_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(error_text(), "mine");
}

static void every_code_is_negative_and_has_a_name(void **state)
{
    (void)state;
#define CHECK_CODE(name, value, text)                                                              \
    assert_true(name < 0);                                                                         \
    assert_string_equal(error_name(name), text);
    SONDE_ERRORS(CHECK_CODE)
#undef CHECK_CODE
    assert_string_equal(error_name(0), "no error");
    assert_string_equal(error_name(-999), "unknown error");
    assert_string_equal(error_name(1), "unknown error");
    assert_int_equal(error_memory(), SONDE_ENOMEM);
    assert_string_equal(error_text(), "out of memory");
}

static void an_end_of_line_in_a_name_is_shown(void **state)
{
    (void)state;
    error_set(SONDE_EINPUT, "no '%s'", "a\nb\n");
    assert_string_equal(error_text(), "no 'a\\x0ab\\x0a'");
    error_at(SONDE_EINPUT, "f\ng", 1, 2, "%s", "x\ny");
    assert_string_equal(error_text(), "f\\x0ag:1:2: x\\x0ay");
    error_set_lines(SONDE_EINPUT, "one\ntwo");
    assert_int_equal(error_prefix(SONDE_EIO, "%s", "p\n"), SONDE_EIO);
    assert_string_equal(error_text(), "p\\x0a: one\ntwo");
    /* At the border of the buffer nothing is written past it. */
    for (size_t length = ERROR_TEXT_MAX - 8; length < ERROR_TEXT_MAX + 2; length++) {
        char text[ERROR_TEXT_MAX + 8];
        memset(text, '\n', length);
        text[length] = '\0';
        error_set(SONDE_EINPUT, "%s", text);
        assert_true(strlen(error_text()) < ERROR_TEXT_MAX);
        assert_null(strchr(error_text(), '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_keeps_the_text_and_returns_the_code),
        cmocka_unit_test(a_place_leaves_out_what_is_not_known),
        cmocka_unit_test(a_prefix_goes_in_front),
        cmocka_unit_test(the_text_may_quote_itself),
        cmocka_unit_test(long_text_is_cut_and_says_so),
        cmocka_unit_test(an_end_of_line_in_a_name_is_shown),
        cmocka_unit_test(threads_have_their_own_text),
        cmocka_unit_test(every_code_is_negative_and_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
