/* The frequency that a trace's cycles and nanoseconds tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/trace.h"

static void fill(struct trace *trace, const double *cycles, const double *ns, size_t count)
{
    struct trace_request request;
    trace_request_init(&request, "chase");
    assert_int_equal(trace_init(trace, &request), 0);
    assert_int_equal(trace_add_column(trace, "cycles", TRACE_F64, cycles, count), 0);
    assert_int_equal(trace_add_column(trace, "ns", TRACE_F64, ns, count), 0);
}

static void windows_together_tell_the_frequency_and_its_error(void **state)
{
    (void)state;
    static const double cycles[] = {20000, 40000, 20000, 20000}, ns[] = {10016, 20000, 9984, 10048};
    struct trace trace;
    double hz, error_hz;
    fill(&trace, cycles, ns, 4);
    assert_true(trace_clock_hz(&trace, &hz, &error_hz));
    assert_true(hz > 1.997e9 && hz < 1.999e9);
    /* Steps of 32 ns, four windows: 64 of 50048 ns. */
    assert_true(error_hz > hz * 0.00127 && error_hz < hz * 0.00129);
    trace_clear(&trace);
}

static void a_single_window_counts_with_the_coarsest_timer(void **state)
{
    (void)state;
    static const double cycles[] = {200000}, ns[] = {102400};
    struct trace trace;
    double hz, error_hz;
    fill(&trace, cycles, ns, 1);
    assert_true(trace_clock_hz(&trace, &hz, &error_hz));
    assert_true(error_hz > hz * 0.0099 && error_hz < hz * 0.0101);
    trace_clear(&trace);
}

static void traces_without_a_timer_tell_nothing(void **state)
{
    (void)state;
    static const double cycles[] = {100, 100}, none[] = {0, 0}, bad[] = {1.0 / 0.0, -1};
    struct trace trace;
    double hz, error_hz;
    fill(&trace, cycles, none, 2);
    assert_false(trace_clock_hz(&trace, &hz, &error_hz));
    trace_clear(&trace);
    fill(&trace, cycles, bad, 2);
    assert_false(trace_clock_hz(&trace, &hz, &error_hz));
    trace_clear(&trace);
    fill(&trace, cycles, none, 0);
    assert_false(trace_clock_hz(&trace, &hz, &error_hz));
    trace_clear(&trace);
    assert_false(trace_clock_hz(&trace, &hz, &error_hz));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_together_tell_the_frequency_and_its_error),
        cmocka_unit_test(a_single_window_counts_with_the_coarsest_timer),
        cmocka_unit_test(traces_without_a_timer_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
