/*
 * One SM on a test bench: no caches, no network; memory answers every request after a fixed time
 * and keeps a log. Requests come by one of four ports: the network's, L1's, those of the texture
 * and of the constant cache. Kernels are PTX with one parameter, the address of an output buffer.
 */
#ifndef SONDE_TESTS_SM_BENCH_H
#define SONDE_TESTS_SM_BENCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sm.h"
#include "exec/memory/memory.h"
#include "ptx/ir.h"
#include "support/buffer_texture.h"
#include "util/error.h"

#define BENCH_PERIOD_PS 1000
#define BENCH_BUFFER_BYTES (1 << 20)
#define BENCH_LOG 4096

/* Nothing after it issues before the 64-bit register is there. */
#define BENCH_WAIT_FOR(reg)                                                                        \
    "cvt.u32.u64 %r31, " reg ";\nst.volatile.shared.u32 [smem+4088], %r31;\n"

enum bench_port { BENCH_NETWORK, BENCH_L1, BENCH_TEXTURE, BENCH_CONSTANT };

struct bench_log {
    uint64_t cycle, address;
    uint32_t bytes;
    enum mem_kind kind;
    bool bypass, l1;
    enum bench_port port;
};

struct bench {
    struct sm_spec spec;
    uint64_t memory_cycles; /* request to reply */
    uint32_t refuse_above;  /* refuse requests while so many are out; 0: never */
    uint64_t slow_offset;   /* requests at this offset of the buffer take slow_cycles more */
    uint64_t slow_cycles;
    bool with_l1, with_texture, with_constant;
    bool l1_stores_wait;
    uint64_t l1_holds; /* so many bytes of the buffer, from its start; what a store finds */
    uint64_t local_address, local_bytes; /* of local memory, for each thread */
    struct buffer_texture texture;       /* the only one; of texture_bytes, texture_at in `out` */
    uint64_t texture_at, texture_bytes;
    uint32_t pitch_bytes, pitch_rows; /* of the texture; 0: it has one row */
    uint32_t yield_after;             /* of the launch; 0: the SIMT stack */
    engine_handler *watch;            /* called once, at time 0, when the SM is there */

    /* After bench_run(). */
    int error;
    uint64_t cycles;
    uint32_t *out;
    struct bench_log log[BENCH_LOG];
    uint32_t log_count;
    struct sm_stats stats;
    char stall[512]; /* where a warp waits for ever */

    struct engine *engine;
    struct exec_memory *memory;
    struct sm *sm;
    uint32_t requests_out, ctas_ended;
    uint32_t waiting_count; /* senders refused; each waits once */
    struct {
        engine_handler *handler;
        void *ctx;
        uint64_t arg;
    } waiting[8];
};

/* Every unit: latency 10, a warp a cycle; one scheduler, one instruction a cycle. */
static inline void bench_defaults(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->memory_cycles = 100;
    b->spec = (struct sm_spec){.max_threads = 1536,
                               .max_warps = 48,
                               .max_ctas = 8,
                               .registers = 32768,
                               .register_granule = 64,
                               .schedulers = 1,
                               .issue_per_scheduler = 1,
                               .scheduler = SCHED_LOOSE_ROUND_ROBIN,
                               .clock_read_cycles = 5,
                               .lsu_queue_entries = 8,
                               .lsu_cycles = 20,
                               .shared = {.size_bytes = 48 << 10,
                                          .banks = 32,
                                          .bank_bytes = 4,
                                          .latency_cycles = 30,
                                          .conflict_cycles = 3},
                               .coalesce = {.segment_bytes = 128, .lanes_per_pass = 32},
                               .texture = {.address_cycles = 7,
                                           .filter_cycles = 5,
                                           .empty_cycles = 50,
                                           .queue_entries = 16},
                               .constant = {.address_cycles = 3, .queue_entries = 4},
                               .const_hit_cycles = 8,
                               .local_hit_cycles = 40,
                               .l1_caches_global = true};
    b->spec.coalesce.sector_bytes = 32;
    for (int i = 0; i < ISA_UNIT_COUNT; i++) {
        b->spec.unit[i] = (struct unit_spec){.latency_cycles = 10, .lanes_per_cycle = 32};
    }
}

static inline void bench_reply(void *ctx, uint64_t arg)
{
    struct bench *b = ctx;
    struct mem_request *request = (struct mem_request *)(uintptr_t)arg;
    b->requests_out--;
    for (uint32_t i = 0; i < b->waiting_count; i++) {
        engine_at(b->engine, engine_now_ps(b->engine), 0, b->waiting[i].handler, b->waiting[i].ctx,
                  b->waiting[i].arg);
    }
    b->waiting_count = 0;
    request->reply(request->ctx, (uintptr_t)request);
}

static inline bool bench_accept(struct bench *b, struct mem_request *request, enum bench_port port)
{
    if (b->refuse_above && b->requests_out >= b->refuse_above) {
        return false;
    }
    uint64_t now_ps = engine_now_ps(b->engine);
    if (b->log_count < BENCH_LOG) {
        b->log[b->log_count++] = (struct bench_log){.cycle = now_ps / BENCH_PERIOD_PS,
                                                    .address = request->vaddr,
                                                    .bytes = request->bytes,
                                                    .kind = request->kind,
                                                    .bypass = request->bypass,
                                                    .l1 = port == BENCH_L1,
                                                    .port = port};
    }
    b->requests_out++;
    uint64_t offset = request->vaddr - (uintptr_t)b->out;
    uint64_t cycles = b->memory_cycles + (offset == b->slow_offset ? b->slow_cycles : 0);
    engine_at(b->engine, now_ps + cycles * BENCH_PERIOD_PS, 0, bench_reply, b, (uintptr_t)request);
    return true;
}

static inline bool bench_send_l1(void *self, struct mem_request *request)
{
    return bench_accept(self, request, BENCH_L1);
}

static inline bool bench_l1_holds(const struct mem_cache *self, uint64_t address, uint64_t bytes)
{
    const struct bench *b = (const void *)self;
    return address + bytes <= (uintptr_t)b->out + b->l1_holds;
}

static inline bool bench_send_network(void *self, struct mem_request *request)
{
    return bench_accept(self, request, BENCH_NETWORK);
}

static inline bool bench_send_texture(void *self, struct mem_request *request)
{
    return bench_accept(self, request, BENCH_TEXTURE);
}

static inline bool bench_send_constant(void *self, struct mem_request *request)
{
    return bench_accept(self, request, BENCH_CONSTANT);
}

static inline void bench_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct bench *b = self;
    if (b->waiting_count == sizeof b->waiting / sizeof *b->waiting) {
        fprintf(stderr, "a sender that was refused asks again and again\n");
        abort();
    }
    b->waiting[b->waiting_count].handler = handler;
    b->waiting[b->waiting_count].ctx = ctx;
    b->waiting[b->waiting_count++].arg = arg;
}

static inline bool bench_physical(void *ctx, uint64_t vaddr, uint64_t *paddr)
{
    (void)ctx;
    *paddr = vaddr;
    return vaddr >= 1 << 16;
}

static inline void bench_cta_done(void *ctx, uint32_t sm, const struct sm_grid *grid, uint64_t cta,
                                  const struct sm_cta_counts *counts)
{
    (void)counts;
    (void)sm;
    (void)grid;
    (void)cta;
    ((struct bench *)ctx)->ctas_ended++;
}

static inline void bench_fault(void *ctx, uint32_t sm, int code)
{
    (void)sm;
    ((struct bench *)ctx)->error = code;
}

static inline int bench_build(struct bench *b)
{
    struct sm_setup setup = {
        .spec = &b->spec,
        .clock = {.period_ps = BENCH_PERIOD_PS},
        .source = 10,
        .sm_count = 1,
        .network = {bench_send_network, bench_when_space, b},
        .host = {bench_physical, 1 << 16, bench_cta_done, bench_fault, NULL, b}};
    int rc = engine_create(&b->engine);
    setup.engine = b->engine;
    rc = rc < 0 ? rc : sm_create(&b->sm, &setup);
    rc = rc < 0 ? rc : exec_memory_create(&b->memory, BENCH_BUFFER_BYTES);
    if (rc < 0) {
        return rc;
    }
    if (b->watch) {
        engine_at(b->engine, 0, 5000, b->watch, b, 0);
    }
    if (b->with_l1) {
        struct mem_port l1 = {bench_send_l1, bench_when_space, b};
        struct sm_stores_wait waits = {.holds = bench_l1_holds, .l1 = (void *)b};
        sm_set_l1(b->sm, &l1, b->l1_stores_wait ? &waits : NULL);
    }
    struct mem_port texture = {bench_send_texture, bench_when_space, b};
    struct mem_port constant = {bench_send_constant, bench_when_space, b};
    sm_set_readonly(b->sm, b->with_texture ? &texture : NULL, b->with_constant ? &constant : NULL);
    sm_set_local(b->sm, b->local_address, b->local_bytes, b->spec.max_warps);
    uint64_t base = exec_memory_base(b->memory);
    if (b->pitch_bytes) {
        buffer_texture_make_pitched(&b->texture, base + b->texture_at, b->pitch_bytes,
                                    b->pitch_rows);
    } else {
        buffer_texture_make(&b->texture, base + b->texture_at, b->texture_bytes);
    }
    b->out = (uint32_t *)(uintptr_t)base;
    return exec_memory_map(b->memory, base, BENCH_BUFFER_BYTES);
}

/* Up to `ctas` CTAs at once; true when all have ended without a fault. */
static inline bool bench_loop(struct bench *b, const struct exec_launch *launch, uint32_t ctas,
                              uint32_t threads)
{
    struct sm_grid grid = {.launch = launch};
    occupancy_needs(&grid.needs, &b->spec, threads, exec_program_register_count(launch->program),
                    exec_program_shared_bytes(launch->program));
    b->error = sm_launch(b->sm, &grid, false);
    for (uint32_t i = 0; b->error == 0 && i < ctas; i++) {
        b->error = sm_cta_start(b->sm, &grid, i, NULL);
    }
    while (b->error == 0 && b->ctas_ended < ctas && engine_step(b->engine)) {
    }
    b->cycles = engine_now_ps(b->engine) / BENCH_PERIOD_PS;
    b->stats = *sm_stats(b->sm);
    if (b->error == 0 && b->ctas_ended < ctas && sm_report_stall(b->sm)) {
        snprintf(b->stall, sizeof b->stall, "%s", error_text());
    }
    if (b->error < 0) {
        sm_abort(b->sm);
    }
    engine_run(b->engine, ENGINE_NEVER);
    return b->error == 0 && b->ctas_ended == ctas;
}

/* Runs `body` as a kernel with registers r0-r31, rd0-rd31, p0-p7, and rd0 = out, which is there. */
static inline bool bench_run(struct bench *b, const char *body, uint32_t ctas, uint32_t threads)
{
    static char text[1 << 17];
    int length = snprintf(text, sizeof text,
                          ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry k(.param .u64 out)\n{\n"
                          "  .reg .b32 %%r<32>;\n  .reg .b64 %%rd<32>;\n  .reg .pred %%p<8>;\n"
                          "  .shared .align 16 .b8 smem[4096];\n"
                          "  ld.param.u64 %%rd0, [out];\n%s%s\n  ret;\n}\n",
                          BENCH_WAIT_FOR("%rd0"), body);
    struct ptx_module *module = NULL;
    struct exec_program *program = NULL;
    int rc = bench_build(b);
    rc = rc < 0 ? rc : ptx_parse(&module, "test.ptx", text, (size_t)length);
    struct exec_resolver resolver = {.lowering = b->spec.lowering};
    rc = rc < 0 ? rc : exec_program_create(&program, module, ptx_find_func(module, "k"), &resolver);
    if (rc < 0) {
        fprintf(stderr, "%s\n", error_text());
        b->error = rc;
        return false;
    }
    uint64_t param = (uintptr_t)b->out;
    struct exec_launch launch = {.program = program,
                                 .memory = b->memory,
                                 .params = (const uint8_t *)&param,
                                 .param_bytes = 8,
                                 .grid = {ctas, 1, 1},
                                 .block = {threads, 1, 1},
                                 .textures = &b->texture.texture,
                                 .texture_count = 1,
                                 .yield_after = b->yield_after};
    bool ok = bench_loop(b, &launch, ctas, threads);
    sm_destroy(b->sm);
    b->sm = NULL;
    exec_program_destroy(program);
    ptx_module_destroy(module);
    return ok;
}

static inline void bench_free(struct bench *b)
{
    sm_destroy(b->sm);
    exec_memory_destroy(b->memory);
    engine_destroy(b->engine);
}

#endif
