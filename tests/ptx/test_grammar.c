/* The structured fuzzer of tests/fuzz/fuzz_exec_grammar.c over a fixed number of seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 400

extern uint64_t grammar_drawn, grammar_taken, grammar_run;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drawn_programs_are_parsed_printed_and_run(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint8_t data[8];
        memcpy(data, &seed, sizeof data);
        LLVMFuzzerTestOneInput(data, sizeof data);
    }
    print_message("%llu instructions drawn, %llu taken, %llu programs run\n",
                  (unsigned long long)grammar_drawn, (unsigned long long)grammar_taken,
                  (unsigned long long)grammar_run);
    assert_true(grammar_taken * 3 >
                grammar_drawn); /* mostly valid, or it tests the refusals only */
    assert_int_equal(grammar_run, SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_programs_are_parsed_printed_and_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
