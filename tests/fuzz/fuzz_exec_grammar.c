/*
 * Instructions drawn by grammar (support/ptx_grammar.h) from the input's bytes: each is parsed in a
 * kernel of its own; those that the parser takes are put together to a kernel that must parse,
 * whose operands must name registers that exist, which must print to a fixed point, and which runs
 * a few thousand instructions. Whatever it does ends in success or an error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"
#include "exec/memory/memory.h"
#include "ptx/ir.h"
#include "ptx/print/print.h"
#include "util/error.h"

#include "../support/ptx_grammar.h"

#define ROOM_BYTES 65536
#define INSTRUCTIONS 12

uint64_t grammar_drawn, grammar_taken, grammar_run; /* for a caller that wants to know */

static uint64_t place(void *ctx, const struct ptx_var *var)
{
    uint64_t *next = ctx, align = var->align ? var->align : 1;
    uint64_t address = (*next + align - 1) / align * align;
    *next = address + (var->size < 4096 ? var->size : 4096);
    return address;
}

static void check_operand(const struct ptx_func *f, const struct ptx_operand *o)
{
    bool named = o->kind == OPERAND_REG || (o->kind == OPERAND_ADDR && o->has_reg);
    if (named &&
        (o->reg < 0 || (uint32_t)o->reg >= f->reg_count || f->regs[o->reg].type != o->type))
        abort();
    if (o->kind == OPERAND_VECTOR || o->kind == OPERAND_PAIR || o->kind == OPERAND_FETCH)
        for (uint32_t i = 0; i < o->count; i++)
            check_operand(f, &o->elems[i]);
}

static void check_registers(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->func_count; i++)
        for (uint32_t pc = 0; pc < module->funcs[i]->insn_count; pc++)
            for (uint32_t k = 0; k < module->funcs[i]->insns[pc].operand_count; k++)
                check_operand(module->funcs[i], &module->funcs[i]->insns[pc].operands[k]);
}

static void check_print(const struct ptx_module *module)
{
    struct strbuf first = {0}, second = {0};
    struct ptx_module *again;
    if (ptx_print(&first, module) < 0 ||
        ptx_parse(&again, "printed", strbuf_text(&first), first.length) < 0 ||
        ptx_print(&second, again) < 0 || strcmp(strbuf_text(&first), strbuf_text(&second)) != 0)
        abort();
    ptx_module_destroy(again);
    strbuf_free(&first);
    strbuf_free(&second);
}

static void run(const struct exec_program *program, struct exec_memory *memory, uint64_t room)
{
    _Alignas(16) uint8_t params[4096] = {0};
    memcpy(params, &room, sizeof room);
    struct exec_launch launch = {.program = program,
                                 .memory = memory,
                                 .params = params,
                                 .param_bytes = sizeof params,
                                 .grid = {1, 1, 1},
                                 .block = {40, 1, 1},
                                 .dynamic_shared_bytes = 64};
    struct exec_run_options options = {.max_warp_insns = 3000};
    if (exec_run_launch_with(&launch, &options) != SONDE_OK && *error_text() == '\0')
        abort();
    grammar_run++;
}

static void execute(const struct ptx_module *module)
{
    struct exec_memory *memory;
    struct exec_program *program;
    if (exec_memory_create(&memory, UINT64_C(1) << 20) != SONDE_OK)
        abort();
    uint64_t room = exec_memory_base(memory) + 4096, next = room + ROOM_BYTES / 2;
    exec_memory_map(memory, room, ROOM_BYTES);
    struct exec_resolver resolver = {.var_address = place, .ctx = &next};
    const struct ptx_func *kernel = ptx_find_func(module, "k");
    if (exec_program_create(&program, module, kernel, &resolver) == SONDE_OK) {
        run(program, memory, room);
        exec_program_destroy(program);
    } else if (*error_text() == '\0') {
        abort();
    }
    exec_memory_destroy(memory);
}

static bool parses(struct ptx_module **module, const char *instructions)
{
    struct strbuf text = {0};
    grammar_head(&text);
    grammar_kernel_begin(&text);
    strbuf_append(&text, instructions);
    grammar_kernel_end(&text);
    int code = ptx_parse(module, "drawn.ptx", strbuf_text(&text), text.length);
    strbuf_free(&text);
    if (code < 0 && *error_text() == '\0')
        abort();
    return code == 0;
}

/* Does an instruction that is fine for the parser execute? Nothing else decides what is mixed. */
static bool decodes(const struct ptx_module *module)
{
    struct exec_program *program;
    uint64_t next = UINT64_C(1) << 20;
    struct exec_resolver resolver = {.var_address = place, .ctx = &next};
    if (exec_program_create(&program, module, ptx_find_func(module, "k"), &resolver) != SONDE_OK)
        return false;
    exec_program_destroy(program);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct grammar g = {data, size, size};
    struct strbuf mixed = {0};
    struct ptx_module *module;
    for (int i = 0; i < INSTRUCTIONS; i++) {
        struct strbuf one = {0};
        grammar_instruction(&one, &g);
        grammar_drawn++;
        if (parses(&module, strbuf_text(&one))) {
            grammar_taken++;
            check_registers(module);
            if (decodes(module))
                strbuf_append(&mixed, strbuf_text(&one));
            ptx_module_destroy(module);
        }
        strbuf_free(&one);
    }
    if (!parses(&module, strbuf_text(&mixed)))
        abort();
    check_registers(module);
    check_print(module);
    execute(module);
    ptx_module_destroy(module);
    strbuf_free(&mixed);
    return 0;
}
