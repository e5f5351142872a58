/*
 * The probe `average`: a dependent chain of 64-bit pointers, timed as a whole
 * (kernels/average.ptx).
 */
#include "probe/live.h"
#include "util/error.h"

/* Loads in a turn of the kernel's loop. */
enum { TURN = 16, AUTO_LOADS_LEAST = 1024, REPEATS_MAX = 1024 };

struct average {
    struct walk walk;
    uint64_t touch_stride, warm_turns, turns, repeats;
    bool touch;
};

static uint64_t turns_of(uint64_t loads)
{
    return (loads + TURN - 1) / TURN;
}

static int average_read(struct average *average, const struct trace_request *request)
{
    *average = (struct average){.touch_stride = request_number(request, "touch_stride", 32),
                                .repeats = request_number(request, "repeats", 1),
                                .touch = request_flag(request, "touch")};
    int rc = walk_read(&average->walk, request, 8);
    if (rc < 0) {
        return rc;
    }
    uint64_t count = average->walk.count;
    uint64_t loads = count < AUTO_LOADS_LEAST ? AUTO_LOADS_LEAST : count;
    average->warm_turns =
        turns_of(request_number(request, "warm", average->touch ? (uint64_t)TURN : count));
    average->turns = turns_of(request_number(request, "loads", loads));
    return SONDE_OK;
}

static int measure_once(struct probe_live *live, struct device_kernel *kernel,
                        const struct average *average, uint64_t out[3])
{
    uint64_t start = walk_address(live, &average->walk) + average->walk.base;
    uint64_t loads = (average->warm_turns + average->turns) * TURN;
    struct call call = call_begin(1, walk_threads(live, average->touch), 0);
    call_u64(&call, start);
    call_u64(&call, live->out.address);
    call_u64(&call, average->touch ? average->walk.bytes : 0);
    call_u32(&call, (uint32_t)average->touch_stride);
    call_u32(&call, (uint32_t)walk_offset(&average->walk, 0));
    call_u32(&call, (uint32_t)average->warm_turns);
    call_u32(&call, (uint32_t)average->turns);
    int rc = call_run_touching(live, kernel, &call);
    if (rc == 0) {
        rc = device_copy_from(live->device, out, live->out.address, 3 * sizeof(out[0]));
    }
    uint64_t expected = start + walk_offset(&average->walk, loads);
    if (rc == 0 && out[1] != expected) {
        rc = error_set(SONDE_EDEVICE, "the walk ended at offset %lld instead of %llu",
                       (long long)(out[1] - start), (unsigned long long)(expected - start));
    }
    return rc;
}

int average_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct average average;
    struct device_kernel *kernel;
    double cycles[REPEATS_MAX], loads[REPEATS_MAX];
    uint32_t smid[REPEATS_MAX];
    int rc = average_read(&average, request);
    bool rewarmed = average.touch || average.warm_turns * TURN >= average.walk.count;
    if (rc < 0 || (rc = walk_build(live, &average.walk, rewarmed)) < 0 ||
        (rc = buffer_reserve(live, &live->out, 4096, 65536)) < 0 ||
        (rc = kernel_find(live, &kernel, "average", "average", trace_request_text(request, "op"))) <
            0 ||
        (rc = walk_carveout(live, kernel, request, 8)) < 0) {
        return rc;
    }
    for (uint64_t i = 0; i < average.repeats; i++) {
        uint64_t out[3] = {0};
        rc = measure_once(live, kernel, &average, out);
        if (rc < 0) {
            return rc;
        }
        cycles[i] = (double)out[0];
        loads[i] = (double)(average.turns * TURN);
        smid[i] = (uint32_t)out[2];
    }
    rc = trace_add_column(trace, "cycles", TRACE_F64, cycles, average.repeats);
    rc = rc < 0 ? rc : trace_add_column(trace, "loads", TRACE_F64, loads, average.repeats);
    return rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, smid, average.repeats);
}
