/* util/text/symbol.h: names as C++ writes them, where the process can read them. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay_where_nothing_reads_them),
        cmocka_unit_test(names_of_functions_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
