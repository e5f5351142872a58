/*
 * Which line a full set evicts: from a toy of one set, of which another part of the cache holds
 * every other line, and answers sooner than memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_lab.h"

enum { HIT = 338, FAR = 478, MEMORY = 957, THRESHOLD = 582, WAYS = 4, LINE = 128 };

struct toy {
    uint32_t held[WAYS]; /* the first is the next to leave */
};

/* LRU. */
static uint32_t read_line(struct toy *toy, uint32_t line)
{
    uint32_t at = 0;
    while (at + 1 < WAYS && toy->held[at] != line + 1) {
        at++;
    }
    bool hit = toy->held[at] == line + 1;
    at = hit ? at : 0;
    memmove(toy->held + at, toy->held + at + 1, (WAYS - 1 - at) * sizeof *toy->held);
    toy->held[WAYS - 1] = line + 1;
    return hit ? HIT : line % 2 ? FAR : MEMORY;
}

static uint32_t load(void *toy, uint32_t offset)
{
    return read_line(toy, offset / LINE);
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    memset(toy->held, 0, sizeof toy->held);
    return toy_walk_ring(trace, load, toy);
}

static void what_another_part_answers_is_a_miss_of_the_set(void **state)
{
    (void)state;
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 0, ""};
    uint32_t lines[WAYS + 1];
    struct toy toy = {0};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 1 << 20);
    for (uint32_t i = 0; i <= WAYS; i++) {
        lines[i] = i * LINE;
    }
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .max_window = 1024,
                          .outermost = true};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2.0 * MEMORY;
    level.timing.hit_records = 1000;
    level.timing.fetch_bytes = LINE;
    level.line.bytes = LINE;
    level.conflict.offsets = lines;
    level.conflict.count = WAYS + 1;
    assert_int_equal(level_policy(&level), 0);
    assert_string_equal(bench.out->caches[0].policy.name, "lru");
    assert_true(level.timing.threshold == THRESHOLD);
    toy_lab_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_part_answers_is_a_miss_of_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
