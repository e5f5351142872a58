/*
 * Which rows are asked for lines of a set, and what the number of sets is worth where loads end
 * before those between the rows were asked: from a toy of hashed slices with LRU.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/geometry/rows.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "support/toy_set.h"

enum {
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    LINE = 128,
    WAYS = 2,
    WIDTH = 8, /* lines of a row, and slices */
    PERIOD = 1024,
    SETS = WIDTH * PERIOD,
    SPENT = 4000000, /* loads, more than may be taken */
    FOOTPRINT = 1 << 30
};

struct toy {
    uint32_t held[SETS][WAYS];
    struct lab *lab;
    unsigned cheap; /* walks; one more, and all loads are spent */
};

/* Any line of a row lies in any slice. */
static uint32_t set_of(uint32_t line)
{
    uint32_t mixed = (line ^ line >> 7) * UINT32_C(2654435761);
    return line / WIDTH % PERIOD * WIDTH + (mixed >> 16) % WIDTH;
}

static uint32_t load(void *ctx, uint32_t offset)
{
    struct toy *toy = ctx;
    uint32_t line = offset / LINE;
    return toy_set_read(toy->held[set_of(line)], WAYS, line) ? HIT : MISS;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    toy->lab->loads += toy->cheap-- == 0 ? SPENT : 0;
    return toy_walk_ring(trace, load, toy);
}

/* The first lines of the set that line 5 is in. */
static uint32_t *conflicting(void)
{
    uint32_t *offsets = calloc(WAYS + 1, sizeof *offsets);
    assert_non_null(offsets);
    for (uint32_t line = 5, count = 0; count <= WAYS; line++) {
        if (set_of(line) == set_of(5)) {
            offsets[count++] = line * LINE;
        }
    }
    return offsets;
}

static struct attribute count_sets(unsigned cheap)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    struct toy_lab bench;
    struct toy *toy = calloc(1, sizeof *toy);
    assert_non_null(toy);
    toy_lab_open(&bench, answer, toy, FOOTPRINT);
    toy->lab = &bench.lab;
    toy->cheap = cheap;
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .max_window = 6144,
                          .large = true,
                          .outermost = true};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2.0 * MISS;
    level.timing.fetch_bytes = LINE;
    level.timing.hit_records = 100000;
    level.habits.beginning_known = true;
    level.line.bytes = level.fit.stride = LINE;
    level.fit.count = SETS;
    level.conflict.offsets = conflicting();
    level.conflict.count = WAYS + 1;
    int rc = level_rows(&level);
    struct attribute sets = level.result->sets;
    level_free(&level);
    toy_lab_close(&bench);
    free(toy);
    assert_int_equal(rc, 0);
    return sets;
}

static void rows_with_others_between_them_asked_are_counted(void **state)
{
    (void)state;
    struct attribute sets = count_sets(UINT_MAX);
    assert_true(sets.value == SETS);
    assert_true(sets.confidence > 0.8);
}

static void rows_that_could_not_be_asked_are_not_taken_for_empty(void **state)
{
    (void)state;
    struct attribute sets = count_sets(120);
    assert_true(sets.confidence < 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_others_between_them_asked_are_counted),
        cmocka_unit_test(rows_that_could_not_be_asked_are_not_taken_for_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
