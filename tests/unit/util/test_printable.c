/* What may be shown, and what stands for the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/text/printable.h"

static void expect(const char *text, bool colours, const char *wanted)
{
    char *shown = printable_text(text, colours);
    assert_non_null(shown);
    assert_string_equal(shown, wanted);
    free(shown);
}

static void ordinary_text_stays(void **state)
{
    (void)state;
    expect("", false, "");
    expect("a b\tc\n", false, "a b\tc\n");
    expect("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", false,
           "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void controls_and_broken_utf8_are_written_in_hexadecimal(void **state)
{
    (void)state;
    expect("\033]0;title\a\r\x7f", false, "\\x1b]0;title\\x07\\x0d\\x7f");
    expect("\xc2\x9b"
           "2J",
           false, "\\xc2\\x9b2J");
    expect("\xff\xe2\x82", false, "\\xff\\xe2\\x82");
    expect("\xbf\xbe\xf8\x80\x80\x80", false, "\\xbf\\xbe\\xf8\\x80\\x80\\x80");
}

static void of_the_sequences_only_colours_stay_and_only_when_asked_for(void **state)
{
    (void)state;
    expect("\033[1;31mred\033[0m", true, "\033[1;31mred\033[0m");
    expect("\033[1m", false, "\\x1b[1m");
    expect("\033[2J\033[", true, "\\x1b[2J\\x1b[");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_text_stays),
        cmocka_unit_test(controls_and_broken_utf8_are_written_in_hexadecimal),
        cmocka_unit_test(of_the_sequences_only_colours_stay_and_only_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
