/*
 * The cost of each further word that a warp wants of the constant cache, from made-up times: what
 * lies on a line has its slope, what lies beside it has no value.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "util/error.h"

enum { LOADS = 256 };

/* Cycles of a load of a warp that wants so many words. */
struct times {
    double first, slope;
    uint64_t odd; /* with so many words it takes `more` cycles more */
    double more;
    struct traceset *set;
};

static int answer(void *ctx, const struct trace **out, const struct trace_request *request)
{
    const struct times *times = ctx;
    struct trace trace;
    uint64_t words = 0, loads = 0;
    assert_string_equal(request->probe, "constant");
    assert_true(trace_request_u64(request, "addresses", &words));
    assert_true(trace_request_u64(request, "loads", &loads));
    assert_int_equal(loads, LOADS);
    double cycles = times->first + times->slope * (double)(words - 1);
    cycles += words == times->odd ? times->more : 0;
    /* Three repetitions, of which noise has delayed the first and the last. */
    const double all[] = {LOADS * (cycles + 40), LOADS * cycles, LOADS * (cycles + 3)};
    const double counts[] = {LOADS, LOADS, LOADS};
    assert_int_equal(trace_init(&trace, request), 0);
    assert_int_equal(trace_add_column(&trace, "cycles", TRACE_F64, all, 3), 0);
    assert_int_equal(trace_add_column(&trace, "loads", TRACE_F64, counts, 3), 0);
    return traceset_add(times->set, &trace, out);
}

static struct attribute penalty(struct times times)
{
    static const struct level_info info = {"constant_l1", "sm", "const", "", "cg", 0, 0, ""};
    static struct dissection found;
    struct trace_source source = {.get = answer, .ctx = &times};
    struct infer_options options = {0};
    memset(&found, 0, sizeof found);
    struct lab lab = {.source = &source, .options = &options, .out = &found};
    struct level level = {.lab = &lab, .info = &info, .result = &found.caches[0]};
    assert_int_equal(traceset_create(&times.set), 0);
    int rc = level_broadcast(&level);
    traceset_destroy(times.set);
    struct attribute result = found.caches[0].address_penalty;
    assert_int_equal(rc == 0, result.status == ATTRIBUTE_MEASURED);
    return result;
}

static void expect(struct times times, double slope)
{
    struct attribute found = penalty(times);
    assert_int_equal(found.status, ATTRIBUTE_MEASURED);
    assert_true(fabs(found.value - slope) < 1e-9);
    assert_string_equal(found.unit, "cycles");
}

static void words_that_are_served_one_after_the_other_cost_the_slope(void **state)
{
    (void)state;
    expect((struct times){.first = 46, .slope = 46}, 46);
    expect((struct times){.first = 46, .slope = 4}, 4);
    expect((struct times){.first = 8, .slope = 0.5}, 0.5);
}

static void words_that_come_together_cost_nothing(void **state)
{
    (void)state;
    expect((struct times){.first = 46}, 0);
    expect((struct times){.first = 46, .slope = -0.01}, 0);
}

static void a_time_beside_the_line_leaves_it_open(void **state)
{
    (void)state;
    /* 46 and 4 a word: 16 words take 106 cycles, of which a twentieth is 5.3; 2 words 50: 2.5. */
    expect((struct times){.first = 46, .slope = 4, .odd = 16, .more = 5}, 4);
    expect((struct times){.first = 46, .slope = 4, .odd = 2, .more = -2.4}, 4);
    for (int sign = -1; sign <= 1; sign += 2) {
        struct times far = {.first = 46, .slope = 4, .odd = 16, .more = 5.6 * sign};
        assert_int_equal(penalty(far).status, ATTRIBUTE_NOT_MEASURED);
        struct times near = {.first = 46, .slope = 4, .odd = 2, .more = 2.6 * sign};
        assert_int_equal(penalty(near).status, ATTRIBUTE_NOT_MEASURED);
    }
}

/* Two cycles are within what a clock resolves, however short a load is. */
static void two_cycles_are_no_matter(void **state)
{
    (void)state;
    expect((struct times){.first = 8, .slope = 0.5, .odd = 4, .more = 1.9}, 0.5);
    struct times far = {.first = 8, .slope = 0.5, .odd = 4, .more = 2.1};
    assert_int_equal(penalty(far).status, ATTRIBUTE_NOT_MEASURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_served_one_after_the_other_cost_the_slope),
        cmocka_unit_test(words_that_come_together_cost_nothing),
        cmocka_unit_test(a_time_beside_the_line_leaves_it_open),
        cmocka_unit_test(two_cycles_are_no_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
