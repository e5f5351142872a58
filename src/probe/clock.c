/*
 * The probe `clock`: cycles beside nanoseconds, both counted on the device (kernels/clock.ptx), so
 * that the result does not depend on how fast the host is. A change between launches is throttling.
 */
#include "probe/live.h"
#include "util/error.h"

enum { REPEATS_MAX = 1024 };

static int measure_once(struct probe_live *live, struct device_kernel *kernel, uint64_t spin,
                        uint64_t out[4])
{
    struct call call = call_begin(1, 32, 0);
    call_u64(&call, live->out.address);
    call_u64(&call, spin);
    int rc = call_run(live, kernel, &call);
    return rc < 0 ? rc : device_copy_from(live->device, out, live->out.address, 4 * sizeof(out[0]));
}

int clock_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    double cycles[REPEATS_MAX], ns[REPEATS_MAX], backward[REPEATS_MAX];
    uint32_t smid[REPEATS_MAX];
    uint64_t repeats = request_number(request, "repeats", 1);
    struct device_kernel *kernel;
    int rc = buffer_reserve(live, &live->out, 4096, 65536);
    if (rc < 0 || (rc = kernel_find(live, &kernel, "clock", "clock", NULL)) < 0) {
        return rc;
    }
    for (uint64_t i = 0; i < repeats; i++) {
        uint64_t out[4] = {0};
        rc = measure_once(live, kernel, request_number(request, "spin", 0), out);
        if (rc < 0) {
            return rc;
        }
        cycles[i] = (double)out[0];
        ns[i] = (double)out[1];
        backward[i] = (double)out[2];
        smid[i] = (uint32_t)out[3];
    }
    rc = trace_add_column(trace, "cycles", TRACE_F64, cycles, repeats);
    rc = rc < 0 ? rc : trace_add_column(trace, "ns", TRACE_F64, ns, repeats);
    rc = rc < 0 ? rc : trace_add_column(trace, "backward", TRACE_F64, backward, repeats);
    return rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, smid, repeats);
}
