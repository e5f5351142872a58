/*
 * The probe `shared`: dependent accesses of one warp to shared memory at a stride, timed as a whole
 * (kernels/shared.ptx; Mei et al. 2014, Listing 1).
 */
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

/* Accesses in a turn of the kernel's loop. */
enum { TURN = 64, REPEATS_MAX = 1024, LANES = 32 };

/* The driver's default again, or the width that was asked for. */
static int set_banks(struct probe_live *live, struct device_kernel *kernel, const char *mode)
{
    bool is_default = strcmp(mode, "default") == 0;
    int rc = device_set_shared_bank_bytes(live->device, kernel,
                                          is_default ? 0 : (uint32_t)(mode[0] - '0'));
    return is_default && rc == SONDE_EUNSUPPORTED ? SONDE_OK : rc;
}

static int measure_once(struct probe_live *live, struct device_kernel *kernel, uint32_t step_bytes,
                        uint32_t turns, double *cycles)
{
    /* The lanes' words, then what each lane keeps; both begin on a multiple of 8. */
    uint32_t keep = (LANES - 1) * step_bytes + 8;
    keep = (keep + 7) / 8 * 8;
    struct call call = call_begin(1, LANES, keep + LANES * 8);
    call_u64(&call, live->out.address);
    call_u32(&call, step_bytes);
    call_u32(&call, keep);
    call_u32(&call, turns);
    return call_stretch(cycles, live, kernel, &call);
}

int shared_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    double cycles[REPEATS_MAX], loads[REPEATS_MAX];
    uint64_t repeats = request_number(request, "repeats", 1);
    uint64_t word = request_number(request, "word", 4);
    uint64_t turns = (request_number(request, "accesses", TURN) + TURN - 1) / TURN;
    uint32_t step_bytes = (uint32_t)(request_number(request, "stride", 0) * word);
    struct device_kernel *kernel;
    int rc = kernel_find(live, &kernel, "shared", "shared", word == 8 ? "word8" : NULL);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, 4096, 65536);
    rc = rc < 0 ? rc : set_banks(live, kernel, trace_request_text(request, "mode"));
    for (uint64_t i = 0; i < repeats && rc == 0; i++) {
        rc = measure_once(live, kernel, step_bytes, (uint32_t)turns, &cycles[i]);
        loads[i] = (double)(turns * TURN);
    }
    rc = rc < 0 ? rc : trace_add_column(trace, "cycles", TRACE_F64, cycles, repeats);
    return rc < 0 ? rc : trace_add_column(trace, "loads", TRACE_F64, loads, repeats);
}
