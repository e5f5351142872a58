/*
 * The probe `flight`: what a load takes with so many others under way, from one warp to the whole
 * GPU, and how many bytes pass in that time (kernels/flight.ptx).
 */
#include <stdio.h>
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"

enum { WARP = 32, LINE = 128, REPEATS_MAX = 64, WARPS_MAX = 1 << 20, ZERO_BYTES = 256 };

struct flight {
    uint64_t blocks, threads, loads, turns, start, bytes, flush_bytes, repeats;
    uint64_t warps;
    const char *op;
    struct device_kernel *kernel;
};

/* A launch's times. */
struct flown {
    double cycles, slowest, ns;
};

static int flight_read(struct probe_live *live, struct flight *f,
                       const struct trace_request *request)
{
    const struct device_info *info = &live->device->info;
    uint64_t blocks = request_number(request, "blocks", info->sms ? info->sms : 1);
    *f = (struct flight){.blocks = blocks,
                         .threads = request_number(request, "threads", WARP),
                         .loads = request_number(request, "loads", 1),
                         .turns = request_number(request, "turns", 1),
                         .bytes = request_number(request, "bytes", LINE) / LINE * LINE,
                         .start = request_number(request, "start", 0) / LINE * LINE,
                         .flush_bytes = request_number(request, "flush_bytes", 0),
                         .repeats = request_number(request, "repeats", 1),
                         .op = trace_request_text(request, "op")};
    uint64_t turn_bytes = f->blocks * (f->threads / WARP) * f->loads * LINE;
    f->warps = f->blocks * (f->threads / WARP);
    if (f->threads % WARP != 0) {
        return error_set(SONDE_EUSAGE, "probe flight: threads must be a multiple of %d", WARP);
    }
    if (info->max_threads_per_block > 0 && f->threads > info->max_threads_per_block) {
        return error_set(SONDE_EUNSUPPORTED, "blocks of %llu threads, where %u is the most",
                         (unsigned long long)f->threads, info->max_threads_per_block);
    }
    if (f->warps > WARPS_MAX || f->bytes < turn_bytes) {
        return error_set(SONDE_EUSAGE,
                         "probe flight: a turn of %llu warps reads %llu bytes, of %llu",
                         (unsigned long long)f->warps, (unsigned long long)turn_bytes,
                         (unsigned long long)f->bytes);
    }
    return SONDE_OK;
}

static int prepare(struct probe_live *live, struct flight *f)
{
    char variant[24];
    struct ground *ground = &live->grounds[GROUND_PLAIN];
    uint64_t extent = f->start + f->bytes + f->loads * LINE;
    snprintf(variant, sizeof(variant), "cg.%u.%d.%s", (unsigned)f->loads, LINE, f->op);
    int rc = SONDE_OK;
    if (extent > ground->buffer.bytes) {
        ground->layout.width = 0;
        rc = buffer_reserve(live, &ground->buffer, extent, 0);
    } else if (f->op[0] == 's') {
        ground->layout.width = 0; /* overwritten */
    }
    rc = rc < 0 ? rc : buffer_reserve(live, &live->out, f->warps * 24, 65536);
    return rc < 0 ? rc : kernel_find(live, &f->kernel, "flight", "flight", variant);
}

/* Nanoseconds are those between the first warp's start and the last one's end. */
static void sum_up(struct flown *out, const uint64_t *words, const struct flight *f)
{
    uint64_t start = UINT64_MAX, end = 0, most = 0;
    double sum = 0;
    for (uint64_t i = 0; i < f->warps; i++) {
        const uint64_t *w = words + 3 * i;
        sum += (double)w[0];
        most = w[0] > most ? w[0] : most;
        start = w[1] < start ? w[1] : start;
        end = w[2] > end ? w[2] : end;
    }
    double turns = (double)f->turns;
    *out = (struct flown){.cycles = sum / ((double)f->warps * turns),
                          .slowest = (double)most / turns,
                          .ns = (double)(end - start)};
}

static int fly(struct probe_live *live, struct flown *out, uint64_t *words, const struct flight *f)
{
    struct call call = call_begin((uint32_t)f->blocks, (uint32_t)f->threads, 0);
    call_u64(&call, live->grounds[GROUND_PLAIN].buffer.address + f->start);
    call_u64(&call, live->out.address);
    call_u64(&call, f->bytes);
    call_u32(&call, (uint32_t)f->turns);
    call_u32(&call, 0);
    int rc = f->flush_bytes ? walk_flush(live, f->flush_bytes) : SONDE_OK;
    rc = rc < 0 ? rc : call_run(live, f->kernel, &call);
    rc = rc < 0 ? rc : device_copy_from(live->device, words, live->out.address, f->warps * 24);
    if (rc == 0) {
        sum_up(out, words, f);
    }
    return rc;
}

static int add_columns(struct trace *trace, const struct flight *f, const struct flown *flown)
{
    static const char *const names[] = {"cycles", "slowest", "ns"};
    double column[REPEATS_MAX] = {0};
    double requests = (double)(f->warps * f->loads), bytes = requests * LINE * (double)f->turns;
    int rc = trace_add_column(trace, "requests", TRACE_F64, &requests, 1);
    rc = rc < 0 ? rc : trace_add_column(trace, "bytes", TRACE_F64, &bytes, 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rc == 0; i++) {
        for (uint64_t k = 0; k < f->repeats; k++) {
            column[k] = i == 0 ? flown[k].cycles : i == 1 ? flown[k].slowest : flown[k].ns;
        }
        rc = trace_add_column(trace, names[i], TRACE_F64, column, f->repeats);
    }
    return rc;
}

int flight_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct flight f;
    struct flown flown[REPEATS_MAX] = {0};
    int rc = flight_read(live, &f, request);
    rc = rc < 0 ? rc : prepare(live, &f);
    uint64_t *words = rc < 0 ? NULL : malloc(f.warps * 24);
    if (!words) {
        return rc < 0 ? rc : error_memory();
    }
    for (uint64_t i = 0; i < f.repeats && rc == 0; i++) {
        rc = fly(live, &flown[i], words, &f);
    }
    rc = rc < 0 ? rc : add_columns(trace, &f, flown);
    free(words);
    return rc;
}
