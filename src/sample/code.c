/* What is counted of a kernel's code: see code.h. */
#include "sample/code.h"

#include <stdlib.h>
#include <string.h>

#include "exec/ops.h"
#include "exec/program.h"
#include "util/error.h"

/* Where branches lead, and what follows one. */
static void watch_heads(struct code *code, const struct exec_program *program)
{
    code->watch[0] = 1;
    for (uint32_t pc = 0; pc + 1 < code->length; pc++) {
        const struct exec_uop_info *info = &program->infos[pc];
        if (info->is_branch || info->is_return || info->is_exit) {
            code->watch[pc + 1] = 1;
        }
        if (info->is_branch && program->uops[pc].target < code->length) {
            code->watch[program->uops[pc].target] = 1;
        }
    }
}

static int list_heads(struct code *code)
{
    int rc = 0;
    for (uint32_t pc = code->length, insns = 0; rc == 0 && pc-- > 0;) {
        code->straight[pc] = ++insns;
        if (code->watch[pc]) {
            rc = vec_push(&code->heads, (struct code_head){pc, insns});
            insns = 0;
        }
    }
    return rc;
}

int code_create(struct code **out, const struct exec_program *program)
{
    struct code *code = *out = calloc(1, sizeof *code);
    if (!code) {
        return error_memory();
    }
    uint32_t length = code->length = exec_program_length(program);
    code->id = exec_program_code(program);
    code->watch = calloc(length, 1);
    code->blocks = calloc(length, sizeof *code->blocks);
    code->straight = calloc(length, sizeof *code->straight);
    if (!code->watch || !code->blocks || !code->straight ||
        passes_create(&code->passes, length) < 0 ||
        exec_steering_create(&code->steering, program) < 0) {
        return error_memory();
    }
    watch_heads(code, program);
    code->counts = (struct exec_counts){
        .heads = code->blocks, .straight = code->straight, .shared_left = code->passes.left};
    return list_heads(code);
}

void code_destroy(struct code *code)
{
    if (!code) {
        return;
    }
    free(code->watch);
    free(code->blocks);
    free(code->straight);
    vec_free(&code->heads);
    passes_free(&code->passes);
    exec_steering_free(&code->steering);
    free(code);
}

bool code_is_of(const struct code *code, const struct exec_program *program)
{
    return code->id == exec_program_code(program) && code->length == exec_program_length(program);
}

void code_begin(struct code *code)
{
    memset(code->blocks, 0, code->length * sizeof *code->blocks);
    passes_begin(&code->passes);
}

uint64_t code_insns(const struct code *code)
{
    uint64_t insns = 0;
    for (size_t i = 0; i < code->heads.count; i++) {
        insns += code->blocks[code->heads.data[i].pc] * code->heads.data[i].insns;
    }
    return insns;
}
