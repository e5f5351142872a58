/*
 * How many lines a cache holds, from lines read there, back and there again in one launch: a toy
 * whose sets draw which lines they get, and whose lines may come later than when they are read
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/large/large.h"
#include "infer/level.h"
#include "infer/policy/rule.h"
#include "support/toy_lab.h"
#include "support/toy_set.h"
#include "util/rng.h"

enum { HIT = 200, MISS = 500, WAYS = 4, SETS = 24, LINE = 128, MOST_LINES = 4096, BITS = 32 };

/* Of so many lines that are held one comes later than when it is read again; 0: none. */
struct toy {
    uint32_t late_one_of, set[SETS][WAYS], set_of[MOST_LINES];
    uint32_t disturbed, reads; /* one read of so many takes a place for something else; 0: none */
    bool drawn;                /* victims are */
    const char *rule;          /* that sets follow; NULL: LRU */
    struct policy_set ruled[SETS];
    uint32_t window; /* records of one; 0: 6144 */
    uint32_t lines;  /* that memory has; 0: MOST_LINES */
    struct rng rng;
};

static bool read_drawn(struct toy *toy, uint32_t *set, uint32_t line)
{
    for (uint32_t way = 0; way < WAYS; way++) {
        if (set[way] == line) {
            return true;
        }
    }
    set[rng_below(&toy->rng, WAYS)] = line;
    return false;
}

static bool read_line(struct toy *toy, uint32_t line)
{
    uint32_t *set = toy->set[toy->set_of[line]];
    if (toy->disturbed > 0 && ++toy->reads % toy->disturbed == 0) {
        toy_set_read(toy->set[rng_below(&toy->rng, SETS)], WAYS, MOST_LINES + toy->reads);
    }
    return toy->drawn  ? read_drawn(toy, set, line)
           : toy->rule ? policy_set_read(&toy->ruled[toy->set_of[line]], line)
                       : toy_set_read(set, WAYS, line);
}

static void walk_back(struct toy *toy, uint32_t *bits, uint32_t *later, uint32_t count,
                      uint32_t first, bool with_later, bool ascends)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t behind = count - 1 - i, line = first + (ascends ? i : behind);
        bool hit = read_line(toy, line);
        if (hit) { /* what hits is read twice */
            read_line(toy, line);
        }
        bool late = hit && toy->late_one_of > 0 && behind % toy->late_one_of == 0;
        *later += late && !with_later;
        bits[behind / BITS] |= (uint32_t)(hit && (!late || with_later)) << behind % BITS;
    }
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *request = &trace->request;
    uint64_t count = toy_number(request, "count", 1), slack = toy_number(request, "slack", 0);
    uint32_t first = (uint32_t)(toy_number(request, "base", 0) / LINE);
    assert_in_range(first + count, 1, MOST_LINES);
    size_t words = (count + BITS - 1) / BITS;
    uint32_t *bits = calloc(2 * words, sizeof *bits), later[2] = {0};
    assert_non_null(bits);
    for (uint32_t i = 0; i < count; i++) {
        read_line(toy, first + i);
    }
    walk_back(toy, bits, &later[0], (uint32_t)count, first, slack == 0, false);
    walk_back(toy, bits + words, &later[1], (uint32_t)count, first, slack == 0, true);
    int rc = trace_add_column(trace, "held", TRACE_U32, bits, 2 * words);
    rc = rc ? rc : trace_add_column(trace, "later", TRACE_U32, later, 2);
    free(bits);
    return rc;
}

static void draw_sets(struct toy *toy, uint32_t sets)
{
    rng_seed(&toy->rng, 5);
    for (uint32_t i = 0; i < MOST_LINES; i++) {
        toy->set_of[i] = (uint32_t)rng_below(&toy->rng, sets);
    }
    for (uint32_t i = 0; toy->rule && i < SETS; i++) {
        policy_set_init(&toy->ruled[i], policy_named(toy->rule), WAYS);
    }
}

static void open_level(struct level *level, struct toy_lab *bench, struct toy *toy)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 6144, ""};
    toy_lab_open(bench, answer, toy, (uint64_t)(toy->lines ? toy->lines : MOST_LINES) * LINE);
    bench->options.max_window = toy->window ? toy->window : 6144;
    *level = (struct level){.lab = &bench->lab,
                            .info = &info,
                            .result = &bench->out->caches[0],
                            .conflict.count = WAYS + 1,
                            .fit.count = (size_t)SETS * WAYS};
    level->timing.threshold = 0.5 * (HIT + MISS);
    level->timing.hit_cycles = HIT;
    level->line.bytes = LINE;
}

/* Returns what the experiment does; *held: the lines that it tells. */
static int examine(struct toy *toy, size_t *held)
{
    struct toy_lab bench;
    struct level level;
    draw_sets(toy, SETS);
    open_level(&level, &bench, toy);
    bool answered = false;
    int rc = to_and_fro(&level, held, &answered);
    assert_true(answered);
    toy_lab_close(&bench);
    return rc;
}

/* Returns the sets that the policy tells; 0: none. */
static uint32_t sets_by_rule(struct toy *toy, uint32_t sets, const struct policy_result *policy)
{
    struct toy_lab bench;
    struct level level;
    draw_sets(toy, sets);
    open_level(&level, &bench, toy);
    level.result->policy = *policy;
    int rc = large_sets_by_rule(&level);
    uint32_t told = rc ? 0 : (uint32_t)level.result->sets.value;
    assert_true(rc == 0 || rc == INFER_UNDECIDED);
    assert_true(rc || level.result->sets.confidence < 0.9);
    toy_lab_close(&bench);
    return told;
}

static void lines_that_sets_hold_are_counted(void **state)
{
    (void)state;
    size_t held = 0;
    assert_int_equal(examine(&(struct toy){0}, &held), 0);
    assert_int_equal(held, (size_t)SETS * WAYS);
}

static void few_that_come_later_are_held_too(void **state)
{
    (void)state;
    size_t held = 0;
    assert_int_equal(examine(&(struct toy){.late_one_of = 40}, &held), 0);
    assert_int_equal(held, (size_t)SETS * WAYS);
}

/* Nothing that is held comes as soon as when it is read again: that tells no cache of nothing. */
static void all_that_come_later_tell_nothing(void **state)
{
    (void)state;
    size_t held = 0;
    assert_int_equal(examine(&(struct toy){.late_one_of = 1}, &held), INFER_UNDECIDED);
}

/* A few lines of something else in a hundred take places: what is held is no whole number of sets.
 */
static void what_the_policy_makes_of_hits_tells_sets(void **state)
{
    (void)state;
    const struct policy_result lru = {.name = "lru", .confidence = 0.97};
    size_t held = 0;
    assert_int_equal(examine(&(struct toy){.disturbed = 100}, &held), INFER_UNDECIDED);
    assert_int_equal(sets_by_rule(&(struct toy){.disturbed = 300}, SETS, &lru), SETS);
}

/* Lines that nobody hit leave first, and those of the last hits stay: what was read before, as many
 * lines as now, says which these are. */
static void what_walks_before_have_left_is_known_to_the_rule(void **state)
{
    (void)state;
    const struct policy_result late = {.name = "lru_late", .confidence = 0.97};
    struct toy toy = {.rule = "lru_late"};
    assert_int_equal(sets_by_rule(&toy, SETS, &late), SETS);
}

/* Readings of the same lines over and over are no more than one: of few sets that says too little.
 */
static void one_row_of_lines_is_no_average_of_many(void **state)
{
    (void)state;
    const struct policy_result lru = {.name = "lru", .confidence = 0.97};
    for (uint32_t lines = 140; lines <= 280; lines += 20) {
        struct toy toy = {.lines = lines};
        uint32_t told = sets_by_rule(&toy, SETS, &lru);
        assert_true(told == 0 || told == SETS);
    }
}

/* Not twice as many lines as fit can be recorded. */
static void sets_are_told_by_fewer_lines_where_no_more_are_recorded(void **state)
{
    (void)state;
    enum { WINDOW = 9 };
    const struct policy_result lru = {.name = "lru", .confidence = 0.97};
    struct toy toy = {.window = WINDOW};
    assert_int_equal(sets_by_rule(&toy, SETS, &lru), SETS);
}

static const struct policy_result drawn = {.name = "random",
                                           .probability = {0.25, 0.25, 0.25, 0.25},
                                           .probability_count = WAYS,
                                           .confidence = 0.97};

/* Victims are drawn: a number that is built is told, another one is not. */
static void sets_whose_victims_are_drawn_are_told_where_one_number_is_likely(void **state)
{
    (void)state;
    assert_int_equal(sets_by_rule(&(struct toy){.drawn = true}, SETS, &drawn), SETS);
    uint32_t others = sets_by_rule(&(struct toy){.drawn = true}, SETS - 5, &drawn);
    assert_true(others == 0 || others == SETS - 5);
}

/* Lines that come later are another part's, whose copies take places too. */
static void sets_of_parts_are_not_told_by_rule(void **state)
{
    (void)state;
    struct toy toy = {.late_one_of = 4, .drawn = true};
    assert_int_equal(sets_by_rule(&toy, SETS, &drawn), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_sets_hold_are_counted),
        cmocka_unit_test(few_that_come_later_are_held_too),
        cmocka_unit_test(all_that_come_later_tell_nothing),
        cmocka_unit_test(what_the_policy_makes_of_hits_tells_sets),
        cmocka_unit_test(what_walks_before_have_left_is_known_to_the_rule),
        cmocka_unit_test(one_row_of_lines_is_no_average_of_many),
        cmocka_unit_test(sets_are_told_by_fewer_lines_where_no_more_are_recorded),
        cmocka_unit_test(sets_whose_victims_are_drawn_are_told_where_one_number_is_likely),
        cmocka_unit_test(sets_of_parts_are_not_told_by_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
