/*
 * The probe `constant`: dependent loads of constants by one warp whose lanes want so many different
 * words, timed as a whole (kernels/constant.ptx).
 */
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

/* Loads in a turn of the kernel's loop; words of its array. */
enum { TURN = 8, REPEATS_MAX = 1024, LANES = 32, WORDS = 1024 };

/* Each word holds its offset. */
static int fill(struct probe_live *live)
{
    uint32_t image[WORDS];
    struct buffer constants;
    int rc = kernel_variable(live, &constants, "constant", NULL, "constants");
    if (rc < 0) {
        return rc;
    }
    if (constants.bytes < sizeof(image)) {
        return error_set(SONDE_EINPUT, "the device has %llu bytes of constants",
                         (unsigned long long)constants.bytes);
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        image[i] = i * 4;
    }
    return device_copy_to(live->device, constants.address, image, sizeof(image));
}

static int measure_once(struct probe_live *live, struct device_kernel *kernel, uint32_t addresses,
                        uint32_t turns, double *cycles)
{
    struct call call = call_begin(1, LANES, LANES * 4);
    call_u64(&call, live->out.address);
    call_u32(&call, addresses);
    call_u32(&call, turns);
    return call_stretch(cycles, live, kernel, &call);
}

int constant_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    double cycles[REPEATS_MAX], loads[REPEATS_MAX];
    uint64_t repeats = request_number(request, "repeats", 1);
    uint64_t turns = (request_number(request, "loads", TURN) + TURN - 1) / TURN;
    uint32_t addresses = (uint32_t)request_number(request, "addresses", 1);
    struct device_kernel *kernel;
    int rc = kernel_find(live, &kernel, "constant", "constant", NULL);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, 4096, 65536);
    rc = rc < 0 ? rc : fill(live);
    for (uint64_t i = 0; i < repeats && rc == 0; i++) {
        rc = measure_once(live, kernel, addresses, (uint32_t)turns, &cycles[i]);
        loads[i] = (double)(turns * TURN);
    }
    rc = rc < 0 ? rc : trace_add_column(trace, "cycles", TRACE_F64, cycles, repeats);
    return rc < 0 ? rc : trace_add_column(trace, "loads", TRACE_F64, loads, repeats);
}
