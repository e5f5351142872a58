/* The data behind figures: a column has the name that figures.def gives it, whatever is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "study/figure/plot.h"

static const struct {
    const char *id, *x, *columns;
} figures[] = {
#define FIGURE(id, function, title, x, y, style, columns) {id, x, columns},
#include "study/figure/figures.def"
#undef FIGURE
};

static void expect_header(const char *x, const char *columns, const char *line)
{
    struct strbuf csv = {0};
    plot_header(&csv, x, columns);
    assert_string_equal(strbuf_text(&csv), line);
    strbuf_free(&csv);
}

static void a_header_names_each_column(void **state)
{
    (void)state;
    expect_header("threads", "latency|>variance", "threads,latency,variance\n");
    expect_header("x", "a|*published|=equal", "x,a,published,equal\n");
}

static void a_name_with_a_comma_or_a_quote_is_one_field(void **state)
{
    (void)state;
    expect_header("program (SDK, HM)", "a, b|c \"d\"",
                  "\"program (SDK, HM)\",\"a, b\",\"c \"\"d\"\"\"\n");
}

/* Fields of a line, quotes heeded. */
static size_t fields(const char *line)
{
    size_t count = 1;
    bool quoted = false;
    for (; *line; line++) {
        quoted ^= *line == '"';
        count += !quoted && *line == ',';
    }
    return count;
}

static void each_figure_has_as_many_names_as_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        struct strbuf csv = {0};
        size_t columns = 2;
        for (const char *at = figures[i].columns; (at = strchr(at, '|')); at++) {
            columns++;
        }
        plot_header(&csv, figures[i].x, figures[i].columns);
        if (fields(strbuf_text(&csv)) != columns) {
            fail_msg("%s: %zu columns: %s", figures[i].id, columns, strbuf_text(&csv));
        }
        strbuf_free(&csv);
    }
}

/* gnuplot ends an axis that it sizes itself at the last bar, and draws the names behind it outside.
 */
static void a_row_without_bars_has_its_place(void **state)
{
    (void)state;
    struct strbuf script = {0};
    plot_bars(&script, "fig12", "FIFO|OoO128", false, 16);
    assert_non_null(strstr(strbuf_text(&script), "\nset xrange [-1:16]\n"));
    assert_non_null(strstr(strbuf_text(&script), "plot for [i=2:3] 'fig12.csv'"));
    strbuf_free(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_without_bars_has_its_place),
        cmocka_unit_test(a_header_names_each_column),
        cmocka_unit_test(a_name_with_a_comma_or_a_quote_is_one_field),
        cmocka_unit_test(each_figure_has_as_many_names_as_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
