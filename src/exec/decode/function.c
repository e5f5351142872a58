/*
 * The functions of a program: the kernel and what it can reach, each with the layout of its frame;
 * and the functions that the driver defines, which have no code here (exec/system.def).
 */
#include <string.h>

#include "exec/decode/decode.h"
#include "util/error.h"

static const char *const system_names[] = {
#define SYSTEM(id, name, ...) [SYSTEM_##id] = name,
#include "exec/system.def"
#undef SYSTEM
};

static enum system_call find_system(const char *name)
{
    for (int i = 0; i < SYSTEM_COUNT; i++)
        if (strcmp(system_names[i], name) == 0)
            return (enum system_call)i;
    return SYSTEM_COUNT;
}

bool exec_is_system_call(const char *name)
{
    return find_system(name) != SYSTEM_COUNT;
}

enum system_call decode_system_call(const struct ptx_func *func)
{
    bool declared = !func->has_body && !func->alias_of && !func->is_entry;
    return declared ? find_system(func->name) : SYSTEM_COUNT;
}

bool decode_is_system(const struct ptx_func *func)
{
    return decode_system_call(func) != SYSTEM_COUNT;
}

static const struct ptx_func *aliasee(const struct ptx_func *func)
{
    for (int hops = 0; func->alias_of && hops < 16; hops++)
        func = func->alias_of;
    return func;
}

uint64_t exec_function_address(const struct ptx_module *module, const struct ptx_func *func)
{
    func = aliasee(func);
    for (uint32_t i = 0; i < module->func_count; i++)
        if (module->funcs[i] == func)
            return EXEC_CODE_BASE + (uint64_t)EXEC_CODE_STEP * i;
    return 0;
}

static int check_function(struct decoder *d, const struct ptx_func *func)
{
    const char *file = decode_file(d->module, func);
    if (decode_is_system(func))
        return error_at(SONDE_EUNSUPPORTED, file, func->loc.line, func->loc.column,
                        "the address of the system's function '%s' is not implemented", func->name);
    if (!func->has_body)
        return error_at(SONDE_EINPUT, file, func->loc.line, func->loc.column,
                        "function '%s' is called but not defined", func->name);
    if (func->slot_count > UINT16_MAX || func->pred_count > UINT8_MAX)
        return error_at(SONDE_EUNSUPPORTED, file, func->loc.line, func->loc.column,
                        "'%s' needs %u registers and %u predicates; at most %u and %u are possible",
                        func->name, func->slot_count, func->pred_count, UINT16_MAX, UINT8_MAX);
    if (func->local_bytes > LOCAL_MAX_BYTES)
        return error_at(SONDE_EUNSUPPORTED, file, func->loc.line, func->loc.column,
                        "'%s' needs %u bytes of local memory; at most %u are possible", func->name,
                        func->local_bytes, LOCAL_MAX_BYTES);
    return SONDE_OK;
}

static bool uses_stack(const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->insn_count; i++)
        if (func->insns[i].op == OP_ALLOCA || func->insns[i].op == OP_STACKSAVE ||
            func->insns[i].op == OP_STACKRESTORE)
            return true;
    return false;
}

int decode_function(struct decoder *d, struct exec_function **out, struct ptx_func *func)
{
    struct exec_program *program = d->program;
    func = (struct ptx_func *)aliasee(func);
    *out = u64_map_get_pointer(&d->functions, (uint64_t)(uintptr_t)func);
    if (*out)
        return SONDE_OK;
    int rc = check_function(d, func);
    if (rc != SONDE_OK)
        return rc;
    struct exec_function *function = arena_alloc(d->arena, sizeof *function);
    if (!function || u64_map_put_pointer(&d->functions, (uint64_t)(uintptr_t)func, function) < 0)
        return error_memory();
    function->func = func;
    function->local_bytes = (uint32_t)decode_align(func->local_bytes, LANE_STRIPE_BYTES);
    uint32_t slots = (uint32_t)decode_align(func->slot_count, 2);
    function->wide_offset = slots * SLOT_BYTES;
    function->sink_ref = 2 * slots * SLOT_BYTES | (uint32_t)BASE_REG << REF_BASE_SHIFT;
    function->regs_bytes = (2 * slots + 2) * SLOT_BYTES;
    function->preds_bytes = (uint32_t)decode_align((PRED_FIRST + func->pred_count) * 4, 64);
    rc = decode_layout_params(d, function);
    if (rc != SONDE_OK)
        return rc;
    function->frame_bytes = (uint32_t)decode_align(
        function->regs_bytes + function->preds_bytes + WARP_LANES * function->param_bytes, 64);
    if (uses_stack(func)) {
        function->stack_offset = function->frame_bytes;
        function->frame_bytes += SLOT_BYTES;
    }
    program->functions[program->function_count++] = function;
    for (uint32_t i = 0; i < d->module->func_count; i++)
        if (d->module->funcs[i] == func)
            program->by_index[i] = function;
    *out = function;
    return SONDE_OK;
}

int decode_reachable(struct decoder *d, const struct exec_function *function)
{
    const struct ptx_func *func = function->func;
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < func->insn_count; i++) {
        const struct ptx_insn *insn = &func->insns[i];
        struct exec_function *reached;
        bool indirect = insn->op == OP_CALL;
        d->insn = insn;
        for (uint32_t k = 0; rc == SONDE_OK && k < insn->operand_count; k++)
            if (insn->operands[k].kind == OPERAND_FUNC) {
                const struct ptx_func *named = insn->operands[k].func;
                bool launched =
                    insn->op != OP_CALL && named->is_entry; /* by the device's runtime */
                if (!launched && (insn->op != OP_CALL || !decode_is_system(named)))
                    rc = decode_function(d, &reached, insn->operands[k].func);
                indirect = false;
            }
        for (uint32_t k = 0; rc == SONDE_OK && indirect && k < d->module->func_count; k++)
            if (!d->module->funcs[k]->is_entry && d->module->funcs[k]->has_body)
                rc = decode_function(d, &reached, d->module->funcs[k]);
    }
    return rc;
}
