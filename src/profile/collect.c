/* Launches are added up by kernel; what is told of an instruction is copied, as modules go. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exec/fault.h"
#include "exec/program.h"
#include "profile/state.h"
#include "ptx/print/print.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/text/printable.h"

#define SOURCE_LIMIT_BYTES (16u << 20)

int profile_create(struct profile **out, const struct model *model)
{
    struct profile *profile = calloc(1, sizeof *profile);
    *out = NULL;
    if (profile) {
        profile->arena = arena_create();
        profile->model = model;
    }
    if (!profile || !profile->arena) {
        free(profile);
        return error_memory();
    }
    *out = profile;
    return 0;
}

void profile_destroy(struct profile *profile)
{
    if (profile) {
        for (size_t i = 0; i < profile->sources.count; i++) {
            free(profile->sources.data[i].text);
        }
        for (size_t i = 0; i < profile->kernels.count; i++) {
            vec_free(&profile->kernels.data[i]->shapes);
        }
        arena_destroy(profile->arena); /* where the kernels lie */
        vec_free(&profile->sources);
        vec_free(&profile->kernels);
        free(profile);
    }
}

static enum operations operations_of(const struct ptx_insn *insn)
{
    switch (isa_row(insn->op)->unit) {
    case UNIT_ALU:
    case UNIT_IMUL:
    case UNIT_SHIFT:
        return OPERATIONS_INT;
    case UNIT_FP32:
        return OPERATIONS_FP32;
    case UNIT_FP64:
        return OPERATIONS_FP64;
    default:
        return OPERATIONS_NONE;
    }
}

/* A product and a sum are two. */
static uint32_t operations_each(const char *text)
{
    const char *opcode = text[0] == '@' ? strchr(text, ' ') + 1 : text;
    return strncmp(opcode, "fma", 3) == 0 || strncmp(opcode, "mad", 3) == 0 ? 2 : 1;
}

static const char *source_of(struct profile *profile, const char *file)
{
    for (size_t i = 0; i < profile->sources.count; i++) {
        if (strcmp(profile->sources.data[i].file, file) == 0) {
            return profile->sources.data[i].text;
        }
    }
    struct profile_source source = {.file = arena_strdup(profile->arena, file)};
    struct stat status;
    size_t bytes;
    bool readable = stat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (!readable || !source.file ||
        file_read_all(&source.text, &bytes, file, SOURCE_LIMIT_BYTES) < 0) {
        source.text = NULL;
    }
    if (!source.file || vec_push(&profile->sources, source) < 0) {
        free(source.text);
        return NULL;
    }
    return source.text;
}

/* Without its indentation; NULL: the file has no such line. */
static const char *source_line(struct profile *profile, const char *file, uint32_t line)
{
    const char *at = source_of(profile, file);
    for (uint32_t i = 1; at && i < line; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at || line == 0) {
        return NULL;
    }
    at += strspn(at, " \t");
    char *text = arena_strndup(profile->arena, at, strcspn(at, "\r\n"));
    return text && printable_bytes(text) > 0 ? text : NULL;
}

/* `text` is one line of many; returns the next. */
static const char *describe(struct profile *profile, struct profile_insn *out,
                            const struct exec_program *program, uint32_t pc, const char *text)
{
    const struct ptx_insn *insn = program->insns[pc];
    struct arena *arena = profile->arena;
    const char *end = strchr(text, '\n');
    text += strspn(text, " ");
    out->text = arena_strndup(arena, text, (size_t)(end - text));
    out->line = (uint32_t)insn->loc.line;
    out->source = insn->source.file ? arena_strdup(arena, insn->source.file) : NULL;
    out->source_line = insn->source.line;
    out->source_text = out->source ? source_line(profile, out->source, out->source_line) : NULL;
    out->operations = operations_of(insn);
    out->each = out->text ? operations_each(out->text) : 1;
    return end + 1;
}

static int describe_function(struct profile *profile, struct profile_insn *out,
                             const struct exec_program *program,
                             const struct exec_function *function)
{
    struct strbuf texts = {0};
    struct arena *arena = profile->arena;
    const char *file = arena_strdup(arena, fault_file(program, function->first_pc));
    const char *name = arena_strdup(arena, function->func->name);
    uint32_t first = function->first_pc, last = function->exit_pc;
    while (last > first && !program->insns[last - 1]) {
        last--;
    }
    int rc = ptx_print_insns(&texts, function->func, program->insns + first, last - first);
    const char *text = strbuf_text(&texts);
    for (uint32_t pc = first; rc == 0 && pc <= function->exit_pc; pc++) {
        out[pc].function = name;
        out[pc].file = file;
        if (pc < last) {
            text = describe(profile, &out[pc], program, pc, text);
        }
    }
    strbuf_free(&texts);
    return rc;
}

static int kernel_create(struct profile_kernel **out, struct profile *profile,
                         const struct exec_program *program, uint64_t code)
{
    struct arena *arena = profile->arena;
    struct profile_kernel *kernel = arena_alloc(arena, sizeof *kernel);
    if (!kernel) {
        return error_memory();
    }
    *kernel = (struct profile_kernel){
        .name = arena_strdup(arena, program->functions[0]->func->name),
        .file = arena_strdup(arena, fault_file(program, 0)),
        .length = program->length,
        .code = code,
        .variant = 1,
        .insns = arena_array(arena, program->length, sizeof *kernel->insns),
        .lines = arena_array(arena, program->length, sizeof *kernel->lines)};
    if (!kernel->name || !kernel->file || !kernel->insns || !kernel->lines) {
        return error_memory();
    }
    memset(kernel->insns, 0, program->length * sizeof *kernel->insns);
    memset(kernel->lines, 0, program->length * sizeof *kernel->lines);
    for (size_t i = 0; i < profile->kernels.count; i++) {
        kernel->variant += strcmp(profile->kernels.data[i]->name, kernel->name) == 0;
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < program->function_count; i++) {
        rc = describe_function(profile, kernel->insns, program, program->functions[i]);
    }
    if (rc == 0 && vec_push(&profile->kernels, kernel) < 0) {
        rc = error_memory();
    }
    *out = kernel;
    return rc;
}

static struct profile_kernel *find(const struct profile *profile,
                                   const struct exec_program *program, uint64_t code)
{
    for (size_t i = 0; i < profile->kernels.count; i++) {
        struct profile_kernel *kernel = profile->kernels.data[i];
        if (kernel->length == program->length && kernel->code == code &&
            strcmp(kernel->name, program->functions[0]->func->name) == 0 &&
            strcmp(kernel->file, fault_file(program, 0)) == 0) {
            return kernel;
        }
    }
    return NULL;
}

static int add_shape(struct profile_kernel *kernel, const struct profile_launch *launch)
{
    struct profile_shape shape = {.launches = 1};
    memcpy(shape.grid, launch->grid, sizeof shape.grid);
    memcpy(shape.block, launch->block, sizeof shape.block);
    for (size_t i = 0; i < kernel->shapes.count; i++) {
        struct profile_shape *known = &kernel->shapes.data[i];
        if (memcmp(known->grid, shape.grid, sizeof shape.grid) == 0 &&
            memcmp(known->block, shape.block, sizeof shape.block) == 0) {
            known->launches++;
            return 0;
        }
    }
    return vec_push(&kernel->shapes, shape) < 0 ? error_memory() : 0;
}

int profile_launched(struct profile *profile, struct gpu *gpu, const struct profile_launch *launch)
{
    uint64_t code = exec_program_code(launch->program);
    struct profile_kernel *kernel = find(profile, launch->program, code);
    int rc = kernel ? 0 : kernel_create(&kernel, profile, launch->program, code);
    rc = rc < 0 ? rc : add_shape(kernel, launch);
    if (rc == 0) {
        gpu_profile_take(gpu, launch->program, kernel->lines, &kernel->resident);
        gpu_stats_add(&kernel->stats, launch->stats);
        kernel->launches++;
        kernel->faults += launch->faulted;
    }
    return rc;
}

uint64_t profile_line_cycles(const struct profile_line *line)
{
    uint64_t cycles = 0;
    for (int i = 0; i < STALL_COUNT; i++) {
        cycles += line->stall[i];
    }
    return cycles;
}

void profile_sum(struct profile_line *out, const struct profile_kernel *kernel)
{
    uint64_t *to = (uint64_t *)out;
    memset(out, 0, sizeof *out);
    for (uint32_t pc = 0; pc < kernel->length; pc++) {
        const uint64_t *from = (const uint64_t *)&kernel->lines[pc];
        for (size_t i = 0; i < sizeof *out / sizeof *to; i++) {
            to[i] += from[i];
        }
    }
}
