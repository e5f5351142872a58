/* In which order a load's lines are looked up by L1's tags, which lie in banks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/memory/tag_banks.h"
#include "util/rng.h"

enum { LINE = 128, BANKS = 4, LINES = 32, PLACES = 512 };

static uint32_t bank_of(const struct transaction *t)
{
    return tag_bank(t, LINE, BANKS);
}

/* Cycles that they take as lsu.c sends them: until a bank is asked twice. */
static uint32_t turns(const struct transaction *list, uint32_t count)
{
    uint32_t cycles = count > 0, asked = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (asked >> bank_of(&list[i]) & 1) {
            asked = 0;
            cycles++;
        }
        asked |= 1u << bank_of(&list[i]);
    }
    return cycles;
}

static uint32_t ordered_turns(const uint64_t *line, uint32_t count)
{
    struct transaction list[COALESCE_MAX] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (struct transaction){.address = line[i] * LINE, .bytes = 32};
    }
    tag_banks_order(list, count, LINE, BANKS);
    return turns(list, count);
}

static void lines_side_by_side_take_a_cycle_for_four(void **state)
{
    (void)state;
    uint64_t line[LINES];
    for (uint32_t i = 0; i < LINES; i++) {
        line[i] = 7 + i;
    }
    assert_int_equal(ordered_turns(line, 3), 1);
    assert_int_equal(ordered_turns(line, 4), 1);
    assert_int_equal(ordered_turns(line, 5), 2); /* an H200: 20 B from lane to lane */
    assert_int_equal(ordered_turns(line, 32), 8);
}

static void lines_of_one_bank_take_a_cycle_each(void **state)
{
    (void)state;
    uint64_t line[LINES];
    for (uint32_t i = 0; i < LINES; i++) {
        line[i] = (uint64_t)i * BANKS;
    }
    assert_int_equal(ordered_turns(line, LINES), LINES);
}

/* The fullest bank says how long, whatever the order was, and no line is lost. */
static void drawn_lines_take_what_the_fullest_bank_does(void **state)
{
    (void)state;
    enum { TRIALS = 4000 };
    struct rng rng;
    rng_seed(&rng, 1);
    uint64_t all = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct transaction list[COALESCE_MAX] = {{0}};
        uint32_t lines[BANKS] = {0}, fullest = 0, count = 0;
        uint64_t before = 0, after = 0;
        bool drawn[PLACES] = {false};
        for (uint32_t i = 0; i < LINES; i++) {
            uint64_t place = rng_below(&rng, PLACES);
            if (drawn[place]) { /* lanes of one line are one transaction */
                continue;
            }
            drawn[place] = true;
            list[count] = (struct transaction){.address = place * LINE, .bytes = 32};
            before += list[count].address;
            uint32_t of_bank = ++lines[bank_of(&list[count++])];
            fullest = of_bank > fullest ? of_bank : fullest;
        }
        tag_banks_order(list, count, LINE, BANKS);
        for (uint32_t i = 0; i < count; i++) {
            after += list[i].address;
        }
        assert_int_equal(turns(list, count), fullest);
        assert_true(before == after);
        all += fullest;
    }
    /* Lines of 64 KiB: 10.6 cycles were measured on an H200. */
    assert_in_range(all * 100 / TRIALS, 1050, 1085);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_side_by_side_take_a_cycle_for_four),
        cmocka_unit_test(lines_of_one_bank_take_a_cycle_each),
        cmocka_unit_test(drawn_lines_take_what_the_fullest_bank_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
