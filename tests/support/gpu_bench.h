/*
 * A GPU on a test bench: a shipped model, which the test may change before it builds the GPU;
 * memory whose physical addresses begin at 0; kernels with one parameter, the address of a buffer.
 */
#ifndef SONDE_TESTS_GPU_BENCH_H
#define SONDE_TESTS_GPU_BENCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "ptx/ir.h"
#include "support/buffer_texture.h"
#include "util/error.h"

#define GPU_BENCH_BUFFER_BYTES (64u << 20)

struct gpu_bench {
    struct model *model;
    struct exec_memory *memory;
    struct gpu *gpu;
    uint32_t *buffer;
    struct buffer_texture texture; /* the only one of the kernels */
    uint64_t cycles;
    int error;
};

static inline bool gpu_bench_physical(void *ctx, uint64_t vaddr, uint64_t *paddr)
{
    uint64_t base = exec_memory_base(((struct gpu_bench *)ctx)->memory);
    *paddr = vaddr - base;
    return vaddr >= base && vaddr - base < GPU_BENCH_BUFFER_BYTES;
}

/* Page tables lie behind the buffer, one after the other. */
static inline bool gpu_bench_entry(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr)
{
    struct gpu_bench *g = ctx;
    const struct walker_level_spec *spec = &g->model->walker.level[level];
    uint64_t offset = vaddr - exec_memory_base(g->memory);
    *paddr = (uint64_t)GPU_BENCH_BUFFER_BYTES * (level + 1) +
             offset / spec->span_bytes * spec->entry_bytes;
    return true;
}

static inline bool gpu_bench_load(struct gpu_bench *g, const char *model)
{
    memset(g, 0, sizeof *g);
    g->error = model_load(&g->model, model);
    return g->error == 0;
}

static inline bool gpu_bench_build(struct gpu_bench *g)
{
    g->error = exec_memory_create(&g->memory, GPU_BENCH_BUFFER_BYTES);
    if (g->error == 0) {
        uint64_t base = exec_memory_base(g->memory);
        g->buffer = (uint32_t *)(uintptr_t)base;
        g->error = exec_memory_map(g->memory, base, GPU_BENCH_BUFFER_BYTES);
    }
    struct gpu_translate translate = {
        .physical = gpu_bench_physical, .ctx = g, .entry = gpu_bench_entry};
    if (g->error == 0) {
        g->error = gpu_create(&g->gpu, g->model, g->memory, &translate);
    }
    return g->error == 0;
}

/* A kernel of such a GPU, for one launch or several. */
struct gpu_bench_kernel {
    struct ptx_module *module;
    struct exec_program *program;
};

static inline void gpu_bench_forget(struct gpu_bench_kernel *kernel)
{
    exec_program_destroy(kernel->program);
    ptx_module_destroy(kernel->module);
}

/* `body` with registers r0-r31, rd0-rd31, p0-p7 and rd0 = the buffer. */
static inline bool gpu_bench_parse(struct gpu_bench_kernel *kernel, struct gpu_bench *g,
                                   const char *body)
{
    static char text[1 << 16];
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".extern .func (.param .b32 code) __cudaCDP2GetLastError ();\n"
                          ".visible .entry k(.param .u64 buffer)\n{\n"
                          "  .reg .b32 %%r<32>;\n  .reg .b64 %%rd<32>;\n  .reg .pred %%p<8>;\n"
                          "  .shared .align 16 .b8 smem[4096];\n"
                          "  ld.param.u64 %%rd0, [buffer];\n%s\n  ret;\n}\n",
                          body);
    *kernel = (struct gpu_bench_kernel){0};
    g->error = ptx_parse(&kernel->module, "test.ptx", text, (size_t)length);
    if (g->error == 0) {
        g->error = exec_program_create(&kernel->program, kernel->module,
                                       ptx_find_func(kernel->module, "k"), NULL);
    }
    if (g->error < 0) {
        fprintf(stderr, "%s\n", error_text());
        gpu_bench_forget(kernel);
        return false;
    }
    return true;
}

static inline bool gpu_bench_launch(struct gpu_bench *g, const struct gpu_bench_kernel *kernel,
                                    uint32_t ctas, uint32_t threads)
{
    uint64_t param = (uintptr_t)g->buffer;
    struct exec_launch launch = {.program = kernel->program,
                                 .memory = g->memory,
                                 .params = (const uint8_t *)&param,
                                 .param_bytes = 8,
                                 .grid = {ctas, 1, 1},
                                 .block = {threads, 1, 1},
                                 .textures = &g->texture.texture,
                                 .texture_count = 1};
    g->error = gpu_launch(g->gpu, &launch, 0, &g->cycles);
    return g->error == 0;
}

static inline bool gpu_bench_run(struct gpu_bench *g, const char *body, uint32_t ctas,
                                 uint32_t threads)
{
    struct gpu_bench_kernel kernel;
    if (!gpu_bench_parse(&kernel, g, body)) {
        return false;
    }
    bool ran = gpu_bench_launch(g, &kernel, ctas, threads);
    gpu_bench_forget(&kernel);
    return ran;
}

static inline void gpu_bench_free(struct gpu_bench *g)
{
    gpu_destroy(g->gpu);
    exec_memory_destroy(g->memory);
    model_destroy(g->model);
}

#endif
