/*
 * The probe `instruction`: instructions of one kind, in chains, in some warps of one block
 * (kernels/instruction.ptx). What more lines take, without what surrounds them, is the
 * instructions' own.
 */
#include <stdio.h>
#include <string.h>

#include "probe/instruction/instruction.h"
#include "probe/live.h"
#include "util/error.h"

enum { WARP = 32, REPEATS_MAX = 64, LINE = 128 };
/* What the kernel reads: four words of each chain, then five. */
enum { CONSTANTS = 4 * INSTRUCTION_CHAINS_MAX, IN_WORDS = CONSTANTS + 5 };
/* Where in the buffer of results the kernel's other places are. */
enum { KEEP_AT = 1024, IN_AT = 2048, OUT_BYTES = 4096 };

struct shape {
    const struct instruction_kind *kind;
    uint32_t chains, warps, active, running, lines, turns, lanes, group, stride, spread;
};

static uint32_t log2_of(uint32_t power)
{
    return (uint32_t)__builtin_ctz(power);
}

static int shape_read(struct shape *s, const struct trace_request *request)
{
    *s = (struct shape){.kind = instruction_find(trace_request_text(request, "op")),
                        .chains = (uint32_t)request_number(request, "chains", 1),
                        .warps = (uint32_t)request_number(request, "warps", 1),
                        .turns = (uint32_t)request_number(request, "turns", 1),
                        .lanes = (uint32_t)request_number(request, "lanes", WARP),
                        .group = (uint32_t)request_number(request, "group", WARP),
                        .stride = (uint32_t)request_number(request, "stride", 8),
                        .spread = (uint32_t)request_number(request, "spread", 0)};
    uint32_t all = s->warps == WARP ? UINT32_MAX : (1u << s->warps) - 1;
    s->active = (uint32_t)request_number(request, "active", all) & all;
    s->running = (uint32_t)__builtin_popcount(s->active);
    s->lines = instruction_lines(s->kind, s->chains, (uint32_t)request_number(request, "lines", 0));
    if (s->running == 0) {
        return error_set(SONDE_EUSAGE, "probe instruction: no warp is active");
    }
    if (s->stride % 4 != 0) {
        return error_set(SONDE_EUSAGE, "probe instruction: stride must be a multiple of 4");
    }
    return SONDE_OK;
}

/* Bytes between a group of lanes and the next: lines; of a whole warp, nothing follows. */
static uint64_t group_bytes(const struct shape *s)
{
    return ((uint64_t)s->group * s->stride + LINE - 1) / LINE * LINE;
}

/* What a chain of a warp reaches, and the warp: past what 16 bytes of the last lane may need. */
static uint64_t chain_bytes(const struct shape *s)
{
    return group_bytes(s) * (WARP / s->group) + (s->stride < 16 && s->group > 1 ? LINE : 0);
}

static int fill_inputs(struct probe_live *live, const struct shape *s)
{
    uint64_t words[IN_WORDS];
    for (uint32_t c = 0; c < INSTRUCTION_CHAINS_MAX; c++) {
        words[4 * c] = s->kind->start;
        words[4 * c + 1] = words[4 * c + 2] = words[4 * c + 3] = s->kind->other;
    }
    words[CONSTANTS] = words[CONSTANTS + 2] = s->kind->start;
    words[CONSTANTS + 1] = words[CONSTANTS + 3] = s->kind->other;
    words[CONSTANTS + 4] = 0;
    return device_copy_to(live->device, live->out.address + IN_AT, words, sizeof(words));
}

static int prepare(struct probe_live *live, struct device_kernel **kernel, const struct shape *s,
                   const struct trace_request *request)
{
    char variant[32];
    uint32_t most = live->device->info.max_threads_per_block;
    if (most > 0 && s->warps * WARP > most) {
        return error_set(SONDE_EUNSUPPORTED, "blocks of %u threads, where %u is the most",
                         s->warps * WARP, most);
    }
    snprintf(variant, sizeof(variant), "%s.%u.%u", s->kind->op, s->chains, s->lines);
    uint64_t ground = chain_bytes(s) * s->chains * (s->spread ? s->warps : 1);
    int rc = buffer_reserve(live, &live->out, OUT_BYTES, 65536);
    rc = rc < 0 ? rc : buffer_reserve(live, &live->staging, ground, 65536);
    rc = rc < 0 ? rc : fill_inputs(live, s);
    rc = rc < 0 ? rc : kernel_find(live, kernel, "instruction", "instruction", variant);
    return rc < 0 ? rc : walk_carveout(live, *kernel, request, 8192);
}

/* The stretch from the first warp's clock to the last one's, of both loops; modulo 2^32. */
static void stretches(double *shorter, double *longer, const uint32_t *clocks,
                      const struct shape *s)
{
    uint32_t warp = (uint32_t)__builtin_ctz(s->active), from[2], most[2] = {0, 0};
    for (uint32_t loop = 0; loop < 2; loop++) {
        from[loop] = clocks[4 * warp + 2 * loop];
        for (uint32_t i = 0; i < s->warps; i++) {
            bool earlier = (int32_t)(clocks[4 * i + 2 * loop] - from[loop]) < 0;
            from[loop] = s->active >> i & 1 && earlier ? clocks[4 * i + 2 * loop] : from[loop];
        }
        for (uint32_t i = 0; i < s->warps; i++) {
            uint32_t taken = clocks[4 * i + 2 * loop + 1] - from[loop];
            most[loop] = s->active >> i & 1 && taken > most[loop] ? taken : most[loop];
        }
    }
    *shorter = most[0];
    *longer = most[1];
}

static int measure_once(struct probe_live *live, struct device_kernel *kernel,
                        const struct shape *s, double *shorter, double *longer)
{
    uint32_t clocks[4 * WARP];
    struct call call = call_begin(1, s->warps * WARP, 0);
    call_u64(&call, live->out.address + IN_AT);
    call_u64(&call, live->out.address);
    call_u64(&call, live->out.address + KEEP_AT);
    call_u64(&call, live->staging.address);
    call_u64(&call, chain_bytes(s));
    call_u64(&call, s->spread ? chain_bytes(s) * s->chains : 0);
    call_u32(&call, s->turns);
    call_u32(&call, s->active);
    call_u32(&call, s->running * WARP);
    call_u32(&call, s->lanes - 1);
    call_u32(&call, log2_of(s->group));
    call_u32(&call, (uint32_t)group_bytes(s));
    call_u32(&call, s->stride);
    int rc = call_run(live, kernel, &call);
    rc = rc < 0 ? rc : device_copy_from(live->device, clocks, live->out.address, sizeof(clocks));
    if (rc == 0) {
        stretches(shorter, longer, clocks, s);
    }
    return rc;
}

int instruction_run(struct probe_live *live, struct trace *trace,
                    const struct trace_request *request)
{
    double shorter[REPEATS_MAX], longer[REPEATS_MAX], lines;
    uint64_t repeats = request_number(request, "repeats", 1);
    struct device_kernel *kernel = NULL;
    struct shape s;
    int rc = shape_read(&s, request);
    rc = rc < 0 ? rc : prepare(live, &kernel, &s, request);
    for (uint64_t i = 0; i < repeats && rc == 0; i++) {
        rc = measure_once(live, kernel, &s, &shorter[i], &longer[i]);
    }
    if (rc < 0) {
        return rc;
    }
    lines = (double)s.lines * s.turns;
    rc = trace_add_column(trace, "shorter", TRACE_F64, shorter, repeats);
    rc = rc < 0 ? rc : trace_add_column(trace, "longer", TRACE_F64, longer, repeats);
    return rc < 0 ? rc : trace_add_column(trace, "lines", TRACE_F64, &lines, 1);
}
