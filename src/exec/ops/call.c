/*
 * Calls. The arguments are copied from the caller's .param variables (or registers) into the
 * callee's frame, and results back when the callee's lanes have all returned; both under the mask
 * of the lanes that called. An indirect call serves the lanes of one target at a time.
 *
 * Only the lanes that called return: lanes that exited inside of the callee are gone from every
 * waiting path. Source: PTX ISA 9.0, 7.1 and 9.7.12.5.
 */
#include <string.h>

#include "exec/fault.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

static void copy_predicate(struct exec_state *state, const struct call_value *value,
                           uint32_t from_depth, uint32_t to_depth, uint32_t mask)
{
    uint32_t from, to;
    uint8_t *at = frame_start(state, to_depth) + value->to.offset;
    memcpy(&from, frame_start(state, from_depth) + value->from.offset, sizeof from);
    memcpy(&to, at, sizeof to);
    from ^= value->from.flip ? UINT32_MAX : 0;
    to = (to & ~mask) | (from & mask);
    memcpy(at, &to, sizeof to);
}

/* One value between two frames: each end is a register or lies in the .param area. */
static void copy_value(struct exec_state *state, const struct call_value *value,
                       uint32_t from_depth, uint32_t to_depth, uint32_t mask)
{
    if (value->from.is_pred) {
        copy_predicate(state, value, from_depth, to_depth, mask);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        memmove(call_place_at(state, to_depth, &value->to, lane),
                call_place_at(state, from_depth, &value->from, lane), value->bytes);
    }
}

/* Parameters whose address the callee takes, from its frame to its local memory. */
static void copy_param_locals(struct exec_state *state, uint32_t mask)
{
    const struct exec_function *function = state->frames[state->depth].function;
    for (uint32_t i = 0; i < function->func->param_count; i++) {
        uint32_t local = function->param_locals[i], size = (uint32_t)function->func->params[i].size;
        for (uint32_t rest = local == UINT32_MAX ? 0 : mask; rest; rest &= rest - 1) {
            uint32_t lane = lowest_lane(rest);
            const uint8_t *from =
                state->params + lane * function->param_bytes + function->param_offsets[i];
            for (uint32_t at = 0; at < size; at += LANE_STRIPE_BYTES)
                memcpy(local_pointer(state, lane, state->local_base + local + at), from + at,
                       size - at < LANE_STRIPE_BYTES ? size - at : LANE_STRIPE_BYTES);
        }
    }
}

static enum exec_event enter(struct exec_warp *warp, const struct uop *uop,
                             const struct exec_function *callee)
{
    struct exec_state *state = warp->state;
    const struct uop_call *call = uop->call;
    uint32_t pc = warp->pc;
    int rc = frame_push(state, callee, uop);
    if (rc == SONDE_OK) {
        for (uint32_t i = 0; i < call->arg_count; i++)
            copy_value(state, &call->args[i], state->depth - 1, state->depth, warp->active);
        copy_param_locals(state, warp->active);
        rc = state->diverge_ops->enter(warp, callee->first_pc, pc + 1);
    }
    if (rc == SONDE_OK)
        return EXEC_DONE;
    if (rc == SONDE_EFAULT)
        fault_set(warp, pc, lowest_lane(warp->active), 0, "call stack overflow entering '%s'",
                  callee->func->name);
    else
        fault_wrap(warp, pc, rc);
    return EXEC_FAULT;
}

/* The lanes that stay behind meet the others after the call. */
static enum exec_event part(struct exec_warp *warp, uint32_t lanes, uint32_t others_pc)
{
    uint32_t pc = warp->pc;
    int rc = warp->state->diverge_ops->branch(warp, lanes, pc, others_pc, pc + 1);
    if (rc == SONDE_OK)
        return EXEC_DONE;
    fault_wrap(warp, pc, rc);
    return EXEC_FAULT;
}

static const struct exec_function *function_at(const struct exec_program *program, uint64_t address)
{
    uint64_t index = (address - EXEC_CODE_BASE) / EXEC_CODE_STEP;
    if (address < EXEC_CODE_BASE || address % EXEC_CODE_STEP != 0 ||
        index >= program->module->func_count)
        return NULL;
    return program->by_index[index];
}

/* An indirect call must agree with its callee on what is passed: the copies were decoded from a
 * prototype. */
static bool fits(const struct uop_call *call, const struct exec_function *callee)
{
    const struct ptx_func *func = callee->func;
    if (func->is_entry || func->param_count != call->arg_count ||
        func->return_count != call->return_count)
        return false;
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (call->args[i].to.offset != callee->param_offsets[i] || call->args[i].to.stride)
            return false;
    for (uint32_t i = 0; i < call->return_count; i++)
        if (call->returns[i].from.offset != callee->param_offsets[func->param_count + i] ||
            call->returns[i].from.stride)
            return false;
    return true;
}

static enum exec_event call_pointer(struct exec_warp *warp, const struct uop *uop)
{
    const struct exec_state *state = warp->state;
    const lane_dword *pointer = lanes_at(state, uop->source[0]);
    uint32_t first = lowest_lane(warp->active), same = 0;
    for (uint32_t rest = warp->active; rest; rest &= rest - 1)
        same |= (uint32_t)(pointer[lowest_lane(rest)] == pointer[first]) << lowest_lane(rest);
    if (same != warp->active)
        return part(warp, same, warp->pc);
    const struct exec_function *callee = function_at(state->program, pointer[first]);
    if (callee && fits(uop->call, callee))
        return enter(warp, uop, callee);
    fault_set(warp, warp->pc, first, pointer[first],
              "call through 0x%llx, which is not a function of this prototype",
              (unsigned long long)pointer[first]);
    return EXEC_FAULT;
}

enum exec_event run_call(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    if (!mask)
        return advance(warp);
    if (mask != warp->active)
        return part(warp, mask, warp->pc + 1);
    const struct diverge_ops *ops = warp->state->diverge_ops;
    if (ops->call && !ops->call(warp))
        return EXEC_DONE;
    return uop->call->callee ? enter(warp, uop, uop->call->callee) : call_pointer(warp, uop);
}

enum exec_event run_return(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    (void)uop, (void)access;
    struct exec_state *state = warp->state;
    const struct uop_call *call = state->frames[state->depth].call->call;
    for (uint32_t i = 0; i < call->return_count; i++)
        copy_value(state, &call->returns[i], state->depth, state->depth - 1, mask);
    state->diverge_ops->leave(warp);
    return EXEC_DONE;
}

/* Decoding. */

/* Where a predicate lies in a frame, in bytes. */
static uint32_t predicate_offset(const struct exec_function *function, uint32_t slot)
{
    return function->regs_bytes + slot * (uint32_t)sizeof(uint32_t);
}

/* Element `element` of a variable of the callee that is a register. */
static int callee_place(struct decoder *d, struct call_place *place, const struct ptx_func *func,
                        const struct exec_function *callee, const struct ptx_var *var,
                        uint32_t element)
{
    if (!callee || var->reg < 0 || (uint32_t)var->reg + element >= func->reg_count)
        return decode_refuse(d, "an indirect call with .reg parameters is not implemented");
    const struct ptx_reg *reg = &func->regs[(uint32_t)var->reg + element];
    if (reg->type == TYPE_pred) {
        place->is_pred = true;
        place->offset =
            predicate_offset(callee, reg->slot < 0 ? PRED_SINK : (uint32_t)reg->slot + PRED_FIRST);
        return SONDE_OK;
    }
    if (isa_type_info(reg->type)->bytes == 0 || isa_type_info(reg->type)->bytes > 8)
        return decode_refuse(d, "parameter '%s' of type .%s is not implemented", var->name,
                             isa_type_info(reg->type)->text);
    place->stride = isa_type_info(reg->type)->bytes > 4 ? 8 : 4;
    place->offset = reg->slot < 0 ? callee->sink_ref & REF_OFFSET_MASK
                                  : (uint32_t)reg->slot * SLOT_BYTES +
                                        (place->stride == 8 ? callee->wide_offset : 0);
    return SONDE_OK;
}

/* A predicate of the caller, by the decoder's own way, whose result is taken out of the uop. */
static int caller_predicate(struct decoder *d, struct call_place *place,
                            const struct ptx_operand *operand, bool written)
{
    int rc = written ? decode_pred_dest(d, 0, operand) : decode_pred_source(d, 0, operand);
    place->is_pred = true;
    place->offset =
        predicate_offset(d->function, written ? d->uop->pred_dst[0] : d->uop->pred_source[0]);
    place->flip = !written && (d->uop->pred_flip & 1);
    d->uop->pred_dst[0] = PRED_SINK;
    d->uop->pred_source[0] = PRED_TRUE;
    d->uop->pred_flip = 0;
    return rc;
}

static uint32_t passed_bytes(const struct call_value *value, const struct ptx_var *var)
{
    uint64_t bytes = var->space == SPACE_REG ? isa_type_info(var->type)->bytes : var->size;
    if (value->from.stride && value->from.stride < bytes)
        bytes = value->from.stride;
    if (value->to.stride && value->to.stride < bytes)
        bytes = value->to.stride;
    return (uint32_t)bytes;
}

/* A prototype has no frame: its parameters lie as those of any function with the same list. */
static uint64_t prototype_offset(uint64_t *at, const struct ptx_var *var)
{
    if (var->space == SPACE_REG)
        return 0;
    uint64_t align = var->align ? var->align : 1;
    uint64_t offset = (*at + align - 1) / align * align;
    *at = offset + var->size;
    return offset;
}

/* One value of a call: the parameter in .param space, or an element of one in registers. */
static int decode_one_value(struct decoder *d, struct call_value *value,
                            const struct ptx_operand *operand, const struct ptx_var *var,
                            uint64_t offset, bool returns)
{
    struct call_place *callee_is = returns ? &value->from : &value->to;
    struct call_place *caller_is = returns ? &value->to : &value->from;
    if (callee_is->is_pred)
        return caller_predicate(d, caller_is, operand, returns);
    if (var->space != SPACE_REG)
        callee_is->offset = (uint32_t)offset;
    int rc = decode_call_place(d, caller_is, operand, (uint32_t)var->size / var->vec, returns);
    if (rc == SONDE_OK && operand->kind == OPERAND_VAR && var->space != SPACE_REG &&
        operand->var->size != var->size)
        rc = decode_refuse(d, "'%s' of %llu bytes passed as '%s' of %llu", operand->var->name,
                           (unsigned long long)operand->var->size, var->name,
                           (unsigned long long)var->size);
    value->bytes = passed_bytes(value, var);
    return rc;
}

static uint32_t value_count(const struct ptx_var *vars, uint32_t count)
{
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++)
        values += vars[i].space == SPACE_REG ? vars[i].vec : 1;
    return values;
}

static int decode_values(struct decoder *d, struct call_value **out, uint32_t *out_count,
                         uint64_t *at, const struct ptx_operand *list, const struct ptx_func *func,
                         const struct exec_function *callee, bool returns)
{
    const struct ptx_var *vars = returns ? func->returns : func->params;
    uint32_t count = returns ? func->return_count : func->param_count;
    if (list->count != count)
        return decode_refuse(d, "call of '%s' with %u %s instead of %u", func->name, list->count,
                             returns ? "results" : "arguments", count);
    *out_count = value_count(vars, count);
    struct call_value *value = *out = arena_array(d->arena, *out_count, sizeof **out);
    if (!value)
        return error_memory();
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < count; i++) {
        const struct ptx_var *var = &vars[i];
        const struct ptx_operand *operand = &list->elems[i];
        uint64_t offset = prototype_offset(at, var);
        uint32_t elements = var->space == SPACE_REG ? var->vec : 1;
        for (uint32_t k = 0; rc == SONDE_OK && k < elements; k++, value++) {
            if (var->space == SPACE_REG)
                rc = callee_place(d, returns ? &value->from : &value->to, func, callee, var, k);
            if (rc == SONDE_OK)
                rc = decode_one_value(
                    d, value, operand->kind == OPERAND_VECTOR ? &operand->elems[k] : operand, var,
                    offset, returns);
        }
    }
    return rc;
}

/* The prototype of an indirect call: its own, or that of the first of its targets. */
static const struct ptx_func *prototype_of(const struct ptx_insn *insn)
{
    const struct ptx_operand *operand = insn->operand_count > 3 ? &insn->operands[3] : NULL;
    if (!operand)
        return NULL;
    if (operand->kind == OPERAND_PROTO)
        return operand->func;
    if (operand->kind == OPERAND_TARGETS && operand->targets->count)
        return operand->targets->funcs[0];
    return NULL;
}

int decode_call(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *target = &insn->operands[0];
    struct exec_function *callee = NULL;
    if (target->kind == OPERAND_FUNC && decode_is_system(target->func))
        return decode_system(d);
    struct uop_call *call = arena_alloc(d->arena, sizeof *call);
    int rc = SONDE_OK;
    if (!call)
        return error_memory();
    d->uop->run = run_call;
    d->uop->call = call;
    const struct ptx_func *func = NULL;
    if (target->kind == OPERAND_FUNC) {
        rc = decode_function(d, &callee, target->func);
        func = callee ? callee->func : NULL;
    } else {
        func = prototype_of(insn);
        rc = decode_source(d, 0, target, 8);
    }
    if (rc != SONDE_OK)
        return rc;
    if (!func || func->is_entry || insn->operand_count < 3)
        return decode_refuse(d, "this call is not implemented");
    call->callee = callee;
    uint64_t at = 0;
    rc = decode_values(d, &call->args, &call->arg_count, &at, &insn->operands[2], func, callee,
                       false);
    return rc == SONDE_OK ? decode_values(d, &call->returns, &call->return_count, &at,
                                          &insn->operands[1], func, callee, true)
                          : rc;
}
