/*
 * The index of a cache whose number of sets is known, from a toy with LRU sets by address bits: it
 * is asked again where another conflicting set was found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/geometry/geometry.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "support/toy_set.h"

enum {
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    LINE = 128,
    WAYS = 2,
    SETS = 64,
    BITS = 6,
    FOOTPRINT = 1 << 22
};

struct toy {
    uint32_t held[SETS][WAYS];
};

static uint32_t load(void *ctx, uint32_t offset)
{
    struct toy *toy = ctx;
    uint32_t line = offset / LINE;
    return toy_set_read(toy->held[line % SETS], WAYS, line) ? HIT : MISS;
}

static int answer(void *toy, struct trace *trace)
{
    return toy_walk_ring(trace, load, toy);
}

static void an_index_that_is_asked_again_has_each_bit_once(void **state)
{
    (void)state;
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    uint32_t offsets[WAYS + 1] = {0, SETS * LINE, 2 * SETS * LINE};
    struct toy toy = {0};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, FOOTPRINT);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 1024};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2.0 * MISS;
    level.timing.hit_records = 100000;
    level.habits.beginning_known = true;
    level.line.bytes = level.fit.stride = LINE;
    level.fit.count = SETS * WAYS;
    level.conflict.offsets = offsets;
    level.conflict.count = WAYS + 1;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(level_index_of_sets(&level, SETS), 0);
        assert_string_equal(level.result->index.kind, "bits");
        assert_int_equal(level.result->index.mask_count, BITS);
        assert_int_equal(level.result->index.masks[BITS - 1], LINE << (BITS - 1));
    }
    toy_lab_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_that_is_asked_again_has_each_bit_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
