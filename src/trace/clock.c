/*
 * The clock under a measurement: probes count a launch's cycles and nanoseconds, and their ratio
 * tells a clock that ramped up, throttled, or differs from one trace to the next. The nanosecond
 * timer advances in steps (32 ns on an H200, about 1 us on older GPUs), which limits what a short
 * launch can tell.
 */
#include <math.h>

#include "trace/trace.h"
#include "util/divisor.h"

/* No timer known is coarser, in nanoseconds. */
#define COARSEST_STEP_NS 1024

bool trace_clock_hz(const struct trace *trace, double *hz, double *error_hz)
{
    size_t count, ns_count;
    const double *cycles = trace_f64(trace, "cycles", &count);
    const double *ns = trace_f64(trace, "ns", &ns_count);
    double all_cycles = 0, all_ns = 0;
    uint64_t step_ns = 0;
    if (!cycles || !ns || count != ns_count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!(ns[i] >= 1 && ns[i] < 1e15 && cycles[i] >= 0 && cycles[i] < 1e18)) {
            return false;
        }
        all_cycles += cycles[i];
        all_ns += ns[i];
        step_ns = common_divisor(step_ns, (uint64_t)ns[i]);
    }
    if (all_ns == 0) {
        return false;
    }
    /* Each launch's span is off by a step at most, either way; over many that averages out. */
    step_ns = step_ns > COARSEST_STEP_NS ? COARSEST_STEP_NS : step_ns;
    *hz = all_cycles / all_ns * 1e9;
    *error_hz = *hz * (double)step_ns * sqrt((double)count) / all_ns;
    return true;
}
