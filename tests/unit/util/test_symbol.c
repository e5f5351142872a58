/* util/text/symbol.h: names as C++ writes them, where the process can read them. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/text/symbol.h"

static void assert_read(const char *name, const char *expected)
{
    char *text = symbol_readable(name);
    assert_string_equal(text, expected);
    free(text);
}

static void names_stay_where_nothing_reads_them(void **state)
{
    (void)state;
    if (dlsym(RTLD_DEFAULT, "__cxa_demangle")) {
        skip();
    }
    assert_read("_ZN1a1bEi", "_ZN1a1bEi");
}

/* `f` alone would be a type's: float. */
static void names_of_functions_are_read(void **state)
{
    (void)state;
    if (!dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL)) {
        skip();
    }
    assert_read("_ZN1a1bEi", "a::b(int)");
    assert_read("_Z5scaleIfLi4EEvPT_", "void scale<float, 4>(float*)");
    assert_read("f", "f");
    assert_read("_Zwrong", "_Zwrong");
    assert_read("", "");
}

static void assert_brief(const char *name, size_t most, const char *expected)
{
    char *text = symbol_brief(strdup(name), most);
    assert_string_equal(text, expected);
    assert_true(strlen(text) <= most);
    free(text);
}

static void a_name_that_fits_stays_whole(void **state)
{
    (void)state;
    assert_brief("void scale<float, 4>(float*)", 28, "void scale<float, 4>(float*)");
    assert_null(symbol_brief(NULL, 28));
}

static void a_long_name_loses_what_it_returns_and_its_parameters(void **state)
{
    (void)state;
    assert_brief("void scale<float, 4>(float*)", 27, "scale<float, 4>");
    assert_brief("unsigned int (anonymous namespace)::f(int, int)", 30, "(anonymous namespace)::f");
    assert_brief("void run<main::{lambda(int)#1}>(int)", 30, "run<main::{lambda(int)#1}>");
    assert_brief("void pick<(order)0, int>(int const*)", 30, "pick<(order)0, int>");
    assert_brief("void a<b (c d)>::e<f>(g h)", 25, "a<b (c d)>::e<f>");
}

static void a_longer_one_loses_the_end_of_its_arguments(void **state)
{
    (void)state;
    assert_brief("void scale<float, 4>(float*)", 14, "scale<floa...>");
    assert_brief("void scale<float, 4>(float*)", 10, "scale<...>");
    assert_brief("void scale<float, 4>(float*)", 9, "scale<...");
    assert_brief("abcdefghijkl", 8, "abcde...");
    assert_brief("abcdefghijkl(int)", 12, "abcdefghijkl");
    assert_brief("a<b((((((((((", 8, "a<b(...>"); /* which is no name */
}

static void assert_bare(const char *name, const char *expected)
{
    char *text = symbol_bare(strdup(name));
    assert_string_equal(text, expected);
    free(text);
}

static void a_bare_name_has_its_template_arguments(void **state)
{
    (void)state;
    assert_bare("void scale<float, 4>(float*)", "scale<float, 4>");
    assert_bare("unsigned int (anonymous namespace)::f(int, int)", "(anonymous namespace)::f");
    assert_bare("f", "f");
    assert_bare("", "");
    assert_null(symbol_bare(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay_where_nothing_reads_them),
        cmocka_unit_test(names_of_functions_are_read),
        cmocka_unit_test(a_name_that_fits_stays_whole),
        cmocka_unit_test(a_long_name_loses_what_it_returns_and_its_parameters),
        cmocka_unit_test(a_longer_one_loses_the_end_of_its_arguments),
        cmocka_unit_test(a_bare_name_has_its_template_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
