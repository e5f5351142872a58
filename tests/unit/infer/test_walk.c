/* Walks that are repeated: the least that each record took counts, where all went the same way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "infer/ask/walk.h"
#include "support/toy_lab.h"

enum { COUNT = 4, WINDOW = 8, HIT = 100, MISS = 107, NOISE = 20 };

static const uint32_t ring[COUNT] = {0, 64, 128, 192};

struct toy {
    bool turns; /* the second walk begins elsewhere */
    unsigned asked;
    bool persists; /* as the last one was asked */
};

/* Element 1 misses. Of each walk every third record has noise, at another place each time. */
static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    uint64_t value = 0;
    toy->persists = trace_request_u64(&trace->request, "persist", &value) && value;
    size_t from = toy->turns ? toy->asked % COUNT : 0;
    struct toy_walk walk = toy_walk_begin(WINDOW, 1);
    walk.start[0] = ring[from];
    for (size_t i = 0; i < WINDOW; i++) {
        size_t at = (from + i) % COUNT;
        walk.latency[i] = (at == 1 ? MISS : HIT) + ((i + toy->asked) % 3 == 0 ? NOISE : 0);
        walk.next[i] = ring[(at + 1) % COUNT];
    }
    toy->asked++;
    return toy_walk_end(&walk, trace);
}

static int run(struct walk *walk, struct toy_lab *bench, uint32_t repeats,
               const struct walk_mirror *mirror)
{
    struct walk_plan plan = {.op = "const",
                             .shape = {.ring = ring, .count = COUNT},
                             .warm = COUNT,
                             .window = WINDOW,
                             .windows = 1,
                             .repeats = repeats,
                             .mirror = *mirror};
    return walk_run(&bench->lab, walk, &plan);
}

static void the_least_of_each_record_counts(void **state)
{
    (void)state;
    static const struct walk_mirror none = {0}, mirror = {.above = 90, .upto = 110, .sum = 207};
    struct toy toy = {0};
    struct walk walk;
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 65536);
    assert_int_equal(run(&walk, &bench, 2, &none), 0);
    assert_int_equal(toy.asked, 2);
    for (size_t i = 0; i < WINDOW; i++) {
        assert_int_equal(walk.latency[i], walk_element(&walk, i) == 1 ? MISS : HIT);
    }
    walk_free(&walk);
    assert_int_equal(run(&walk, &bench, 2, &mirror), 0); /* the same walks, seen in the mirror */
    assert_int_equal(toy.asked, 2);
    for (size_t i = 0; i < WINDOW; i++) {
        assert_int_equal(walk.latency[i], walk_element(&walk, i) == 1 ? HIT : MISS);
    }
    walk_free(&walk);
    toy_lab_close(&bench);
}

static void one_walk_is_as_it_was_recorded(void **state)
{
    (void)state;
    static const struct walk_mirror none = {0};
    struct toy toy = {0};
    struct walk walk;
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 65536);
    assert_int_equal(run(&walk, &bench, 0, &none), 0);
    assert_int_equal(toy.asked, 1);
    assert_int_equal(walk.latency[0], HIT + NOISE);
    assert_int_equal(walk.latency[1], MISS);
    walk_free(&walk);
    toy_lab_close(&bench);
}

static void walks_that_begin_elsewhere_are_not_compared(void **state)
{
    (void)state;
    static const struct walk_mirror none = {0};
    struct toy toy = {.turns = true};
    struct walk walk;
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 65536);
    assert_int_equal(run(&walk, &bench, 2, &none), INFER_UNDECIDED);
    toy_lab_close(&bench);
}

/* Between launches local memory's cache is not kept, and the probe refuses to go on there. */
static void a_path_that_cannot_go_on_is_walked_anew(void **state)
{
    (void)state;
    static const char *const ops[] = {"const", "local"};
    for (size_t i = 0; i < 2; i++) {
        struct toy toy = {0};
        struct walk walk;
        struct toy_lab bench;
        struct walk_plan plan = {.op = ops[i],
                                 .shape = {.ring = ring, .count = COUNT},
                                 .warm = COUNT,
                                 .window = WINDOW,
                                 .windows = 1,
                                 .persist = true};
        toy_lab_open(&bench, answer, &toy, 65536);
        assert_int_equal(walk_run(&bench.lab, &walk, &plan), 0);
        assert_int_equal(toy.persists, i == 0);
        walk_free(&walk);
        toy_lab_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_each_record_counts),
        cmocka_unit_test(one_walk_is_as_it_was_recorded),
        cmocka_unit_test(walks_that_begin_elsewhere_are_not_compared),
        cmocka_unit_test(a_path_that_cannot_go_on_is_walked_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
