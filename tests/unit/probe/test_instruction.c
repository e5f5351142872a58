/*
 * The probe `instruction`: the kernel's text, and what it counts on a simulated GTX 280
 * (models/gtx280.yaml), whose one pipeline takes 24 cycles and a warp every four.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/instruction/instruction.h"
#include "probe/probe.h"
#include "util/error.h"

struct bench {
    struct device *device;
    struct traceset *set;
    struct probe_live *live;
    struct trace_source source;
};

static int up(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert_int_equal(device_open(&bench->device, "sim:gtx280"), 0);
    assert_int_equal(traceset_create(&bench->set), 0);
    assert_int_equal(probe_live_create(&bench->live, bench->device, bench->set), 0);
    bench->source = probe_live_source(bench->live);
    *state = bench;
    return 0;
}

static int down(void **state)
{
    struct bench *bench = *state;
    probe_live_destroy(bench->live);
    traceset_destroy(bench->set);
    device_close(bench->device);
    free(bench);
    return 0;
}

static int ask(struct bench *bench, const struct trace **trace, const char *text)
{
    struct trace_request request;
    char copy[200], *rest = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    trace_request_init(&request, strtok_r(copy, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        assert_int_equal(trace_request_set_text(&request, word, equals + 1), 0);
    }
    return trace_get(&bench->source, trace, &request);
}

/* Cycles of a further line of each warp. */
static double line_cycles(struct bench *bench, const char *text)
{
    const struct trace *trace = NULL;
    size_t count;
    if (ask(bench, &trace, text) < 0 || trace->status < 0) {
        fail_msg("%s: %s", text, trace ? trace->reason : error_text());
    }
    const double *shorter = trace_f64(trace, "shorter", &count);
    const double *longer = trace_f64(trace, "longer", &count);
    const double *lines = trace_f64(trace, "lines", &count);
    return (longer[0] - shorter[0]) / lines[0];
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

static void chains_take_turns_and_two_kinds_of_lines_within_each(void **state)
{
    (void)state;
    const struct instruction_kind *kind = instruction_find("iadd");
    assert_int_equal(instruction_lines(kind, 2, 5), 8); /* whole turns of two lines of two chains */
    char *text = instruction_text(kind, 2, 8);
    /* Eight lines and sixteen: half of each chain, half of each kind. */
    assert_int_equal(occurrences(text, "    add.u32 %x0, %x0, %y0;\n"), 6);
    assert_int_equal(occurrences(text, "    add.u32 %y0, %y0, %x0;\n"), 6);
    assert_int_equal(occurrences(text, "    add.u32 %x1, %x1, %y1;\n"), 6);
    assert_non_null(strstr(text, "%x0, %x0, %y0;\n    add.u32 %x1, %x1, %y1;\n    add.u32 %y0"));
    assert_null(strstr(strstr(text, ".version"), "{c}"));
    free(text);
}

static void labels_are_each_of_their_own(void **state)
{
    (void)state;
    char *text = instruction_text(instruction_find("branch"), 1, 4);
    assert_int_equal(occurrences(text, "\nSKIP3:"), 1);
    assert_int_equal(occurrences(text, "\nSKIP11:"), 1);
    assert_int_equal(occurrences(text, "\nSKIP12:"), 0);
    free(text);
}

static void a_chain_takes_the_latency_and_many_the_units_time(void **state)
{
    struct bench *bench = *state;
    assert_true(line_cycles(bench, "instruction op=ffma") == 24);
    assert_true(line_cycles(bench, "instruction op=dfma") == 48);
    double full = line_cycles(bench, "instruction op=ffma chains=4 warps=4");
    assert_true(full > 15.8 && full < 16.2); /* four warps, four cycles each */
}

static void warps_that_are_not_active_take_no_time(void **state)
{
    struct bench *bench = *state;
    double two = line_cycles(bench, "instruction op=ffma chains=8 warps=8 active=129");
    assert_true(two > 7.8 && two < 8.2);
}

static void more_lanes_of_a_word_are_fewer_words(void **state)
{
    struct bench *bench = *state;
    double apart = line_cycles(bench, "instruction op=ldg8 group=1");
    double together = line_cycles(bench, "instruction op=ldg8 group=32 stride=8");
    assert_true(apart > together + 8); /* 32 segments leave one by one */
}

static void what_means_nothing_is_refused(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace;
    assert_int_equal(ask(bench, &trace, "instruction op=nonsense"), SONDE_EUSAGE);
    assert_int_equal(ask(bench, &trace, "instruction op=ldg8 stride=6"), SONDE_EUSAGE);
    assert_int_equal(ask(bench, &trace, "instruction op=ffma warps=2 active=4"), SONDE_EUSAGE);
    /* An SM has 16384 registers. */
    assert_int_equal(ask(bench, &trace, "instruction op=ffma warps=32"), 0);
    assert_true(trace->status < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_take_turns_and_two_kinds_of_lines_within_each),
        cmocka_unit_test(labels_are_each_of_their_own),
        cmocka_unit_test_setup_teardown(a_chain_takes_the_latency_and_many_the_units_time, up,
                                        down),
        cmocka_unit_test_setup_teardown(warps_that_are_not_active_take_no_time, up, down),
        cmocka_unit_test_setup_teardown(more_lanes_of_a_word_are_fewer_words, up, down),
        cmocka_unit_test_setup_teardown(what_means_nothing_is_refused, up, down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
