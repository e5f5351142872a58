/* Rows of hashed slices, from lines drawn here; and from lines that lie anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/geometry/rows.h"
#include "util/rng.h"

enum { DRAWS = 200, MOST = 48 };

/* Some lines of one set: of every `period`-th row of `width` lines each with a chance of 1 / width.
 */
static size_t draw_lines(uint32_t *out, uint32_t width, uint32_t period, size_t count,
                         struct rng *rng)
{
    uint32_t row = (uint32_t)rng_below(rng, period), phase = (uint32_t)rng_below(rng, width);
    size_t drawn = 0;
    for (; drawn < count; row += period) {
        for (uint32_t i = 0; i < width && drawn < count; i++) {
            if (rng_below(rng, width) == 0) {
                out[drawn++] = (row + 1) * width + i - phase;
            }
        }
    }
    return drawn;
}

static void rows_of_any_width_are_found_and_hardly_ever_others(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 2, 3, 6, 8, 10, 20, 48, 80, 160};
    uint32_t lines[MOST];
    unsigned sure = 0, wrong = 0;
    struct rng rng;
    rng_seed(&rng, 11);
    for (unsigned i = 0; i < DRAWS; i++) {
        uint32_t width = widths[i % (sizeof widths / sizeof *widths)];
        uint32_t period = 16 + (uint32_t)rng_below(&rng, 2000);
        size_t count = draw_lines(lines, width, period, 18 + rng_below(&rng, 10), &rng);
        struct row_fit fit;
        bool found = rows_fit(&fit, lines, count) && fit.share > 0.9;
        sure += found;
        wrong += found && fit.sets != (uint64_t)width * period;
    }
    assert_in_range(sure, DRAWS * 8 / 10, DRAWS);
    assert_in_range(wrong, 0, DRAWS / 50);
}

static void lines_anywhere_lie_in_no_rows(void **state)
{
    (void)state;
    uint32_t lines[MOST];
    unsigned found = 0;
    struct rng rng;
    rng_seed(&rng, 12);
    for (unsigned i = 0; i < DRAWS; i++) {
        struct row_fit fit;
        lines[0] = (uint32_t)rng_below(&rng, 1000);
        for (size_t k = 1; k < 14; k++) {
            lines[k] = lines[k - 1] + 1 + (uint32_t)rng_below(&rng, 4000);
        }
        found += rows_fit(&fit, lines, 14);
    }
    assert_in_range(found, 0, 1);
}

static void few_lines_tell_nothing(void **state)
{
    (void)state;
    static const uint32_t lines[] = {100, 1100, 2100, 3100};
    struct row_fit fit;
    assert_false(rows_fit(&fit, lines, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_any_width_are_found_and_hardly_ever_others),
        cmocka_unit_test(lines_anywhere_lie_in_no_rows),
        cmocka_unit_test(few_lines_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
