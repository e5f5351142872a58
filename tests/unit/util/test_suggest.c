/* "Did you mean". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/text/suggest.h"

static const char *nearest(const char *word)
{
    struct suggest suggest = suggest_begin(word);
    suggest_offer(&suggest, "replacement");
    suggest_offer(&suggest, "size");
    suggest_offer(&suggest, "sets");
    suggest_offer(&suggest, "ways");
    return suggest_best(&suggest);
}

static void one_slip_of_each_kind_is_found(void **state)
{
    (void)state;
    assert_string_equal(nearest("repalcement"), "replacement");
    assert_string_equal(nearest("siz"), "size");
    assert_string_equal(nearest("wayss"), "ways");
    assert_string_equal(nearest("sits"), "sets");
}

static void the_first_of_equals_wins(void **state)
{
    (void)state;
    assert_string_equal(nearest("sets"), "sets");
    assert_string_equal(nearest("sies"), "size");
}

static void far_words_and_long_words_are_near_nothing(void **state)
{
    (void)state;
    assert_null(nearest("frequency"));
    assert_null(nearest(""));
    char word[200];
    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_null(nearest(word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slip_of_each_kind_is_found),
        cmocka_unit_test(the_first_of_equals_wins),
        cmocka_unit_test(far_words_and_long_words_are_near_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
