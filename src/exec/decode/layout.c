/*
 * The layout of what uops address: .param variables that functions exchange lie in call frames,
 * those whose address a function takes also in its local memory, and static shared variables of all
 * reachable functions one after the other in the CTA's shared memory, module scope first, the
 * dynamic array after them.
 */
#include "exec/decode/decode.h"

#include <inttypes.h>

#include "util/error.h"

#define SHARED_MAX_BYTES (1u << 20)

/* Calls: the same position in a function's list of .param variables as in param_offsets. */
static const struct ptx_var *frame_param(const struct ptx_func *func, uint32_t index)
{
    if (index < func->param_count)
        return &func->params[index];
    index -= func->param_count;
    if (index < func->return_count)
        return &func->returns[index];
    index -= func->return_count;
    return index < func->local_count ? func->locals[index] : NULL;
}

/* The frame holds the parameters of a function but not those of a kernel. */
static int layout_frame(struct decoder *d, struct exec_function *function)
{
    const struct ptx_func *func = function->func;
    uint32_t count = func->param_count + func->return_count + func->local_count;
    function->param_offsets = arena_array(d->arena, count, sizeof *function->param_offsets);
    if (!function->param_offsets)
        return error_memory();
    uint64_t at = 0;
    for (uint32_t i = func->is_entry ? func->param_count : 0; i < count; i++) {
        const struct ptx_var *var = frame_param(func, i);
        if (isa_space_base(var->space) != SPACE_PARAM)
            continue;
        at = decode_align(at, var->align);
        function->param_offsets[i] = (uint32_t)at;
        at += var->size;
        if (at > LOCAL_MAX_BYTES)
            return error_at(SONDE_EUNSUPPORTED, decode_file(d->module, func), var->loc.line,
                            var->loc.column, "parameters of '%s' take more than %u bytes",
                            func->name, LOCAL_MAX_BYTES);
    }
    function->param_bytes = (uint32_t)decode_align(at, 16);
    return SONDE_OK;
}

bool decode_frame_param(struct decoder *d, uint32_t *offset, const struct ptx_var *var)
{
    const struct ptx_func *func = d->function->func;
    uint32_t count = func->param_count + func->return_count + func->local_count;
    for (uint32_t i = func->is_entry ? func->param_count : 0; i < count; i++) {
        if (frame_param(func, i) != var)
            continue;
        *offset = d->function->param_offsets[i];
        return true;
    }
    return false;
}

static bool takes_address(const struct ptx_func *func, const struct ptx_var *param)
{
    for (uint32_t i = 0; i < func->insn_count; i++)
        for (uint32_t k = 0; func->insns[i].op == OP_MOV && k < func->insns[i].operand_count; k++)
            if (func->insns[i].operands[k].kind == OPERAND_VAR &&
                func->insns[i].operands[k].var == param)
                return true;
    return false;
}

/* "If the address of a device function parameter is moved to a register, the parameter will be
 * copied onto the stack and the address will be in the local state space": mov, 9.7.9.4. */
static int layout_param_locals(struct decoder *d, struct exec_function *function)
{
    const struct ptx_func *func = function->func;
    function->param_locals = arena_array(d->arena, func->param_count, sizeof(uint32_t));
    if (!function->param_locals)
        return error_memory();
    for (uint32_t i = 0; i < func->param_count; i++) {
        const struct ptx_var *param = &func->params[i];
        function->param_locals[i] = UINT32_MAX;
        if (func->is_entry || isa_space_base(param->space) != SPACE_PARAM ||
            !takes_address(func, param))
            continue;
        uint64_t align = param->align > LANE_STRIPE_BYTES ? param->align : LANE_STRIPE_BYTES;
        uint64_t at = decode_align(function->local_bytes, align);
        if (at + param->size > LOCAL_MAX_BYTES)
            return error_at(SONDE_EUNSUPPORTED, decode_file(d->module, func), param->loc.line,
                            param->loc.column, "'%s' needs more than %u bytes of local memory",
                            func->name, LOCAL_MAX_BYTES);
        function->param_locals[i] = (uint32_t)at;
        function->local_bytes = (uint32_t)decode_align(at + param->size, LANE_STRIPE_BYTES);
    }
    return SONDE_OK;
}

int decode_layout_params(struct decoder *d, struct exec_function *function)
{
    int rc = layout_frame(d, function);
    return rc == SONDE_OK ? layout_param_locals(d, function) : rc;
}

/* Where a parameter's copy in local memory lies, if it has one. */
static bool param_local(const struct decoder *d, uint64_t *offset, const struct ptx_var *var)
{
    const struct ptx_func *func = d->function->func;
    for (uint32_t i = 0; i < func->param_count; i++)
        if (&func->params[i] == var && d->function->param_locals[i] != UINT32_MAX) {
            *offset = d->function->param_locals[i];
            return true;
        }
    return false;
}

/* Shared memory. */

static int place_shared(struct decoder *d, uint64_t *at, const struct ptx_var *var)
{
    if (isa_space_base(var->space) != SPACE_SHARED || var->unsized)
        return SONDE_OK;
    *at = decode_align(*at, var->align);
    uint64_t offset = *at;
    *at += var->size;
    if (*at > SHARED_MAX_BYTES || var->size > SHARED_MAX_BYTES)
        return error_at(SONDE_EUNSUPPORTED,
                        var->owner  ? decode_file(d->module, var->owner)
                        : var->file ? var->file
                                    : d->module->file,
                        var->loc.line, var->loc.column,
                        "shared variable '%s' of %" PRIu64 " bytes does not fit %u bytes",
                        var->name, var->size, SHARED_MAX_BYTES);
    if (u64_map_put(&d->shared_offsets, (uint64_t)(uintptr_t)var, offset) < 0)
        return error_memory();
    return SONDE_OK;
}

static bool operand_names(const struct ptx_operand *operand, const struct ptx_var *var)
{
    if (operand->kind == OPERAND_VAR || operand->kind == OPERAND_ADDR)
        return operand->var == var;
    for (uint32_t i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++)
        if (operand->elems[i].kind == OPERAND_VAR && operand->elems[i].var == var)
            return true;
    return false;
}

/*
 * Shared memory that a block has beside the program's own, from compute capability 8.0 on: groups
 * of several warps of CUDA's cooperative groups meet there. A program has it if it asks where it
 * is.
 */
static bool asks_for_reserved(const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->insn_count; i++)
        for (uint32_t k = 0; k < func->insns[i].operand_count; k++) {
            const struct ptx_operand *operand = &func->insns[i].operands[k];
            if (operand->kind == OPERAND_SREG && operand->sreg >= SREG_RESERVED_SMEM_OFFSET_BEGIN &&
                operand->sreg <= SREG_RESERVED_SMEM_OFFSET_1)
                return true;
        }
    return false;
}

/* Behind the variables; what the launch adds comes behind it. */
static void place_reserved(struct exec_program *program, uint64_t *at)
{
    bool asked = false;
    for (uint32_t i = 0; i < program->function_count; i++)
        asked |= asks_for_reserved(program->functions[i]->func);
    if (asked) {
        program->reserved_offset = (uint32_t)decode_align(*at, RESERVED_ALIGN);
        *at = program->reserved_offset + RESERVED_BYTES;
    }
}

/* Module-scope shared variables take room in the kernels that name them. */
static bool function_names(const struct ptx_func *func, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < func->insn_count; i++)
        for (uint32_t k = 0; k < func->insns[i].operand_count; k++)
            if (operand_names(&func->insns[i].operands[k], var))
                return true;
    return false;
}

static bool program_names(const struct exec_program *program, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < program->function_count; i++)
        if (function_names(program->functions[i]->func, var))
            return true;
    return false;
}

int decode_layout_shared(struct decoder *d)
{
    uint64_t at = 0, align = 1;
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < d->module->var_count; i++) {
        const struct ptx_var *var = d->module->vars[i];
        if (isa_space_base(var->space) != SPACE_SHARED || !program_names(d->program, var))
            continue;
        rc = place_shared(d, &at, var);
        if (var->unsized && var->align > align)
            align = var->align;
    }
    for (uint32_t i = 0; rc == SONDE_OK && i < d->program->function_count; i++) {
        const struct ptx_func *func = d->program->functions[i]->func;
        for (uint32_t k = 0; rc == SONDE_OK && k < func->local_count; k++)
            rc = place_shared(d, &at, func->locals[k]);
    }
    place_reserved(d->program, &at);
    d->program->shared_bytes = (uint32_t)decode_align(at, align);
    return rc;
}

int decode_var_address(struct decoder *d, uint64_t *value, bool *relative, struct ptx_var *var)
{
    uint32_t offset;
    *relative = false;
    switch (isa_space_base(var->space)) {
    case SPACE_SHARED:
        if (var->unsized)
            *value = d->program->shared_bytes;
        else if (!u64_map_get(value, &d->shared_offsets, (uint64_t)(uintptr_t)var))
            return decode_refuse(d, "shared variable '%s' has no place", var->name);
        return SONDE_OK;
    case SPACE_LOCAL:
        if (!var->owner)
            return decode_refuse(d, "local variable '%s' outside of a function is not implemented",
                                 var->name);
        *value = var->offset;
        *relative = !d->function->func->is_entry;
        return SONDE_OK;
    case SPACE_PARAM:
        *relative = param_local(d, value, var);
        if (*relative)
            return SONDE_OK;
        if (decode_frame_param(d, &offset, var))
            return decode_refuse(
                d, "the address of parameter '%s' of a function is not implemented", var->name);
        *value = var->offset;
        return SONDE_OK;
    case SPACE_GLOBAL:
    case SPACE_CONST:
        if (!d->resolver || !d->resolver->var_address)
            return decode_refuse(d, "variable '%s' has no address", var->name);
        *value = d->resolver->var_address(d->resolver->ctx, var);
        return *value ? SONDE_OK : SONDE_EINPUT;
    default:
        return decode_refuse(d, "the address of '%s' in space .%s is not implemented", var->name,
                             isa_space_text(var->space));
    }
}
