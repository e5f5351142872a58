/*
 * tensor [ROUNDS [FORM]]: multiply-adds a second of tensor instructions in functional mode, on one
 * thread: a line "NAME RATE" a form, as the best of RUNS launches of a kernel that does little
 * else. Rates are of processor time, so that what else the host does costs nothing. Operands are
 * finite numbers of moderate size, as programs have them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/model.h"
#include "rt/rt.h"
#include "util/error.h"
#include "util/glue/heap.h"
#include "util/container/strbuf.h"

#define RUNS 3
#define IN_A_ROW 4

static const struct form {
    const char *name, *instruction, *reg;
    uint32_t d, a, b; /* registers; of wgmma a 0: shared memory */
    double products;  /* of a warp; of sparse ones those of the numbers that are there */
} forms[] = {
    {"mma.f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f", 4, 4, 2, 2048},
    {"mma.bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "f", 4, 4, 2, 2048},
    {"mma.half", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "r", 2, 4, 2, 2048},
    {"mma.tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f", 4, 4, 2, 1024},
    {"mma.s8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "r", 4, 4, 2, 4096},
    {"mma.e4m3", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", 4, 4, 2, 4096},
    {"mma.s4", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", "r", 4, 4, 2, 8192},
    {"mma.b1", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r", 4, 4, 2, 32768},
    {"mma.f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "e", 2, 1, 1, 256},
    {"mma.sp.tf32", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "f",
     4, 4, 4, 1024},
    {"mma.sp.f16", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "f", 4,
     4, 4, 2048},
    {"mma.sp.s8", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", "r", 4, 4,
     4, 4096},
    {"mma.f16.k8", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "f", 4, 2, 1, 1024},
    {"mma.f16.k4", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "f", 8, 2, 2, 1024},
    {"mma.tf32.k4", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "f", 4, 2, 1, 512},
    {"mma.e5m2", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", "f", 4, 4, 2, 4096},
    {"mma.u8", "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", "r", 4, 4, 2, 4096},
    {"mma.s8.k16", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "r", 2, 1, 1, 1024},
    {"mma.f64.k16", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "e", 4, 8, 4, 2048},
    {"mma.sp.bf16", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "f",
     4, 4, 4, 2048},
    {"mma.sp.half", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", "r",
     2, 4, 4, 2048},
    {"mma.sp.tf32.k8", "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     "f", 4, 2, 2, 512},
    {"mma.sp.e4m3", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", "f",
     4, 4, 4, 4096},
    {"mma.sp.s4", "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32", "r", 4,
     4, 4, 8192},
    {"wmma.half", "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "r", 4, 8, 8, 4096},
    {"wmma.bf16", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", "f", 8, 4, 4, 4096},
    {"wmma.tf32", "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", "f", 8, 4, 4, 2048},
    {"wmma.s8", "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32", "r", 8, 2, 2, 4096},
    {"wmma.f64", "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", "e", 2, 1, 1, 256},
    {"wgmma.n64.half", "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16", "r", 16, 0, 0, 16384},
    {"wgmma.n128.e5m2", "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3", "f", 64, 0, 0,
     65536},
    {"wmma.f16", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "f", 8, 8, 8, 4096},
    {"wgmma.n64.f16", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", "f", 32, 0, 0, 16384},
    {"wgmma.n128.bf16", "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "f", 64, 0, 0,
     32768},
    {"wgmma.n128.tf32", "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32", "f", 64, 0, 0,
     16384},
    {"wgmma.n128.e4m3", "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", "f", 64, 0, 0,
     65536},
    {"wgmma.n128.s8", "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8", "r", 64, 0, 0, 65536},
};

#define FORM_COUNT (sizeof forms / sizeof forms[0])

static void registers(struct strbuf *out, const char *prefix, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        strbuf_printf(out, "%s%%%s%u", i ? ", " : "{", prefix, first + i);
    }
    strbuf_printf(out, "}");
}

static void instruction(struct strbuf *out, const struct form *form)
{
    strbuf_printf(out, "    %s ", form->instruction);
    registers(out, form->reg, 100, form->d);
    if (form->a == 0) {
        bool halves = strstr(form->instruction, "k16") != NULL;
        strbuf_printf(out, ", %%d0, %%d0, %%p%s;\n",
                      halves                            ? ", 1, 1, 0, 0"
                      : strstr(form->instruction, "s8") ? ""
                                                        : ", 1, 1");
        return;
    }
    strbuf_printf(out, ", ");
    const char *from = form->reg[0] == 'e' ? "e" : "r";
    registers(out, from, 10, form->a);
    strbuf_printf(out, ", ");
    registers(out, from, 20, form->b);
    strbuf_printf(out, ", ");
    registers(out, form->reg, 100, form->d);
    strbuf_printf(out, strstr(form->instruction, ".sp:") ? ", %%r6, 0;\n" : ";\n");
}

/* 128 threads; operands' bits are of numbers from 2^-3 to 2^1 whatever their type. */
static void kernel_text(struct strbuf *out, const struct form *form)
{
    strbuf_printf(out,
                  ".version 8.6\n.target sm_90a\n.address_size 64\n"
                  ".shared .align 1024 .b8 tile[32768];\n"
                  ".visible .entry k(.param .u32 rounds)\n{\n"
                  "    .reg .b32 %%r<300>, %%t, %%i;\n    .reg .f32 %%f<300>;\n"
                  "    .reg .b64 %%d<4>, %%e<300>;\n    .reg .pred %%p, %%q;\n"
                  "    mov.u32 %%t, %%tid.x;\n    mul.lo.u32 %%r1, %%t, 2654435761;\n"
                  "    mov.u32 %%r3, tile;\n    mad.lo.u32 %%r2, %%t, 4, %%r3;\n"
                  "    mov.u32 %%i, 0;\nFILL:\n    mad.lo.u32 %%r1, %%r1, 1664525, 1013904223;\n"
                  "    and.b32 %%r4, %%r1, 0x87878787;\n    or.b32 %%r4, %%r4, 0x38383838;\n"
                  "    st.shared.u32 [%%r2], %%r4;\n    add.u32 %%r2, %%r2, 512;\n"
                  "    add.u32 %%i, %%i, 1;\n    setp.lt.u32 %%q, %%i, 64;\n    @%%q bra FILL;\n"
                  "    bar.sync 0;\n    setp.ne.u32 %%p, %%r3, 1;\n"
                  "    mov.u32 %%r6, 0x4e9ce494;\n"); /* pairs in order: which numbers are there */
    strbuf_printf(out, "    shr.u32 %%r3, %%r3, 4;\n    cvt.u64.u32 %%d0, %%r3;\n"
                       "    or.b64 %%d0, %%d0, 0x4000004000010000;\n    mov.u32 %%i, 0;\n");
    for (uint32_t i = 10; i < 30; i++) {
        strbuf_printf(out, "    ld.shared.u32 %%r%u, [tile+%u];\n", i, i * 12);
        strbuf_printf(out,
                      "    xor.b32 %%r4, %%r1, %%r%u;\n    and.b32 %%r4, %%r4, 0x02030203;\n"
                      "    xor.b32 %%r%u, %%r%u, %%r4;\n",
                      i, i, i);
        strbuf_printf(out, "    mov.b64 %%e%u, {%%r%u, %%r%u};\n", i, i, i);
    }
    for (uint32_t i = 0; i < form->d; i++) {
        strbuf_printf(
            out, form->reg[0] == 'e' ? "    mov.b64 %%%s%u, %s;\n" : "    mov.b32 %%%s%u, %s;\n",
            form->reg, 100 + i, form->reg[0] == 'f' ? "0f00000000" : "0");
    }
    strbuf_printf(out, "    ld.param.u32 %%r5, [rounds];\nAGAIN:\n%s",
                  form->a ? "" : "    wgmma.fence.sync.aligned;\n");
    for (int i = 0; i < IN_A_ROW; i++) {
        instruction(out, form);
    }
    strbuf_printf(out,
                  "%s    add.u32 %%i, %%i, 1;\n    setp.lt.u32 %%q, %%i, %%r5;\n"
                  "    @%%q bra AGAIN;\n    ret;\n}\n",
                  form->a ? ""
                          : "    wgmma.commit_group.sync.aligned;\n"
                            "    wgmma.wait_group.sync.aligned 0;\n");
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int run_form(struct rt *rt, const struct form *form, uint32_t rounds)
{
    struct strbuf text = {0};
    struct rt_module *module = NULL;
    struct rt_kernel *kernel = NULL;
    const void *args[] = {&rounds};
    struct rt_launch launch = {
        .args = args, .arg_count = 1, .grid = {1, 1, 1}, .block = {128, 1, 1}, .functional = true};
    double best = 1e30;
    kernel_text(&text, form);
    int rc = strbuf_failed(&text) ? error_memory() : 0;
    rc = rc < 0 ? rc : rt_module_load(rt, &module, form->name, text.text, text.length);
    rc = rc < 0 ? rc : rt_kernel_get(module, &kernel, "k");
    for (int i = 0; rc == 0 && i < RUNS; i++) {
        uint64_t cycles;
        double start = processor_seconds();
        rc = rt_launch(rt, kernel, &launch, &cycles);
        double seconds = processor_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    if (rc == 0) {
        printf("%s %.0f\n", form->name, form->products * 4 * IN_A_ROW * rounds / best);
    }
    rt_module_unload(rt, module);
    strbuf_free(&text);
    return rc;
}

int main(int argc, char **argv)
{
    heap_in_huge_pages();
    struct model *model = NULL;
    struct rt *rt = NULL;
    uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 400;
    int rc = model_load(&model, "h200");
    rc = rc < 0 ? rc : rt_create(&rt, model);
    for (size_t i = 0; rc == 0 && i < FORM_COUNT; i++) {
        if (argc < 3 || !strcmp(argv[2], forms[i].name))
            rc = run_form(rt, &forms[i], rounds);
    }
    rt_destroy(rt);
    model_destroy(model);
    if (rc < 0) {
        fprintf(stderr, "tensor: %s\n", error_text());
    }
    return rc < 0 ? 1 : 0;
}
