/*
 * Any text as a PTX program: if it parses, its first kernel is decoded and run on a small device
 * for a few thousand instructions. Whatever it does must end in success or an error, never in a
 * crash or a hang.
 */
#include <stdint.h>
#include <string.h>

#include "exec/exec.h"
#include "exec/memory/memory.h"
#include "util/error.h"

#define ROOM_BYTES 65536

/* Variables lie one after the other in one allocation; their contents are zero. */
static uint64_t place(void *ctx, const struct ptx_var *var)
{
    uint64_t *next = ctx, align = var->align ? var->align : 1;
    uint64_t address = (*next + align - 1) / align * align;
    *next = address + (var->size < 4096 ? var->size : 4096);
    return address;
}

static void run(const struct exec_program *program, struct exec_memory *memory, uint64_t room)
{
    _Alignas(16) uint8_t params[4096];
    for (size_t i = 0; i + 8 <= sizeof params; i += 8)
        memcpy(params + i, &room, 8);
    struct exec_launch launch = {.program = program,
                                 .memory = memory,
                                 .params = params,
                                 .param_bytes = sizeof params,
                                 .grid = {2, 1, 1},
                                 .block = {8, 5, 1},
                                 .dynamic_shared_bytes = 64};
    struct exec_run_options options = {.max_warp_insns = 3000};
    if (exec_run_launch_with(&launch, &options) != SONDE_OK && *error_text() == '\0')
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *module;
    struct exec_memory *memory;
    if (ptx_parse(&module, "fuzz.ptx", (const char *)data, size) != SONDE_OK)
        return 0;
    if (exec_memory_create(&memory, UINT64_C(1) << 20) != SONDE_OK)
        __builtin_trap();
    uint64_t room = exec_memory_base(memory) + 4096, next = room + ROOM_BYTES / 2;
    exec_memory_map(memory, room, ROOM_BYTES);
    struct exec_resolver resolver = {.var_address = place, .ctx = &next};
    for (uint32_t i = 0; i < module->func_count; i++) {
        struct exec_program *program;
        if (!module->funcs[i]->is_entry ||
            exec_program_create(&program, module, module->funcs[i], &resolver) != SONDE_OK)
            continue;
        run(program, memory, room);
        exec_program_destroy(program);
        break;
    }
    exec_memory_destroy(memory);
    ptx_module_destroy(module);
    return 0;
}
