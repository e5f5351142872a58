/*
 * The probe `beside`: what a cache holds of the constants of several kernels that run at the same
 * time (kernels/beside.ptx). A kernel's constants are 64 KiB at most, and a launch may begin with
 * empty caches; so kernels of several modules walk in turn, on one SM, each its own.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum {
    BLOCKS_AN_SM = 6,
    MOST_BLOCKS = 4096,
    MOST_KERNELS = 8,
    PATIENCE = 20000,
    PATIENCE_A_LOAD = 64
};

struct beside {
    struct walk walk;
    uint32_t kernels, loads, passes, owner;
};

static int beside_read(struct beside *beside, const struct trace_request *request)
{
    uint64_t stride = request_number(request, "stride", 256);
    uint64_t bytes = request_number(request, "bytes", 16384);
    if (stride % 4 != 0 || bytes < stride) {
        return error_set(SONDE_EUSAGE,
                         "probe beside: stride must be a multiple of 4 and at most bytes");
    }
    uint64_t loads = bytes / stride;
    *beside = (struct beside){.walk = {.width = 4, .stride = stride, .scale = 1, .count = loads},
                              .kernels = (uint32_t)request_number(request, "kernels", 4),
                              .loads = (uint32_t)loads,
                              .passes = (uint32_t)request_number(request, "passes", 2) + 1,
                              .owner = (uint32_t)request_number(request, "owner", 0)};
    return SONDE_OK;
}

/* Words of a kernel's record. */
static uint64_t part_words(const struct beside *beside)
{
    return 1 + (uint64_t)beside->loads;
}

/* A module for each: a variant without a difference but in its name. */
static int find_kernels(struct probe_live *live, struct device_kernel **kernels,
                        const struct beside *beside)
{
    static const char *const names[MOST_KERNELS] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    int rc = SONDE_OK;
    for (uint32_t i = 0; i < beside->kernels && rc == 0; i++) {
        rc = kernel_find(live, &kernels[i], "beside", "beside", names[i]);
        rc = rc < 0 ? rc : walk_fill_constants(live, &beside->walk, "beside", names[i]);
    }
    return rc;
}

static int launch(struct probe_live *live, struct device_kernel *const *kernels,
                  const struct beside *beside)
{
    struct call calls[MOST_KERNELS];
    uint64_t blocks = (uint64_t)live->device->info.sms * BLOCKS_AN_SM;
    for (uint32_t i = 0; i < beside->kernels; i++) {
        calls[i] = call_begin((uint32_t)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 32,
                              sizeof(uint32_t));
        call_u64(&calls[i], live->out.address);
        call_u32(&calls[i], beside->owner);
        call_u32(&calls[i], i);
        call_u32(&calls[i], beside->kernels);
        call_u32(&calls[i], beside->loads);
        call_u32(&calls[i], beside->passes);
        call_u32(&calls[i], PATIENCE + PATIENCE_A_LOAD * beside->kernels * beside->loads);
    }
    return call_run_together(live, kernels, calls, beside->kernels);
}

static int take_records(struct trace *trace, const struct beside *beside, const uint32_t *words)
{
    uint64_t count = (uint64_t)beside->kernels * beside->loads;
    uint32_t smid[MOST_KERNELS], *latency = calloc(count + 1, sizeof(*latency));
    if (!latency) {
        return error_memory();
    }
    bool all = words[2] == 0;
    for (uint32_t k = 0; k < beside->kernels; k++) {
        const uint32_t *part = words + RECORD_OUT_WORDS + k * part_words(beside);
        smid[k] = part[0] - 1;
        all = all && part[0] == beside->owner + 1;
        for (uint32_t i = 0; i < beside->loads; i++) {
            latency[(uint64_t)k * beside->loads + i] = part[1 + i];
        }
    }
    int rc = all ? SONDE_OK
                 : error_set(SONDE_EDEVICE, "%u kernels did not run beside each other on SM %u",
                             beside->kernels, beside->owner);
    rc = rc < 0 ? rc : trace_add_column(trace, "latency", TRACE_U32, latency, count);
    rc = rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, smid, beside->kernels);
    free(latency);
    return rc;
}

int beside_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct beside beside = {0};
    struct device_kernel *kernels[MOST_KERNELS];
    int rc = beside_read(&beside, request);
    if (rc < 0) {
        return rc;
    }
    uint64_t bytes = 4 * (RECORD_OUT_WORDS + beside.kernels * part_words(&beside));
    uint32_t *words = calloc(1, bytes);
    if (!words) {
        return error_memory();
    }
    rc = find_kernels(live, kernels, &beside);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, bytes, 65536);
    rc = rc < 0 ? rc : device_copy_to(live->device, live->out.address, words, bytes);
    rc = rc < 0 ? rc : launch(live, kernels, &beside);
    rc = rc < 0 ? rc : device_copy_from(live->device, words, live->out.address, bytes);
    rc = rc < 0 ? rc : take_records(trace, &beside, words);
    free(words);
    return rc;
}
