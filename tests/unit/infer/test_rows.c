/* Rows of hashed slices, from lines drawn here; and from lines that lie anywhere. What does not lie
 * as hashed lines do is told apart. */
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

/* `blocks` rows of a fit, each `block` lines from its beginning on. */
static size_t put_blocks(uint32_t *out, const struct row_fit *fit, size_t blocks, size_t block)
{
    size_t count = 0;
    for (size_t row = 0; row < blocks; row++) {
        for (size_t i = 0; i < block; i++) {
            out[count++] = (uint32_t)(row * fit->sets + i);
        }
    }
    return count;
}

static void lines_in_blocks_are_not_hashed_one_by_one(void **state)
{
    (void)state;
    const struct row_fit fit = {.width = 4, .period = 576, .sets = 2304, .share = 1};
    uint32_t lines[MOST];
    size_t count = put_blocks(lines, &fit, 6, 4);
    assert_false(rows_as_hashed(&fit, lines, count, 0.7));
    assert_int_equal(rows_block(&fit, lines, count), 4);
    for (uint32_t i = 0; i < 8; i++) { /* a row of two blocks */
        lines[count++] = (uint32_t)(6 * fit.sets) + i;
    }
    assert_false(rows_as_hashed(&fit, lines, count, 0.7));
    assert_int_equal(rows_block(&fit, lines, count), 4);
    lines[count++] = (uint32_t)(7 * fit.sets); /* a row of one line: by itself */
    assert_true(rows_as_hashed(&fit, lines, count, 0.7));
}

/* 17 lines in 10 rows may well be those of one line a row; 60 in 50 are. */
static void one_line_a_row_is_told_from_two_by_counting_rows(void **state)
{
    (void)state;
    const struct row_fit fit = {.width = 8, .period = 320, .sets = 2560, .share = 1};
    double sure = 0;
    assert_int_equal(rows_each(&fit, 10, 17, 0, &sure), 2);
    assert_true(sure < 0.9);
    assert_int_equal(rows_each(&fit, 50, 60, 0, &sure), 1);
    assert_true(sure > 0.995);
    assert_int_equal(rows_each(&fit, 30, 58, 0, &sure), 2);
    assert_true(sure > 0.995);
    const struct row_fit odd = {.width = 5, .period = 41, .sets = 205, .share = 1};
    assert_int_equal(rows_each(&odd, 30, 58, 0, &sure), 1); /* no two parts share these */
}

/* Chance left few lines in the rows that were asked; drawn lines crowded as many as half the sets
 * make. */
static void what_drawn_lines_tell_speaks_for_two_lines_a_row(void **state)
{
    (void)state;
    const struct row_fit fit = {.width = 80, .period = 64, .sets = 5120, .share = 1};
    double alone = 0, sure = 0;
    rows_each(&fit, 16, 17, 0, &alone);
    assert_true(alone > 0.995); /* no more rows are asked */
    rows_each(&fit, 16, 17, 2672, &sure);
    assert_true(sure < 0.95);
    assert_int_equal(rows_each(&fit, 24, 38, 2672, &sure), 2);
    assert_int_equal(rows_each(&fit, 16, 17, 5300, &sure), 1);
    assert_true(sure > alone);
}

static void rows_of_one_line_all_have_it(void **state)
{
    (void)state;
    const struct row_fit fit = {.width = 1, .period = 40, .sets = 40, .share = 1};
    uint32_t lines[MOST];
    size_t count = put_blocks(lines, &fit, 16, 1);
    assert_true(rows_as_hashed(&fit, lines, count, 1));
    assert_false(rows_as_hashed(&fit, lines, count, 0.6));
}

static void few_lines_in_rows_are_doubtful(void **state)
{
    (void)state;
    /* of a blind trial, where sets come again after 20480 lines */
    const struct row_fit fit = {.width = 29, .period = 279, .sets = 8091, .share = 0.99995};
    const uint32_t lines[] = {10, 14, 20, 22, 8101, 8110, 16200};
    assert_false(rows_as_hashed(&fit, lines, sizeof lines / sizeof *lines, 1));
}

/* Two lines of each row of 16 that are 8 apart, as slices in turn of a part have them; then one
 * that lies elsewhere, and too few. */
static void lines_of_slices_in_turn_are_as_far_apart_as_there_are_slices(void **state)
{
    (void)state;
    const struct row_fit fit = {.width = 16, .period = 1024, .sets = 16384, .share = 1};
    uint32_t lines[10];
    for (uint32_t i = 0; i < 10; i++) {
        lines[i] = 24 + i / 2 * 16384 + i % 2 * 8;
    }
    assert_int_equal(rows_apart(&fit, lines, 10), 8);
    assert_int_equal(rows_apart(&fit, lines, 5), 1); /* one in 4096 of hashed ones */
    lines[7]++;
    assert_int_equal(rows_apart(&fit, lines, 10), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_any_width_are_found_and_hardly_ever_others),
        cmocka_unit_test(lines_anywhere_lie_in_no_rows),
        cmocka_unit_test(few_lines_tell_nothing),
        cmocka_unit_test(lines_in_blocks_are_not_hashed_one_by_one),
        cmocka_unit_test(one_line_a_row_is_told_from_two_by_counting_rows),
        cmocka_unit_test(what_drawn_lines_tell_speaks_for_two_lines_a_row),
        cmocka_unit_test(rows_of_one_line_all_have_it),
        cmocka_unit_test(few_lines_in_rows_are_doubtful),
        cmocka_unit_test(lines_of_slices_in_turn_are_as_far_apart_as_there_are_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
