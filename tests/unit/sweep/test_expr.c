/* Expressions: the value of each is worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sweep/spec/expr.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"

static int find(void *ctx, const char *name, struct sweep_value *out)
{
    (void)ctx;
    if (strcmp(name, "n") == 0) {
        *out = (struct sweep_value){.kind = SWEEP_NUMBER, .number = 12};
    } else if (strcmp(name, "l2.size") == 0) {
        *out = sweep_value_of("512 KiB");
    } else if (strcmp(name, "program") == 0) {
        *out = (struct sweep_value){.kind = SWEEP_TEXT, .text = "matmul"};
    } else if (strcmp(name, "nothing") == 0) {
        *out = (struct sweep_value){.kind = SWEEP_NONE};
    } else {
        return error_set(SONDE_EINPUT, "no axis '%s'", name);
    }
    return 0;
}

static int eval(struct sweep_value *out, const char *text)
{
    struct arena *arena = arena_create();
    const struct expr_scope scope = {.arena = arena, .find = find};
    int rc = expr_eval(out, text, &scope);
    arena_destroy(arena);
    return rc;
}

static void numbers_follow_the_grammar(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"2 * 12 / 8 % 2", 1},
        {"-n + 2", -10},
        {"- -n", 12},
        {"!0 + !n", 1},
        {"n == 12", 1},
        {"n != 12", 0},
        {"n < 12 || n <= 12 && n > 11", 1},
        {"n >= 13 || 0", 0},
        {"l2.size == 512 KiB", 1},
        {"l2.size", 524288},
        {"l2.size / 1 KiB", 512},
        {"1e3 + .5", 1000.5},
        {"program == 'matmul'", 1},
        {"program != \"bfs\" && 'a' == 'a'", 1},
        {"program == 3", 0},
        {"min(3, n) + max(3, n)", 15},
        {"log2(pow(2, 5)) + sqrt(16)", 9},
        {"floor(2.9) + ceil(2.1) + abs(-4)", 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_value value;
        if (eval(&value, cases[i].text) != 0 || value.kind != SWEEP_NUMBER ||
            value.number != cases[i].value) {
            fail_msg("%s: %g (%s)", cases[i].text, value.number, error_text());
        }
    }
}

static void what_has_no_value_spreads(void **state)
{
    static const char *const texts[] = {"nothing",  "nothing + 1",     "1 < nothing",
                                        "1 / 0",    "min(1, nothing)", "nothing && 1",
                                        "sqrt(-1)", "!nothing"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sweep_value value;
        assert_int_equal(eval(&value, texts[i]), 0);
        assert_int_equal(value.kind, SWEEP_NONE);
    }
}

static void mistakes_are_told_with_their_column(void **state)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"1 +", "column 4"},
        {"(1", "expected )"},
        {"1 2", "column 3"},
        {"unknown", "no axis 'unknown'"},
        {"root(2)", "no such function"},
        {"min(1)", "two arguments"},
        {"min(1, 2, 3)", "two arguments"},
        {"program + 1", "a text is no number"},
        {"-program", "a text is no number"},
        {"!program", "a text is no number"},
        {"'open", "no end"},
        {"5 parsecs", "unit"},
        {"", "expected a number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_value value;
        assert_int_equal(eval(&value, cases[i].text), SONDE_EINPUT);
        assert_int_equal(value.kind, SWEEP_NONE);
        if (!strstr(error_text(), cases[i].told)) {
            fail_msg("'%s': %s", cases[i].text, error_text());
        }
    }
}

static void depth_is_bounded(void **state)
{
    char text[4096];
    struct sweep_value value;
    (void)state;
    for (const char *const *open = (const char *const[]){"(", "-", "!", NULL}; *open; open++) {
        memset(text, **open, sizeof text - 2);
        strcpy(text + sizeof text - 2, "1");
        assert_int_equal(eval(&value, text), SONDE_EINPUT);
        assert_non_null(strstr(error_text(), "too deep"));
    }
}

static void values_are_written_as_they_read_back(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {{"512 KiB", "524288"},   {"0.1", "0.1"},
                 {"1e20", "1e+20"},       {"-3", "-3"},
                 {"2 GHz", "2000000000"}, {"gtx780", "gtx780"},
                 {"[7, 8]", "[7, 8]"},    {"12 apples", "12 apples"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        struct sweep_value value = sweep_value_of(cases[i].text);
        sweep_value_write(&out, &value);
        assert_string_equal(strbuf_text(&out), cases[i].written);
        strbuf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_the_grammar),
        cmocka_unit_test(what_has_no_value_spreads),
        cmocka_unit_test(mistakes_are_told_with_their_column),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(values_are_written_as_they_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
