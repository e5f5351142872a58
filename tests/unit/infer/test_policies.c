/*
 * The table of policies and what hangs on its rows: the schema's names, and rules that do what
 * their names say in small sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/policy/policy.h"
#include "infer/policy/rule.h"
#include "util/rng.h"

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The words of the list behind `"name": {"enum": [` of the schema's "policy", with commas. */
static void the_schema_names_the_rows_and_no_others(void **state)
{
    (void)state;
    static const char rows[] =
#define POLICY(id, name, doc) "\"" name "\","
#define POLICY_WORD(name, doc) "\"" name "\","
#include "infer/policy/policies.def"
        ;
    char *text = read_text(SONDE_SOURCE_DIR "/docs/dissection.schema.json"), names[512] = "";
    const char *at = strstr(text, "\"policy\": {");
    at = at ? strstr(at, "\"enum\": [") : NULL;
    assert_non_null(at);
    size_t length = 0;
    for (at = strchr(at, '[') + 1; *at && *at != ']' && length + 2 < sizeof names; at++) {
        if (*at != ' ' && *at != '\n') {
            names[length++] = *at;
        }
    }
    snprintf(names + length, sizeof names - length, ",");
    assert_string_equal(names, rows);
    free(text);
}

/* Of three ways: reads of lines by letter; those that hit, in capitals. */
static void assert_reads(enum policy_kind kind, const char *expected)
{
    struct policy_set set;
    policy_set_init(&set, kind, 3);
    for (size_t i = 0; expected[i]; i++) {
        bool capital = expected[i] >= 'A' && expected[i] <= 'Z';
        bool hit = policy_set_read(&set, (uint32_t)(expected[i] | 0x20));
        if (hit != capital) {
            print_error("%s: read %zu of %s\n", policy_name(kind), i, expected);
        }
        assert_int_equal(hit, capital);
    }
}

static void each_rule_evicts_what_it_says(void **state)
{
    (void)state;
    assert_reads(POLICY_LRU, "abcAdb");  /* b is the oldest use */
    assert_reads(POLICY_FIFO, "abcAda"); /* a came first, though it was used last */
    assert_reads(POLICY_NRU,
                 "abcdBa"); /* c's bit alone was set: a went; b's bit is clear, b stays */
    assert_reads(POLICY_SRRIP, "abcAdAb");      /* a is near, b the first of the others */
    assert_reads(POLICY_PLRU, "abcdBC");        /* a's half was used longer ago */
    assert_reads(POLICY_LRU_LATE, "abcABdc");   /* d ranks behind both hits, c was evicted */
    assert_reads(POLICY_LRU_LATE, "abcABdAed"); /* d itself goes before what was hit */
}

/* A set's states are those of a number, but for what all ways have in common. */
static bool is_washed_state(const struct policy_set *set, unsigned number)
{
    uint64_t most = 0, named = 0;
    for (uint32_t way = 0; way < set->ways; way++) {
        uint64_t state = set->rule->washed_state(set->ways, way, number);
        most = set->state[way] > most ? set->state[way] : most;
        named = state > named ? state : named;
    }
    for (uint32_t way = 0; way < set->ways; way++) {
        uint64_t state = set->rule->washed_state(set->ways, way, number);
        if (set->state[way] + named != state + most) {
            return false;
        }
    }
    return true;
}

static void a_wash_leaves_one_of_the_states_that_its_rule_names(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (unsigned draw = 0; draw < 400; draw++) {
        const enum policy_kind kinds[] = {POLICY_NRU, POLICY_SRRIP};
        struct policy_set set;
        uint32_t ways = 2 + draw % 15, line = 1000;
        policy_set_init(&set, kinds[draw % 2], ways);
        policy_set_scramble(&set, 0, &rng);
        for (uint32_t reads = 4 * ways + (uint32_t)rng_below(&rng, ways); reads > 0; reads--) {
            assert_false(policy_set_read(&set, line++));
        }
        unsigned number = 0, count = set.rule->washed_states(ways);
        while (number < count && !is_washed_state(&set, number)) {
            number++;
        }
        assert_in_range(number, 0, count - 1);
    }
}

static void names_lead_to_kinds_and_back(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < POLICY_COUNT; kind++) {
        assert_int_equal(policy_named(policy_name((enum policy_kind)kind)), kind);
    }
    assert_int_equal(policy_named("random"), POLICY_COUNT);
    assert_int_equal(policy_named(""), POLICY_COUNT);
}

/* Rules that reads of so many ways did not tell apart: are they sure? */
static double doubted(const char *name, const char *other, size_t ways)
{
    struct policy_result out = {.equivalent_count = 1, .confidence = 0.97};
    snprintf(out.name, sizeof out.name, "%s", name);
    snprintf(out.equivalent[0], sizeof out.equivalent[0], "%s", other);
    policy_doubt_choice(&out, ways, true);
    return out.confidence;
}

static void rules_that_few_ways_do_not_make_one_are_not_sure(void **state)
{
    (void)state;
    assert_true(doubted("lru", "plru", 2) > 0.9);
    assert_true(doubted("lru", "nru", 2) > 0.9);
    assert_true(doubted("random", "biased", 2) > 0.9);
    assert_true(doubted("lru", "srrip", 2) < 0.9);
    assert_true(doubted("lru", "fifo", 2) < 0.9);
    assert_true(doubted("lru", "plru", 3) < 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_names_the_rows_and_no_others),
        cmocka_unit_test(each_rule_evicts_what_it_says),
        cmocka_unit_test(a_wash_leaves_one_of_the_states_that_its_rule_names),
        cmocka_unit_test(names_lead_to_kinds_and_back),
        cmocka_unit_test(rules_that_few_ways_do_not_make_one_are_not_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
